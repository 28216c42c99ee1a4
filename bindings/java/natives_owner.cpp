// The calls that make ids for an owner. Owners come as numbers, or packed: the bytes of all of them in one array, and
// where each ends in another.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "jni_support.hpp"

using idgen_jni::Error;
using idgen_jni::handle;
using idgen_jni::is_interrupted;
using idgen_jni::Waiter;

namespace {

constexpr jint kChunk = 256;

// idgen.h: an integer is the owner that its decimal text is.
class Decimal {
 public:
  explicit Decimal(jlong number) : end_(std::to_chars(text_, text_ + sizeof text_, number).ptr) {}
  idgen_owner_t owner() const { return {text_, static_cast<std::size_t>(end_ - text_)}; }

 private:
  char text_[20];  // "-9223372036854775808"
  const char* end_;
};

idgen_draw_t request(Waiter* waiter, std::size_t n) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n;
  draw.cancelled = is_interrupted;
  draw.ctx = waiter;
  return draw;
}

jlong next_slow(JNIEnv* env, jclass natives, idgen_t* generator, const idgen_owner_t& owner) {
  Waiter waiter{env, natives};
  Error error;
  std::uint64_t id = 0;
  idgen_draw_t draw = request(&waiter, 1);
  draw.ids = &id;
  draw.owners = &owner;
  draw.owner_count = 1;
  const idgen_status_t status = idgen_draw(generator, &draw, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return static_cast<jlong>(id);
}

jlong next(JNIEnv* env, jclass natives, idgen_t* generator, const idgen_owner_t& owner) {
  std::uint64_t id;
  if (__builtin_expect(idgen_try_next_for(generator, owner.data, owner.size, &id) == IDGEN_OK, 1))
    return static_cast<jlong>(id);
  return next_slow(env, natives, generator, owner);
}

jboolean try_next(JNIEnv* env, jclass natives, idgen_t* generator, const idgen_owner_t& owner, jlongArray out) {
  std::uint64_t number = 0;
  const idgen_status_t status = idgen_try_next_for(generator, owner.data, owner.size, &number);
  if (status == IDGEN_E_WOULD_BLOCK) return JNI_FALSE;
  // Statuses that are not retryable also fail at once in the slow call, which says why.
  const jlong id = status == IDGEN_OK ? static_cast<jlong>(number) : next_slow(env, natives, generator, owner);
  if (env->ExceptionCheck() == JNI_TRUE) return JNI_FALSE;
  idgen_jni::store(env, out, {id});
  return JNI_TRUE;
}

// ------------------------------------------------------------------------------------- owners, a chunk at a time
//
// take(begin, count) reads the owners from `begin` on, and is false if an exception is pending; ask() puts them into a
// request.

class Numbers {
 public:
  Numbers(JNIEnv* env, jlongArray all) : env_(env), all_(all) {}
  jsize size() const { return env_->GetArrayLength(all_); }
  bool take(jint begin, jint count) {
    env_->GetLongArrayRegion(all_, begin, count, chunk_);
    return env_->ExceptionCheck() == JNI_FALSE;
  }
  void ask(idgen_draw_t& draw) const { draw.int_owners = reinterpret_cast<const std::int64_t*>(chunk_); }

 private:
  static_assert(sizeof(jlong) == sizeof(std::int64_t));
  JNIEnv* env_;
  jlongArray all_;
  jlong chunk_[kChunk];
};

class Packed {
 public:
  Packed(JNIEnv* env, jbyteArray bytes, jintArray ends) : env_(env), bytes_(bytes), ends_(ends) {}
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  ~Packed() {
    if (text_ != inline_) std::free(text_);
  }
  jsize size() const { return env_->GetArrayLength(ends_); }
  bool take(jint begin, jint count) {
    jint ends[kChunk];
    env_->GetIntArrayRegion(ends_, begin, count, ends);
    if (env_->ExceptionCheck() == JNI_TRUE) return false;
    const jint length = ends[count - 1] - taken_;
    if (!reserve(static_cast<std::size_t>(length))) return false;
    env_->GetByteArrayRegion(bytes_, taken_, length, reinterpret_cast<jbyte*>(text_));
    if (env_->ExceptionCheck() == JNI_TRUE) return false;
    const char* at = text_;
    for (jint i = 0; i < count; ++i) {
      const auto size = static_cast<std::size_t>(ends[i] - taken_);
      chunk_[i] = {at, size};
      at += size;
      taken_ = ends[i];
    }
    return true;
  }
  void ask(idgen_draw_t& draw) const { draw.owners = chunk_; }

 private:
  bool reserve(std::size_t size) {
    if (size <= capacity_) return true;
    if (text_ != inline_) std::free(text_);
    text_ = static_cast<char*>(std::malloc(size));
    capacity_ = text_ == nullptr ? 0 : size;
    if (text_ == nullptr) idgen_jni::throw_out_of_memory(env_);
    return text_ != nullptr;
  }

  JNIEnv* env_;
  jbyteArray bytes_;
  jintArray ends_;
  jint taken_ = 0;  // bytes of the chunks before
  char inline_[kChunk * 32];
  char* text_ = inline_;
  std::size_t capacity_ = sizeof inline_;
  idgen_owner_t chunk_[kChunk];
};

// --------------------------------------------------------------------------------------- ids, a chunk at a time

// Ids of 8 bytes, into a long[].
struct Narrow {
  void ask(idgen_draw_t& draw) { draw.ids = ids; }
  void store(JNIEnv* env, jlongArray out, jint begin, jint count) const {
    static_assert(sizeof(std::uint64_t) == sizeof(jlong));
    env->SetLongArrayRegion(out, begin, count, reinterpret_cast<const jlong*>(ids));
  }
  static constexpr jint kLongs = 1;  // of the array, for an id
  std::uint64_t ids[kChunk];
};

// Ids of either length, as longs_of makes them.
struct Wide {
  void ask(idgen_draw_t& draw) { draw.wide_ids = ids; }
  void store(JNIEnv* env, jlongArray out, jint begin, jint count) const {
    idgen_jni::WideLongs longs[kChunk];
    for (jint i = 0; i < count; ++i) longs[i] = idgen_jni::longs_of(ids[i]);
    env->SetLongArrayRegion(out, 3 * begin, 3 * count, longs[0].data());
  }
  static constexpr jint kLongs = 3;
  idgen_wide_id_t ids[kChunk];
};

// For one owner if there is one, else one id for each. What was written is stored even after a failure.
template <class Ids, class Owners>
void fill(JNIEnv* env, jclass natives, idgen_t* generator, Owners& owners, jlongArray out) {
  Ids drawn;
  const jint length = env->GetArrayLength(out) / Ids::kLongs;
  const bool is_one = owners.size() == 1;
  if (is_one && !owners.take(0, 1)) return;
  Waiter waiter{env, natives};
  for (jint done = 0; done < length;) {
    const jint wanted = std::min(kChunk, length - done);
    if (!is_one && !owners.take(done, wanted)) return;
    Error error;
    idgen_draw_t draw = request(&waiter, static_cast<std::size_t>(wanted));
    drawn.ask(draw);
    owners.ask(draw);
    draw.owner_count = is_one ? 1 : draw.n;
    const idgen_status_t status = idgen_draw(generator, &draw, &error);
    const std::size_t written = draw.written;
    if (written > 0 && env->ExceptionCheck() == JNI_FALSE) drawn.store(env, out, done, static_cast<jint>(written));
    done += static_cast<jint>(written);
    if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error, static_cast<std::size_t>(done));
    if (env->ExceptionCheck() == JNI_TRUE) return;
  }
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_nextForInt(JNIEnv* env, jclass natives, jlong generator, jlong owner) {
  return next(env, natives, handle<idgen_t>(generator), Decimal(owner).owner());
}

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_nextForBytes(JNIEnv* env, jclass natives, jlong generator,
                                                             jbyteArray owner) {
  idgen_jni::Utf8 bytes;
  if (!bytes.assign(env, owner)) return 0;
  return next(env, natives, handle<idgen_t>(generator), {bytes.c_str(), bytes.size()});
}

JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNextForInt(JNIEnv* env, jclass natives, jlong generator,
                                                                 jlong owner, jlongArray out) {
  return try_next(env, natives, handle<idgen_t>(generator), Decimal(owner).owner(), out);
}

JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNextForBytes(JNIEnv* env, jclass natives, jlong generator,
                                                                   jbyteArray owner, jlongArray out) {
  idgen_jni::Utf8 bytes;
  if (!bytes.assign(env, owner)) return JNI_FALSE;
  return try_next(env, natives, handle<idgen_t>(generator), {bytes.c_str(), bytes.size()}, out);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fillForInts(JNIEnv* env, jclass natives, jlong generator,
                                                           jlongArray owners, jlongArray ids) {
  Numbers numbers(env, owners);
  fill<Narrow>(env, natives, handle<idgen_t>(generator), numbers, ids);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fillForBytes(JNIEnv* env, jclass natives, jlong generator,
                                                            jbyteArray owners, jintArray ends, jlongArray ids) {
  Packed packed(env, owners, ends);
  fill<Narrow>(env, natives, handle<idgen_t>(generator), packed, ids);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fillWideForInts(JNIEnv* env, jclass natives, jlong generator,
                                                               jlongArray owners, jlongArray ids) {
  Numbers numbers(env, owners);
  fill<Wide>(env, natives, handle<idgen_t>(generator), numbers, ids);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fillWideForBytes(JNIEnv* env, jclass natives, jlong generator,
                                                                jbyteArray owners, jintArray ends, jlongArray ids) {
  Packed packed(env, owners, ends);
  fill<Wide>(env, natives, handle<idgen_t>(generator), packed, ids);
}

}  // extern "C"
