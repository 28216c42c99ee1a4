// The calls that make ids. The id is the return value and a failure is thrown: an array for the result would double the
// cost of the call.
#include <idgen/host.h>
#include <idgen/view.h>

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

idgen_draw_t request(std::uint32_t flags, std::size_t n, std::uint64_t* ids, Waiter* waiter = nullptr) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.flags = flags;
  draw.n = n;
  draw.ids = ids;
  if (waiter != nullptr) {
    draw.cancelled = is_interrupted;
    draw.ctx = waiter;
  }
  return draw;
}

jlong next_slow(JNIEnv* env, jclass natives, idgen_t* generator, std::uint64_t waited_ns = 0) {
  Waiter waiter{env, natives};
  Error error;
  std::uint64_t id = 0;
  idgen_draw_t draw = request(0, 1, &id, &waiter);
  draw.waited_ns = waited_ns;
  const idgen_status_t status = idgen_draw(generator, &draw, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return static_cast<jlong>(id);
}

// What a call that never waits has answered and gives no message for: the one that may wait gives it at once, and says
// why.
bool is_final(idgen_status_t status) { return status != IDGEN_OK && status != IDGEN_E_WOULD_BLOCK; }

idgen_status_t try_next_drawn(idgen_t* generator, jlong drawn, std::uint64_t& id) {
  idgen_draw_t draw = request(IDGEN_DRAW_TRY | IDGEN_DRAW_DRAWN, 1, &id);
  draw.drawn = static_cast<std::uint64_t>(drawn);
  return idgen_draw(generator, &draw, nullptr);
}

// What comes after idgen_try_next or try_next_drawn.
jboolean try_next(JNIEnv* env, jclass natives, idgen_t* generator, idgen_status_t status, std::uint64_t number,
                  jlongArray out) {
  if (status == IDGEN_E_WOULD_BLOCK) return JNI_FALSE;
  const jlong id = is_final(status) ? next_slow(env, natives, generator) : static_cast<jlong>(number);
  if (env->ExceptionCheck() == JNI_TRUE) return JNI_FALSE;
  idgen_jni::store(env, out, {id});
  return JNI_TRUE;
}

void store_block(JNIEnv* env, jlongArray out, const idgen_draw_t& draw) {
  idgen_jni::store(env, out,
                   {static_cast<jlong>(draw.first), static_cast<jlong>(draw.written), static_cast<jlong>(draw.stride)});
}

// Fills by `draw(ids, n, written)`, through a buffer on the stack: a call that may wait must not hold up the collector
// (GetPrimitiveArrayCritical). `done` is always right. Ends early with a failure, or with an exception that is pending.
template <class Draw>
idgen_status_t fill(JNIEnv* env, jlongArray ids, jint offset, jint length, jint& done, Draw&& draw) {
  std::uint64_t chunk[kChunk];
  for (done = 0; done < length;) {
    std::size_t written = 0;
    const auto wanted = static_cast<std::size_t>(std::min(kChunk, length - done));
    const idgen_status_t status = draw(chunk, wanted, &written);
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
// sequence_shift, time_shift, flags.
JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_view(JNIEnv* env, jclass, jlong generator, jlongArray shape) {
  idgen_view_t view = IDGEN_VIEW_INIT;
  if (idgen_view(idgen_jni::handle<const idgen_t>(generator), &view, nullptr) != IDGEN_OK) return 0;
  if (view.protocol != IDGEN_VIEW_COUNTER && view.protocol != IDGEN_VIEW_CLOCK) return 0;
  if (shape != nullptr) {
    idgen_jni::store(
        env, shape,
        {static_cast<jlong>(view.protocol), static_cast<jlong>(view.epoch_unix_ms), static_cast<jlong>(view.tick_ms),
         static_cast<jlong>(view.max_tick), static_cast<jlong>(view.carry_mask), static_cast<jlong>(view.sequence_bits),
         static_cast<jlong>(view.sequence_shift), static_cast<jlong>(view.time_shift), static_cast<jlong>(view.flags)});
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
  if (try_next_drawn(g, drawn, id) == IDGEN_OK) return static_cast<jlong>(id);
  return next_slow(env, natives, g);
}

JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNextDrawn(JNIEnv* env, jclass natives, jlong generator,
                                                                jlong drawn, jlongArray out) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  std::uint64_t id = 0;
  const idgen_status_t status = try_next_drawn(g, drawn, id);
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
      fill(env, ids, offset, length, done, [&](std::uint64_t* chunk, std::size_t n, std::size_t* written) {
        idgen_draw_t draw = request(0, n, chunk, &waiter);
        const idgen_status_t drawn = idgen_draw(idgen_jni::handle<idgen_t>(generator), &draw, &error);
        *written = draw.written;
        return drawn;
      });
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error, static_cast<std::size_t>(done));
}

// Straight into the memory of a direct buffer, in the machine's byte order.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_fillDirect(JNIEnv* env, jclass natives, jlong generator, jobject ids,
                                                          jint offset, jint length) {
  Waiter waiter{env, natives};
  Error error;
  auto* const memory = static_cast<std::uint64_t*>(env->GetDirectBufferAddress(ids));
  idgen_draw_t draw = request(0, static_cast<std::size_t>(length), memory + offset, &waiter);
  const idgen_status_t status = idgen_draw(idgen_jni::handle<idgen_t>(generator), &draw, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error, draw.written);
}

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_waitMaxNs(JNIEnv*, jclass, jlong generator) {
  return static_cast<jlong>(idgen_wait_max_ns(idgen_jni::handle<const idgen_t>(generator)));
}

// For a virtual thread, which waits elsewhere (VirtualWaiters.java).
JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_nextWaited(JNIEnv* env, jclass natives, jlong generator,
                                                           jlong waited_ns) {
  return next_slow(env, natives, idgen_jni::handle<idgen_t>(generator), static_cast<std::uint64_t>(waited_ns));
}

// For BlockingCalls.java.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_waitForRoom(JNIEnv* env, jclass natives, jlong generator,
                                                           jlong waited_ns) {
  Waiter waiter{env, natives};
  Error error;
  const idgen_status_t status = idgen_wait_for_room(
      idgen_jni::handle<idgen_t>(generator), static_cast<std::uint64_t>(waited_ns), is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

// As many as there are at once.
JNIEXPORT jint JNICALL Java_dev_idgen_IdgenJNI_tryFill(JNIEnv* env, jclass natives, jlong generator, jlongArray ids,
                                                       jint offset, jint length) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  Error error;
  jint done = 0;
  const idgen_status_t status =
      fill(env, ids, offset, length, done, [&](std::uint64_t* chunk, std::size_t n, std::size_t* written) {
        idgen_draw_t draw = request(IDGEN_DRAW_TRY, n, chunk);
        const idgen_status_t tried = idgen_draw(g, &draw, nullptr);
        *written = draw.written;
        if (!is_final(tried)) return tried;
        std::size_t more = 0;
        const idgen_status_t said = idgen_next_batch(g, chunk + *written, n - *written, &more, &error);
        *written += more;
        return said;
      });
  if (is_final(status)) idgen_jni::raise(env, natives, status, &error, static_cast<std::size_t>(done));
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
  idgen_draw_t draw = request(IDGEN_DRAW_BLOCK, static_cast<std::size_t>(want), nullptr, &waiter);
  const idgen_status_t status = idgen_draw(idgen_jni::handle<idgen_t>(generator), &draw, &error);
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  store_block(env, out, draw);
}

// False: there is none at once.
JNIEXPORT jboolean JNICALL Java_dev_idgen_IdgenJNI_tryNextBlock(JNIEnv* env, jclass natives, jlong generator,
                                                                jlong want, jlongArray out) {
  auto* g = idgen_jni::handle<idgen_t>(generator);
  Error error;
  idgen_draw_t draw = request(IDGEN_DRAW_TRY | IDGEN_DRAW_BLOCK, static_cast<std::size_t>(want), nullptr);
  idgen_status_t status = idgen_draw(g, &draw, nullptr);
  if (is_final(status)) {
    draw.flags = IDGEN_DRAW_BLOCK;
    status = idgen_draw(g, &draw, &error);
  }
  if (is_final(status)) {
    idgen_jni::raise(env, natives, status, &error);
  } else if (status == IDGEN_OK) {
    store_block(env, out, draw);
  }
  return status == IDGEN_E_WOULD_BLOCK ? JNI_FALSE : JNI_TRUE;
}

}  // extern "C"
