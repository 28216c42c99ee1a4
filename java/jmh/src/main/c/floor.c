// The floors: a JNI call that does nothing, and the library's own cost without JNI. `run` builds this file; it is not a
// part of idgen.
#include <idgen/idgen.h>
#include <idgen/standard.h>
#include <jni.h>
#include <stdint.h>
#include <string.h>

JNIEXPORT jlong JNICALL Java_dev_idgen_bench_Floor_empty(JNIEnv* env, jclass type, jlong number) {
  (void)env;
  (void)type;
  return number;
}

// A generator on the memory store, for draw. 0 if it cannot be made.
JNIEXPORT jlong JNICALL Java_dev_idgen_bench_Floor_open(JNIEnv* env, jclass type, jboolean segment) {
  (void)env;
  (void)type;
  idgen_config_t* config = NULL;
  idgen_t* generator = NULL;
  idgen_status_t status = idgen_config_create(&config, NULL);
  if (!status) status = idgen_config_set(config, "store", "memory", NULL);
  if (!status) status = idgen_config_set(config, "store_create", "true", NULL);
  if (segment) {
    if (!status) status = idgen_config_set(config, "kind", "segment", NULL);
    if (!status) status = idgen_config_set(config, "segment.step", "100000000", NULL);
  } else {
    if (!status) status = idgen_config_set(config, "layout", "time:41ms sequence:22", NULL);
  }
  if (!status) status = idgen_create(config, &generator, NULL);
  idgen_config_destroy(config);
  return status ? 0 : (jlong)(uintptr_t)generator;
}

// Draws ids one by one; returns their exclusive or, so that nothing can be optimised away. Also 0 if a call fails.
JNIEXPORT jlong JNICALL Java_dev_idgen_bench_Floor_draw(JNIEnv* env, jclass type, jlong generator, jint count) {
  (void)env;
  (void)type;
  idgen_t* g = (idgen_t*)(uintptr_t)generator;
  uint64_t all = 0;
  for (jint drawn = 0; drawn < count; drawn++) {
    uint64_t id = 0;
    if (idgen_next(g, &id, NULL)) return 0;
    all ^= id;
  }
  return (jlong)all;
}

// The same for standard ids.
JNIEXPORT jlong JNICALL Java_dev_idgen_bench_Floor_drawStandard(JNIEnv* env, jclass type, jint standard, jint count) {
  (void)env;
  (void)type;
  jlong all = 0;
  for (jint drawn = 0; drawn < count; drawn++) {
    uint8_t id[16] = {0};
    jlong half;
    if (idgen_standard_make(standard, id, 1, NULL)) return 0;
    memcpy(&half, id + 8, sizeof half);
    all ^= half;
  }
  return all;
}
