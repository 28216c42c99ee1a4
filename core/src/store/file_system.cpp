#include "store/file_system.hpp"

#include <sys/vfs.h>

#include <cstdio>
#include <optional>

#include "idgen/concat.hpp"
#include "idgen/status.hpp"
#include "store/new_file.hpp"

namespace idgen {

// Of a file, or of its folder if it does not exist; empty if neither does: using it reports that.
static std::optional<std::uint64_t> magic_of(const std::string& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0 && statfs(folder_of(path).c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_type);
}

FileSystemVerdict file_system_of(const std::string& path) {
  const std::optional<std::uint64_t> magic = magic_of(path);
  return magic ? classify_file_system(*magic) : FileSystemVerdict{FileSystemKind::local, ""};
}

void check_locks_work(const std::string& path, const std::string& subject, const std::string& advice) {
  const FileSystemVerdict found = file_system_of(path);
  if (found.kind != FileSystemKind::refused) return;
  std::string name = found.name;
  if (name.empty()) {
    char number[16];
    std::snprintf(number, sizeof number, "0x%08x", static_cast<unsigned>(magic_of(path).value_or(0)));
    name = std::string("a file system that idgen does not know (f_type ") + number + ")";
  }
  throw Error(Status::store_unsafe,
              concat({subject, " lies on ", name, ", where file locks and fsync are not reliable, ", advice}));
}

}  // namespace idgen
