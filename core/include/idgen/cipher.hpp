// Hidden ids: the border to the module that hides and reveals them (idgen/cipher_module.h). Here is only what the
// module cannot know: the configuration, the layout and the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "idgen/cipher_module.h"
#include "idgen/config.hpp"
#include "idgen/layout.hpp"

namespace idgen {

// Threads: all methods but the destructor may run concurrently.
class Cipher {
 public:
  // Reads the keys, and has the store keep or compare their check values. Throws Error{value, layout, unsupported,
  // config_file, format_mismatch, store_*}. May block. Without `records` the store is only compared with.
  explicit Cipher(const Config& config, bool records = true);
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher();  // wipes all keys

  // Throws Error{value}; nothing was written then. `out` may be `ids`.
  void apply(bool reveals, const std::uint64_t* ids, std::uint64_t* out, std::size_t count) const;
  // Ids in 16 bytes, the most significant first. With `id_bytes`, 8 or 16, ids of that length: with on_full = widen,
  // those of 16 are of the layout that ids are widened to. Without, ids of the layout.
  void apply_wide(bool reveals, const std::uint8_t* ids, std::uint8_t* out, std::size_t count,
                  std::optional<unsigned> id_bytes = {}) const;
  // Frees the number of a retired key version in the store. The configuration has the keys with that version, such as a
  // copy of its line; nobody else has it any more. Throws as the constructor does. May block.
  static void archive(const Config& config, std::uint32_t version);
  // Reads the keys again. After an error it goes on with those that it had, except archived ones. May block.
  void reload() IDGEN_RUNS_HOST_CODE;
  std::string describe() const;

 private:
  Cipher(const Config& config, const Layout& layout, bool records);

  const Config config_;
  const Layout layout_;
  idgen_module_cipher_t module_;
  idgen_module_cipher_t widened_{};  // of the ids of 16 bytes that follow those of 8; none without on_full = widen
};

}  // namespace idgen
