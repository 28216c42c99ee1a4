// The embedded store: one SQLite file on a local disk. Why it is as it is: docs/stores.md.
//
// No connection is kept. Each call opens the file, checks it, does one transaction and closes: nothing is carried across fork(), and a
// file that was deleted or replaced is noticed instead of being written to as a ghost.
// TRAP: never open() the database here. Closing any descriptor of it drops the locks that SQLite holds on it in this process; stat() it.
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "store/file_system.hpp"
#include "store/grant_rules.hpp"
#include "store/owner_lock.hpp"
#include "store/sqlite_connection.hpp"
#include "store/store_schemes.hpp"

namespace idgen {

constexpr std::int64_t kSqliteApplicationId = 0x6964676e;  // "idgn"
constexpr std::int64_t kSqliteSchemaVersion = 1;

// idgen_worker.id names the byte of the lock file. A rowid without a name could change on VACUUM. Rows are never deleted.
constexpr const char* kSqliteSchema[] = {
    R"(CREATE TABLE idgen_namespace(
  ns TEXT NOT NULL PRIMARY KEY,
  format TEXT NOT NULL
) WITHOUT ROWID)",
    R"(CREATE TABLE idgen_worker(
  id INTEGER PRIMARY KEY,
  ns TEXT NOT NULL,
  worker INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  owner BLOB,
  hw INTEGER NOT NULL,
  holder TEXT NOT NULL,
  UNIQUE(ns, worker)
))",
    R"(CREATE TABLE idgen_segment(
  ns TEXT NOT NULL,
  tag TEXT NOT NULL,
  max_id INTEGER NOT NULL,
  grants INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  step INTEGER NOT NULL DEFAULT 0,
  rate INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(ns, tag)
) WITHOUT ROWID)",   "PRAGMA user_version=1", "PRAGMA application_id=1768187758",
};
static_assert(kSqliteApplicationId == 1768187758);

// ------------------------------------------------------------------------------------------------------------------ the file

static std::string resolve_sqlite_path(const std::string& rest, const std::string& directory) {
  const auto reject = [&](const std::string& why) {
    return Error(Status::value,
                 "store = \"sqlite:" + rest + "\": " + why + "; allowed: sqlite:ids.db, sqlite:/var/lib/app/ids.db");
  };
  std::string path = rest;
  if (path.starts_with("//")) {
    if (!path.starts_with("///")) throw reject("a file has no host; write sqlite:PATH");
    path = path.substr(2);
  }
  if (path.empty()) throw reject("the path is missing");
  if (path == ":memory:") throw reject("for a store in memory write store = \"memory\"");
  if (path.find('?') != std::string::npos)
    throw reject("parameters are not known here; use the properties store_timeout and store_create");
  if (path.back() == '/') throw reject("that is a folder");
  if (path.front() != '/') {
    std::string base = directory;
    if (base.empty() || base.front() != '/') {
      const std::unique_ptr<char, decltype(&std::free)> cwd(getcwd(nullptr, 0), &std::free);
      if (cwd == nullptr) {
        if (errno == ENOMEM) throw std::bad_alloc();
        throw Error(Status::store_missing,
                    "store = \"sqlite:" + rest +
                        "\" is relative to the working directory, which cannot be read: " + system_error_text(errno));
      }
      base = base.empty() ? std::string(cwd.get()) : std::string(cwd.get()) + "/" + base;
    }
    path = base + "/" + path;
  }
  // A missing file, or folder, is no error yet: it may be made, and whoever uses the store is told.
  const auto resolved = [](const std::string& p) {
    const std::unique_ptr<char, decltype(&std::free)> text(realpath(p.c_str(), nullptr), &std::free);
    if (text == nullptr && errno == ENOMEM) throw std::bad_alloc();  // not to be taken for a missing file
    return text == nullptr ? std::string() : std::string(text.get());
  };
  if (std::string whole = resolved(path); !whole.empty()) return whole;
  const std::string folder = resolved(folder_of(path));
  if (folder.empty()) return path;
  return (folder == "/" ? "" : folder) + path.substr(path.find_last_of('/'));
}

struct SqliteFileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const SqliteFileId&) const = default;
};

static FileSystemVerdict file_system_of(const std::string& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0 && statfs(folder_of(path).c_str(), &info) != 0)
    return {FileSystemKind::local, ""};
  return classify_file_system(static_cast<std::uint64_t>(info.f_type));
}

static void refuse_network_file_system(const std::string& path) {
  const FileSystemVerdict found = file_system_of(path);
  if (found.kind != FileSystemKind::network) return;
  throw Error(Status::store_unsafe,
              "store \"sqlite:" + path + "\" lies on " + found.name +
                  ", where file locks and fsync cannot be relied upon, so two machines could get the same ids. "
                  "Put the file on a local disk");
}

static Error sqlite_file_missing(const std::string& path) {
  const std::string folder = folder_of(path);
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    return Error(Status::store_missing, "store \"sqlite:" + path + "\": its folder \"" + folder +
                                            "\" does not exist. Make the folder, or correct the path");
  }
  return Error(Status::store_missing,
               "store \"sqlite:" + path +
                   "\" does not exist. If it was there before, bring it back: a new one begins at 0 and would "
                   "repeat ids. Else make it with `idgen segment create --store sqlite:" +
                   path + " --tag TAG`, or set store_create = true");
}

// Throws Error{store_missing, store_permission, store_damaged, store_unsafe}.
static SqliteFileId check_sqlite_file(const std::string& path) {
  const std::string store = "store \"sqlite:" + path + "\": ";
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw sqlite_file_missing(path);
    const Status status = errno == EACCES ? Status::store_permission : Status::store_unavailable;
    throw Error(status, store + "the file cannot be reached: " + system_error_text(errno) +
                            ". Every folder on the way needs the right to search it");
  }
  if (!S_ISREG(info.st_mode)) throw Error(Status::store_damaged, store + "that is not a file. Give the path of a file");
  if (info.st_size == 0) {
    throw Error(Status::store_damaged,
                store +
                    "the file is empty (0 bytes); idgen never leaves one so. If it was cut off, bring back a "
                    "sound copy; if it is new, delete it and set store_create = true");
  }
  // SQLite finds the journal by the file's name: after a crash, a user of the other name would not see what has to be rolled back.
  if (info.st_nlink > 1) {
    throw Error(Status::store_unsafe,
                store + "the file has " + std::to_string(info.st_nlink) +
                    " names (hard links). Remove the others: under two names a commit can be lost");
  }
  return {info.st_dev, info.st_ino};
}

// Removes an unfinished file unless told otherwise.
class SqliteUnfinishedFile {
 public:
  explicit SqliteUnfinishedFile(std::string path) : path_(std::move(path)) {}
  ~SqliteUnfinishedFile() {
    if (path_.empty()) return;
    unlink(path_.c_str());
    unlink((path_ + "-journal").c_str());
  }
  SqliteUnfinishedFile(const SqliteUnfinishedFile&) = delete;
  SqliteUnfinishedFile& operator=(const SqliteUnfinishedFile&) = delete;
  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

static Error sqlite_create_error(const std::string& path, int error) {
  const std::string text = "store \"sqlite:" + path + "\" cannot be made in the folder \"" + folder_of(path) +
                           "\": " + system_error_text(error);
  if (error == EACCES || error == EPERM || error == EROFS) {
    return Error(Status::store_permission, text + ". Give this process the right to write the folder");
  }
  if (error == ENOSPC || error == EDQUOT) return Error(Status::store_full, text + ". Free space on the device");
  if (error == ENOENT || error == ENOTDIR) return sqlite_file_missing(path);
  return Error(Status::store_unavailable, text, StoreGate::kRetryNs);
}

// Gives `from` the name `to` unless that exists. 0 or an errno.
static int rename_without_replacing(const std::string& from, const std::string& to) {
#ifdef RENAME_NOREPLACE
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  unlink(from.c_str());
  return 0;
}

// Makes the file complete under another name, then gives it its own: nobody ever sees half of it, and of several processes that race
// one wins. An empty file is therefore always damage.
static void create_sqlite_file(const std::string& path, std::int64_t timeout_ms) {
  struct stat info {};
  for (const char* suffix : {"-journal", "-wal"}) {
    if (stat((path + suffix).c_str(), &info) == 0 && stat(path.c_str(), &info) != 0) {
      throw Error(Status::store_damaged,
                  "store \"sqlite:" + path + "\" does not exist, but its journal \"" + path + suffix +
                      "\" does: the database was moved or deleted without it. Bring the file back, or delete the "
                      "journal too to begin at 0");
    }
  }
  const auto stamp = std::chrono::steady_clock::now().time_since_epoch().count();
  SqliteUnfinishedFile unfinished(path + "-new-" + std::to_string(getpid()) + "-" + std::to_string(stamp));
  const int fd = open(unfinished.path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    const int error = errno;
    if (error == EEXIST) unfinished.keep();
    throw sqlite_create_error(path, error);
  }
  close(fd);
  {
    SqliteConnection connection(unfinished.path(), timeout_ms, timeout_ms);
    connection.execute("BEGIN IMMEDIATE");
    for (const char* statement : kSqliteSchema) connection.execute(statement);
    connection.commit();
  }
  const int error = rename_without_replacing(unfinished.path(), path);
  if (error == EEXIST) return;  // somebody else has made it
  if (error != 0) throw sqlite_create_error(path, error);
  unfinished.keep();
  const int folder = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int synced = folder < 0 ? -1 : fsync(folder);
  const int sync_error = errno;
  if (folder >= 0) close(folder);
  if (synced != 0) throw sqlite_create_error(path, sync_error);
}

// ----------------------------------------------------------------------------------------------------------------- the store

enum class SqliteAccess {
  read,
  write,
  create,  // write, and make a missing file
};

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, const StoreOptions& options)
      : path_(std::move(path)), create_(options.create), timeout_ms_(options.timeout_ms) {}

  ~SqliteStore() override {
    if (acquired_.empty() || acquired_process_ != getpid()) return;  // a child: its parent still owns them
    try {
      StoreGate::Pass pass(kDestructorTimeoutMs);
      OwnerLockFile& owners = OwnerLockFile::beside(pass, path_);
      for (const Acquired& worker : acquired_) owners.unlock(worker.name_space, worker.worker, worker.epoch);
    } catch (const std::exception&) {
      // The worker stays marked as ours until the process ends: nobody gets ids twice by that.
    }
  }

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    // A count that no counter could grant, before a file is touched or made.
    advance_by(name_space, tag, 0, grant_size(0, request));
    StoreGate::Pass pass(timeout_ms_);
    return transact(pass, access(), [&](SqliteConnection& db) {
      std::optional<SegmentInfo> found = read_segment(db, name_space, tag);
      if (!found && !create_) throw_unknown(name_space, tag);
      if (!found) found = insert_segment(db, name_space, tag);
      const SegmentGrant grant = take_grant(*found, request);
      write_segment(db, *found);
      return grant;
    });
  }

  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    StoreGate::Pass pass(timeout_ms_);
    transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      SegmentInfo row = must_read_segment(db, name_space, tag);
      if (row.max_id != last) return;
      row.max_id = last - unused;
      write_segment(db, row);
    });
  }

  Window window_take(const WindowRequest& request) override {
    check_window_request(request);
    StoreGate::Pass pass(timeout_ms_);
    return request.epoch == 0 ? acquire(pass, request) : renew(pass, request);
  }

  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t epoch, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    StoreGate::Pass pass(timeout_ms_);
    OwnerLockFile& owners = OwnerLockFile::beside(pass, path_);
    const OwnerLockFile::Owned* owned = owners.find(name_space, worker);
    if (owned == nullptr || owned->epoch != epoch) return;  // not ours to give: a child's call, or taken over
    const std::int64_t lowered = high_water_after_return(owned->first_start_ms, end_ms, used_ms);
    // Whatever becomes of the row, this owner is gone: the window fences what it has issued.
    const auto let_go = [&] {
      owners.unlock(name_space, worker, epoch);
      std::erase_if(acquired_in_this_process(),
                    [&](const Acquired& a) { return a.worker == worker && a.name_space == name_space; });
    };
    try {
      return_window(pass, name_space, worker, epoch, end_ms, lowered);
    } catch (...) {
      let_go();
      throw;
    }
    let_go();  // after the commit: until then the row still says that we live
  }

  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    StoreGate::Pass pass(timeout_ms_);
    // To write, so that nobody acquires the worker while its lock is tried.
    return transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      const StoredWorker found = read_worker(db, name_space, worker);
      SqliteStatement format(db, "SELECT format FROM idgen_namespace WHERE ns = ?1", name_space);
      return WindowInfo{found.row.epoch, found.row.hw, format.next() ? format.text(0, "format") : "", found.row.holder,
                        has_live_owner(pass, found.id, name_space, worker)};
    });
  }

  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    StoreGate::Pass pass(timeout_ms_);
    transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      const StoredWorker found = read_worker(db, name_space, worker);
      const bool is_live = has_live_owner(pass, found.id, name_space, worker);
      const WorkerRow row = repaired_row(name_space, worker, found.row, is_live, seen, hw_ms);
      SqliteStatement(db, "UPDATE idgen_worker SET epoch = ?1, owner = NULL, hw = ?2 WHERE id = ?3", row.epoch, row.hw,
                      found.id)
          .change_one_row();
    });
  }

  void segment_create(const std::string& name_space, const std::string& tag) override {
    StoreGate::Pass pass(timeout_ms_);
    transact(pass, SqliteAccess::create, [&](SqliteConnection& db) {
      const std::optional<SegmentInfo> found = read_segment(db, name_space, tag);
      if (found) throw_tag_exists(name_space, tag, found->max_id);
      insert_segment(db, name_space, tag);
    });
  }

  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    StoreGate::Pass pass(timeout_ms_);
    return transact(pass, SqliteAccess::read,
                    [&](SqliteConnection& db) { return must_read_segment(db, name_space, tag); });
  }

  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t to) override {
    check_advance(to);
    StoreGate::Pass pass(timeout_ms_);
    return transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      SegmentInfo row = must_read_segment(db, name_space, tag);
      row.max_id = advanced(name_space, tag, row.max_id, to);
      ++row.grants;
      write_segment(db, row);
      return row;
    });
  }

  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    StoreGate::Pass pass(timeout_ms_);
    return transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      SegmentInfo row = must_read_segment(db, name_space, tag);
      row.step = step;
      write_segment(db, row);
      return row;
    });
  }

  std::vector<SegmentInfo> segment_list() override {
    StoreGate::Pass pass(timeout_ms_);
    return transact(pass, SqliteAccess::read, [&](SqliteConnection& db) {
      std::vector<SegmentInfo> rows;
      SqliteStatement row(db, kSelectSegments);
      while (row.next()) rows.push_back(segment_of(row));
      return rows;
    });
  }

  std::string describe() const override {
    std::string text =
        "store sqlite:" + path_ +
        ": a reservation is on disk (journal DELETE, synchronous EXTRA) before an id of it is issued.\n"
        "A crash, kill -9 or power loss: no id is issued twice; what was reserved and not used is lost.\n"
        "A worker number is owned while its process lives (a lock on " +
        path_ +
        "-owners), so a restart need not wait.\n"
        "Not protected: putting an older copy of the file in place, unless every counter is lifted afterwards.\n";
    text += create_ ? "A missing file is made anew, at 0 (store_create = true): if the file is ever lost, ids repeat.\n"
                    : "A missing file is refused, never silently begun at 0.\n";
    const FileSystemVerdict found = file_system_of(path_);
    if (found.kind == FileSystemKind::memory) {
      text += std::string("Warning: the file lies on ") + found.name +
              ", in memory: it is gone when the machine restarts.\n";
    }
    if (found.kind == FileSystemKind::container) {
      text += std::string("Warning: the file lies on ") + found.name +
              ", a container's own layer: it is gone with the container.\n";
    }
    return text;
  }

  bool survives_fork() const override { return true; }

 private:
  static constexpr std::int64_t kDestructorTimeoutMs = 60'000;  // others leave the gate after their own timeout

  struct StoredWorker {
    std::int64_t id = 0;  // 0: no such row
    WorkerRow row;
  };
  struct Acquired {
    std::string name_space;
    std::uint64_t worker;
    std::uint64_t epoch;
  };

  SqliteAccess access() const { return create_ ? SqliteAccess::create : SqliteAccess::write; }

  // One transaction: all of `work` or nothing. An exception out of the commit means that nobody knows, so the grant is burned (I5).
  template <class Work>
  auto transact(const StoreGate::Pass& pass, SqliteAccess access, const Work& work)
      -> decltype(work(std::declval<SqliteConnection&>())) {
    refuse_network_file_system(path_);
    if (access == SqliteAccess::create) {
      struct stat info {};
      if (stat(path_.c_str(), &info) != 0 && errno == ENOENT) create_sqlite_file(path_, timeout_ms_);
    }
    const SqliteFileId file = check_sqlite_file(path_);
    SqliteConnection db(path_, timeout_ms_, pass.left_ms());
    db.execute(access == SqliteAccess::read ? "BEGIN" : "BEGIN IMMEDIATE");
    check_schema(db);
    if constexpr (std::is_void_v<decltype(work(db))>) {
      work(db);
      db.commit();
      check_not_replaced(file);
    } else {
      auto result = work(db);
      db.commit();
      check_not_replaced(file);
      return result;
    }
  }

  // A commit to a file that has lost its name is a commit that nobody will ever see.
  void check_not_replaced(const SqliteFileId& before) const {
    if (check_sqlite_file(path_) == before) return;
    throw Error(Status::store_unavailable,
                "store \"sqlite:" + path_ +
                    "\": another file took its place during the transaction; what was granted is not used",
                StoreGate::kRetryNs);
  }

  void check_schema(SqliteConnection& db) const {
    const std::int64_t application = db.number("PRAGMA application_id");
    if (application != kSqliteApplicationId) {
      throw Error(Status::store_damaged,
                  "store \"sqlite:" + path_ + "\" is an SQLite database, but not one of idgen (application_id " +
                      std::to_string(application) + ", expected " + std::to_string(kSqliteApplicationId) + "; it has " +
                      std::to_string(db.number("SELECT count(*) FROM sqlite_master")) +
                      " tables and indexes). Give idgen a file of its own");
    }
    const std::int64_t version = db.number("PRAGMA user_version");
    if (version > kSqliteSchemaVersion) {
      throw Error(Status::store_version, "store \"sqlite:" + path_ + "\" has schema version " +
                                             std::to_string(version) + ", this idgen knows up to " +
                                             std::to_string(kSqliteSchemaVersion) +
                                             ": it was made by a newer idgen. Upgrade this one");
    }
    if (version < kSqliteSchemaVersion)
      db.fail_damaged("schema version " + std::to_string(version) + " has never existed");
  }

  [[noreturn]] void throw_unknown(const std::string& name_space, const std::string& tag) const {
    throw_tag_unknown(name_space, tag, "sqlite:" + path_,
                      "Make it with `idgen segment create --store sqlite:" + path_ + " --tag " + tag +
                          "`, or set store_create = true");
  }

  // A statement keeps its text: these are for ever.
  static constexpr const char* kSelectSegment =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment WHERE ns = ?1 AND tag = "
      "?2";
  static constexpr const char* kSelectSegments =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment ORDER BY ns, tag";

  static SegmentInfo segment_of(const SqliteStatement& row) {
    return {row.text(0, "ns"),
            row.text(1, "tag"),
            row.natural(2, "max_id"),
            row.natural(3, "grants"),
            row.number(4, "updated_unix_ms"),
            row.natural(5, "step"),
            row.natural(6, "rate"),
            row.text(7, "holder")};
  }

  static std::optional<SegmentInfo> read_segment(SqliteConnection& db, const std::string& name_space,
                                                 const std::string& tag) {
    SqliteStatement row(db, kSelectSegment, name_space, tag);
    return row.next() ? std::optional(segment_of(row)) : std::nullopt;
  }

  SegmentInfo must_read_segment(SqliteConnection& db, const std::string& name_space, const std::string& tag) const {
    std::optional<SegmentInfo> found = read_segment(db, name_space, tag);
    if (!found) throw_unknown(name_space, tag);
    return std::move(*found);
  }

  static SegmentInfo insert_segment(SqliteConnection& db, const std::string& name_space, const std::string& tag) {
    SegmentInfo row = new_segment(name_space, tag);
    SqliteStatement(db, "INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES(?1, ?2, 0, 0, ?3)",
                    name_space, tag, row.updated_unix_ms)
        .change_one_row();
    return row;
  }

  static void write_segment(SqliteConnection& db, const SegmentInfo& row) {
    SqliteStatement(db,
                    "UPDATE idgen_segment SET max_id = ?3, grants = ?4, updated_unix_ms = ?5, step = ?6, rate = ?7, "
                    "holder = ?8 WHERE ns = ?1 AND tag = ?2",
                    row.name_space, row.tag, row.max_id, row.grants, store_clock_unix_ms(), row.step, row.rate,
                    row.holder)
        .change_one_row();
  }

  static StoredWorker read_worker(SqliteConnection& db, const std::string& name_space, std::uint64_t worker) {
    SqliteStatement row(db, "SELECT id, epoch, owner, hw, holder FROM idgen_worker WHERE ns = ?1 AND worker = ?2",
                        name_space, worker);
    if (!row.next()) return {};
    StoredWorker found;
    found.id = row.number(0, "id");
    found.row.epoch = row.natural(1, "epoch");
    found.row.hw = row.number(3, "hw");
    found.row.holder = row.text(4, "holder");
    if (const std::optional<std::string> owner = row.blob(2, "owner")) {
      if (owner->size() != found.row.owner.size()) db.fail_damaged("owner is not a blob of 16 bytes");
      std::memcpy(found.row.owner.data(), owner->data(), owner->size());
      found.row.owned = true;
    }
    if (found.id <= 0) db.fail_damaged("worker row " + std::to_string(found.id) + " is not above 0");
    if (found.row.epoch == 0 || found.row.epoch >= kLargestNumber) {
      db.fail_damaged("epoch is " + std::to_string(found.row.epoch) + ", outside 1 to 2^63 - 2");
    }
    return found;
  }

  static void check_format(SqliteConnection& db, const WindowRequest& request) {
    {
      SqliteStatement row(db, "SELECT format FROM idgen_namespace WHERE ns = ?1", request.name_space);
      if (row.next()) {
        const std::string found = row.text(0, "format");
        if (found != request.format) throw_format_mismatch(request.name_space, found, request.format);
        return;
      }
    }
    SqliteStatement(db, "INSERT INTO idgen_namespace(ns, format) VALUES(?1, ?2)", request.name_space, request.format)
        .change_one_row();
  }

  Window acquire(const StoreGate::Pass& pass, const WindowRequest& request) {
    OwnerLockFile& owners = OwnerLockFile::beside(pass, path_);
    std::int64_t locked = 0;  // id of the row whose byte we have locked
    try {
      const Window window = transact(pass, access(), [&](SqliteConnection& db) {
        check_format(db, request);
        const StoredWorker found = read_worker(db, request.name_space, request.worker);
        // Inside the transaction nobody else can take the same new number.
        const std::int64_t id =
            found.id != 0 ? found.id : db.number("SELECT coalesce(max(id), 0) + 1 FROM idgen_worker");
        const pid_t other = owners.try_lock(id, request.name_space, request.worker);
        if (other != 0) throw_busy(request, found.row, other);
        locked = id;
        const Window granted = next_window(found.row, request);
        SqliteStatement(
            db,
            "INSERT INTO idgen_worker(id, ns, worker, epoch, owner, hw, holder) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) "
            "ON CONFLICT(id) DO UPDATE SET epoch = ?4, owner = ?5, hw = ?6, holder = ?7",
            id, request.name_space, request.worker, granted.epoch, request.owner, granted.end_ms, request.holder)
            .change_one_row();
        return granted;
      });
      acquired_in_this_process().push_back({request.name_space, request.worker, window.epoch});
      owners.own(locked, {request.name_space, request.worker, window.epoch, window.start_ms});
      return window;
    } catch (...) {
      if (locked != 0) owners.unlock(locked);
      throw;
    }
  }

  Window renew(const StoreGate::Pass& pass, const WindowRequest& request) {
    OwnerLockFile& owners = OwnerLockFile::beside(pass, path_);
    const OwnerLockFile::Owned* owned = owners.find(request.name_space, request.worker);
    return transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      check_format(db, request);
      const StoredWorker found = read_worker(db, request.name_space, request.worker);
      const bool is_ours = owned != nullptr && owned->epoch == request.epoch && found.row.owned &&
                           found.row.epoch == request.epoch && found.row.owner == request.owner;
      if (!is_ours) {
        // Taken over (the lock file must have been replaced): somebody else's life is not to be proved by our lock.
        if (owned != nullptr && (found.row.epoch != owned->epoch || !found.row.owned)) {
          owners.unlock(request.name_space, request.worker, owned->epoch);
        }
        throw_not_owner(request, found.row);
      }
      const Window granted = next_window(found.row, request);
      SqliteStatement(db, "UPDATE idgen_worker SET hw = ?1, holder = ?2 WHERE id = ?3", granted.end_ms, request.holder,
                      found.id)
          .change_one_row();
      return granted;
    });
  }

  void return_window(const StoreGate::Pass& pass, const std::string& name_space, std::uint64_t worker,
                     std::uint64_t epoch, std::int64_t end_ms, std::int64_t lowered) {
    transact(pass, SqliteAccess::write, [&](SqliteConnection& db) {
      const StoredWorker found = read_worker(db, name_space, worker);
      if (found.id == 0 || found.row.epoch != epoch) return;
      SqliteStatement(db, "UPDATE idgen_worker SET owner = NULL, hw = ?1 WHERE id = ?2",
                      found.row.hw == end_ms ? lowered : found.row.hw, found.id)
          .change_one_row();
    });
  }

  // REQUIRES: a transaction that writes.
  bool has_live_owner(const StoreGate::Pass& pass, std::int64_t id, const std::string& name_space,
                      std::uint64_t worker) const {
    if (id == 0) return false;
    OwnerLockFile& owners = OwnerLockFile::beside(pass, path_);
    if (owners.try_lock(id, name_space, worker) != 0) return true;
    owners.unlock(id);
    return false;
  }

  [[noreturn]] void throw_busy(const WindowRequest& request, const WorkerRow& row, pid_t other) const {
    const std::string process = "process " + std::to_string(other);
    std::string who = row.holder.empty() ? "a process" : row.holder;
    if (other == getpid()) {
      who += " (this process)";
    } else if (other > 0 && who.find(process) == std::string::npos) {
      who += " (live: " + process + " holds its lock)";
    } else {
      who += " (live)";
    }
    throw Error(Status::worker_busy,
                worker_name(request.name_space, request.worker) + " is owned by " + who +
                    "; stop it, or give this process another worker number. Store: sqlite:" + path_);
  }

  // What the parent acquired before a fork is not the child's to release.
  std::vector<Acquired>& acquired_in_this_process() {
    if (acquired_process_ != getpid()) {
      acquired_.clear();
      acquired_process_ = getpid();
    }
    return acquired_;
  }

  const std::string path_;
  const bool create_;
  const std::int64_t timeout_ms_;
  std::vector<Acquired> acquired_;  // under the gate
  pid_t acquired_process_ = 0;
};

std::string sqlite_store_identity(const std::string& rest, const StoreOptions& options) {
  return "sqlite:" + resolve_sqlite_path(rest, options.directory);
}

std::string sqlite_segment_statements(const std::string& name_space, const std::string& tag) {
  std::string text;
  for (const char* const statement : kSqliteSchema) text += std::string(statement) + ";\n";
  return text + "INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES(" +
         sql_text(name_space, "char") + ", " + sql_text(tag, "char") + ", 0, 0, " +
         std::to_string(store_clock_unix_ms()) + ");\n";
}

std::shared_ptr<Store> open_sqlite_store(const std::string& rest, const StoreOptions& options) {
  std::string path = resolve_sqlite_path(rest, options.directory);
  refuse_network_file_system(path);
  return std::make_shared<SqliteStore>(std::move(path), options);
}

}  // namespace idgen
