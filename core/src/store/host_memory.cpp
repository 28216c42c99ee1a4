#include "store/host_memory.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "store/fork_gate.hpp"
#include "store/new_file.hpp"

namespace idgen {
namespace {

struct Range {
  std::uint64_t first = 0, last = 0;
};

// In the file: pairs of numbers with all their digits, `times_taken` and 0, then the ranges. Whatever is changed is
// overwritten in place, and no pair crosses the end of a sector of the disk, which is written or not. So after a power
// loss each pair is an old one or a new one, and all that were added since the last take() are still the host's.
constexpr std::size_t kDigits = 20;
constexpr std::size_t kPair = 2 * (kDigits + 1);
constexpr std::size_t kSector = 512;
constexpr std::size_t kPairsInSector = kSector / kPair;
constexpr std::size_t kSectors = 8;
constexpr std::size_t kPairs = kSectors * kPairsInSector;
using Text = std::array<char, kSectors * kSector>;

// What the file says.
struct Content {
  std::uint64_t times_taken = 0;
  std::size_t count = 0;
  std::array<Range, kPairs> ranges{};  // the highest `count`, the highest first, with gaps between them

  // Adds the range, or takes it out. Whether it had some of it.
  bool change(Range range, bool adds) {
    const Content before = *this;
    count = 0;
    const auto keep = [&](std::uint64_t first, std::uint64_t last) {
      if (first <= last && count < kPairs - 1) ranges[count++] = {first, last};
    };
    bool had_some = false;
    bool is_pending = adds;
    for (const Range& other : std::span(before.ranges.data(), before.count)) {
      had_some |= other.first <= range.last && range.first <= other.last;
      if (!adds) {
        keep(std::max(other.first, range.last + 1), other.last);
        keep(other.first, std::min(other.last, range.first - 1));
      } else if (other.first > range.last + 1 || other.last + 1 < range.first) {
        if (other.last < range.first && std::exchange(is_pending, false)) keep(range.first, range.last);
        keep(other.first, other.last);
      } else {
        range = {std::min(range.first, other.first), std::max(range.last, other.last)};
      }
    }
    if (is_pending) keep(range.first, range.last);
    return had_some;
  }
};

char* place(Text& text, std::size_t pair) {
  return text.data() + pair / kPairsInSector * kSector + pair % kPairsInSector * kPair;
}

void write_number(char* to, std::uint64_t number, char after) {
  to[kDigits] = after;
  for (std::size_t i = kDigits; i-- > 0; number /= 10) to[i] = static_cast<char>('0' + number % 10);
}

bool read_number(const char* from, std::uint64_t& number) {
  number = 0;
  for (std::size_t i = 0; i < kDigits; ++i) {
    if (from[i] < '0' || from[i] > '9') return false;
    number = number * 10 + static_cast<std::uint64_t>(from[i] - '0');
  }
  return true;
}

}  // namespace

// The file while nobody else reads or writes it.
class HostMemory::Locked {
 public:
  explicit Locked(const HostMemory& memory) : memory_(memory), path_(memory.path_) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(memory.timeout_ms_);
    while (!try_lock()) {
      if (std::chrono::steady_clock::now() >= give_up) {
        errno = EWOULDBLOCK;
        fail("locked");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~Locked() {
    flock(fd_, LOCK_UN);
    close(fd_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  // An empty file was just made, or will be made whole now. Damage is an error: it must not be taken for that.
  Content read() const {
    Text text;
    Content content;
    const ssize_t size = pread(fd_, text.data(), text.size(), 0);
    if (size < 0) fail("read");
    if (size == 0) {
      make();
      return content;
    }
    bool is_whole = static_cast<std::size_t>(size) == text.size();
    for (std::size_t pair = 0; is_whole && pair < kPairs; ++pair) {
      const char* const at = place(text, pair);
      Range range;
      is_whole = read_number(at, range.first) && read_number(at + kDigits + 1, range.last);
      if (pair == 0) {
        content.times_taken = range.first;
      } else if (range.last > 0) {
        content.change(range, true);
      }
    }
    if (is_whole) return content;
    throw Error(Status::store_damaged,
                concat({"witness: ", quote(path_),
                        " does not begin with pairs of numbers. If no store was restored, delete it"}));
  }
  // One write, which a process that is killed has made or not.
  void write(const Content& content) const {
    Text text;
    text.fill('\n');
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      Range range;
      if (pair == 0) range.first = content.times_taken;
      if (pair > 0 && pair <= content.count) range = content.ranges[pair - 1];
      write_number(place(text, pair), range.first, '-');
      write_number(place(text, pair) + kDigits + 1, range.last, '\n');
    }
    write(text.data(), text.size(), 0);
  }
  void sync() const {
    if (fdatasync(fd_) != 0) fail("synced");
  }

 private:
  // Whoever may use the folder may use the file, whoever makes it. Then it is synced: a power loss must not leave it
  // with zeros, which are damage.
  void make() const {
    struct stat folder {};
    if (stat(path_.substr(0, path_.rfind('/')).c_str(), &folder) == 0) {
      const bool is_given = fchown(fd_, geteuid() == 0 ? folder.st_uid : static_cast<uid_t>(-1), folder.st_gid) == 0;
      (void)fchmod(fd_, folder.st_mode & (is_given ? 0664 : 0644));
    }
    write(Content{});
    const std::string what = concat({"How often this host has given numbers back of ", memory_.tag_,
                                     ", and the ranges that it was granted and has not given back.\n"});
    write(what.data(), what.size(), sizeof(Text));
    sync();
  }
  void write(const char* from, std::size_t size, off_t at) const {
    errno = ENOSPC;  // if it is written in part
    if (pwrite(fd_, from, size, at) != static_cast<ssize_t>(size)) fail("written");
  }
  // Nobody waits with the right to use files, for which fork() waits: a child would have the descriptor too, and by it
  // the lock, for as long as it lives.
  bool try_lock() {
    pass_.emplace();
    fd_ = above_standard_streams(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (fd_ < 0) fail("opened");
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return true;
    const int error = errno;
    close(fd_);
    pass_.reset();
    errno = error;
    if (error != EWOULDBLOCK && error != EINTR) fail("locked");
    return false;
  }

  [[noreturn]] void fail(const char* what) const {
    const int error = errno;
    Status status = Status::store_unavailable;  // for now: too many files are open, for example
    if (error == EACCES || error == EPERM || error == EROFS || error == ELOOP || error == EISDIR)
      status = Status::store_permission;
    if (error == ENOENT || error == ENOTDIR) status = Status::store_missing;
    if (error == ENOSPC || error == EDQUOT) status = Status::store_full;
    const bool is_wrong = status == Status::store_permission || status == Status::store_missing;
    throw Error(status,
                concat({"witness: the file ", quote(path_), " cannot be ", what, " (",
                        error == EWOULDBLOCK ? "another process has held it all the time: `fuser` names it"
                                             : system_error_text(error),
                        is_wrong ? "). Name an existing folder on a disk of this host; all its processes that draw "
                                   "from the tag must be able to write there, and in that file"
                                 : ")"}));
  }

  const HostMemory& memory_;
  const std::string& path_;
  int fd_ = -1;
  std::optional<ForkGate::Pass> pass_;
};

HostMemory::HostMemory(std::string path, std::string tag, std::int64_t timeout_ms)
    : path_(std::move(path)), tag_(std::move(tag)), timeout_ms_(timeout_ms) {}

HostMemory::Look HostMemory::look() const {
  const Content content = Locked(*this).read();
  return {.highest = content.count == 0 ? 0 : content.ranges[0].last, .times_taken = content.times_taken};
}

bool HostMemory::add(std::uint64_t first, std::uint64_t last) const {
  const Locked file(*this);
  Content content = file.read();
  if (content.change({first, last}, true)) return false;
  file.write(content);
  return true;
}

void HostMemory::take(std::uint64_t first, std::uint64_t last) const {
  const Locked file(*this);
  Content content = file.read();
  content.change({first, last}, false);
  ++content.times_taken;
  file.write(content);
  file.sync();
}

}  // namespace idgen
