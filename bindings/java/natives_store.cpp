// The host's store in Java: the library also calls it on its own threads, which the JVM does not know.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::Error;

namespace {

// Kept between calls, until the library has freed the generator.
struct Store {
  JavaVM* vm = nullptr;
  jobject sink = nullptr;
  jmethodID take = nullptr;
  jmethodID give_back = nullptr;
};

void say(idgen_error_t* error, const char* message, std::size_t size) {
  size = std::min(size, sizeof error->message - 1);
  std::memcpy(error->message, message, size);
  error->message[size] = '\0';
}

idgen_status_t fail(idgen_error_t* error, idgen_status_t status, const char* message) {
  say(error, message, std::strlen(message));
  return status;
}

// What a store answers: the result; or the status, the ns after which a retry makes sense, the number of its exception.
constexpr jsize kNumbers = 3;

// Calls method(byte[] namespace, byte[] tag, long, long, long[3]). It returns null if all went well, else the message.
idgen_status_t ask(void* context, jmethodID Store::*method, const char* name_space, const char* tag, std::uint64_t a,
                   std::uint64_t b, jlong (&numbers)[kNumbers], idgen_error_t* error) {
  const auto* store = static_cast<const Store*>(context);
  const Attached thread(store->vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE)
    return fail(error, IDGEN_E_STORE_UNAVAILABLE, "the store is written in Java, and the JVM is ending");
  constexpr jint kReferences = 4;
  if (env->PushLocalFrame(kReferences) != JNI_OK) {
    env->ExceptionClear();
    return fail(error, IDGEN_E_NO_MEMORY, "no memory to ask the store with");
  }
  bool refused = false;
  jbyteArray name_space_bytes = idgen_jni::bytes(env, name_space);
  jbyteArray tag_bytes = name_space_bytes == nullptr ? nullptr : idgen_jni::bytes(env, tag);
  jlongArray result = tag_bytes == nullptr ? nullptr : env->NewLongArray(kNumbers);
  if (result != nullptr) {
    auto message =
        static_cast<jbyteArray>(env->CallObjectMethod(store->sink, store->*method, name_space_bytes, tag_bytes,
                                                      static_cast<jlong>(a), static_cast<jlong>(b), result));
    if (env->ExceptionCheck() == JNI_FALSE) {
      env->GetLongArrayRegion(result, 0, kNumbers, numbers);
      if (message != nullptr) {
        refused = true;
        char text[sizeof error->message];
        const jsize size = std::min<jsize>(env->GetArrayLength(message), sizeof text - 1);
        env->GetByteArrayRegion(message, 0, size, reinterpret_cast<jbyte*>(text));
        say(error, text, static_cast<std::size_t>(size));
        error->retry_after_ns = static_cast<std::uint64_t>(numbers[1]);
        error->cause = static_cast<std::uint64_t>(numbers[2]);
      }
    }
  }
  const bool thrown = env->ExceptionCheck() == JNI_TRUE;  // no memory, or the message could not be made
  env->ExceptionClear();
  env->PopLocalFrame(nullptr);
  if (thrown) return fail(error, IDGEN_E_HOST, "the store threw what could not be put into words; is the heap full?");
  return refused ? static_cast<idgen_status_t>(numbers[0]) : IDGEN_OK;
}

idgen_status_t take(void* context, const idgen_segment_request_t* request, idgen_segment_t* segment,
                    idgen_error_t* error) {
  jlong numbers[kNumbers] = {};
  const idgen_status_t status =
      ask(context, &Store::take, request->name_space, request->tag, request->count, 0, numbers, error);
  if (status == IDGEN_OK) segment->first = static_cast<std::uint64_t>(numbers[0]);
  return status;
}

idgen_status_t give_back(void* context, const char* name_space, const char* tag, std::uint64_t last,
                         std::uint64_t unused, idgen_error_t* error) {
  jlong numbers[kNumbers] = {};
  return ask(context, &Store::give_back, name_space, tag, last, unused, numbers, error);
}

void release(void* context) {
  const std::unique_ptr<Store> store(static_cast<Store*>(context));
  const Attached thread(store->vm);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(store->sink);
}

}  // namespace

extern "C" {

// `sink` is a dev.idgen.StoreSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetStore(JNIEnv* env, jclass natives, jlong config, jobject sink) {
  auto store = std::unique_ptr<Store>(new (std::nothrow) Store);
  if (!store) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&store->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  constexpr const char* kSignature = "([B[BJJ[J)[B";
  store->take = env->GetMethodID(env->GetObjectClass(sink), "take", kSignature);
  if (store->take == nullptr) return;
  store->give_back = env->GetMethodID(env->GetObjectClass(sink), "giveBack", kSignature);
  if (store->give_back == nullptr) return;
  store->sink = env->NewGlobalRef(sink);
  if (store->sink == nullptr) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  idgen_store_t table{};
  table.struct_size = sizeof table;
  table.segment_take = take;
  table.segment_return = give_back;
  table.release = release;
  Error error;
  const idgen_status_t status =
      idgen_config_set_store(idgen_jni::handle<idgen_config_t>(config), &table, store.get(), &error);
  if (status == IDGEN_OK) {
    static_cast<void>(store.release());  // the library's now
  } else {
    env->DeleteGlobalRef(store->sink);
    idgen_jni::raise(env, natives, status, &error);
  }
}

}  // extern "C"
