/* Hidden ids through idgen.h. What comes out is tested in tests/cipher and by the vectors of every language. */
#include <idgen/cipher.h>
#include <idgen/host.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

static const char kKeys[] = "1 2B7E151628AED2A6ABF7158809CF4F3C\n";

static void write_text_to(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (!CHECK(file != NULL)) return;
  fputs(text, file);
  fclose(file);
  chmod(path, 0600);
}

static idgen_config_t *hiding_config(void) {
  return config_with("store", "memory:hidden", "layout", "business64", "namespace", "shop", "cipher.key", "file:keys",
                     NULL);
}

static idgen_cipher_t *cipher_from(idgen_config_t *config) {
  idgen_cipher_t *cipher = NULL;
  CHECK_ERR(IDGEN_OK, idgen_cipher_create(config, &cipher, &err));
  idgen_config_destroy(config);
  return cipher;
}

static void ids_hide_and_come_back(void) {
  idgen_cipher_t *cipher = cipher_from(hiding_config());
  uint64_t hidden = 0, id = 0, some[100], out[100];
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide(cipher, 5, &hidden, &err));
  CHECK(hidden != 5);
  CHECK(hidden >> 42 == 1); /* gene 0, key version 1 */
  CHECK_ERR(IDGEN_OK, idgen_cipher_reveal(cipher, hidden, &id, &err));
  CHECK(id == 5);
  for (uint64_t i = 0; i < 100; ++i) some[i] = i;
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide_batch(cipher, some, out, 100, &err));
  CHECK(out[5] == hidden);
  CHECK_ERR(IDGEN_OK, idgen_cipher_reveal_batch(cipher, out, out, 100, &err));
  CHECK(memcmp(some, out, sizeof some) == 0);
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide_batch(cipher, NULL, NULL, 0, &err));

  uint8_t wide[16] = {0}, wide_hidden[16];
  wide[15] = 5;
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide_wide(cipher, wide, wide_hidden, 1, &err));
  uint64_t low = 0;
  for (int i = 8; i < 16; ++i) low = low << 8 | wide_hidden[i];
  CHECK(low == hidden);
  CHECK_ERR(IDGEN_OK, idgen_cipher_reveal_wide(cipher, wide_hidden, wide_hidden, 1, &err));
  CHECK(memcmp(wide, wide_hidden, sizeof wide) == 0);

  id = 7;
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_hide(cipher, hidden, &id, &err));
  CHECK_SAYS("is hidden already");
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_reveal(cipher, 5, &id, &err));
  CHECK_SAYS("is not hidden");
  wide[0] = 1;
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_hide_wide(cipher, wide, wide_hidden, 1, &err));
  CHECK_SAYS("bits outside the layout");
  CHECK(id == 7);
  idgen_cipher_destroy(cipher);
}

static void ids_of_either_length_hide_by_their_length(void) {
  idgen_cipher_t *cipher = cipher_from(config_with("store", "memory:widened", "layout", "business64", "namespace",
                                                   "shop", "cipher.key", "file:keys", "on_full", "widen", NULL));
  idgen_wide_id_t ids[3] = {IDGEN_WIDE_ID_INIT, IDGEN_WIDE_ID_INIT, IDGEN_WIDE_ID_INIT}, hidden[3];
  for (int i = 0; i < 3; ++i) {
    ids[i].size = i == 1 ? 16 : 8;
    ids[i].bytes[ids[i].size - 1] = 5;
  }
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide_wide_ids(cipher, ids, hidden, 3, &err));
  CHECK(hidden[0].size == 8 && hidden[1].size == 16);
  CHECK(memcmp(&hidden[0], &hidden[2], sizeof hidden[0]) == 0);
  CHECK(memcmp(hidden[0].bytes, hidden[1].bytes + 8, 8) != 0);
  CHECK_ERR(IDGEN_OK, idgen_cipher_reveal_wide_ids(cipher, hidden, hidden, 3, &err));
  CHECK(memcmp(hidden, ids, sizeof ids) == 0);
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide_wide_ids(cipher, NULL, NULL, 0, &err));

  /* One that is refused leaves all as they were. */
  ids[1].bytes[0] = 0xFF;
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_hide_wide_ids(cipher, ids, hidden, 3, &err));
  CHECK_SAYS("id 338953138925153547590470800371487866885 has bits outside the layout");
  ids[1].size = 9;
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_hide_wide_ids(cipher, ids, hidden, 3, &err));
  CHECK_SAYS("8 or 16 bytes");
  CHECK(hidden[0].bytes[7] == 5);
  idgen_cipher_destroy(cipher);
}

static void what_is_missing_is_said(void) {
  idgen_cipher_t *cipher = NULL;
  idgen_config_t *config = hiding_config();
  uint64_t id = 7;
  size_t size = 0;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_create(config, NULL, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_create(NULL, &cipher, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_archive(NULL, 1, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_archive(config, 0, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_cipher_archive(config, 1, &err));
  CHECK_SAYS("key version 1 is not retired");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_open(NULL, "x", &cipher, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_open("x.toml", NULL, &cipher, &err));
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_cipher_open("x.toml", "x", &cipher, &err));
  idgen_cipher_t *wrong[] = {NULL, (idgen_cipher_t *)config};
  for (int i = 0; i < 2; ++i) {
    const uint8_t wide[16] = {0};
    uint8_t out[16];
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_hide(wrong[i], 5, &id, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_reveal(wrong[i], 5, &id, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_hide_batch(wrong[i], &id, &id, 1, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_reveal_batch(wrong[i], &id, &id, 1, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_hide_wide(wrong[i], wide, out, 1, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_reveal_wide(wrong[i], wide, out, 1, &err));
    idgen_wide_id_t either = IDGEN_WIDE_ID_INIT;
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_hide_wide_ids(wrong[i], &either, &either, 1, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_reveal_wide_ids(wrong[i], &either, &either, 1, &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_reload(wrong[i], &err));
    CHECK_ERR(IDGEN_E_HANDLE, idgen_cipher_describe(wrong[i], NULL, &size, &err));
    CHECK_ERR(IDGEN_E_HANDLE,
              idgen_cipher_check((idgen_config_t *)(i == 0 ? NULL : (void *)cipher), NULL, &size, &err));
    idgen_cipher_destroy(wrong[i]);
  }
  CHECK(id == 7 && cipher == NULL);
  cipher = cipher_from(config);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_hide(cipher, 5, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_hide_batch(cipher, NULL, &id, 1, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_reveal_batch(cipher, &id, NULL, 1, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_hide_wide_ids(cipher, NULL, NULL, 1, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_cipher_describe(cipher, NULL, NULL, &err));
  idgen_cipher_destroy(cipher);
}

static void descriptions_hold_no_key(void) {
  char text[4096];
  size_t size = sizeof text;
  idgen_config_t *config = hiding_config();
  CHECK_ERR(IDGEN_OK, idgen_cipher_check(config, text, &size, &err));
  CHECK(strstr(text, "key version 1: hides and reveals") != NULL);
  CHECK(strstr(text, "2B7E") == NULL);
  CHECK(size == strlen(text) + 1);
  idgen_cipher_t *cipher = cipher_from(config);
  size = 10;
  CHECK_ERR(IDGEN_E_BUFFER, idgen_cipher_describe(cipher, text, &size, &err));
  CHECK_ERR(IDGEN_OK, idgen_cipher_describe(cipher, text, &size, &err));
  CHECK(strstr(text, "NIST SP 800-38G") != NULL);
  idgen_cipher_destroy(cipher);
}

struct key_service {
  int reads, released, fails;
  uint32_t versions;
};

static idgen_status_t read_keys(void *ctx, idgen_key_fn each, void *keys, idgen_error_t *err) {
  struct key_service *service = ctx;
  const uint8_t key[32] = {1, 2, 3};
  ++service->reads;
  if (service->fails) {
    snprintf(err->message, sizeof err->message, "the vault is sealed");
    return IDGEN_E_HOST + 3;
  }
  for (uint32_t version = 1; version <= service->versions; ++version) each(keys, version, key, sizeof key, 0);
  return IDGEN_OK;
}
static void release_keys(void *ctx) { ++((struct key_service *)ctx)->released; }

static void keys_of_the_host(void) {
  struct key_service service = {.versions = 1};
  idgen_keys_t keys = {.struct_size = sizeof keys, .release = release_keys};
  idgen_config_t *config = hiding_config();
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "namespace", "vault", &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_keys(config, &keys, &service, &err));
  CHECK_SAYS("keys.read");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_keys(config, NULL, &service, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_set_keys(NULL, &keys, &service, &err));
  CHECK(service.released == 0);
  keys.read = read_keys;
  CHECK_ERR(IDGEN_OK, idgen_config_set_keys(config, &keys, &service, &err));
  idgen_cipher_t *cipher = cipher_from(config);
  uint64_t hidden = 0;
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide(cipher, 5, &hidden, &err));
  service.versions = 2;
  CHECK_ERR(IDGEN_OK, idgen_cipher_reload(cipher, &err));
  CHECK_ERR(IDGEN_OK, idgen_cipher_hide(cipher, 5, &hidden, &err));
  CHECK(hidden >> 42 == 2);
  service.fails = 1;
  CHECK_ERR(IDGEN_E_HOST + 3, idgen_cipher_reload(cipher, &err));
  CHECK_SAYS("the vault is sealed");
  CHECK(service.reads == 3 && service.released == 0);
  idgen_cipher_destroy(cipher);
  CHECK(service.released == 1);
}

void hidden_ids(void) {
  write_text_to("keys", kKeys);
  ids_hide_and_come_back();
  ids_of_either_length_hide_by_their_length();
  what_is_missing_is_said();
  descriptions_hold_no_key();
  keys_of_the_host();
}
