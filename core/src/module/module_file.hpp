// Which file a module may be loaded from. A module runs in this process. So it is loaded only from a folder that was
// configured or from one beside this library, and only if nobody could have put it there who could not also have
// replaced this library. Never from the working directory, and never through the loader's own search, because
// LD_LIBRARY_PATH may name the working directory. All of this is checked before the load; afterwards is too late.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "idgen/text.hpp"

namespace idgen {

// The file that this code was mapped from, according to the kernel; "" if that is unknown, or if the file is gone: the
// copy that a jar unpacks is deleted at once, and nothing else in its temporary folder is ours. (dladdr() only knows
// what the loader was told. For a program that is argv[0], which its caller chooses.)
inline std::string own_file() {
  static const char here = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(&here);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
  if (!maps) return "";
  char* line = nullptr;
  std::size_t room = 0;
  std::string found;
  while (getline(&line, &room, maps.get()) >= 0) {
    std::uintptr_t begin = 0, end = 0;
    int path = 0;
    // NOLINTNEXTLINE(cert-err34-c): the kernel's own
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &begin, &end, &path) < 2) continue;
    if (address < begin || address >= end || path == 0) continue;
    found = line + path;
    break;
  }
  std::free(line);  // NOLINT(cppcoreguidelines-no-malloc): getline()'s
  if (!found.empty() && found.back() == '\n') found.pop_back();
  return found.starts_with('/') && access(found.c_str(), F_OK) == 0 ? found : "";
}

inline std::string folder_of_file(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Who else may own a trusted file, besides root and us.
struct ModuleTrust {
  uid_t user = 0;              // whose process this is
  std::optional<uid_t> owner;  // of this library's own file
  std::optional<gid_t> group;  // that may write the folder of this library's own file
};

inline ModuleTrust module_trust(const std::string& own) {
  ModuleTrust trust{.user = geteuid(), .owner = std::nullopt, .group = std::nullopt};
  struct stat file {
  }, folder{};
  if (own.empty() || stat(own.c_str(), &file) != 0 || stat(folder_of_file(own).c_str(), &folder) != 0) return trust;
  trust.owner = file.st_uid;
  if ((folder.st_mode & S_IWGRP) != 0) trust.group = folder.st_gid;
  return trust;
}

// The parts of a path, from the last one upwards.
enum class ModulePart { file, folder, above };

// Why this part of a module's path may be under somebody else's control; "" if it is not.
inline std::string module_objection(const struct stat& found, ModulePart part, const ModuleTrust& trust) {
  const bool is_ours = found.st_uid == 0 || found.st_uid == trust.user || found.st_uid == trust.owner;
  if (!is_ours) {
    return "belongs to the user with the number " + std::to_string(found.st_uid) +
           "; allowed: root, the user of this process (" + std::to_string(trust.user) + ") and the owner of libidgen";
  }
  // In a sticky folder, such as a temporary one, nobody else can rename or remove what is ours.
  if (part == ModulePart::above && (found.st_mode & S_ISVTX) != 0) return "";
  if ((found.st_mode & S_IWOTH) != 0) return "is writable by everybody; change that with `chmod o-w`";
  if ((found.st_mode & S_IWGRP) != 0 && found.st_gid != trust.group)
    return "is writable by the group with the number " + std::to_string(found.st_gid) +
           "; change that with `chmod g-w`";
  return "";
}

// Why the module at `path` (a real path) must not be loaded, as the end of a sentence; "" if it may be. Checks the
// file, its folder and the folders above, whose owners could replace it. It stops at a folder that also contains this
// library: anyone who could replace that could also have replaced this library.
inline std::string module_objection(const std::string& path, const std::string& own) {
  const ModuleTrust trust = module_trust(own);
  ModulePart part = ModulePart::file;
  for (std::string at = path;; at = folder_of_file(at)) {
    if (part != ModulePart::file && own.starts_with(at + '/')) return "";
    const std::string name = at.empty() ? "/" : at;
    struct stat found {};
    const std::string objection = stat(name.c_str(), &found) != 0
                                      ? "cannot be looked at: " + std::generic_category().message(errno)
                                      : module_objection(found, part, trust);
    if (!objection.empty()) {
      return (part == ModulePart::file     ? "it "
              : part == ModulePart::folder ? "its folder "
                                           : in_quotes(name) + ", which is above it, ") +
             objection;
    }
    if (at.empty()) return "";
    part = part == ModulePart::file ? ModulePart::folder : ModulePart::above;
  }
}

}  // namespace idgen
