// Paths that mean the same files after the program has changed its working directory.
#pragma once

#include <limits.h>
#include <unistd.h>

#include <string>

namespace idgen {

// `path` from the root; "": the working directory. If that is gone, a relative path stays as it is, and opening it
// fails with the reason.
//
// TRAP: std::filesystem's does the same, but leaks where there is no memory (libstdc++ 12).
inline std::string absolute_path(const std::string& path) {
  char here[PATH_MAX];
  if (path.starts_with('/') || getcwd(here, sizeof here) == nullptr) return path;
  std::string text = here;
  if (!path.empty()) text.append("/").append(path);
  return text;
}

}  // namespace idgen
