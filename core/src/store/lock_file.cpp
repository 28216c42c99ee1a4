#include "store/lock_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "idgen/system_calls.hpp"
#include "runtime/process_image.hpp"
#include "store/new_file.hpp"

#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#endif
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37  // Linux 3.15; hidden by headers without _GNU_SOURCE
#endif

namespace idgen {

static Error lock_file_error(const std::string& path, const char* doing, int error) {
  Status status = Status::store_unavailable;
  if (error == EACCES || error == EPERM || error == EROFS) status = Status::store_permission;
  if (error == ENOSPC || error == EDQUOT) status = Status::store_full;
  if (error == ELOOP) status = Status::store_unsafe;
  return Error(status,
               concat({"cannot ", doing, " \"", path, "\", the lock file of the store: ", system_error_text(error),
                       ". Every user of the store must be able to read and write this file"}));
}

// --------------------------------------------------------------------------------------------------------- the witness

static constexpr std::string_view kWitnessStore = "idgen store ";
static constexpr std::string_view kWitnessCommits = " commits ";
static constexpr std::size_t kIdentityDigits = 32;
static constexpr std::size_t kCommitsDigits = 19;  // of 2^63 - 1
static constexpr std::size_t kWitnessSize =
    kWitnessStore.size() + kIdentityDigits + kWitnessCommits.size() + kCommitsDigits + 1;

// Always of the same length, so that it is overwritten in one piece.
static std::string witness_text(const StoreWitness& witness) {
  std::string commits = std::to_string(witness.commits);
  commits.insert(0, kCommitsDigits - std::min(commits.size(), kCommitsDigits), '0');
  return std::string(kWitnessStore) + witness.identity + std::string(kWitnessCommits) + commits + "\n";
}

static std::optional<StoreWitness> parse_witness(std::string_view text) {
  if (text.size() < kWitnessSize) return std::nullopt;
  text = text.substr(0, kWitnessSize);  // a stray write behind it is not ours
  if (!text.starts_with(kWitnessStore) || text.back() != '\n') return std::nullopt;
  StoreWitness witness;
  witness.identity = text.substr(kWitnessStore.size(), kIdentityDigits);
  if (witness.identity.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
  text.remove_prefix(kWitnessStore.size() + kIdentityDigits);
  if (!text.starts_with(kWitnessCommits)) return std::nullopt;
  const char* const first = text.data() + kWitnessCommits.size();
  const char* const last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(first, last, witness.commits);
  if (error != std::errc() || end != last) return std::nullopt;
  return witness;
}

// The file's content, in a buffer that needs no allocation, because the descriptor must be closed before the content is
// parsed.
struct WitnessText {
  char bytes[kWitnessSize];
  ssize_t size;
  explicit WitnessText(int fd) noexcept : size(pread(fd, bytes, sizeof bytes, 0)) {}
  std::optional<StoreWitness> parse() const {
    return size < 0 ? std::nullopt : parse_witness({bytes, static_cast<std::size_t>(size)});
  }
};

// ------------------------------------------------------------------------------------------------ the open descriptors

// The fork handler walks this list: entries are added and reused, never removed, so it needs no lock.
struct LockFile::Descriptor {
  std::atomic<bool> taken{true};
  std::atomic<int> fd{-1};  // written last: the entry is valid from then on
  std::uint64_t image = 0;  // process_image() of who opened it
  dev_t device = 0;
  ino_t inode = 0;
  off_t mark = 0;
  Descriptor* next = nullptr;

  static inline std::atomic<Descriptor*> all{nullptr};

  static Descriptor* add() {
    for (Descriptor* entry = all.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
      bool taken = false;
      if (entry->taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) return entry;
    }
    auto* const entry = new Descriptor;
    entry->next = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return entry;
  }

  // Comparing the file is not enough: the host may have opened it too. The offset belongs to the description, nobody
  // reads or writes at it, and ours is drawn at random.
  bool is_ours(int number) const noexcept {
    struct stat at {};
    return number >= 0 && fstat(number, &at) == 0 && at.st_dev == device && at.st_ino == inode &&
           lseek(number, 0, SEEK_CUR) == mark;
  }

  void close() noexcept {
    // Forgotten afterwards: a child that is made in between closes its copy.
    const int number = fd.load(std::memory_order_acquire);
    if (is_ours(number)) ::close(number);
    fd.store(-1, std::memory_order_release);
    taken.store(false, std::memory_order_release);
  }
};

// An offset that the host's descriptors do not have by chance; below 2 GiB, which every file system can address.
static off_t random_mark() {
  std::uint32_t bits = 0;
  if (!random_bytes(&bits, sizeof bits)) {
    throw Error(Status::internal, "the kernel gave no random bytes (getrandom failed)");
  }
  return (off_t{1} << 30) + static_cast<off_t>(bits & 0x3fffffff);
}

// Runs in a child at once, before the host's code opens files under our numbers. Calls nothing that could wait or
// allocate.
void LockFile::close_inherited() noexcept {
  const std::uint64_t here = process_image_if_known();
  for (Descriptor* entry = Descriptor::all.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
    if (entry->fd.load(std::memory_order_acquire) >= 0 && entry->image != here) entry->close();
  }
}

const int LockFile::registered_ = pthread_atfork(nullptr, nullptr, close_inherited);

// ------------------------------------------------------------------------------------------------------------ the file

std::optional<LockFile> LockFile::open(const std::string& path, bool or_read_only) {
  if (registered_ != 0) throw std::bad_alloc();
  // A raw clone() runs no fork handler: its inherited descriptors are closed when it first gets here.
  static constinit std::atomic<std::uint64_t> cleaned{0};
  const std::uint64_t here = process_image();
  if (cleaned.exchange(here) != here) close_inherited();

  LockFile file(path, nullptr);
  Descriptor* const entry = file.descriptor_ = Descriptor::add();  // given back if we fail
  entry->image = here;
  entry->mark = random_mark();
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = above_standard_streams(::open(path.c_str(), O_RDWR | kFlags));
  if (fd < 0 && or_read_only && (errno == EACCES || errno == EROFS))
    fd = above_standard_streams(::open(path.c_str(), O_RDONLY | kFlags));
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  struct stat at {};
  if (fd < 0 || fstat(fd, &at) != 0 || lseek(fd, entry->mark, SEEK_SET) != entry->mark) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    throw lock_file_error(path, "open", error);
  }
  entry->device = at.st_dev;
  entry->inode = at.st_ino;
  entry->fd.store(fd, std::memory_order_release);
  return file;
}

void LockFile::make(const std::string& database, const StoreWitness& witness) {
  const std::string path = lock_path_of(database);
  struct stat info {};
  const bool known = stat(database.c_str(), &info) == 0;
  const mode_t mode = known ? info.st_mode & 0666 : 0644;
  NewFile file(path);
  const int fd = file.open(mode);
  if (fd < 0) throw lock_file_error(path, "make", errno);
  // As accessible as the database itself, so that everybody who may use one may use the other. Only root can give a
  // file away, but everybody may give one to a group of their own. If neither is possible, a later refusal names the
  // file.
  const bool is_given = known && geteuid() == 0 && fchown(fd, info.st_uid, info.st_gid) == 0;
  if (known && !is_given && fchown(fd, static_cast<uid_t>(-1), info.st_gid) != 0) errno = 0;
  if (fchmod(fd, mode) != 0) errno = 0;
  const std::string text = witness_text(witness);
  errno = 0;  // a short write sets none
  const bool written = pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  const int write_error = errno != 0 ? errno : ENOSPC;
  ::close(fd);
  if (!written) throw lock_file_error(path, "write", write_error);
  const int error = file.move_to(path);
  if (error != 0 && error != EEXIST) throw lock_file_error(path, "make", error);
}

std::optional<StoreWitness> LockFile::witness_at(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  const WitnessText text(fd);
  ::close(fd);
  return text.parse();
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, nullptr)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  close();
  path_ = std::move(other.path_);
  descriptor_ = std::exchange(other.descriptor_, nullptr);
  return *this;
}

void LockFile::close() noexcept {
  if (descriptor_ != nullptr) std::exchange(descriptor_, nullptr)->close();
}

static struct flock lock_of(short type, std::int64_t byte, std::int64_t length = 1) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = length;
  return lock;
}

bool LockFile::try_lock(std::int64_t byte, std::int64_t length) const {
  if (!is_open()) throw lock_file_error(path_, "lock a byte of", EBADF);
  const int fd = descriptor_->fd.load(std::memory_order_relaxed);
  const bool writable = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
  struct flock lock = lock_of(writable ? F_WRLCK : F_RDLCK, byte, length);
  while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
    if (errno == EINTR) continue;
    if (errno == EACCES || errno == EAGAIN) return false;
    if (errno == EINVAL) {
      throw Error(Status::unsupported,
                  concat({"this kernel has no locks of open file descriptions (F_OFD_SETLK, Linux 3.15), "
                          "which keep the store at \"",
                          path_, "\" safe; use a store over a network"}));
    }
    throw lock_file_error(path_, "lock a byte of", errno);
  }
  return true;
}

std::int64_t LockFile::locked_length(std::int64_t byte) const noexcept {
  struct flock lock = lock_of(F_WRLCK, byte);
  const bool is_known = fcntl(descriptor_->fd.load(std::memory_order_relaxed), F_OFD_GETLK, &lock) == 0;
  return is_known && lock.l_type != F_UNLCK ? lock.l_len : 0;
}

void LockFile::unlock(std::int64_t byte, std::int64_t length) const noexcept {
  if (!is_open()) return;
  struct flock lock = lock_of(F_UNLCK, byte, length);
  while (fcntl(descriptor_->fd.load(std::memory_order_relaxed), F_OFD_SETLK, &lock) != 0 && errno == EINTR) {
  }
}

bool LockFile::is_open() const noexcept {
  return descriptor_ != nullptr && descriptor_->is_ours(descriptor_->fd.load(std::memory_order_relaxed));
}

bool LockFile::is_at(const std::string& path) const noexcept {
  struct stat at {};
  return lstat(path.c_str(), &at) == 0 && at.st_dev == descriptor_->device && at.st_ino == descriptor_->inode;
}

StoreWitness LockFile::witness() const {
  if (std::optional<StoreWitness> witness = WitnessText(descriptor_->fd.load(std::memory_order_relaxed)).parse())
    return *witness;
  throw Error(Status::store_damaged,
              concat({"the lock file \"", path_,
                      "\" does not hold what idgen writes into it. Stop all users of the store, make sure that the "
                      "database is not an older copy, then delete the lock file: it is made again"}));
}

void LockFile::note(const StoreWitness& witness) const {
  if (!is_open()) throw lock_file_error(path_, "write", EBADF);  // the host closed it: the number may be reused
  const std::string text = witness_text(witness);
  const ssize_t written = pwrite(descriptor_->fd.load(std::memory_order_relaxed), text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size())) throw lock_file_error(path_, "write", written < 0 ? errno : ENOSPC);
}

}  // namespace idgen
