#include "idgen/cipher.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "border.hpp"
#include "idgen/cipher.h"
#include "wide.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

template <class T>
idgen_status_t apply(const idgen_cipher_t* cipher, bool reveals, const T* in, T* out, size_t n, idgen_error_t* err) {
  return guard(err, [&] {
    const Cipher& found = open_handle(cipher, "cipher");
    if (n == 0) return;
    require(in, "the array of ids");
    require(out, "the array of results");
    if constexpr (sizeof(T) == 1) {
      found.apply_wide(reveals, in, out, n);
    } else {
      found.apply(reveals, in, out, n);
    }
  });
}

idgen_status_t apply(const idgen_cipher_t* cipher, bool reveals, const idgen_wide_id_t* in, idgen_wide_id_t* out,
                     size_t n, idgen_error_t* err) {
  return guard(err, [&] {
    const Cipher& found = open_handle(cipher, "cipher");
    if (n == 0) return;
    require(in, "the array of ids");
    require(out, "the array of results");
    std::vector<std::array<std::uint8_t, sizeof in->bytes>> ids(n);
    bool same_length = true;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t size = from_c(&in[i]).bytes;
      std::memcpy(ids[i].data() + ids[i].size() - size, in[i].bytes, size);
      same_length = same_length && size == in[0].size;
    }
    const std::size_t at_once = same_length ? n : 1;
    for (std::size_t i = 0; i < n; i += at_once)
      found.apply_wide(reveals, ids[i].data(), ids[i].data(), at_once, in[i].size);
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = in[i];
      std::memcpy(out[i].bytes, ids[i].data() + ids[i].size() - in[i].size, in[i].size);
    }
  });
}

}  // namespace

extern "C" {

idgen_status_t idgen_cipher_create(const idgen_config_t* config, idgen_cipher_t** out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    *out = new idgen_cipher(open_handle(config, "config"));
  });
}

idgen_status_t idgen_cipher_open(const char* toml_path, const char* name, idgen_cipher_t** out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    Config config;
    config.load(require(toml_path, "toml_path"), require(name, "name"));
    *out = new idgen_cipher(config);
  });
}

void idgen_cipher_destroy(idgen_cipher_t* cipher) {
  const NotCancellable here;
  if (cipher && cipher->is_intact()) delete cipher;
}

idgen_status_t idgen_cipher_hide(const idgen_cipher_t* cipher, uint64_t id, uint64_t* hidden, idgen_error_t* err) {
  return apply(cipher, false, &id, hidden, 1, err);
}

idgen_status_t idgen_cipher_reveal(const idgen_cipher_t* cipher, uint64_t hidden, uint64_t* id, idgen_error_t* err) {
  return apply(cipher, true, &hidden, id, 1, err);
}

idgen_status_t idgen_cipher_hide_batch(const idgen_cipher_t* cipher, const uint64_t* ids, uint64_t* hidden, size_t n,
                                       idgen_error_t* err) {
  return apply(cipher, false, ids, hidden, n, err);
}

idgen_status_t idgen_cipher_reveal_batch(const idgen_cipher_t* cipher, const uint64_t* hidden, uint64_t* ids, size_t n,
                                         idgen_error_t* err) {
  return apply(cipher, true, hidden, ids, n, err);
}

idgen_status_t idgen_cipher_hide_wide(const idgen_cipher_t* cipher, const uint8_t* ids, uint8_t* hidden, size_t n,
                                      idgen_error_t* err) {
  return apply(cipher, false, ids, hidden, n, err);
}

idgen_status_t idgen_cipher_reveal_wide(const idgen_cipher_t* cipher, const uint8_t* hidden, uint8_t* ids, size_t n,
                                        idgen_error_t* err) {
  return apply(cipher, true, hidden, ids, n, err);
}

idgen_status_t idgen_cipher_hide_wide_ids(const idgen_cipher_t* cipher, const idgen_wide_id_t* ids,
                                          idgen_wide_id_t* hidden, size_t n, idgen_error_t* err) {
  return apply(cipher, false, ids, hidden, n, err);
}

idgen_status_t idgen_cipher_reveal_wide_ids(const idgen_cipher_t* cipher, const idgen_wide_id_t* hidden,
                                            idgen_wide_id_t* ids, size_t n, idgen_error_t* err) {
  return apply(cipher, true, hidden, ids, n, err);
}

idgen_status_t idgen_cipher_reload(idgen_cipher_t* cipher, idgen_error_t* err) {
  return guard_waiting(err, [&] { open_handle(cipher, "cipher").reload(); });
}

idgen_status_t idgen_cipher_archive(const idgen_config_t* config, uint32_t version, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& found = open_handle(config, "config");
    if (version == 0) throw Error(Status::value, "key version 0: allowed from 1 on");
    Cipher::archive(found, version);
  });
}

idgen_status_t idgen_cipher_describe(const idgen_cipher_t* cipher, char* buffer, size_t* size, idgen_error_t* err) {
  return guard(err, [&] { write_text(open_handle(cipher, "cipher").describe(), buffer, size); });
}

idgen_status_t idgen_cipher_check(const idgen_config_t* config, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] { write_text(Cipher(open_handle(config, "config"), false).describe(), buffer, size); });
}

}  // extern "C"
