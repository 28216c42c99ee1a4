// An empty folder for one test, removed at the end. Tests run side by side, so none works in one that others know.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace idgen {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "idgen-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name + ": " + std::strerror(errno));
    path_ = std::filesystem::canonical(name).string();
    chmod(path_.c_str(), 0755);  // other users may search it too
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string url(const std::string& name = "ids.db") const { return "sqlite:" + file(name); }

 private:
  std::string path_;
};

}  // namespace idgen
