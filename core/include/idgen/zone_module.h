/* The interface between the library and the module of time zones, libidgen_zone.so, which exports idgen_module_zone. As
 * in module.h: plain C, and nothing but numbers, texts and functions crosses.
 *
 * For authors of modules. Applications use idgen.h. */
#ifndef IDGEN_ZONE_MODULE_H
#define IDGEN_ZONE_MODULE_H

#include "idgen/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of this file: library and module must agree. */
#define IDGEN_ZONE_MODULE_ABI 1

/* A time in which the clocks of a zone are not changed. */
typedef struct idgen_zone_span {
  int64_t from_s, until_s; /* Unix seconds, the latter exclusive */
  int64_t offset_s;        /* what its clocks show, minus UTC */
} idgen_zone_span;

/* An open zone. The functions may be called from any thread, several at once. */
typedef struct idgen_module_zone_t {
  void *ctx;
  int32_t (*at)(void *ctx, int64_t unix_s, idgen_zone_span *span, idgen_module_error *err);
  void (*close)(void *ctx);
} idgen_module_zone_t;

typedef struct idgen_zone_module {
  uint32_t abi; /* IDGEN_ZONE_MODULE_ABI of the module */
  uint32_t reserved;
  const char *name; /* "zone" */
  /* zone: a name of the tz database, "Europe/Berlin". Fails with the status VALUE if it has none of that name. */
  int32_t (*open)(const char *zone, idgen_module_zone_t *out, idgen_module_error *err);
} idgen_zone_module;

#ifdef __cplusplus
}
#endif
#endif
