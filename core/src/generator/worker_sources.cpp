#include "generator/worker_sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "config/paths.hpp"
#include "foreign/foreign_workers.hpp"
#include "idgen/runtime.hpp"
#include "idgen/text.hpp"
#include "store/file_system.hpp"
#include "store/new_file.hpp"
#include "store/owner_locks.hpp"

namespace idgen {
namespace {

// worker_source = store: by the rows of the workers.
class RowsOfStore final : public WorkerSource {
 public:
  RowsOfStore(LeasedField field, std::shared_ptr<Store> store, std::shared_ptr<Runtime> runtime, bool recycles)
      : field_(std::move(field)), store_(std::move(store)), runtime_(std::move(runtime)), recycles_(recycles) {}

  std::uint64_t propose(const WindowRequest& request, int attempt) override {
    WorkerChoice choice{.now_ms = request.now_ms, .max_ahead_ms = request.max_lead_ms, .is_crowded = attempt > 0};
    runtime_->nonce({reinterpret_cast<std::uint8_t*>(&choice.random), sizeof choice.random});
    const std::vector<WindowInfo> numbers = rows(request.name_space, WindowStore::Detail::numbers);
    if (!recycles_) return choose_unused_worker(request.name_space, field_, numbers, choice);
    if (const std::optional<std::uint64_t> unknown = choose_new_worker(field_, numbers, choice)) return *unknown;
    return choose_worker(request.name_space, field_, rows(request.name_space, WindowStore::Detail::owners), choice);
  }

 private:
  std::vector<WindowInfo> rows(const std::string& name_space, WindowStore::Detail detail) {
    try {
      return windows_of(*store_).window_list(name_space, detail);
    } catch (const Error& error) {
      if (error.status() == Status::store_missing) return {};  // taking a window makes it, or says what to do
      throw;
    }
  }

  const LeasedField field_;
  const std::shared_ptr<Store> store_;
  const std::shared_ptr<Runtime> runtime_;
  const bool recycles_;
};

// worker_source = slot: the lowest number whose lock nobody has, in a file that the processes of one host share. A lock
// is gone with its process, so a slot is free again at once.
class LockedSlots final : public WorkerSource {
 public:
  LockedSlots(LeasedField field, std::string name_space, std::string path)
      : field_(std::move(field)), name_space_(std::move(name_space)), path_(std::move(path)) {}

  std::uint64_t propose(const WindowRequest&, int attempt) override {
    make_file();
    std::uint64_t value = attempt == 0 ? 0 : held_ + 1;
    release(0);
    OwnerLocks& locks = OwnerLocks::at(path_);
    for (; value < field_.size(); ++value) {
      if (locks.claim(name_space_, field_.number(value), this) != OwnerLocks::Claim::granted) continue;
      held_ = value;
      is_held_ = true;
      return field_.number(value);
    }
    throw Error(Status::worker_busy,
                concat({"worker_source = slot: all ", std::to_string(field_.size()), " slots of ", in_quotes(path_),
                        " for ", field_.name, " of namespace ", in_quotes(name_space_),
                        " are locked by running processes, or their workers are held by others on the "
                        "store. Stop a process, or use a layout with more bits for ",
                        field_.name}));
  }

  void release(std::int64_t) noexcept override {
    if (!std::exchange(is_held_, false)) return;
    try {
      OwnerLocks::at(path_).release(name_space_, field_.number(held_), 0);
    } catch (const std::exception&) {  // no memory for the list of locks: then nothing was locked
    }
  }

 private:
  // Empty; only its locks mean something. Others may have another user's processes in it.
  void make_file() const {
    const auto existing = [this] { return ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); };
    int fd = existing();
    int error = fd < 0 ? errno : 0;
    if (error == ENOENT) {
      error = make_shared();
      if (error == EEXIST) {  // another process was faster
        fd = existing();
        error = fd < 0 ? errno : 0;
      }
    }
    if (fd >= 0) ::close(fd);
    if (error == 0) return;
    const bool is_missing = error == ENOENT || error == ENOTDIR;
    throw Error(
        is_missing ? Status::store_missing : Status::store_permission,
        concat({"worker_source = slot: the file ", in_quotes(path_), " cannot be opened (", system_error_text(error),
                "). Give worker_slots an existing folder that all processes of this "
                "host can write, and let them write the file"}));
  }
  // Every user who may write in the folder may write the file, whatever the umask of the process that makes it. 0 or an
  // errno.
  int make_shared() const {
    NewFile fresh(path_);
    const int fd = fresh.open(0600);
    if (fd < 0) return errno;
    struct stat folder {};
    int error = ::stat(path_.substr(0, path_.rfind('/')).c_str(), &folder) == 0 ? 0 : errno;
    // Without the right to the folder's group the file has this user's, whose members may write if strangers may.
    const bool has_group = ::fchown(fd, static_cast<uid_t>(-1), folder.st_gid) == 0;
    const mode_t of_strangers = folder.st_mode & 06;
    const mode_t mode = has_group ? folder.st_mode & 0666 : (folder.st_mode & 0600) | of_strangers << 3 | of_strangers;
    if (error == 0 && ::fchmod(fd, mode) != 0) error = errno;
    ::close(fd);
    return error == 0 ? fresh.move_to(path_) : error;
  }

  const LeasedField field_;
  const std::string name_space_;
  const std::string path_;
  std::uint64_t held_ = 0;
  bool is_held_ = false;
};

std::string slots_path(const Config& config) {
  const std::string& folder = config.get("worker_slots");
  if (folder.empty()) {
    throw Error(Status::value,
                "worker_source = slot needs worker_slots: a folder on a local disk or in memory that the "
                "processes of this host share");
  }
  std::string path = path_of(config, "worker_slots") + "/idgen-slots";
  check_locks_work(path, "worker_slots = " + in_quotes(folder),
                   "so two machines could lock the same slot. Use a folder on a local disk or in memory (/run, "
                   "/dev/shm), which the processes of this host share");
  return path;
}

}  // namespace

std::unique_ptr<WorkerSource> make_worker_source(const WorkerSourceContext& context) {
  const Config& config = context.config;
  const Node& node = context.node;
  if (is_of_another_generator(node.source)) return make_foreign_workers(context);
  if (node.source == NumberSource::slot)
    return std::make_unique<LockedSlots>(*node.leased, config.get("namespace"), slots_path(config));
  return std::make_unique<RowsOfStore>(*node.leased, context.store, context.runtime, config.boolean("worker_recycle"));
}

void check_worker_source(const Config& config, const Node& node) {
  if (node.leased && is_of_another_generator(node.source)) check_foreign_workers(config);
}

std::string describe_worker_source(const Config& config, const Node& node) {
  if (is_of_another_generator(node.source)) return describe_foreign_workers(config, node);
  const std::string many = std::to_string(node.leased->size());
  if (node.source == NumberSource::slot)
    return "the lowest of " + many + " slots in " + in_quotes(config.get("worker_slots")) +
           " that no running process of this host has locked; its window in the store guards it";
  return "a number that no other live process on the store has, one of " + many +
         (config.boolean("worker_recycle") ? "" : ", and that nobody has had before (worker_recycle = false)");
}

}  // namespace idgen
