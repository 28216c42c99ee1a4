// The host's store in Java: the library also calls it on its own threads, which the JVM does not know.
#include <idgen/host.h>

#include <memory>
#include <new>

#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::copy_text;
using idgen_jni::Error;
using idgen_jni::fail;

namespace {

// Kept between calls, until the library has freed the generator.
struct Store {
  JavaVM* vm = nullptr;
  jobject sink = nullptr;
  jmethodID take = nullptr;
  jmethodID give_back = nullptr;
  jmethodID namespace_format = nullptr;
  jmethodID worker_read = nullptr;
  jmethodID worker_list = nullptr;
  jmethodID worker_replace = nullptr;
};

// What a store answers: the result; or the status, the ns after which a retry makes sense, the number of its exception.
constexpr jsize kNumbers = 3;

// Runs call(env, store, numbers), which calls a method of the sink with the long[3] as its last argument. The method
// returns null if all went well, and then use(env) reads the results; else it returns the message. `call` returns null,
// with an exception pending, if there was no memory for the arguments.
template <class Call, class Use>
idgen_status_t ask(void* context, idgen_error_t* error, Call&& call, Use&& use) {
  const auto* store = static_cast<const Store*>(context);
  const Attached thread(store->vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE)
    return fail(error, IDGEN_E_STORE_UNAVAILABLE, "the store is written in Java, and the JVM is ending");
  constexpr jint kReferences = 16;
  if (env->PushLocalFrame(kReferences) != JNI_OK) {
    env->ExceptionClear();
    return fail(error, IDGEN_E_NO_MEMORY, "no memory to ask the store with");
  }
  bool refused = false;
  jlong numbers[kNumbers] = {};
  if (jlongArray result = env->NewLongArray(kNumbers)) {
    jbyteArray message = call(env, *store, result);
    if (env->ExceptionCheck() == JNI_FALSE) {
      env->GetLongArrayRegion(result, 0, kNumbers, numbers);
      if (message == nullptr) {
        use(env, numbers);
      } else {
        refused = true;
        copy_text(env, message, error->message, sizeof error->message);
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

// Calls method(byte[] namespace, byte[] tag, long, long, long[3]).
template <class Use>
idgen_status_t ask_about_tag(void* context, jmethodID Store::*method, const char* name_space, const char* tag,
                             std::uint64_t a, std::uint64_t b, idgen_error_t* error, Use&& use) {
  const auto call = [&](JNIEnv* env, const Store& store, jlongArray numbers) -> jbyteArray {
    jbyteArray name_space_bytes = idgen_jni::bytes(env, name_space);
    jbyteArray tag_bytes = name_space_bytes == nullptr ? nullptr : idgen_jni::bytes(env, tag);
    if (tag_bytes == nullptr) return nullptr;
    return static_cast<jbyteArray>(env->CallObjectMethod(store.sink, store.*method, name_space_bytes, tag_bytes,
                                                         static_cast<jlong>(a), static_cast<jlong>(b), numbers));
  };
  return ask(context, error, call, use);
}

idgen_status_t take(void* context, const idgen_segment_request_t* request, idgen_segment_t* segment,
                    idgen_error_t* error) {
  return ask_about_tag(context, &Store::take, request->name_space, request->tag, request->count, request->above, error,
                       [&](JNIEnv*, const jlong* numbers) { segment->first = static_cast<std::uint64_t>(numbers[0]); });
}

idgen_status_t give_back(void* context, const char* name_space, const char* tag, std::uint64_t last,
                         std::uint64_t unused, idgen_error_t* error) {
  return ask_about_tag(context, &Store::give_back, name_space, tag, last, unused, error, [](JNIEnv*, const jlong*) {});
}

jobjectArray array_of(JNIEnv* env, const char* type, jsize length) {
  jclass element = env->FindClass(type);
  return element == nullptr ? nullptr : env->NewObjectArray(length, element, nullptr);
}

idgen_status_t namespace_format(void* context, const char* name_space, const char* format, char* found,
                                std::size_t size, idgen_error_t* error) {
  jobjectArray out = nullptr;
  const auto call = [&](JNIEnv* env, const Store& store, jlongArray numbers) -> jbyteArray {
    jbyteArray name_space_bytes = idgen_jni::bytes(env, name_space);
    jbyteArray format_bytes = name_space_bytes == nullptr ? nullptr : idgen_jni::bytes(env, format);
    out = format_bytes == nullptr ? nullptr : array_of(env, "java/lang/Object", 1);
    if (out == nullptr) return nullptr;
    return static_cast<jbyteArray>(
        env->CallObjectMethod(store.sink, store.namespace_format, name_space_bytes, format_bytes, out, numbers));
  };
  return ask(context, error, call, [&](JNIEnv* env, const jlong*) {
    copy_text(env, static_cast<jbyteArray>(env->GetObjectArrayElement(out, 0)), found, size);
  });
}

// Calls method(byte[] namespace, long worker, Object[] out, long[3]), and use(row) for each row that it gives.
template <class Use>
idgen_status_t ask_for_rows(void* context, jmethodID Store::*method, const char* name_space, std::uint64_t worker,
                            idgen_error_t* error, Use&& use) {
  constexpr jsize kRowNumbers = 6, kRowTexts = 2;  // StoreSink.write
  jobjectArray out = nullptr;
  const auto call = [&](JNIEnv* env, const Store& store, jlongArray numbers) -> jbyteArray {
    jbyteArray name_space_bytes = idgen_jni::bytes(env, name_space);
    out = name_space_bytes == nullptr ? nullptr : array_of(env, "java/lang/Object", 2);
    if (out == nullptr) return nullptr;
    return static_cast<jbyteArray>(
        env->CallObjectMethod(store.sink, store.*method, name_space_bytes, static_cast<jlong>(worker), out, numbers));
  };
  return ask(context, error, call, [&](JNIEnv* env, const jlong*) {
    auto all_numbers = static_cast<jlongArray>(env->GetObjectArrayElement(out, 0));
    auto texts = static_cast<jobjectArray>(env->GetObjectArrayElement(out, 1));
    const jsize count = env->GetArrayLength(all_numbers) / kRowNumbers;
    for (jsize i = 0; i < count && env->ExceptionCheck() == JNI_FALSE; ++i) {
      jlong numbers[kRowNumbers] = {};
      env->GetLongArrayRegion(all_numbers, kRowNumbers * i, kRowNumbers, numbers);
      auto row = idgen_jni::sized<idgen_worker_row_t>();
      row.worker = static_cast<std::uint64_t>(numbers[0]);
      row.fence = static_cast<std::uint64_t>(numbers[1]);
      row.hw_ms = numbers[2];
      row.lease_left_ms = numbers[3];
      row.clock_ahead_ms = numbers[4];
      row.store_now_ms = numbers[5];
      auto owner = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, kRowTexts * i));
      auto holder = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, kRowTexts * i + 1));
      copy_text(env, owner, row.owner, sizeof row.owner);
      copy_text(env, holder, row.holder, sizeof row.holder);
      env->DeleteLocalRef(owner);
      env->DeleteLocalRef(holder);
      use(row);
    }
  });
}

idgen_status_t worker_read(void* context, const char* name_space, std::uint64_t worker, idgen_worker_row_t* row,
                           idgen_error_t* error) {
  return ask_for_rows(context, &Store::worker_read, name_space, worker, error,
                      [&](const idgen_worker_row_t& found) { *row = found; });
}

idgen_status_t worker_list(void* context, const char* name_space, idgen_worker_row_fn each, void* rows,
                           idgen_error_t* error) {
  return ask_for_rows(context, &Store::worker_list, name_space, 0, error,
                      [&](const idgen_worker_row_t& found) { each(rows, &found); });
}

idgen_status_t worker_replace(void* context, const idgen_worker_change_t* change, std::uint32_t* changed,
                              idgen_error_t* error) {
  const auto call = [&](JNIEnv* env, const Store& store, jlongArray numbers) -> jbyteArray {
    jbyteArray name_space = idgen_jni::bytes(env, change->name_space);
    jlongArray values = name_space == nullptr ? nullptr : env->NewLongArray(8);
    if (values == nullptr) return nullptr;
    idgen_jni::store(
        env, values,
        {static_cast<jlong>(change->worker), static_cast<jlong>(change->seen_fence), change->seen_hw_ms,
         static_cast<jlong>(change->fence), change->hw_ms, change->lease_ms, change->now_ms, change->max_lead_ms});
    jobjectArray texts = array_of(env, "[B", 3);
    if (texts == nullptr) return nullptr;
    idgen_jni::store_text(env, texts, 0, change->seen_owner);
    idgen_jni::store_text(env, texts, 1, change->owner);
    idgen_jni::store_text(env, texts, 2, change->holder);
    if (env->ExceptionCheck() == JNI_TRUE) return nullptr;
    return static_cast<jbyteArray>(
        env->CallObjectMethod(store.sink, store.worker_replace, name_space, values, texts, numbers));
  };
  return ask(context, error, call, [&](JNIEnv*, const jlong* numbers) { *changed = numbers[0] != 0 ? 1 : 0; });
}

void release(void* context) {
  const std::unique_ptr<Store> store(static_cast<Store*>(context));
  const Attached thread(store->vm);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(store->sink);
}

}  // namespace

extern "C" {

// `sink` is a dev.idgen.StoreSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetStore(JNIEnv* env, jclass natives, jlong config, jobject sink,
                                                              jboolean has_workers) {
  auto store = std::unique_ptr<Store>(new (std::nothrow) Store);
  if (!store) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&store->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  constexpr struct {
    jmethodID Store::*method;
    const char* name;
    const char* signature;
  } kMethods[] = {{&Store::take, "take", "([B[BJJ[J)[B"},
                  {&Store::give_back, "giveBack", "([B[BJJ[J)[B"},
                  {&Store::namespace_format, "namespaceFormat", "([B[B[Ljava/lang/Object;[J)[B"},
                  {&Store::worker_read, "workerRead", "([BJ[Ljava/lang/Object;[J)[B"},
                  {&Store::worker_list, "workerList", "([BJ[Ljava/lang/Object;[J)[B"},
                  {&Store::worker_replace, "workerReplace", "([B[J[[B[J)[B"}};
  for (const auto& [method, name, signature] : kMethods) {
    (*store).*method = env->GetMethodID(env->GetObjectClass(sink), name, signature);
    if ((*store).*method == nullptr) return;
  }
  store->sink = env->NewGlobalRef(sink);
  if (store->sink == nullptr) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  idgen_store_t table{};
  table.struct_size = sizeof table;
  table.segment_take = take;
  table.segment_return = give_back;
  table.release = release;
  if (has_workers == JNI_TRUE) {
    table.namespace_format = namespace_format;
    table.worker_read = worker_read;
    table.worker_list = worker_list;
    table.worker_replace = worker_replace;
  }
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
