// Hidden ids: the border to the module that hides and reveals them (idgen/cipher_module.h). Here is only what the
// module cannot know: the configuration, the layout and the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "idgen/cipher_module.h"
#include "idgen/config.hpp"

namespace idgen {

// Threads: all methods but the destructor may run concurrently.
class Cipher {
 public:
  // Reads the keys, and has the store keep or compare their check values. Throws Error{value, layout, unsupported,
  // config_file, format_mismatch, store_*}. May block.
  explicit Cipher(const Config& config);
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher();  // wipes all keys

  // Throws Error{value}; nothing was written then. `out` may be `ids`.
  void apply(bool reveals, const std::uint64_t* ids, std::uint64_t* out, std::size_t count) const;
  // Ids of 16 bytes, the most significant first.
  void apply_wide(bool reveals, const std::uint8_t* ids, std::uint8_t* out, std::size_t count) const;
  // Reads the keys again. After an error it goes on with those that it had. May block.
  void reload() IDGEN_RUNS_HOST_CODE;
  std::string describe() const;

 private:
  const Config config_;
  idgen_module_cipher_t module_{};
};

// What Cipher(config).describe() would say. Compares the keys with the store, and writes nothing.
std::string describe_cipher(const Config& config);

}  // namespace idgen
