#include "jni_support.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace idgen_jni {
namespace {

jlong bits_of(double number) {
  jlong bits;
  static_assert(sizeof bits == sizeof number);
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

void store_numbers(JNIEnv* env, jobjectArray out, std::initializer_list<jlong> numbers) {
  jlongArray array = env->NewLongArray(static_cast<jsize>(numbers.size()));
  if (array == nullptr) return;
  store(env, array, numbers);
  if (!env->ExceptionCheck()) env->SetObjectArrayElement(out, 0, array);
  env->DeleteLocalRef(array);
}

}  // namespace

void throw_out_of_memory(JNIEnv* env) {
  if (jclass error = env->FindClass("java/lang/OutOfMemoryError"))
    env->ThrowNew(error, "no native memory for an argument");
}

void raise(JNIEnv* env, jclass natives, idgen_status_t status, const idgen_error_t* error, std::size_t written) {
  if (env->ExceptionCheck()) return;
  // Looked up each time: this is the cold path, and a cached id would have to be dropped with its class.
  jmethodID make = env->GetStaticMethodID(natives, "error", "(I[BJIJ)Ljava/lang/RuntimeException;");
  if (make == nullptr) return;
  const bool has_message = error != nullptr && error->message[0] != '\0';
  jbyteArray message = bytes(env, has_message ? error->message : idgen_status_message(status));
  if (message == nullptr) return;
  const auto retry_after_ns = static_cast<jlong>(error == nullptr ? 0 : error->retry_after_ns);
  const auto cause = static_cast<jlong>(error == nullptr ? 0 : error->cause);
  auto failure = static_cast<jthrowable>(env->CallStaticObjectMethod(
      natives, make, static_cast<jint>(status), message, retry_after_ns, static_cast<jint>(written), cause));
  if (!env->ExceptionCheck() && failure != nullptr) env->Throw(failure);
}

int is_interrupted(void* context) {
  auto* waiter = static_cast<Waiter*>(context);
  if (waiter->interrupted == nullptr) {
    waiter->interrupted = waiter->env->GetStaticMethodID(waiter->natives, "interrupted", "()Z");
    if (waiter->interrupted == nullptr) return 1;
  }
  const jboolean answer = waiter->env->CallStaticBooleanMethod(waiter->natives, waiter->interrupted);
  return answer == JNI_TRUE || waiter->env->ExceptionCheck() == JNI_TRUE;
}

jbyteArray bytes(JNIEnv* env, const char* text) {
  return text == nullptr ? nullptr : bytes(env, text, std::strlen(text));
}

jbyteArray bytes(JNIEnv* env, const char* text, std::size_t size) {
  jbyteArray array = env->NewByteArray(static_cast<jsize>(size));
  if (array != nullptr) {
    env->SetByteArrayRegion(array, 0, static_cast<jsize>(size), reinterpret_cast<const jbyte*>(text));
  }
  return array;
}

void store(JNIEnv* env, jlongArray out, std::initializer_list<jlong> numbers) {
  env->SetLongArrayRegion(out, 0, static_cast<jsize>(numbers.size()), numbers.begin());
}

// Cut at a character if it is longer. An exception may be pending afterwards.
void copy_text(JNIEnv* env, jbyteArray from, char* to, std::size_t size) {
  auto length = static_cast<std::size_t>(env->GetArrayLength(from));
  if (length >= size) {
    length = size - 1;
    jbyte next = 0;
    do {
      env->GetByteArrayRegion(from, static_cast<jsize>(length), 1, &next);
    } while ((next & 0xC0) == 0x80 && --length > 0);
  }
  env->GetByteArrayRegion(from, 0, static_cast<jsize>(length), reinterpret_cast<jbyte*>(to));
  to[length] = '\0';
}

void store_text(JNIEnv* env, jobjectArray out, jsize index, const char* text) {
  if (env->ExceptionCheck()) return;
  jbyteArray array = bytes(env, text == nullptr ? "" : text);
  if (array == nullptr) return;
  env->SetObjectArrayElement(out, index, array);
  env->DeleteLocalRef(array);
}

void store(JNIEnv* env, jlongArray out, const idgen_parts_t& parts) {
  store(env, out,
        {static_cast<jlong>(parts.fields), static_cast<jlong>(parts.unix_ms), static_cast<jlong>(parts.time),
         static_cast<jlong>(parts.datacenter), static_cast<jlong>(parts.worker), static_cast<jlong>(parts.process),
         static_cast<jlong>(parts.shard), static_cast<jlong>(parts.sequence), static_cast<jlong>(parts.gene),
         static_cast<jlong>(parts.version), static_cast<jlong>(parts.segment), static_cast<jlong>(parts.fixed),
         static_cast<jlong>(parts.segment_high)});
}

bool load(JNIEnv* env, jlongArray in, idgen_parts_t* parts) {
  jlong numbers[13];
  env->GetLongArrayRegion(in, 0, 13, numbers);
  if (env->ExceptionCheck()) return false;
  parts->fields = static_cast<std::uint32_t>(numbers[0]);
  parts->unix_ms = numbers[1];
  parts->time = static_cast<std::uint64_t>(numbers[2]);
  parts->datacenter = static_cast<std::uint64_t>(numbers[3]);
  parts->worker = static_cast<std::uint64_t>(numbers[4]);
  parts->process = static_cast<std::uint64_t>(numbers[5]);
  parts->shard = static_cast<std::uint64_t>(numbers[6]);
  parts->sequence = static_cast<std::uint64_t>(numbers[7]);
  parts->gene = static_cast<std::uint64_t>(numbers[8]);
  parts->version = static_cast<std::uint64_t>(numbers[9]);
  parts->segment = static_cast<std::uint64_t>(numbers[10]);
  parts->fixed = static_cast<std::uint64_t>(numbers[11]);
  parts->segment_high = static_cast<std::uint64_t>(numbers[12]);
  return true;
}

void store(JNIEnv* env, jobjectArray out, const idgen_stats_t& stats) {
  store_numbers(env, out,
                {static_cast<jlong>(stats.handles),
                 static_cast<jlong>(stats.granted),
                 static_cast<jlong>(stats.remaining),
                 static_cast<jlong>(stats.refills),
                 static_cast<jlong>(stats.refill_failures),
                 static_cast<jlong>(stats.refill_ns_max),
                 static_cast<jlong>(stats.waits),
                 static_cast<jlong>(stats.wait_ns),
                 static_cast<jlong>(stats.store_waits),
                 static_cast<jlong>(stats.clock_back_events),
                 static_cast<jlong>(stats.forks),
                 static_cast<jlong>(stats.lead_ms),
                 static_cast<jlong>(stats.issued),
                 static_cast<jlong>(stats.rate),
                 bits_of(stats.stock_seconds),
                 static_cast<jlong>(stats.breaker_redis),
                 static_cast<jlong>(stats.breaker_database),
                 static_cast<jlong>(stats.buffer_stock),
                 static_cast<jlong>(stats.stopped),
                 static_cast<jlong>(stats.last_failure),
                 static_cast<jlong>(stats.last_failure_unix_ms),
                 static_cast<jlong>(stats.redis_failures),
                 static_cast<jlong>(stats.database_failures),
                 static_cast<jlong>(stats.layout_left),
                 static_cast<jlong>(stats.tag_left),
                 static_cast<jlong>(stats.issued_ids)});
  store_text(env, out, 1, stats.last_error);
}

void store(JNIEnv* env, jlongArray out, const idgen_standard_parts_t& parts) {
  store(env, out,
        {static_cast<jlong>(parts.standard), static_cast<jlong>(parts.version), static_cast<jlong>(parts.is_rfc),
         static_cast<jlong>(parts.has_time), static_cast<jlong>(parts.counter), static_cast<jlong>(parts.unix_ms),
         static_cast<jlong>(parts.process)});
}

void store(JNIEnv* env, jlongArray out, const idgen_text_parts_t& parts) {
  const auto id = longs_of(parts.id), number = longs_of(parts.number);
  store(env, out,
        {parts.unit, parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second, id[0], id[1], id[2],
         number[0], number[1], number[2]});
}

void store(JNIEnv* env, jobjectArray out, const idgen_segment_info_t& info) {
  store_numbers(
      env, out,
      {static_cast<jlong>(info.max_id), static_cast<jlong>(info.grants), static_cast<jlong>(info.updated_unix_ms),
       static_cast<jlong>(info.step), static_cast<jlong>(info.rate)});
  store_text(env, out, 1, info.holder);
}

void store(JNIEnv* env, jobjectArray out, const idgen_worker_info_t& info) {
  store_numbers(env, out,
                {static_cast<jlong>(info.worker), static_cast<jlong>(info.fence), info.hw_unix_ms, info.clock_ahead_ms,
                 static_cast<jlong>(info.is_live)});
  store_text(env, out, 1, info.holder);
}

void store(JNIEnv* env, jobjectArray out, const idgen_layout_info_t& info) {
  store_numbers(
      env, out,
      {static_cast<jlong>(info.fields), static_cast<jlong>(info.bits), static_cast<jlong>(info.is_unsigned),
       static_cast<jlong>(info.is_js_safe), static_cast<jlong>(info.field_count),
       static_cast<jlong>(info.epoch_unix_ms), static_cast<jlong>(info.tick_ms), static_cast<jlong>(info.first_unix_ms),
       static_cast<jlong>(info.last_unix_ms), bits_of(info.years_left), static_cast<jlong>(info.ids_per_tick),
       bits_of(info.ids_per_second), static_cast<jlong>(info.workers)});
  store_text(env, out, 1, info.text);
  store_text(env, out, 2, info.preset);
}

void store(JNIEnv* env, jobjectArray out, const idgen_field_t& field) {
  store_numbers(env, out,
                {static_cast<jlong>(field.kind), static_cast<jlong>(field.bits), static_cast<jlong>(field.shift)});
  store_text(env, out, 1, field.name);
}

void store(JNIEnv* env, jobjectArray out, const idgen_property_t& property) {
  jsize index = 0;
  for (const char* text : {property.name, property.type, property.default_value, property.range, property.unit,
                           property.help, property.since}) {
    store_text(env, out, index++, text);
  }
}

void store(JNIEnv* env, jobjectArray out, const idgen_wide_id_t& id) {
  jbyteArray array = bytes(env, reinterpret_cast<const char*>(id.bytes), id.size);
  if (array == nullptr) return;
  env->SetObjectArrayElement(out, 0, array);
  env->DeleteLocalRef(array);
}

bool load(JNIEnv* env, jbyteArray in, idgen_wide_id_t* id) {
  const jsize size = env->GetArrayLength(in);
  id->size = static_cast<std::uint32_t>(size);
  env->GetByteArrayRegion(in, 0, std::min<jsize>(size, sizeof id->bytes), reinterpret_cast<jbyte*>(id->bytes));
  return env->ExceptionCheck() == JNI_FALSE;
}

Utf8::~Utf8() {
  if (text_ != inline_) std::free(text_);
}

bool Utf8::assign(JNIEnv* env, jbyteArray array) {
  if (array == nullptr) return true;
  const jsize length = env->GetArrayLength(array);
  size_ = static_cast<std::size_t>(length);
  char* text = size_ < kInline ? inline_ : static_cast<char*>(std::malloc(size_ + 1));
  if (text == nullptr) {
    throw_out_of_memory(env);
    return false;
  }
  text_ = text;
  env->GetByteArrayRegion(array, 0, length, reinterpret_cast<jbyte*>(text));
  text[size_] = '\0';
  return !env->ExceptionCheck();
}

Attached::Attached(JavaVM* vm) : vm_(vm) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_10) == JNI_EDETACHED) {
    attached_ = vm->AttachCurrentThreadAsDaemon(&env, nullptr) == JNI_OK;
    if (!attached_) env = nullptr;
  }
  env_ = static_cast<JNIEnv*>(env);
}

Attached::~Attached() {
  if (attached_) vm_->DetachCurrentThread();
}

}  // namespace idgen_jni

extern "C" {

// Only names the JNI version we need: there is nothing to set up.
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM*, void*) { return JNI_VERSION_10; }

JNIEXPORT jint JNICALL Java_dev_idgen_IdgenJNI_jniVersion(JNIEnv*, jclass) { return idgen_jni::kJniVersion; }

}  // extern "C"
