// Opening and closing a generator. Both may wait for the store, and notice an interrupt meanwhile.
#include "jni_support.hpp"

using idgen_jni::Error;
using idgen_jni::is_interrupted;
using idgen_jni::Waiter;

extern "C" {

JNIEXPORT jlong JNICALL Java_dev_idgen_IdgenJNI_create(JNIEnv* env, jclass natives, jlong config) {
  Waiter waiter{env, natives};
  Error error;
  idgen_t* generator = nullptr;
  const idgen_status_t status =
      idgen_create_wait(idgen_jni::handle<const idgen_config_t>(config), &generator, is_interrupted, &waiter, &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
  if (env->ExceptionCheck() == JNI_TRUE) {
    idgen_destroy(generator);
    return 0;
  }
  return idgen_jni::address(generator);
}

// An interrupt ends only the wait: the generator is closed all the same, and the thread's interrupt status tells the
// caller.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_close(JNIEnv* env, jclass natives, jlong generator) {
  Waiter waiter{env, natives};
  Error error;
  const idgen_status_t status =
      idgen_close_wait(idgen_jni::handle<idgen_t>(generator), is_interrupted, &waiter, &error);
  if (status != IDGEN_OK && status != IDGEN_E_CANCELLED) idgen_jni::raise(env, natives, status, &error);
}

}  // extern "C"
