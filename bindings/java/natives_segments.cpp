// All tags or workers of a store: one row each, added to a java.util.List while the library lists them, on the caller's
// own thread.
#include "jni_support.hpp"

using idgen_jni::Error;

namespace {

struct Rows {
  JNIEnv* env;
  jobject list;
  jmethodID add;
  jclass object;
};

// A row is what `fill` writes into an Object[].
template <class Fill>
void add_row(void* context, jsize parts, Fill&& fill) {
  const auto* rows = static_cast<Rows*>(context);
  JNIEnv* env = rows->env;
  if (env->ExceptionCheck() == JNI_TRUE) return;  // no memory for an earlier row
  jobjectArray row = env->NewObjectArray(parts, rows->object, nullptr);
  if (row == nullptr) return;
  fill(env, row);
  if (env->ExceptionCheck() == JNI_FALSE) env->CallBooleanMethod(rows->list, rows->add, row);
  env->DeleteLocalRef(row);
}

// An idgen_segment_info_t, with namespace and tag after it.
void add_segment(void* context, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
  add_row(context, 4, [&](JNIEnv* env, jobjectArray row) {
    idgen_jni::store(env, row, *info);
    idgen_jni::store_text(env, row, 2, name_space);
    idgen_jni::store_text(env, row, 3, tag);
  });
}

void add_worker(void* context, const idgen_worker_info_t* info) {
  add_row(context, 2, [&](JNIEnv* env, jobjectArray row) { idgen_jni::store(env, row, *info); });
}

template <class Each>
void list_rows(JNIEnv* env, jclass natives, jlong config, jobject list, Each each,
               idgen_status_t (*of)(const idgen_config_t*, Each, void*, idgen_error_t*)) {
  Rows rows{env, list, env->GetMethodID(env->GetObjectClass(list), "add", "(Ljava/lang/Object;)Z"),
            env->FindClass("java/lang/Object")};
  if (rows.add == nullptr || rows.object == nullptr) return;
  Error error;
  const idgen_status_t status = of(idgen_jni::handle<const idgen_config_t>(config), each, &rows, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

}  // namespace

extern "C" {

// `list` is a java.util.List<Object[]>, here and below.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_segmentList(JNIEnv* env, jclass natives, jlong config, jobject list) {
  list_rows(env, natives, config, list, add_segment, idgen_segment_list);
}

JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_workerList(JNIEnv* env, jclass natives, jlong config, jobject list) {
  list_rows(env, natives, config, list, add_worker, idgen_worker_list);
}

}  // extern "C"
