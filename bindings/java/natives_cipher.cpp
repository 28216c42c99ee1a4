// Hidden ids. What cannot wait is called by hand, so that a single id needs no array; and the program's own keys.
#include <idgen/cipher.h>
#include <idgen/host.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "idgen/system_calls.hpp"
#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::Error;

namespace {

// Kept between calls, until the library has freed the configuration and its ciphers.
struct Keys {
  JavaVM* vm = nullptr;
  jobject sink = nullptr;  // a dev.idgen.KeySink
  jmethodID read = nullptr;
};

// Returns IDGEN_OK, or leaves the exception of the program's own code pending: the call that asked for the keys is on
// this thread, and passes it on.
idgen_status_t read_keys(void* context, idgen_key_fn each, void* to, idgen_error_t* error) {
  const auto* keys = static_cast<const Keys*>(context);
  const Attached thread(keys->vm);
  JNIEnv* env = thread.env();
  std::strcpy(error->message, "the program's own keys could not be read");
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE) return IDGEN_E_HOST;
  // A long[] with version and 0 or 1 for each key, and then a byte[] for each.
  const auto found = static_cast<jobjectArray>(env->CallObjectMethod(keys->sink, keys->read));
  if (found == nullptr || env->ExceptionCheck() == JNI_TRUE) return IDGEN_E_HOST;
  const auto numbers = static_cast<jlongArray>(env->GetObjectArrayElement(found, 0));
  for (jsize i = 0; i < env->GetArrayLength(found) - 1; ++i) {
    jlong version_and_state[2];
    env->GetLongArrayRegion(numbers, 2 * i, 2, version_and_state);
    const auto key = static_cast<jbyteArray>(env->GetObjectArrayElement(found, i + 1));
    jbyte bytes[65];  // one more than any key has: the library then says that it is too long
    const jsize size = std::min<jsize>(env->GetArrayLength(key), sizeof bytes);
    env->GetByteArrayRegion(key, 0, size, bytes);
    env->DeleteLocalRef(key);
    if (env->ExceptionCheck() == JNI_TRUE) return IDGEN_E_HOST;
    each(to, static_cast<std::uint32_t>(version_and_state[0]), reinterpret_cast<const std::uint8_t*>(bytes),
         static_cast<std::size_t>(size), static_cast<std::int32_t>(version_and_state[1]));
    idgen::wipe_memory(bytes, sizeof bytes);
  }
  return IDGEN_OK;
}

void release_keys(void* context) {
  const std::unique_ptr<Keys> keys(static_cast<Keys*>(context));
  const Attached thread(keys->vm);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(keys->sink);
}

// Calls use(elements, count) on a copy of the array, which replaces it if that succeeds.
template <class Array, class Element, class Use>
void replace(JNIEnv* env, jclass natives, Array array, Element* elements,
             void (JNIEnv::*release)(Array, Element*, jint), Use&& use) {
  if (elements == nullptr) return;  // an OutOfMemoryError is pending
  Error error;
  const idgen_status_t status = use(elements, static_cast<std::size_t>(env->GetArrayLength(array)), &error);
  (env->*release)(array, elements, status == IDGEN_OK ? 0 : JNI_ABORT);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_cipherCreate(JNIEnv* env, jclass natives, jlong config) {
  Error error;
  idgen_cipher_t* cipher = nullptr;
  const idgen_status_t status = idgen_cipher_create(idgen_jni::handle<const idgen_config_t>(config), &cipher, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  if (env->ExceptionCheck() == JNI_TRUE) {
    idgen_cipher_destroy(cipher);
    return 0;
  }
  return idgen_jni::address(cipher);
}

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_cipherApply(JNIEnv* env, jclass natives, jlong cipher, jlong id,
                                                            jboolean reveals) {
  Error error;
  const auto* found = idgen_jni::handle<const idgen_cipher_t>(cipher);
  std::uint64_t result = 0;
  const idgen_status_t status = reveals == JNI_TRUE
                                    ? idgen_cipher_reveal(found, static_cast<std::uint64_t>(id), &result, &error)
                                    : idgen_cipher_hide(found, static_cast<std::uint64_t>(id), &result, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  return static_cast<jlong>(result);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_cipherApplyAll(JNIEnv* env, jclass natives, jlong cipher, jlongArray ids,
                                                              jboolean reveals) {
  static_assert(sizeof(jlong) == sizeof(std::uint64_t));
  const auto* found = idgen_jni::handle<const idgen_cipher_t>(cipher);
  replace(env, natives, ids, env->GetLongArrayElements(ids, nullptr), &JNIEnv::ReleaseLongArrayElements,
          [&](jlong* elements, std::size_t count, idgen_error_t* error) {
            auto* all = reinterpret_cast<std::uint64_t*>(elements);
            return reveals == JNI_TRUE ? idgen_cipher_reveal_batch(found, all, all, count, error)
                                       : idgen_cipher_hide_batch(found, all, all, count, error);
          });
}

// Three numbers for each id, as longs_of makes them.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_cipherApplyWide(JNIEnv* env, jclass natives, jlong cipher,
                                                               jlongArray ids, jboolean reveals) {
  using idgen_jni::WideLongs;
  const auto* found = idgen_jni::handle<const idgen_cipher_t>(cipher);
  replace(env, natives, ids, env->GetLongArrayElements(ids, nullptr), &JNIEnv::ReleaseLongArrayElements,
          [&](jlong* elements, std::size_t count, idgen_error_t* error) {
            const std::span<WideLongs> longs(reinterpret_cast<WideLongs*>(elements), count / 3);
            const std::unique_ptr<idgen_wide_id_t[]> all(new (std::nothrow) idgen_wide_id_t[longs.size()]);
            if (!all) return idgen_status_t{IDGEN_E_NO_MEMORY};
            std::ranges::transform(longs, all.get(), idgen_jni::wide_of);
            const idgen_status_t status =
                reveals == JNI_TRUE ? idgen_cipher_reveal_wide_ids(found, all.get(), all.get(), longs.size(), error)
                                    : idgen_cipher_hide_wide_ids(found, all.get(), all.get(), longs.size(), error);
            if (status == IDGEN_OK)
              std::transform(all.get(), all.get() + longs.size(), longs.begin(), idgen_jni::longs_of);
            return status;
          });
}

// `sink` is a dev.idgen.KeySink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetKeys(JNIEnv* env, jclass natives, jlong config, jobject sink) {
  auto keys = std::unique_ptr<Keys>(new (std::nothrow) Keys);
  if (!keys) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&keys->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  keys->read = env->GetMethodID(env->GetObjectClass(sink), "read", "()[Ljava/lang/Object;");
  if (keys->read == nullptr) return;
  keys->sink = env->NewGlobalRef(sink);
  if (keys->sink == nullptr) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  idgen_keys_t table{};
  table.struct_size = sizeof table;
  table.read = read_keys;
  table.release = release_keys;
  Error error;
  const idgen_status_t status =
      idgen_config_set_keys(idgen_jni::handle<idgen_config_t>(config), &table, keys.get(), &error);
  if (status == IDGEN_OK) {
    static_cast<void>(keys.release());  // the library's now
  } else {
    env->DeleteGlobalRef(keys->sink);
    idgen_jni::raise(env, natives, status, &error);
  }
}

}  // extern "C"
