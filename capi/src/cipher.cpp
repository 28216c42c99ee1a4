#include "idgen/cipher.hpp"

#include "border.hpp"

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

idgen_status_t idgen_cipher_reload(idgen_cipher_t* cipher, idgen_error_t* err) {
  return guard_waiting(err, [&] { open_handle(cipher, "cipher").reload(); });
}

idgen_status_t idgen_cipher_describe(const idgen_cipher_t* cipher, char* buffer, size_t* size, idgen_error_t* err) {
  return guard(err, [&] { write_text(open_handle(cipher, "cipher").describe(), buffer, size); });
}

idgen_status_t idgen_cipher_check(const idgen_config_t* config, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] { write_text(describe_cipher(open_handle(config, "config")), buffer, size); });
}

}  // extern "C"
