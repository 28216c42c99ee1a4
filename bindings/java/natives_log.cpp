// The host's log in Java: the library also calls it on its own threads, which the JVM does not know.
#include <memory>
#include <new>

#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::Error;

namespace {

// Kept between calls, until the library has freed the generator.
struct Log {
  JavaVM* vm = nullptr;
  jobject sink = nullptr;
  jmethodID accept = nullptr;
};

void call(void* context, std::int32_t level, const char* message) {
  auto* log = static_cast<Log*>(context);
  const Attached thread(log->vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE) return;
  jbyteArray text = idgen_jni::bytes(env, message);
  if (text != nullptr) {
    env->CallVoidMethod(log->sink, log->accept, static_cast<jint>(level), text);
    env->DeleteLocalRef(text);
  }
  env->ExceptionClear();  // no memory: the caller has its own work to do
}

void release(void* context) {
  const std::unique_ptr<Log> log(static_cast<Log*>(context));
  const Attached thread(log->vm);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(log->sink);
}

}  // namespace

extern "C" {

// `sink` is a dev.idgen.LogSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetLog(JNIEnv* env, jclass natives, jlong config, jobject sink) {
  auto log = std::unique_ptr<Log>(new (std::nothrow) Log);
  if (!log) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&log->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  log->accept = env->GetMethodID(env->GetObjectClass(sink), "accept", "(I[B)V");
  if (log->accept == nullptr) return;
  log->sink = env->NewGlobalRef(sink);
  if (log->sink == nullptr) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  idgen_log_t table{};
  table.struct_size = sizeof table;
  table.write = call;
  table.release = release;
  Error error;
  const idgen_status_t status =
      idgen_config_set_log(idgen_jni::handle<idgen_config_t>(config), &table, log.get(), &error);
  if (status == IDGEN_OK) {
    log.release();  // the library's now
  } else {
    env->DeleteGlobalRef(log->sink);
    idgen_jni::raise(env, natives, status, &error);
  }
}

}  // extern "C"
