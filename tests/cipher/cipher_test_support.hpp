// A folder with key files, and configurations that name them.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

#include "idgen/cipher.hpp"
#include "store/store_test_support.hpp"

namespace idgen {

constexpr const char* kFirstKey = "2B7E151628AED2A6ABF7158809CF4F3C";
constexpr const char* kSecondKey = "000102030405060708090a0b0c0d0e0f";

class CipherFiles {
 public:
  // The path of a key file with these lines.
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = folder.file(name);
    chmod(path.c_str(), 0600);
    std::ofstream(path, std::ios::trunc) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  // Version 1 in "key", business64, a SQLite store of the folder's own; and what is given here.
  Config config(std::initializer_list<std::pair<const char*, std::string>> settings = {}) {
    if (!std::filesystem::exists(folder.file("key"))) write("key", std::string("1 ") + kFirstKey + "\n");
    Config made;
    made.set("layout", "business64");
    made.set("namespace", "shop");
    made.set("store", folder.url());
    made.set("store_create", "true");
    made.set("module.path", IDGEN_TEST_MODULES);
    made.set("cipher.key", "file:" + folder.file("key"));
    for (const auto& [key, value] : settings) made.set(key, value);
    return made;
  }

  const TempFolder folder;
};

inline void make(const Config& config) { const Cipher cipher(config); }
inline std::uint64_t hide(const Cipher& cipher, std::uint64_t id) {
  cipher.apply(false, &id, &id, 1);
  return id;
}
inline std::uint64_t reveal(const Cipher& cipher, std::uint64_t id) {
  cipher.apply(true, &id, &id, 1);
  return id;
}
inline std::uint64_t version_in(std::uint64_t business64) { return business64 >> 42 & 31; }

}  // namespace idgen
