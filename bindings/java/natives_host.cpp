// The host's log and clock in Java: the library also calls them on its own threads, which the JVM does not know.
#include <idgen/host.h>

#include <atomic>
#include <memory>
#include <new>

#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::Error;

namespace {

// A dev.idgen.LogSink or ClockSink. Kept between calls, until the library has freed the generator.
struct Sink {
  JavaVM* vm = nullptr;
  jobject object = nullptr;
  jmethodID main = nullptr;
  jmethodID sleep = nullptr;
  std::atomic<jlong> latest{0};  // what the clock said last
};

// Runs call(env), unless the JVM is ending or the thread has an exception pending.
template <class Call>
void ask(const Sink* sink, Call&& call) {
  const Attached thread(sink->vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE) return;
  call(env);
  env->ExceptionClear();  // no memory: the caller has its own work to do
}

void write(void* context, std::int32_t level, const char* message) {
  const auto* log = static_cast<Sink*>(context);
  ask(log, [&](JNIEnv* env) {
    jbyteArray text = idgen_jni::bytes(env, message);
    if (text == nullptr) return;
    env->CallVoidMethod(log->object, log->main, static_cast<jint>(level), text);
    env->DeleteLocalRef(text);
  });
}

std::int64_t now(void* context) {
  auto* clock = static_cast<Sink*>(context);
  ask(clock, [&](JNIEnv* env) {
    const jlong ns = env->CallLongMethod(clock->object, clock->main);
    if (env->ExceptionCheck() == JNI_FALSE) clock->latest = ns;
  });
  return clock->latest;
}

void sleep(void* context, std::uint64_t ns) {
  const auto* clock = static_cast<Sink*>(context);
  ask(clock, [&](JNIEnv* env) { env->CallVoidMethod(clock->object, clock->sleep, static_cast<jlong>(ns)); });
}

void release(void* context) {
  const std::unique_ptr<Sink> sink(static_cast<Sink*>(context));
  const Attached thread(sink->vm);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(sink->object);
}

// Null: an exception is pending.
Sink* sink_of(JNIEnv* env, jclass natives, jobject object, const char* main, const char* signature) {
  auto sink = std::unique_ptr<Sink>(new (std::nothrow) Sink);
  if (sink && env->GetJavaVM(&sink->vm) == JNI_OK) {
    jclass type = env->GetObjectClass(object);
    sink->main = env->GetMethodID(type, main, signature);
    if (sink->main == nullptr) return nullptr;
    sink->object = env->NewGlobalRef(object);
  }
  if (sink && sink->object != nullptr) return sink.release();
  idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  return nullptr;
}

// The sink is the library's now, or freed.
void finish(JNIEnv* env, jclass natives, Sink* sink, idgen_status_t status, const Error& error) {
  if (status == IDGEN_OK) return;
  release(sink);
  idgen_jni::raise(env, natives, status, &error);
}

}  // namespace

extern "C" {

// `object` is a dev.idgen.LogSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetLog(JNIEnv* env, jclass natives, jlong config, jobject object) {
  Sink* log = sink_of(env, natives, object, "accept", "(I[B)V");
  if (log == nullptr) return;
  idgen_log_t table{};
  table.struct_size = sizeof table;
  table.write = write;
  table.release = release;
  Error error;
  finish(env, natives, log, idgen_config_set_log(idgen_jni::handle<idgen_config_t>(config), &table, log, &error),
         error);
}

// `object` is a dev.idgen.ClockSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetClock(JNIEnv* env, jclass natives, jlong config,
                                                              jobject object) {
  Sink* clock = sink_of(env, natives, object, "nowNs", "()J");
  if (clock == nullptr) return;
  clock->sleep = env->GetMethodID(env->GetObjectClass(object), "sleepNs", "(J)V");
  if (clock->sleep == nullptr) return release(clock);
  idgen_clock_t table{};
  table.struct_size = sizeof table;
  table.now_ns = now;
  table.sleep_ns = sleep;
  table.release = release;
  Error error;
  finish(env, natives, clock, idgen_config_set_clock(idgen_jni::handle<idgen_config_t>(config), &table, clock, &error),
         error);
}

}  // extern "C"
