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

constexpr jint kChunk = 1024;
static_assert(sizeof(std::uint64_t) == sizeof(jlong));

int at_once(void*) { return 1; }

jlong next_slow(JNIEnv* env, jclass natives, idgen_t* generator) {
  Waiter waiter{env, natives};
  Error error;
  std::uint64_t id = 0;
  std::size_t written = 0;
  const idgen_status_t status = idgen_next_batch_wait(generator, &id, 1, &written, is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return static_cast<jlong>(id);
}

// What comes after idgen_try_next or idgen_try_next_drawn.
jboolean try_next(JNIEnv* env, jclass natives, idgen_t* generator, idgen_status_t status, std::uint64_t number,
                  jlongArray out) {
  if (status == IDGEN_E_WOULD_BLOCK) return JNI_FALSE;
  // Statuses that are not retryable also fail at once in the slow call, which says why.
  const jlong id = status == IDGEN_OK ? static_cast<jlong>(number) : next_slow(env, natives, generator);
  if (env->ExceptionCheck() == JNI_TRUE) return JNI_FALSE;
  idgen_jni::store(env, out, {id});
  return JNI_TRUE;
}

// Through a buffer on the stack: a call that may wait must not hold up the collector (GetPrimitiveArrayCritical).
// `done` is always right. Ends early with a failure, or with an exception that is pending.
idgen_status_t fill(JNIEnv* env, idgen_t* generator, jlongArray ids, jint offset, jint length,
                    idgen_cancelled_fn cancelled, void* ctx, jint& done, Error& error) {
  std::uint64_t chunk[kChunk];
  for (done = 0; done < length;) {
    std::size_t written = 0;
    const auto wanted = static_cast<std::size_t>(std::min(kChunk, length - done));
    const idgen_status_t status = idgen_next_batch_wait(generator, chunk, wanted, &written, cancelled, ctx, &error);
    if (written > 0 && env->ExceptionCheck() == JNI_FALSE) {
      env->SetLongArrayRegion(ids, offset + done, static_cast<jsize>(written), reinterpret_cast<const jlong*>(chunk));
    }
    done += static_cast<jint>(written);
    if (status != IDGEN_OK) return status;
    if (env->ExceptionCheck() == JNI_TRUE) break;
  }
  return IDGEN_OK;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_next(JNIEnv* env, jclass natives, jlong generator) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t id;
  if (__builtin_expect(idgen_try_next(g, &id) == IDGEN_OK, 1)) return static_cast<jlong>(id);
  return next_slow(env, natives, g);
}

// Java draws by itself where there is a view (View.java). Answers where its words are, 0 if there is none that Java
// knows. Fills `shape`, if it is given one: protocol, epoch_unix_ms, tick_ms, max_tick, carry_mask, sequence_bits,
// sequence_shift, time_shift.
JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_view(JNIEnv* env, jclass, jlong generator, jlongArray shape) {
  idgen_view_t view = IDGEN_VIEW_INIT;
  if (idgen_view(idgen_jni::handle<const idgen_t>(generator), &view, nullptr) != IDGEN_OK) return 0;
  if (view.protocol != IDGEN_VIEW_COUNTER && view.protocol != IDGEN_VIEW_CLOCK) return 0;
  if (shape != nullptr) {
    idgen_jni::store(
        env, shape,
        {static_cast<jlong>(view.protocol), static_cast<jlong>(view.epoch_unix_ms), static_cast<jlong>(view.tick_ms),
         static_cast<jlong>(view.max_tick), static_cast<jlong>(view.carry_mask), static_cast<jlong>(view.sequence_bits),
         static_cast<jlong>(view.sequence_shift), static_cast<jlong>(view.time_shift)});
  }
  return idgen_jni::address(__atomic_load_n(view.words, __ATOMIC_ACQUIRE));
}

// The words at an address that view() has returned, as a buffer.
JNIEXPORT jobject JNICALL Java_dev_idgen_IdgenJNI_words(JNIEnv* env, jclass, jlong address) {
  return env->NewDirectByteBuffer(idgen_jni::handle<void>(address), sizeof(idgen_words_t));
}

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_nextDrawn(JNIEnv* env, jclass natives, jlong generator, jlong drawn) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t id = 0;
  if (idgen_try_next_drawn(g, static_cast<std::uint64_t>(drawn), &id) == IDGEN_OK) return static_cast<jlong>(id);
  return next_slow(env, natives, g);
}

JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNextDrawn(JNIEnv* env, jclass natives, jlong generator,
                                                                jlong drawn, jlongArray out) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t id = 0;
  const idgen_status_t status = idgen_try_next_drawn(g, static_cast<std::uint64_t>(drawn), &id);
  return try_next(env, natives, g, status, id, out);
}

JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNext(JNIEnv* env, jclass natives, jlong generator,
                                                           jlongArray out) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t number = 0;
  const idgen_status_t status = idgen_try_next(g, &number);
  return try_next(env, natives, g, status, number, out);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fill(JNIEnv* env, jclass natives, jlong generator, jlongArray ids,
                                                    jint offset, jint length) {
  Waiter waiter{env, natives};
  Error error;
  jint done = 0;
  const idgen_status_t status =
      fill(env, idgen_jni::handle<idgen_t>(generator), ids, offset, length, is_interrupted, &waiter, done, error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error, static_cast<std::size_t>(done));
}

// Straight into the memory of a direct buffer, in the machine's byte order.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fillDirect(JNIEnv* env, jclass natives, jlong generator, jobject ids,
                                                          jint offset, jint length) {
  Waiter waiter{env, natives};
  Error error;
  std::size_t written = 0;
  auto* const memory = static_cast<std::uint64_t*>(env->GetDirectBufferAddress(ids));
  const idgen_status_t status =
      idgen_next_batch_wait(idgen_jni::handle<idgen_t>(generator), memory + offset, static_cast<std::size_t>(length),
                            &written, is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error, written);
}

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_waitMaxNs(JNIEnv*, jclass, jlong generator) {
  return static_cast<jlong>(idgen_wait_max_ns(idgen_jni::handle<const idgen_t>(generator)));
}

// For a virtual thread, which waits elsewhere (VirtualWaiters.java).
JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_nextWaited(JNIEnv* env, jclass natives, jlong generator,
                                                           jlong waited_ns) {
  Waiter waiter{env, natives};
  Error error;
  std::uint64_t id = 0;
  const idgen_status_t status =
      idgen_next_waited(idgen_jni::handle<idgen_t>(generator), static_cast<std::uint64_t>(waited_ns), &id,
                        is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return static_cast<jlong>(id);
}

// As many as there are at once.
JNIEXPORT jint JNICALL Java_dev_idgen_IdgenJNI_fillNow(JNIEnv* env, jclass natives, jlong generator, jlongArray ids,
                                                       jint offset, jint length) {
  Error error;
  jint done = 0;
  const idgen_status_t status =
      fill(env, idgen_jni::handle<idgen_t>(generator), ids, offset, length, at_once, nullptr, done, error);
  if (status != IDGEN_OK && status != IDGEN_E_CANCELLED)
    idgen_jni::raise(env, natives, status, &error, static_cast<std::size_t>(done));
  return done;
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

// False: there is none at once.
JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_nextBlockNow(JNIEnv* env, jclass natives, jlong generator,
                                                                jlong want, jlongArray out) {
  Error error;
  idgen_block_t block = IDGEN_BLOCK_INIT;
  const idgen_status_t status = idgen_next_block_wait(
      idgen_jni::handle<idgen_t>(generator), static_cast<std::uint64_t>(want), &block, at_once, nullptr, &error);
  if (status == IDGEN_E_CANCELLED) return JNI_FALSE;
  if (status != IDGEN_OK) {
    idgen_jni::raise(env, natives, status, &error);
  } else {
    idgen_jni::store(env, out, block);
  }
  return JNI_TRUE;
}

}  // extern "C"
