/* The interface between the library and the module of hidden ids, libidgen_cipher.so, which exports
 * idgen_module_cipher. As in module.h: plain C, and nothing but numbers, texts and functions crosses. A module of
 * another implementation (a hardware module, another permutation) can take its place.
 *
 * For authors of modules. Applications use idgen.h. */
#ifndef IDGEN_CIPHER_MODULE_H
#define IDGEN_CIPHER_MODULE_H

#include "idgen/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of this file: library and module must agree. */
#define IDGEN_CIPHER_MODULE_ABI 2

/* Where in an id what is. A field that the layout lacks has 0 bits. */
typedef struct idgen_cipher_shape {
  uint32_t id_bits;     /* of all fields together */
  uint32_t shift, bits; /* what is hidden: the segment field, or the whole id */
  uint32_t version_shift, version_bits;
  uint32_t gene_shift, gene_bits;
} idgen_cipher_shape;

/* One key version, as the host knows it. */
typedef void (*idgen_cipher_key_fn)(void *to, uint32_t version, const uint8_t *key, size_t size, int32_t retired);

/* What the library does for a module, whenever it reads its keys: during open and reload. */
typedef struct idgen_cipher_host {
  void *ctx;
  /* The keys as text, as in a key file; NULL unless cipher.key is an environment variable. */
  int32_t (*key_text)(void *ctx, idgen_module_text_fn text, void *to, idgen_module_error *err);
  /* The keys of the host; NULL unless it has set some. */
  int32_t (*keys)(void *ctx, idgen_cipher_key_fn each, void *to, idgen_module_error *err);
  /* Store::namespace_format of the store. */
  int32_t (*record)(void *ctx, const char *name, const char *value, idgen_module_text_fn text, void *to,
                    idgen_module_error *err);
} idgen_cipher_host;

/* An open cipher. Each function may be called from any thread, several at once; all return 0 or a status of idgen.h.
 * A failed call has written nothing. `out` may be `ids`. */
typedef struct idgen_module_cipher_t {
  void *ctx;
  int32_t (*apply)(void *ctx, int32_t reveals, const uint64_t *ids, uint64_t *out, size_t count,
                   idgen_module_error *err);
  /* Ids of 16 bytes, the most significant first. */
  int32_t (*apply_wide)(void *ctx, int32_t reveals, const uint8_t *ids, uint8_t *out, size_t count,
                        idgen_module_error *err);
  int32_t (*reload)(void *ctx, const idgen_cipher_host *host, idgen_module_error *err);
  int32_t (*describe)(void *ctx, idgen_module_text_fn text, void *to, idgen_module_error *err);
  void (*close)(void *ctx); /* wipes all keys */
} idgen_module_cipher_t;

typedef struct idgen_cipher_module {
  uint32_t abi; /* IDGEN_CIPHER_MODULE_ABI of the module */
  uint32_t reserved;
  const char *name; /* "cipher" */
  /* Settings: mode (ff1, chacha20, aes-ctr), namespace, version ("" = the highest that is not retired), key_file ("" =
   * the host has the keys), record (0: compares with what the store has, and writes nothing). */
  int32_t (*open)(const idgen_module_setting *settings, size_t count, const idgen_cipher_shape *shape,
                  const idgen_cipher_host *host, idgen_module_cipher_t *cipher, idgen_module_error *err);
  /* Frees the number of the key that has this version among the keys of the host, where it is retired: from then on the
   * store refuses that key, and takes another one by the number. Settings as of open; record = 0: only checks. */
  int32_t (*archive)(const idgen_module_setting *settings, size_t count, const idgen_cipher_shape *shape,
                     const idgen_cipher_host *host, uint32_t version, idgen_module_error *err);
} idgen_cipher_module;

#ifdef __cplusplus
}
#endif
#endif
