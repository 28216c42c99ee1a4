// All tags of a store: one row each, added to a java.util.List while the library lists them, on the caller's own
// thread.
#include "jni_support.hpp"

using idgen_jni::Error;

namespace {

struct Rows {
  JNIEnv* env;
  jobject list;
  jmethodID add;
  jclass object;
};

// A row is an idgen_segment_info_t as an Object[], with namespace and tag after it.
void add_row(void* context, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
  const auto* rows = static_cast<Rows*>(context);
  JNIEnv* env = rows->env;
  if (env->ExceptionCheck() == JNI_TRUE) return;  // no memory for an earlier row
  jobjectArray row = env->NewObjectArray(4, rows->object, nullptr);
  if (row == nullptr) return;
  idgen_jni::store(env, row, *info);
  idgen_jni::store_text(env, row, 2, name_space);
  idgen_jni::store_text(env, row, 3, tag);
  if (env->ExceptionCheck() == JNI_FALSE) env->CallBooleanMethod(rows->list, rows->add, row);
  env->DeleteLocalRef(row);
}

}  // namespace

extern "C" {

// `list` is a java.util.List<Object[]>.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_segmentList(JNIEnv* env, jclass natives, jlong config, jobject list) {
  Rows rows{env, list, env->GetMethodID(env->GetObjectClass(list), "add", "(Ljava/lang/Object;)Z"),
            env->FindClass("java/lang/Object")};
  if (rows.add == nullptr || rows.object == nullptr) return;
  Error error;
  const idgen_status_t status =
      idgen_segment_list(idgen_jni::handle<const idgen_config_t>(config), add_row, &rows, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

}  // extern "C"
