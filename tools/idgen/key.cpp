// idgen key: the file with the keys of hidden ids.
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "command.hpp"
#include "output.hpp"
#include "settings.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

struct KeyArguments {
  Settings settings;
  std::string file;
  std::uint64_t version = 0;
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw IoError(one_line(path) + ": " + what);
}
[[noreturn]] void fail_with_errno(const std::string& path) { fail(path, std::generic_category().message(errno)); }

// A text that holds keys.
class Secret {
 public:
  std::string text;
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { explicit_bzero(text.data(), text.size()); }
};

void add_key(Secret& keys, std::uint64_t version) {
  unsigned char bytes[32];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) fail_with_errno("random numbers");
  keys.text.reserve(keys.text.size() + 128);  // so that no copy of them is left behind
  keys.text += std::to_string(version) + ' ';
  for (const unsigned char byte : bytes) {
    keys.text += "0123456789abcdef"[byte >> 4];
    keys.text += "0123456789abcdef"[byte & 15];
  }
  keys.text += '\n';
  explicit_bzero(bytes, sizeof bytes);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

void sync(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0) fail_with_errno(path);
  close(file);
}

// A file that did not exist before. No other user can read it at any moment. It is removed unless it is kept or
// renamed.
class NewFile {
 public:
  NewFile(std::string path, const std::string& if_there)
      : path_(std::move(path)), file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    if (file_ < 0 && errno == EEXIST) fail(path_, if_there);
    if (file_ < 0) fail_with_errno(path_);
  }
  ~NewFile() {
    close(file_);
    if (!is_kept_) unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }
  void write(const Secret& keys, mode_t mode) const {
    const bool is_written =
        fchmod(file_, mode) == 0 &&
        ::write(file_, keys.text.data(), keys.text.size()) == static_cast<ssize_t>(keys.text.size()) &&
        fsync(file_) == 0;
    if (!is_written) fail_with_errno(path_);
  }
  // On disk when these return.
  void keep() {
    is_kept_ = true;
    sync(folder_of(path_), O_RDONLY | O_DIRECTORY);
  }
  void rename_to(const std::string& path) {
    if (rename(path_.c_str(), path.c_str()) != 0) fail_with_errno(path);
    keep();
  }

 private:
  const std::string path_;
  const int file_;
  bool is_kept_ = false;
};

std::string checked(const Config& config) {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_cipher_check(config.get(), buffer, size, error);
  });
}

bool has_configuration(const Settings& settings) { return !settings.file().empty() || settings.gives_any(); }

// What the library says about the keys of a file by themselves: with any store, namespace and layout.
std::string checked(const std::string& file) {
  const Config config = make_config();
  set(config, "store", "memory:idgen key");
  set(config, "layout", "version:20 segment:42");
  set(config, "cipher.key", "file:" + file);
  return checked(config);
}

struct Version {
  std::uint64_t number;
  std::string state;  // "hides and reveals", "reveals", "retired, reveals only"
};

std::vector<Version> versions_in(const std::string& description) {
  constexpr std::string_view kBegin = "key version ";
  std::vector<Version> found;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kBegin)) continue;
    const std::size_t colon = line.find(": "), end = line.find(", check value");
    found.push_back({std::stoull(line.substr(kBegin.size())), line.substr(colon + 2, end - colon - 2)});
  }
  return found;
}

int create(const KeyArguments& arguments) {
  Secret keys;
  keys.text = "# Keys of hidden ids: VERSION HEXDIGITS [retired]. Add one with `idgen key rotate`.\n";
  add_key(keys, 1);
  NewFile file(arguments.file,
               "the file exists; a key that is in use is never overwritten. Add one with `idgen key rotate`");
  file.write(keys, 0400);
  file.keep();
  print(one_line(arguments.file) +
        ": key version 1. Keep a copy in a safe place: without it, no hidden id can be "
        "revealed\n");
  return kExitOk;
}

int check(const KeyArguments& arguments) {
  if (has_configuration(arguments.settings)) {
    const Config config = arguments.settings.make();
    if (!arguments.file.empty()) set(config, "cipher.key", "file:" + arguments.file);
    print(checked(config));
    return kExitOk;
  }
  if (arguments.file.empty()) throw UsageError("which keys? Name a key file, or a configuration with --config");
  for (const Version& version : versions_in(checked(arguments.file)))
    print("key version " + std::to_string(version.number) + ": " + version.state + '\n');
  return kExitOk;
}

// Replaces the file by one with the text that `change` makes of it, after the library has accepted that. The new file
// is the lock: it is made before anything is read, so that two changes at once never begin with the same text.
template <class Change>
void replace(const KeyArguments& arguments, Change&& change) {
  const std::string& path = arguments.file;
  NewFile next(path + ".new",
               "the file exists: another `idgen key` is at work, or one was interrupted. If none is, remove it");
  const std::vector<Version> before = versions_in(checked(path));  // also: it is ours alone
  Secret keys;
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0) fail_with_errno(path);
  keys.text.resize(static_cast<std::size_t>(found.st_size));
  const ssize_t got = read(file, keys.text.data(), keys.text.size());
  close(file);
  if (got != found.st_size) fail(path, "the file changed while it was read; try again");
  if (!keys.text.empty() && keys.text.back() != '\n') keys.text += '\n';
  change(keys, before);

  next.write(keys, found.st_mode & 0600);
  checked(next.path());
  if (has_configuration(arguments.settings)) {
    const Config config = arguments.settings.make();
    set(config, "cipher.key", "file:" + next.path());
    checked(config);
  }
  next.rename_to(path);
}

int rotate(const KeyArguments& arguments) {
  std::uint64_t added = 0;
  replace(arguments, [&](Secret& keys, const std::vector<Version>& versions) {
    added = versions.back().number + 1;  // above all others, the retired ones too: a number never gets a second key
    add_key(keys, added);
  });
  print(one_line(arguments.file) + ": added key version " + std::to_string(added) +
        ". Give the file to every process before the first one hides with it (cipher.version)\n");
  return kExitOk;
}

int retire(const KeyArguments& arguments) {
  const std::string number = std::to_string(arguments.version);
  replace(arguments, [&](Secret& keys, const std::vector<Version>& versions) {
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [&](const Version& each) { return each.number == arguments.version; });
    if (found == versions.end()) throw UsageError("there is no key version " + number + " in the file");
    if (found->state.starts_with("retired")) throw UsageError("key version " + number + " is retired already");
    for (std::size_t at = 0; at < keys.text.size();) {
      const std::size_t begin = keys.text.find_first_not_of(" \t", at), end = keys.text.find('\n', at);
      const std::size_t word = keys.text.find_first_of(" \t", begin);
      // As the library reads it: "01" is version 1, too.
      if (keys.text[begin] != '#' && word < end &&
          keys.text.substr(begin, word - begin).find_first_not_of("0123456789") == std::string::npos &&
          std::stoull(keys.text.substr(begin, word - begin)) == arguments.version) {
        keys.text.reserve(keys.text.size() + 16);
        keys.text.insert(end, " retired");
        return;
      }
      at = end + 1;
    }
  });
  print(one_line(arguments.file) + ": key version " + number + " is retired: it reveals, and hides no more\n");
  return kExitOk;
}

Option file_argument(KeyArguments& arguments, bool is_required = true) {
  return {.names = "FILE",
          .help = "The key file.",
          .target = &arguments.file,
          .value = Value::file,
          .is_required = is_required};
}

std::vector<Option> with_settings(KeyArguments& arguments, std::vector<Option> first) {
  return joined(std::move(first), arguments.settings.options({"store", "namespace", "layout"}));
}

Command new_command() {
  auto arguments = std::make_shared<KeyArguments>();
  return {
      .name = "new",
      .summary = "Make a key file with one random key.",
      .usage = {"FILE"},
      .details = R"(
The file has one line for each key version: the version, 64 hexadecimal digits, and perhaps the word "retired".
Its mode is 0400: only its owner can read it, and the library refuses any file that others can read. A file
that exists is never overwritten.
)",
      .examples = {"idgen key new /etc/shop/ids.key"},
      .options = {file_argument(*arguments)},
      .run = [arguments] { return create(*arguments); },
  };
}

Command check_command() {
  auto arguments = std::make_shared<KeyArguments>();
  return {
      .name = "check",
      .summary = "Check a key file, or the keys of a configuration with what its store remembers.",
      .usage = {"FILE", "[FILE] --config FILE [--name NAME]"},
      .details = R"(
FILE alone: its mode, its owner and every line, and which version would hide.

With a configuration: also that the versions fit its layout, and that the store remembers no other key by the
same number in its namespace. Prints what a process with this configuration would do, with the check value of
each key, which is the same for two processes exactly if their keys are. Changes nothing, and never prints a
key. FILE then takes the place of cipher.key.
)",
      .examples = {"idgen key check /etc/shop/ids.key", "idgen key check --config idgen.toml --name orders"},
      .options = with_settings(*arguments, {file_argument(*arguments, false)}),
      .run = [arguments] { return check(*arguments); },
  };
}

Command rotate_command() {
  auto arguments = std::make_shared<KeyArguments>();
  return {
      .name = "rotate",
      .summary = "Add a key version with a random key to a key file.",
      .usage = {"FILE [--config FILE [--name NAME]]"},
      .details = R"(
The new version is one above all others, the retired ones too. The others stay as they are. The file is
replaced in one step, with the mode that it had. With a configuration, the new file is refused if its versions
do not fit the layout.

A process that does not have the new key cannot reveal what another one hides with it. So first set
cipher.version to the old version everywhere, then hand the file to every process and have each reload its
keys, and then raise cipher.version. Ids of a layout without a version field cannot change their key.
)",
      .examples = {"idgen key rotate /etc/shop/ids.key --config idgen.toml --name orders"},
      .options = with_settings(*arguments, {file_argument(*arguments)}),
      .run = [arguments] { return rotate(*arguments); },
  };
}

Command retire_command() {
  auto arguments = std::make_shared<KeyArguments>();
  return {
      .name = "retire",
      .summary = "Mark a key version as retired: it reveals, and hides no more.",
      .usage = {"FILE VERSION"},
      .details = R"(
The line stays: without its key, the ids that were hidden by it cannot be revealed. Its number is never used
again.
)",
      .examples = {"idgen key retire /etc/shop/ids.key 1"},
      .options = {file_argument(*arguments),
                  {.names = "VERSION", .help = "The key version.", .target = &arguments->version, .is_required = true}},
      .run = [arguments] { return retire(*arguments); },
  };
}

}  // namespace

Command key_command() {
  return {
      .name = "key",
      .summary = "Make, check and rotate the keys of hidden ids.",
      .usage = {"new FILE", "check [FILE] [--config FILE]", "rotate FILE", "retire FILE VERSION"},
      .details = R"(
A hidden id shows neither how many ids there are nor when it was made. Its keys are in a file that only its
owner can read, one line for each key version.
)",
      .examples = {"idgen key new ids.key", "idgen key check ids.key", "idgen key rotate ids.key"},
      .commands = {new_command(), check_command(), rotate_command(), retire_command()},
  };
}

}  // namespace idgen_tool
