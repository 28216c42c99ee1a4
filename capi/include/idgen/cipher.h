/*
 * Hidden ids.
 *
 * A plain id shows how many there are and when it was made. Its hidden form does not, and no two ids share one: show it
 * to customers, and keep the plain id as the key in the database. docs/hidden-ids.md says what this protects and what
 * not; a hidden id is never a permission.
 *
 * Of a layout with the fields segment and version, the segment is hidden. The gene stays, so that a hidden id can still
 * be routed, and the version field, 0 in a plain id, holds the key version (its largest number is kept for a later
 * extension). Of a layout without a version field, the segment field or, if it has none, the whole id is hidden. Such
 * ids keep one key version, and nothing tells a hidden id from a plain one.
 *
 * With on_full = widen a cipher also hides the ids of 16 bytes that follow those of 8, with the same keys: by
 * idgen_cipher_hide_wide_ids, for which an id's length says which of the two it is.
 *
 * The store keeps a check value of each key version, so a process with another key is refused. The module
 * libidgen_cipher.so does the work; without it, making a cipher fails with IDGEN_E_UNSUPPORTED.
 *
 * A cipher works in a forked child, too. A child reloads its keys only if it could also open the store.
 */
#ifndef IDGEN_CIPHER_H
#define IDGEN_CIPHER_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idgen_cipher idgen_cipher_t; /* hides ids, and reveals them */

/* Makes a cipher: reads the keys (cipher.key, or those of idgen_config_set_keys), and has the store keep their check
 * values, or compare them with those that it has. Reads layout, kind (for the layout, if none is set: segment
 * has 63 bits), namespace, store and cipher.*; the configuration is copied.
 * Errors: IDGEN_E_VALUE (cipher.version, or a version that the layout's field does not hold), IDGEN_E_CONFIG_FILE (the
 * keys: missing, malformed, too short, twice the same version; the file: readable by others, owned by another user, a
 * symbolic link), IDGEN_E_FORMAT_MISMATCH (another key than the namespace began with by the same number),
 * IDGEN_E_LAYOUT, IDGEN_E_UNSUPPORTED (the module is missing, or the layout has fewer than 20 bits to hide), 60..79,
 * from IDGEN_E_HOST on, any. Blocks: on the keys and on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_create(const idgen_config_t *config, idgen_cipher_t **out,
                                                             idgen_error_t *err);

/* idgen_cipher_create with the table [name] of a TOML file.
 * Errors: as idgen_config_load and idgen_cipher_create. Blocks: on the file, then as idgen_cipher_create. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_open(const char *toml_path, const char *name,
                                                           idgen_cipher_t **out, idgen_error_t *err);

/* Wipes the keys and frees the cipher.
 * Errors: none. Blocks: no. Threads: the caller makes sure that no other call on the handle is running. */
IDGEN_API void idgen_cipher_destroy(idgen_cipher_t *cipher);

/* The hidden form of an id.
 * Errors: IDGEN_E_VALUE (bits outside the layout, an id that is hidden already, every key version is retired),
 * IDGEN_E_UNSUPPORTED (a layout of more than 64 bits), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide(const idgen_cipher_t *cipher, uint64_t id, uint64_t *hidden,
                                                           idgen_error_t *err);

/* The id of a hidden form.
 * Errors: IDGEN_E_VALUE (bits outside the layout, an id that is not hidden, an unknown key version),
 * IDGEN_E_UNSUPPORTED (a layout of more than 64 bits), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal(const idgen_cipher_t *cipher, uint64_t hidden,
                                                             uint64_t *id, idgen_error_t *err);

/* The hidden forms of n ids; n = 0 does nothing. `hidden` may be `ids`. Several at once take far less time for each.
 * Errors: as idgen_cipher_hide; then nothing was written. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide_batch(const idgen_cipher_t *cipher, const uint64_t *ids,
                                                                 uint64_t *hidden, size_t n, idgen_error_t *err);

/* The ids of n hidden forms; n = 0 does nothing. `ids` may be `hidden`.
 * Errors: as idgen_cipher_reveal; then nothing was written. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal_batch(const idgen_cipher_t *cipher, const uint64_t *hidden,
                                                                   uint64_t *ids, size_t n, idgen_error_t *err);

/* The hidden forms of n ids of either length, as idgen_draw makes them; n = 0 does nothing. A hidden form has
 * as many bytes as its id. `hidden` may be `ids`.
 * Errors: as idgen_cipher_hide_batch, IDGEN_E_VALUE (a length that the layout's ids do not have, or 16 without
 * on_full = widen); then nothing was written. The message shows the id, and its number if all are of one length.
 * Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide_wide_ids(const idgen_cipher_t *cipher,
                                                                    const idgen_wide_id_t *ids, idgen_wide_id_t *hidden,
                                                                    size_t n, idgen_error_t *err);

/* The ids of n hidden forms of either length. `ids` may be `hidden`.
 * Errors: as idgen_cipher_reveal_batch and idgen_cipher_hide_wide_ids. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal_wide_ids(const idgen_cipher_t *cipher,
                                                                      const idgen_wide_id_t *hidden,
                                                                      idgen_wide_id_t *ids, size_t n,
                                                                      idgen_error_t *err);

/* idgen_cipher_hide_batch for a column of 16 bytes for each id, the most significant first. Takes every layout; an id
 * of 8 bytes has 8 zeros in front.
 * Errors: as idgen_cipher_hide_batch. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide_wide(const idgen_cipher_t *cipher, const uint8_t *ids,
                                                                uint8_t *hidden, size_t n, idgen_error_t *err);

/* idgen_cipher_reveal_batch for ids of 128 bits, as idgen_cipher_hide_wide.
 * Errors: as idgen_cipher_reveal_batch. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal_wide(const idgen_cipher_t *cipher, const uint8_t *hidden,
                                                                  uint8_t *ids, size_t n, idgen_error_t *err);

/* Reads the keys again, for a new key version or one that was retired. Other threads continue. After an error
 * the cipher has the keys that it had, except archived ones; with on_full = widen, perhaps for ids of one length only:
 * call it again. Earlier keys stay in memory until the cipher is destroyed.
 * Errors: as idgen_cipher_create, IDGEN_E_FORKED. Blocks: on the keys and on the store. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reload(idgen_cipher_t *cipher, idgen_error_t *err);

/* Frees the number of a key version in the store, so that another key can have it, and the store refuses the old key
 * from then on. The keys of `config` have that version, retired: they are a copy of its line, which is removed from all
 * other keys. The caller states that every process has reloaded its keys since, and that no form that the
 * version hid will be revealed any more. Does nothing if this key is archived already.
 * Errors: as idgen_cipher_create, IDGEN_E_VALUE (no such key, or not retired), IDGEN_E_FORMAT_MISMATCH (another key has
 * the number), IDGEN_E_UNSUPPORTED (the layout has no version field). Blocks: on the keys and on the store.
 * Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_archive(const idgen_config_t *config, uint32_t version,
                                                              idgen_error_t *err);

/* How ids are hidden, which key versions there are with their check values, and what is not protected: one item per
 * line. Holds no key.
 * Errors: IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_describe(const idgen_cipher_t *cipher, char *buffer, size_t *size,
                                                               idgen_error_t *err);

/* The same for a cipher that this configuration would make. Makes none, and writes nothing into the store: it only
 * compares the keys with what is there.
 * Errors: IDGEN_E_BUFFER, as idgen_cipher_create. Blocks: as idgen_cipher_create. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_check(const idgen_config_t *config, char *buffer, size_t *size,
                                                            idgen_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
