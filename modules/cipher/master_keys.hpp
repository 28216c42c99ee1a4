// The master keys, as they come from a file, an environment variable or the host. No message here ever holds a part of
// one.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "secret.hpp"

namespace idgen::cipher {

constexpr std::size_t kLeastKeyBytes = 16, kMostKeyBytes = 64;
constexpr std::size_t kMostKeys = 1024;
constexpr std::uint32_t kMostVersion = (1u << 24) - 1;  // as the tweak holds it

struct MasterKey {
  std::uint32_t version;
  bool is_retired;  // reveals, but hides no more
  std::size_t size;
  std::uint8_t bytes[kMostKeyBytes];
};

class MasterKeys {
 public:
  // Throws Error{config_file}. `where` names the key: "key file '/etc/idgen/key', line 3". TRAP: in a line with a
  // typing error, what looks like its version may be a part of the key. So the number is not shown.
  void add(const std::string& where, std::uint64_t version, const std::uint8_t* bytes, std::size_t size, bool retired) {
    if (version == 0 || version > kMostVersion)
      fail(where + ": the version is out of range; allowed: 1 to " + std::to_string(kMostVersion));
    if (size < kLeastKeyBytes || size > kMostKeyBytes) {
      fail(where + ": the key has " + std::to_string(size) + " bytes; allowed: " + std::to_string(kLeastKeyBytes) +
           " to " + std::to_string(kMostKeyBytes));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (keys()[i].version == version)
        fail(where + ": the version is there twice. A version number is never given a second key; use the next number");
    }
    if (count_ == kMostKeys) fail(where + ": more than " + std::to_string(kMostKeys) + " key versions");
    MasterKey& added = keys()[count_++];
    added = {.version = static_cast<std::uint32_t>(version), .is_retired = retired, .size = size, .bytes = {}};
    std::memcpy(added.bytes, bytes, size);
  }

  // Lines "VERSION HEXDIGITS [retired]"; empty lines and those that begin with '#' say nothing. An environment variable
  // may have ';' in place of line ends.
  void parse(const std::string& where, std::string_view text, bool has_semicolons) {
    for (std::size_t line = 1; !text.empty(); ++line) {
      const std::size_t end = text.find_first_of(has_semicolons ? ";\n" : "\n");
      parse_line(where + ", line " + std::to_string(line), text.substr(0, end));
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    if (count_ == 0) fail(where + ": no key; a line is \"VERSION HEXDIGITS\", and `idgen key new` makes a file");
  }

  void read_file(const std::string& path) {
    const std::string where = "key file " + in_quotes(path);
    const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
      if (errno == ELOOP) fail(where + ": it is a symbolic link, which somebody else could turn; name the file itself");
      if (errno == ENOENT) fail(where + ": there is no such file; `idgen key new` makes one");
      fail(where + ": it cannot be opened: " + std::generic_category().message(errno));
    }
    struct Closer {
      int file;
      ~Closer() { close(file); }
    } const closer{file};
    struct stat found {};
    if (fstat(file, &found) != 0) fail(where + ": " + std::generic_category().message(errno));
    if (!S_ISREG(found.st_mode)) fail(where + ": it is not a regular file");
    if (found.st_uid != geteuid()) {
      fail(where + ": it belongs to the user with the number " + std::to_string(found.st_uid) +
           "; a key file must belong to the user of this process (" + std::to_string(geteuid()) + ")");
    }
    if ((found.st_mode & 07177) != 0) {
      char mode[8];
      std::snprintf(mode, sizeof mode, "%04o", found.st_mode & 07777u);
      fail(where + ": its mode is " + mode +
           (found.st_mode & 077 ? ", so others than its owner can read or change it" : "") +
           "; allowed: 0400 or 0600. Run `chmod 400` on it, and if others could read it, make a new key version");
    }
    const SecretPages text(64 * 1024);
    std::size_t size = 0;
    for (;;) {
      const ssize_t got = read(file, static_cast<char*>(text.data()) + size, text.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(where + ": it cannot be read: " + std::generic_category().message(errno));
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
      if (size == text.size()) fail(where + ": it is larger than 64 KiB, too large for a key file");
    }
    parse(where, {static_cast<const char*>(text.data()), size}, false);
  }

  std::size_t count() const noexcept { return count_; }
  const MasterKey& at(std::size_t index) const noexcept { return keys()[index]; }

 private:
  [[noreturn]] static void fail(const std::string& message) { throw Error(Status::config_file, message); }

  static std::string_view word(std::string_view& line) {
    constexpr const char* kBlank = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    const std::string_view found = line.substr(0, line.find_first_of(kBlank));
    line.remove_prefix(found.size());
    return found;
  }
  static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  }

  void parse_line(const std::string& where, std::string_view line) {
    const std::string_view first = word(line);
    if (first.empty() || first.front() == '#') return;
    const std::string_view hex = word(line), state = word(line), rest = word(line);
    std::uint64_t version = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), version);
    // Nothing of the line is shown: whatever is wrong with it, it may hold a key.
    if (error != std::errc() || end != first.data() + first.size())
      fail(where + ": it does not begin with a version number; a line is \"VERSION HEXDIGITS [retired]\"");
    if ((!state.empty() && state != "retired") || !rest.empty())
      fail(where + ": after the key only the word 'retired' may follow");
    if (hex.size() < 2 * kLeastKeyBytes || hex.size() > 2 * kMostKeyBytes || hex.size() % 2 != 0) {
      fail(where + ": the key has " + std::to_string(hex.size()) + " hexadecimal digits; allowed: " +
           std::to_string(2 * kLeastKeyBytes) + " to " + std::to_string(2 * kMostKeyBytes) + ", two for each byte");
    }
    Wiped<std::uint8_t[kMostKeyBytes]> bytes;
    for (std::size_t i = 0; i < hex.size(); ++i) {
      const int value = digit(hex[i]);
      if (value < 0) {
        fail(where + ": the key has no hexadecimal digit at position " + std::to_string(i + 1));
      }
      bytes.value[i / 2] = static_cast<std::uint8_t>(bytes.value[i / 2] << 4 | value);
    }
    add(where, version, bytes.value, hex.size() / 2, state == "retired");
  }

  MasterKey* keys() const noexcept { return static_cast<MasterKey*>(pages_.data()); }

  const SecretPages pages_{kMostKeys * sizeof(MasterKey)};
  std::size_t count_ = 0;
};

}  // namespace idgen::cipher
