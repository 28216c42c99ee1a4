// The calls that make ids. The id is the return value and a failure is thrown: an array for the result would double the
// cost of the call.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "jni_support.hpp"

using idgen_jni::Error;
using idgen_jni::is_interrupted;
using idgen_jni::Waiter;

namespace {

jlong next_slow(JNIEnv* env, jclass natives, idgen_t* generator) {
  Waiter waiter{env, natives};
  Error error;
  std::uint64_t id = 0;
  std::size_t written = 0;
  const idgen_status_t status = idgen_next_batch_wait(generator, &id, 1, &written, is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return static_cast<jlong>(id);
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_next(JNIEnv* env, jclass natives, jlong generator) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t id;
  if (__builtin_expect(idgen_try_next(g, &id) == IDGEN_OK, 1)) return static_cast<jlong>(id);
  return next_slow(env, natives, g);
}

JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNext(JNIEnv* env, jclass natives, jlong generator,
                                                           jlongArray out) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t number = 0;
  const idgen_status_t status = idgen_try_next(g, &number);
  if (status == IDGEN_E_WOULD_BLOCK) return JNI_FALSE;
  // Statuses that are not retryable also fail at once in the slow call, which says why.
  const jlong id = status == IDGEN_OK ? static_cast<jlong>(number) : next_slow(env, natives, g);
  if (env->ExceptionCheck() == JNI_TRUE) return JNI_FALSE;
  idgen_jni::store(env, out, {id});
  return JNI_TRUE;
}

// Through a buffer on the stack: a call that may wait must not hold up the collector (GetPrimitiveArrayCritical).
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fill(JNIEnv* env, jclass natives, jlong generator, jlongArray ids,
                                                    jint offset, jint length) {
  constexpr jint kChunk = 1024;
  static_assert(sizeof(std::uint64_t) == sizeof(jlong));
  std::uint64_t chunk[kChunk];
  auto* g = idgen_jni::handle<idgen_t>(generator);
  Waiter waiter{env, natives};
  for (jint done = 0; done < length;) {
    Error error;
    std::size_t written = 0;
    const auto wanted = static_cast<std::size_t>(std::min(kChunk, length - done));
    const idgen_status_t status = idgen_next_batch_wait(g, chunk, wanted, &written, is_interrupted, &waiter, &error);
    if (written > 0 && env->ExceptionCheck() == JNI_FALSE) {
      env->SetLongArrayRegion(ids, offset + done, static_cast<jsize>(written), reinterpret_cast<const jlong*>(chunk));
    }
    done += static_cast<jint>(written);
    if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error, static_cast<std::size_t>(done));
    if (env->ExceptionCheck() == JNI_TRUE) return;
  }
}

// Not idgen_next_text itself, which notices no interrupt. What went wrong is then for idgen_next_text to say: closed,
// for example, or no room in the pattern for the digits of an id. That id is lost, as it would have been there, and so
// is the next.
JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_nextText(JNIEnv* env, jclass natives, jlong generator,
                                                              jlong pattern) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t number = 0;
  idgen_status_t status = idgen_try_next(g, &number);
  auto id = static_cast<jlong>(number);
  if (status == IDGEN_E_WOULD_BLOCK) {
    id = next_slow(env, natives, g);
    if (env->ExceptionCheck() == JNI_TRUE) return nullptr;
    status = IDGEN_OK;
  }
  char text[idgen_jni::kMostTextBytes];
  std::size_t size = sizeof text;
  if (status == IDGEN_OK) {
    const idgen_wide_id_t wide = idgen_jni::narrow_id(id);
    status = idgen_pattern_format(idgen_jni::handle<const idgen_pattern_t>(pattern), &wide, text, &size, nullptr);
  }
  if (status != IDGEN_OK) {
    Error error;
    size = sizeof text;
    status = idgen_next_text(g, text, &size, &error);
    if (status != IDGEN_OK) {
      idgen_jni::raise(env, natives, status, &error);
      return nullptr;
    }
  }
  return idgen_jni::bytes(env, text, size - 1);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_nextBlock(JNIEnv* env, jclass natives, jlong generator, jlong want,
                                                         jlongArray out) {
  Waiter waiter{env, natives};
  Error error;
  idgen_block_t block = IDGEN_BLOCK_INIT;
  const idgen_status_t status = idgen_next_block_wait(
      idgen_jni::handle<idgen_t>(generator), static_cast<std::uint64_t>(want), &block, is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  idgen_jni::store(env, out, block);
}

}  // extern "C"
