// Standard ids. UUIDs come as two longs each, because that is what java.util.UUID is made of.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "jni_support.hpp"

using idgen_jni::Error;

namespace {

constexpr jint kChunk = 128;
constexpr jint kBytes = 16;  // of the longest id

// False: an exception is pending.
bool make(JNIEnv* env, jclass natives, jint standard, std::uint8_t* ids, jint count) {
  // Without an idgen_error_t, which takes longer to fill than a call of JNI does.
  const auto n = static_cast<std::size_t>(count);
  if (__builtin_expect(idgen_standard_make(standard, ids, n, nullptr) == IDGEN_OK, 1)) return true;
  Error error;
  const idgen_status_t status = idgen_standard_make(standard, ids, n, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return status == IDGEN_OK;
}

// Calls store(ids, begin, count) for each chunk. Also asks for none, so that a standard that is not made is refused.
template <class Store>
void make_chunks(JNIEnv* env, jclass natives, jint standard, jint count, Store&& store) {
  std::uint8_t ids[kBytes * kChunk];
  jint done = 0;
  do {
    const jint wanted = std::min(kChunk, count - done);
    if (!make(env, natives, standard, ids, wanted)) return;
    store(ids, done, wanted);
    if (env->ExceptionCheck() == JNI_TRUE) return;
    done += wanted;
  } while (done < count);
}

// The latest UUID of standardUuidLow on this thread, until standardUuidHigh asks for its other half.
struct Halves {
  jlong low;  // 62 random bits, or 54 and 8 of a counter: tells which UUID it is
  jlong high;
};
thread_local Halves latest = {};

}  // namespace

extern "C" {

// One UUID takes two calls, each of which returns a half: StandardIds.java says why.
JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_standardUuidLow(JNIEnv* env, jclass natives, jint standard) {
  std::uint8_t id[kBytes];
  if (!make(env, natives, standard, id, 1)) return 0;
  latest = {idgen_jni::big_endian(id + 8), idgen_jni::big_endian(id)};
  return latest.low;
}

// 0, which no UUID's version allows: the latest of this thread is another one.
JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_standardUuidHigh(JNIEnv*, jclass, jlong low) {
  return latest.low == low ? latest.high : 0;
}

// The high and the low half of each.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_standardUuids(JNIEnv* env, jclass natives, jint standard,
                                                             jlongArray halves, jint count) {
  make_chunks(env, natives, standard, count, [&](const std::uint8_t* ids, jint begin, jint some) {
    jlong longs[2 * kChunk];
    for (jint i = 0; i < 2 * some; ++i) longs[i] = idgen_jni::big_endian(ids + 8 * i);
    env->SetLongArrayRegion(halves, 2 * begin, 2 * some, longs);
  });
}

// `size`: bytes of each, 12 or 16.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_standardMake(JNIEnv* env, jclass natives, jint standard, jbyteArray out,
                                                            jint size, jint count) {
  make_chunks(env, natives, standard, count, [&](const std::uint8_t* ids, jint begin, jint some) {
    env->SetByteArrayRegion(out, size * begin, size * some, reinterpret_cast<const jbyte*>(ids));
  });
}

}  // extern "C"
