// Texts of any length: a buffer on the stack first, the heap when the library says how much more it needs.
#include <idgen/cipher.h>

#include <cstddef>
#include <cstdlib>

#include "jni_support.hpp"

using idgen_jni::Error;

namespace {

// write(buffer, &size, &error) as in rule 4 of idgen.h.
template <class Write>
jbyteArray text_of(JNIEnv* env, jclass natives, Write write) {
  char small[1024];
  Error error;
  std::size_t size = sizeof small;
  char* buffer = small;
  idgen_status_t status = write(buffer, &size, &error);
  // Repeats if the text has grown meanwhile: a description contains live numbers.
  while (status == IDGEN_E_BUFFER) {
    if (buffer != small) std::free(buffer);
    buffer = static_cast<char*>(std::malloc(size));
    if (buffer == nullptr) {
      idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
      return nullptr;
    }
    status = write(buffer, &size, &error);
  }
  jbyteArray result = nullptr;
  if (status == IDGEN_OK) {
    result = idgen_jni::bytes(env, buffer);
  } else {
    idgen_jni::raise(env, natives, status, &error);
  }
  if (buffer != small) std::free(buffer);
  return result;
}

jbyteArray pattern_text(JNIEnv* env, jclass natives, jlong pattern, const idgen_wide_id_t& id) {
  char text[idgen_jni::kMostTextBytes];
  std::size_t size = sizeof text;
  Error error;
  const idgen_status_t status =
      idgen_pattern_format(idgen_jni::handle<const idgen_pattern_t>(pattern), &id, text, &size, &error);
  if (status == IDGEN_OK) return idgen_jni::bytes(env, text, size - 1);
  idgen_jni::raise(env, natives, status, &error);
  return nullptr;
}

}  // namespace

extern "C" {

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_describe(JNIEnv* env, jclass natives, jlong generator) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_describe(idgen_jni::handle<idgen_t>(generator), buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_summary(JNIEnv* env, jclass natives, jlong generator) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_summary(idgen_jni::handle<idgen_t>(generator), buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_metrics(JNIEnv* env, jclass natives, jlongArray generators) {
  const jsize count = env->GetArrayLength(generators);
  jlong* addresses = env->GetLongArrayElements(generators, nullptr);
  if (addresses == nullptr) return nullptr;
  static_assert(sizeof(jlong) == sizeof(const idgen_t*));
  const auto* handles = reinterpret_cast<const idgen_t* const*>(addresses);
  jbyteArray text = text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_metrics(handles, static_cast<std::size_t>(count), buffer, size, error);
  });
  env->ReleaseLongArrayElements(generators, addresses, JNI_ABORT);
  return text;
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_configNames(JNIEnv* env, jclass natives, jbyteArray toml_path) {
  idgen_jni::Utf8 path;
  if (!path.assign(env, toml_path)) return nullptr;
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_names(path.c_str(), buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_segmentStatements(JNIEnv* env, jclass natives, jlong config) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_segment_statements(idgen_jni::handle<const idgen_config_t>(config), buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_cipherDescribe(JNIEnv* env, jclass natives, jlong cipher) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_cipher_describe(idgen_jni::handle<const idgen_cipher_t>(cipher), buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_cipherCheck(JNIEnv* env, jclass natives, jlong config) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_cipher_check(idgen_jni::handle<const idgen_config_t>(config), buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_format(JNIEnv* env, jclass natives, jlong id, jint encoding) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_format(static_cast<std::uint64_t>(id), encoding, buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_formatWide(JNIEnv* env, jclass natives, jbyteArray bytes,
                                                                jint encoding) {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  if (!idgen_jni::load(env, bytes, &id)) return nullptr;
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_format_wide(&id, encoding, buffer, size, error);
  });
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_patternFormat(JNIEnv* env, jclass natives, jlong pattern,
                                                                   jlong id) {
  return pattern_text(env, natives, pattern, idgen_jni::narrow_id(id));
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_patternFormatWide(JNIEnv* env, jclass natives, jlong pattern,
                                                                       jbyteArray bytes) {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  if (!idgen_jni::load(env, bytes, &id)) return nullptr;
  return pattern_text(env, natives, pattern, id);
}

JNIEXPORT jbyteArray JNICALL Java_dev_idgen_IdgenJNI_standardFormat(JNIEnv* env, jclass natives, jint standard,
                                                                    jbyteArray bytes) {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;  // has room for 16
  if (!idgen_jni::load(env, bytes, &id)) return nullptr;
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_standard_format(standard, id.bytes, buffer, size, error);
  });
}

}  // extern "C"
