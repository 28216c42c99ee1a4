// idgen key: the file with the keys of hidden ids.
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "idgen/system_calls.hpp"
#include "shared/command.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

struct KeyArguments {
  Settings settings;
  std::string file;
  std::string kept;  // where the line of a retired version goes
  std::uint64_t version = 0;
  bool archives = false, is_confirmed = false;
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
  ~Secret() { idgen::wipe_memory(text.data(), text.size()); }
};

void add_key(Secret& keys, std::uint64_t version) {
  unsigned char bytes[32];
  if (!idgen::random_bytes(bytes, sizeof bytes)) fail_with_errno("random numbers");
  keys.text.reserve(keys.text.size() + 128);  // so that no copy of them is left behind
  keys.text += std::to_string(version) + ' ';
  for (const unsigned char byte : bytes) {
    keys.text += "0123456789abcdef"[byte >> 4];
    keys.text += "0123456789abcdef"[byte & 15];
  }
  keys.text += '\n';
  idgen::wipe_memory(bytes, sizeof bytes);
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

// The file that a shell means by this name, whatever folder the configuration is in.
std::string key_in(const std::string& file) { return "file:" + std::filesystem::absolute(file).string(); }

// What the library says about keys by themselves: with any store and layout.
std::string checked_alone(const Config& config) {
  set(config, "store", "memory:idgen key");
  set(config, "layout", "version:20 segment:42");
  set(config, "cipher.version", "");
  return checked(config);
}
std::string checked(const std::string& file) {
  const Config config = make_config();
  set(config, "cipher.key", key_in(file));
  return checked_alone(config);
}

struct Version {
  std::uint64_t number;
  std::string state;  // "hides and reveals", "reveals", "retired, reveals only"
  std::string check_value;

  bool is_retired() const { return state.starts_with("retired"); }
};

std::vector<Version> versions_in(const std::string& description) {
  constexpr std::string_view kBegin = "key version ", kCheck = ", check value ";
  std::vector<Version> found;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kBegin)) continue;
    const std::size_t colon = line.find(": "), end = line.find(kCheck);
    found.push_back({std::stoull(line.substr(kBegin.size())), line.substr(colon + 2, end - colon - 2),
                     line.substr(end + kCheck.size())});
  }
  return found;
}

const Version* find(const std::vector<Version>& versions, std::uint64_t number) {
  const auto found =
      std::find_if(versions.begin(), versions.end(), [&](const Version& each) { return each.number == number; });
  return found == versions.end() ? nullptr : &*found;
}
const Version& version_of(const KeyArguments& arguments, const std::vector<Version>& versions) {
  const Version* const found = find(versions, arguments.version);
  if (found == nullptr)
    throw UsageError("there is no key version " + std::to_string(arguments.version) + " in the file");
  return *found;
}

using Numbers = std::vector<std::uint64_t>;

// Which key versions a layout holds and a store has archived. One line for ids of 8 bytes, one for ids of 16.
struct Room {
  std::uint64_t most = UINT64_MAX;
  Numbers archived;  // for either
  Numbers free;      // for both
};

Room room_in(const std::string& description) {
  constexpr std::string_view kBegin = "key versions: 1 to ";
  const auto numbers_after = [](const std::string& line, std::string_view label) {
    Numbers found;
    std::istringstream text(line.substr(line.find(label) + label.size()));
    for (std::uint64_t number; text >> number; text.ignore()) found.push_back(number);  // "none": none
    return found;
  };
  Room room;
  bool is_first = true;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kBegin)) continue;
    room.most = std::min<std::uint64_t>(room.most, std::stoull(line.substr(kBegin.size())));
    const Numbers archived = numbers_after(line, "archived: "), free = numbers_after(line, "another key: ");
    room.archived.insert(room.archived.end(), archived.begin(), archived.end());
    if (std::exchange(is_first, false)) room.free = free;
    std::erase_if(room.free,
                  [&](std::uint64_t number) { return std::find(free.begin(), free.end(), number) == free.end(); });
  }
  return room;
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
    if (!arguments.file.empty()) set(config, "cipher.key", key_in(arguments.file));
    print(checked(config));
    return kExitOk;
  }
  if (arguments.file.empty()) throw UsageError("which keys? Name a key file, or a configuration with --config");
  for (const Version& version : versions_in(checked(arguments.file)))
    print("key version " + std::to_string(version.number) + ": " + version.state + '\n');
  return kExitOk;
}

// Replaces the file by one with the text that `change` makes of it, after the library has accepted that, and after
// `before_it_counts`. The new file is the lock: it is made before anything is read, so that two changes at once never
// begin with the same text.
template <class Change, class BeforeItCounts>
void replace(const KeyArguments& arguments, Change&& change, BeforeItCounts&& before_it_counts) {
  const std::string& path = arguments.file;
  NewFile next(path + ".new",
               "the file exists: another `idgen key` is at work, or one was interrupted. If none is, remove it");
  const std::vector<Version> before = versions_in(checked(path));  // also: it is ours alone
  Secret keys;
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0) fail_with_errno(path);
  keys.text.reserve(static_cast<std::size_t>(found.st_size) + 256);  // a larger text would leave a copy of the keys
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
    set(config, "cipher.key", key_in(next.path()));
    checked(config);
  }
  before_it_counts(found.st_mode & 0600);
  next.rename_to(path);
}
template <class Change>
void replace(const KeyArguments& arguments, Change&& change) {
  replace(arguments, change, [](mode_t) {});
}

// One above all others, the retired and the archived ones too. Where the layout holds no higher one, the lowest that
// was archived and that no key has.
std::uint64_t next_version(const KeyArguments& arguments, const std::vector<Version>& versions) {
  std::uint64_t highest = versions.back().number;
  if (!has_configuration(arguments.settings)) return highest + 1;
  const Config config = arguments.settings.make();
  set(config, "cipher.key", key_in(arguments.file));
  const Room room = room_in(checked(config));
  for (const std::uint64_t number : room.archived) highest = std::max(highest, number);
  if (highest >= room.most)
    for (const std::uint64_t number : room.free)
      if (find(versions, number) == nullptr) return number;
  return highest + 1;  // which the library refuses, if the layout does not hold it
}

int rotate(const KeyArguments& arguments) {
  std::uint64_t added = 0;
  replace(arguments, [&](Secret& keys, const std::vector<Version>& versions) {
    added = next_version(arguments, versions);
    add_key(keys, added);
  });
  const std::string number = std::to_string(added);
  std::string higher;
  for (const Version& each : versions_in(checked(arguments.file)))
    if (each.number > added && !each.is_retired()) higher = std::to_string(each.number);
  print(one_line(arguments.file) + ": added key version " + number +
        ". Give the file to every process before the first one hides with it (cipher.version)" +
        (higher.empty() ? "" : ". Then set cipher.version = " + number + ": without it, version " + higher + " hides") +
        "\n");
  return kExitOk;
}

// Where the line of a version begins and ends, its line end included.
std::pair<std::size_t, std::size_t> line_of(const Secret& keys, std::uint64_t version) {
  constexpr const char* kBlank = " \t\r";
  for (std::size_t at = 0; at < keys.text.size();) {
    const std::size_t begin = keys.text.find_first_not_of(kBlank, at), end = keys.text.find('\n', at);
    const std::size_t word = keys.text.find_first_of(kBlank, begin);
    // As the library reads it: "01" is version 1, too.
    if (keys.text[begin] != '#' && word < end &&
        keys.text.substr(begin, word - begin).find_first_not_of("0123456789") == std::string::npos &&
        std::stoull(keys.text.substr(begin, word - begin)) == version)
      return {at, end + 1};
    at = end + 1;
  }
  throw UsageError("there is no line of key version " + std::to_string(version) + " in the file");
}

int retire(const KeyArguments& arguments) {
  const std::string number = std::to_string(arguments.version);
  replace(arguments, [&](Secret& keys, const std::vector<Version>& versions) {
    if (version_of(arguments, versions).is_retired()) throw UsageError("key version " + number + " is retired already");
    keys.text.reserve(keys.text.size() + 16);
    keys.text.insert(line_of(keys, arguments.version).second - 1, " retired");
  });
  print(one_line(arguments.file) + ": key version " + number + " is retired: it reveals, and hides no more\n");
  return kExitOk;
}

// The line is on disk in its own file before it is gone from the other one.
int move_line(const KeyArguments& arguments) {
  const std::string number = std::to_string(arguments.version);
  Secret line;
  NewFile kept(arguments.kept, "the file exists; a key is never overwritten. Name another one");
  replace(
      arguments,
      [&](Secret& keys, const std::vector<Version>& versions) {
        if (!version_of(arguments, versions).is_retired()) {
          throw UsageError("key version " + number + " is in use; retire it first with `idgen key retire " +
                           one_line(arguments.file) + " " + number + "`");
        }
        if (versions.size() == 1)
          throw UsageError("key version " + number + " is the only one in the file; add one with `idgen key rotate`");
        const auto [begin, end] = line_of(keys, arguments.version);
        const auto at = keys.text.begin();
        std::rotate(at + static_cast<std::ptrdiff_t>(begin), at + static_cast<std::ptrdiff_t>(end), keys.text.end());
        const std::size_t left = keys.text.size() - (end - begin);
        line.text.assign(keys.text, left);
        idgen::wipe_memory(keys.text.data() + left, end - begin);
        keys.text.resize(left);
      },
      [&](mode_t mode) {
        kept.write(line, mode);
        kept.keep();
      });
  print(one_line(arguments.file) + ": the line of key version " + number + " is in " + one_line(arguments.kept) +
        " now. Give the file to every process, and have each reload its keys. Until the key is archived, rotate only "
        "with --config, which counts its number\n");
  return kExitOk;
}

bool is_in_memory(std::string store) {
  if (store.starts_with("jdbc:")) store.erase(0, 5);
  return store == "memory" || store.starts_with("memory:");
}

int archive(const KeyArguments& arguments) {
  const std::string number = std::to_string(arguments.version);
  if (!has_configuration(arguments.settings))
    throw UsageError("--archive needs the store that remembers the key: give a configuration with --config");
  if (is_in_memory(value(arguments.settings.make(), "store"))) {
    throw UsageError(
        "the store is in memory, and each process has its own, so this command cannot tell the others. With such a "
        "store a process takes another key by this number after a restart");
  }
  const auto alone = [&](const std::string& keys) {
    const Config config = arguments.settings.make();
    if (!keys.empty()) set(config, "cipher.key", keys);
    return versions_in(checked_alone(config));
  };
  const std::vector<Version> versions = alone(key_in(arguments.file));
  const Version& archived = version_of(arguments, versions);
  const std::string first =
      "First move its line out with `idgen key retire --move-to`, hand the file around, and have "
      "every process reload its keys";
  for (const Version& each : versions) {
    if (!each.is_retired()) {
      throw UsageError("key version " + std::to_string(each.number) + " of " + one_line(arguments.file) +
                       " is not retired, so the file is one that processes use, or a copy of it. Version " + number +
                       " must be in a separate file. " + first);
    }
  }
  if (!value(arguments.settings.make(), "cipher.key").empty()) {
    const std::vector<Version> in_use = alone("");
    const Version* const same = find(in_use, arguments.version);
    if (same != nullptr && same->check_value == archived.check_value)
      throw UsageError("cipher.key of the configuration still has this key version " + number + ". " + first);
  }
  if (!arguments.is_confirmed) {
    throw UsageError("nothing was changed. A process that still has this key version " + number +
                     ", and a form that it hid, would give wrong ids once another key has the number, and idgen cannot "
                     "see either. If every process has reloaded its keys without it, and no form of it is needed any "
                     "more, add --yes");
  }
  const Config config = arguments.settings.make();
  set(config, "cipher.key", key_in(arguments.file));
  ErrorSlot error;
  check(idgen_cipher_archive(config.get(), static_cast<std::uint32_t>(arguments.version), error), error);
  print("namespace " + one_line(value(config, "namespace")) + ": key version " + number +
        " is archived: the store refuses this key. Its number is free, unless another key has it already\n");
  return kExitOk;
}

int retire_or_more(const KeyArguments& arguments) {
  if (arguments.archives) return archive(arguments);
  if (arguments.settings.gives_any() || !arguments.settings.file().empty() || arguments.is_confirmed)
    throw UsageError("a configuration and --yes belong to --archive");
  return arguments.kept.empty() ? retire(arguments) : move_line(arguments);
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
The new version is one above all others in the file, the retired ones too. The others stay as they are. The
file is replaced in one step, with the mode that it had.

With a configuration, the new file is refused if its versions do not fit the layout, and numbers that its store
has archived count among the others. Once the layout holds no higher one, the lowest of these that is free is
used. The highest version that is not retired hides, so then cipher.version must name the new one. Always
give the configuration where a line was moved or removed.

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
      .summary = "Mark a key version as retired: it reveals, and hides no more. Later, free its number.",
      .usage = {"FILE VERSION", "FILE VERSION --move-to KEPT",
                "KEPT VERSION --archive --config FILE [--name NAME] --yes"},
      .details = R"(
The line stays: without its key, the ids that were hidden by it cannot be revealed.

A layout holds a limited number of versions, business64 30. When no form of a retired version is needed any
more, its number can be freed in two steps. --move-to moves its line to a separate file; every process then
reloads its keys. --archive has the store refuse that key from then on, and take another one by its number. It
reads the key from that file or any copy of it, and changes no file. Repeat it for each namespace and layout
that the keys serve. docs/hidden-ids.md has the steps.
)",
      .examples = {"idgen key retire /etc/shop/ids.key 1",
                   "idgen key retire /etc/shop/ids.key 1 --move-to /root/ids-1.key",
                   "idgen key retire /root/ids-1.key 1 --archive --config idgen.toml --name orders --yes"},
      .options = with_settings(
          *arguments,
          {file_argument(*arguments),
           {.names = "VERSION", .help = "The key version.", .target = &arguments->version, .is_required = true},
           {.names = "--move-to",
            .placeholder = "KEPT",
            .help = "Move the line of a retired version to a new file.",
            .target = &arguments->kept,
            .value = Value::file},
           {.names = "--archive",
            .help = "Free the number of this key in the store of the configuration.",
            .target = &arguments->archives,
            .excludes = "--move-to"},
           {.names = "--yes",
            .help = "No process has the key any more, and no form that it hid is needed.",
            .target = &arguments->is_confirmed}}),
      .run = [arguments] { return retire_or_more(*arguments); },
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
