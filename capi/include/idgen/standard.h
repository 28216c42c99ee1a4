/*
 * Standard ids: UUIDs, ULIDs and ObjectIds.
 *
 * Ids in published forms, made without a generator, a worker or a store. Random bits take their place, drawn from the
 * kernel in each process, again in each child of a fork and after idgen_reset. So nothing reserves these ids: that two
 * processes make the same one is not impossible, only less likely than anything else that can fail.
 *
 * UUIDs of version 7, ULIDs and ObjectIds rise within a process, whatever thread makes them. If the clock is set back
 * by up to 10 s, or more of them are made than their counter has room for (2^19 a millisecond, 2^23 a second), their
 * time is ahead of the clock's. If it is set back by more, they start again at its time.
 */
#ifndef IDGEN_STANDARD_H
#define IDGEN_STANDARD_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDGEN_STANDARD_UUID 0      /* any version: not made here */
#define IDGEN_STANDARD_UUID4 1     /* 16 bytes: 122 random bits (RFC 9562) */
#define IDGEN_STANDARD_UUID7 2     /* 16 bytes: 48 bits of Unix ms, 20 of a counter, 54 random (RFC 9562) */
#define IDGEN_STANDARD_ULID 3      /* 16 bytes: 48 bits of Unix ms, 20 of a counter, 60 random (github.com/ulid/spec) */
#define IDGEN_STANDARD_OBJECT_ID 4 /* 12 bytes: 32 bits of Unix s, 40 of the process, 24 of a counter (MongoDB) */

/* Makes n ids, one after the other in `ids`, of 16 bytes each, or 12. Big-endian: memcmp orders them like their text.
 * Errors: IDGEN_E_ARGUMENT (standard), IDGEN_E_UNSUPPORTED (the kernel), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_make(int32_t standard, uint8_t *ids, size_t n,
                                                             idgen_error_t *err);

/* Writes one as text, at most 37 bytes with the NUL: a UUID in lower case with hyphens, a ULID in Crockford's base 32,
 * an ObjectId in lower-case hex.
 * Errors: IDGEN_E_ARGUMENT (standard), IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_format(int32_t standard, const uint8_t *id, char *buffer,
                                                               size_t *size, idgen_error_t *err);

/* Reads one from `length` bytes of text, in either case; SIZE_MAX: text is NUL-terminated. The length tells what it is
 * (36, or 32 without hyphens: a UUID; 26: a ULID; 24: an ObjectId), and so does *standard then. `id` has room for 16
 * bytes.
 * Errors: IDGEN_E_TEXT (foreign digit, wrong length, a ULID above 2^128: with the position), any. Blocks: no. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_parse(const char *text, size_t length, int32_t *standard,
                                                              uint8_t *id, idgen_error_t *err);

/* What the bits of one say. */
typedef struct idgen_standard_parts {
  uint32_t struct_size;
  int32_t standard;  /* of a UUID: by its version; IDGEN_STANDARD_UUID if that is neither 4 nor 7 */
  uint32_t version;  /* of a UUID, 0 to 15; else 0 */
  uint32_t is_rfc;   /* 0: a UUID of another variant than RFC 9562's, whose version says nothing */
  uint32_t has_time; /* UUIDs of versions 1, 6 and 7, ULIDs, ObjectIds */
  uint32_t counter;  /* of an ObjectId, 24 bits; else 0 */
  int64_t unix_ms;   /* if it has a time; of an ObjectId a whole second */
  uint64_t process;  /* of an ObjectId, 40 bits, the same in all of a process; else 0 */
} idgen_standard_parts_t;

#define IDGEN_STANDARD_PARTS_INIT \
  { sizeof(idgen_standard_parts_t), 0, 0, 0, 0, 0, 0, 0 }

/* Takes one apart. Which of the UUIDs `standard` is does not matter.
 * Errors: IDGEN_E_ARGUMENT (standard), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_decode(int32_t standard, const uint8_t *id,
                                                               idgen_standard_parts_t *parts, idgen_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
