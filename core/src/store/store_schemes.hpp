// The kinds of store that a URL can name. A new kind is one more line in the table of open_store.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "idgen/store.hpp"

namespace idgen {

// `rest` is the URL after "scheme:"; "" if there is none.
struct StoreScheme {
  std::string_view name;   // "sqlite"
  std::string_view usage;  // "sqlite:PATH"
  // For a store inside this library.
  std::shared_ptr<Store> (*open)(const std::string& rest, const StoreOptions& options) = nullptr;
  std::string (*identity)(const std::string& rest, const StoreOptions& options) = nullptr;
  // For a store in a module: libidgen_MODULE.so, and the Debian package of its client library.
  std::string_view module = {};
  std::string_view package = {};
  // The schemas that it knows besides idgen's, separated by commas.
  std::string_view schemas = {};
  // The other generators whose numbers of workers it knows, separated by commas.
  std::string_view numbers = {};
  bool has_grant_log = false;
};

std::span<const StoreScheme> store_schemes() noexcept;

std::shared_ptr<Store> open_memory_store(const std::string& rest, const StoreOptions& options);
std::string memory_store_identity(const std::string& rest, const StoreOptions& options);

std::shared_ptr<Store> open_buffer_store(const std::string& rest, const StoreOptions& options);
std::string buffer_store_identity(const std::string& rest, const StoreOptions& options);
std::string buffer_segment_statements(const StoreOptions& options, const std::string& name_space,
                                      const std::string& tag);

std::shared_ptr<Store> open_sqlite_store(const std::string& rest, const StoreOptions& options);
std::string sqlite_store_identity(const std::string& rest, const StoreOptions& options);
std::string sqlite_segment_statements(const std::string& name_space, const std::string& tag);

}  // namespace idgen
