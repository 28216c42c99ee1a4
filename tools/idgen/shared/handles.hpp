// Owners of the handles of the C ABI, and of text that the library writes to a buffer.
#pragma once

#include <idgen/cipher.h>
#include <idgen/idgen.h>
#include <idgen/route.h>

#include <memory>
#include <string>

#include "shared/failure.hpp"

namespace idgen_tool {

template <auto Destroy>
struct Destroyer {
  void operator()(auto* handle) const noexcept { Destroy(handle); }
};

using Config = std::unique_ptr<idgen_config_t, Destroyer<idgen_config_destroy>>;
using Generator = std::unique_ptr<idgen_t, Destroyer<idgen_destroy>>;
using Layout = std::unique_ptr<idgen_layout_t, Destroyer<idgen_layout_destroy>>;
using Pattern = std::unique_ptr<idgen_pattern_t, Destroyer<idgen_pattern_destroy>>;
using Cipher = std::unique_ptr<idgen_cipher_t, Destroyer<idgen_cipher_destroy>>;
using RouteTable = std::unique_ptr<idgen_route_table_t, Destroyer<idgen_route_table_destroy>>;

inline Config make_config() {
  idgen_config_t* config = nullptr;
  ErrorSlot error;
  check(idgen_config_create(&config, error), error);
  return Config(config);
}

inline void set(const Config& config, const std::string& key, const std::string& value) {
  ErrorSlot error;
  check(idgen_config_set(config.get(), key.c_str(), value.c_str(), error), error);
}

inline Generator make_generator(const Config& config) {
  ErrorSlot error;
  idgen_t* generator = nullptr;
  check(idgen_create(config.get(), &generator, error), error);
  return Generator(generator);
}

inline Layout make_layout(const std::string& text, const std::string& epoch = "") {
  ErrorSlot error;
  idgen_layout_t* layout = nullptr;
  check(idgen_layout_create(text.c_str(), epoch.c_str(), &layout, error), error);
  return Layout(layout);
}

// How a generator of this configuration writes its ids.
inline Pattern pattern_of(const Config& config) {
  ErrorSlot error;
  idgen_pattern_t* pattern = nullptr;
  check(idgen_pattern_of(config.get(), &pattern, error), error);
  return Pattern(pattern);
}

// years_left counts from `now_unix_ms`; INT64_MIN = the system's clock.
inline idgen_layout_info_t info_of(const Layout& layout, std::int64_t now_unix_ms = INT64_MIN) {
  ErrorSlot error;
  idgen_layout_info_t info{};
  info.struct_size = sizeof info;
  check(idgen_layout_info(layout.get(), now_unix_ms, &info, error), error);
  return info;
}

// Calls a function of the form (char* buffer, size_t* size, idgen_error_t*) until the buffer is large enough.
template <typename Call>
std::string read_text(Call call) {
  std::string text(256, '\0');
  for (;;) {
    ErrorSlot error;
    std::size_t size = text.size();
    const idgen_status_t status = call(text.data(), &size, error);
    if (status == IDGEN_E_BUFFER && size > text.size()) {
      text.resize(size);
      continue;
    }
    check(status, error);
    text.resize(size ? size - 1 : 0);  // the NUL is counted
    return text;
  }
}

inline std::string written(const Pattern& pattern, const idgen_wide_id_t& id) {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_pattern_format(pattern.get(), &id, buffer, size, error);
  });
}
inline idgen_text_parts_t read_by(const Pattern& pattern, const std::string& text) {
  ErrorSlot error;
  idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
  check(idgen_pattern_parse(pattern.get(), text.data(), text.size(), &parts, error), error);
  return parts;
}

// A property's value.
inline std::string value(const Config& config, const char* key) {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_get(config.get(), key, buffer, size, error);
  });
}

}  // namespace idgen_tool
