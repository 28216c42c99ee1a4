// What all Java natives are made of: arguments in, results out, failures thrown. Nothing here is kept between calls (no
// cached class, no global reference; the exceptions are in natives_host.cpp, natives_sql.cpp and natives_store.cpp), so
// that a dropped class loader leaves nothing behind.
#ifndef IDGEN_BINDINGS_JAVA_JNI_SUPPORT_HPP
#define IDGEN_BINDINGS_JAVA_JNI_SUPPORT_HPP

#include <idgen/admin.h>
#include <idgen/idgen.h>
#include <idgen/standard.h>
#include <jni.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace idgen_jni {

// Changes with the name or the parameters of a native, and with the words that View.java reads.
// NativeLoader.JNI_VERSION must be the same number, so that a jar and a libidgen.so that do not match give a message,
// not a crash.
inline constexpr jint kJniVersion = 19;

// idgen_error_t without its half kilobyte of zeroes: this is made on every call.
struct Error : idgen_error_t {
  Error() {  // NOLINT(cppcoreguidelines-pro-type-member-init)
    struct_size = sizeof(idgen_error_t);
    status = IDGEN_OK;
    retry_after_ns = 0;
    message[0] = '\0';
    cause = 0;
  }
};

template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

template <class T>
T* handle(jlong address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

inline jlong address(const void* handle) { return static_cast<jlong>(reinterpret_cast<std::uintptr_t>(handle)); }

// Whether a function fills an idgen_error_t, by its type.
template <class Function>
constexpr bool reports_error = false;
template <class... Parameters>
constexpr bool reports_error<idgen_status_t (*)(Parameters...)> = (std::is_same_v<Parameters, idgen_error_t*> || ...);

// Throws what IdgenJNI.error makes of a failure. `natives` is the class IdgenJNI, which every static native gets. Does
// nothing if an exception is pending already. `written`: ids that a failed batch had stored before.
void raise(JNIEnv* env, jclass natives, idgen_status_t status, const idgen_error_t* error = nullptr,
           std::size_t written = 0);

// Java threads are interrupted, not cancelled: while the library waits, it asks the calling thread.
struct Waiter {
  JNIEnv* env;
  jclass natives;
  jmethodID interrupted = nullptr;
};

// What idgen_pattern_format and idgen_next_text need at most, with the NUL.
inline constexpr std::size_t kMostTextBytes = 193;

// An id of 8 bytes in the form of those that may have 16.
inline idgen_wide_id_t narrow_id(jlong id) {
  idgen_wide_id_t wide = IDGEN_WIDE_ID_INIT;
  wide.size = 8;
  auto rest = static_cast<std::uint64_t>(id);
  for (int i = 7; i >= 0; --i, rest >>= 8) wide.bytes[i] = static_cast<std::uint8_t>(rest);
  return wide;
}

inline jlong big_endian(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | bytes[i];
  return static_cast<jlong>(number);
}

// An id of either length as WideId.java has it: size, high and low.
using WideLongs = std::array<jlong, 3>;
static_assert(sizeof(WideLongs) == 3 * sizeof(jlong));
inline WideLongs longs_of(const idgen_wide_id_t& id) {
  return {static_cast<jlong>(id.size), id.size == 8 ? 0 : big_endian(id.bytes), big_endian(id.bytes + id.size - 8)};
}
inline idgen_wide_id_t wide_of(const WideLongs& longs) {
  const idgen_wide_id_t low = narrow_id(longs[2]);
  if (longs[0] == 8) return low;
  idgen_wide_id_t wide = narrow_id(longs[1]);
  wide.size = 16;
  std::copy_n(low.bytes, 8, wide.bytes + 8);
  return wide;
}

// An argument does not fit into native memory.
void throw_out_of_memory(JNIEnv* env);

// An idgen_cancelled_fn for a Waiter. Leaves the thread's interrupt status as it is. An exception while asking (a stack
// overflow, say) ends the wait too, and is passed to the caller.
int is_interrupted(void* waiter);

// The bytes of a NUL-terminated text; null for NULL, and with an exception pending when the heap is full.
jbyteArray bytes(JNIEnv* env, const char* text);
jbyteArray bytes(JNIEnv* env, const char* text, std::size_t size);

// Writes results into an array of the caller's, in the order of the struct's members (a double as its bits). An array
// that is too short throws.
void store(JNIEnv* env, jlongArray out, std::initializer_list<jlong> numbers);
void store(JNIEnv* env, jlongArray out, const idgen_parts_t& parts);
void store(JNIEnv* env, jobjectArray out, const idgen_stats_t& stats);
void store(JNIEnv* env, jlongArray out, const idgen_standard_parts_t& parts);
void store(JNIEnv* env, jlongArray out, const idgen_text_parts_t& parts);
// A long[] of the numbers first, then a byte[] for each text.
void store(JNIEnv* env, jobjectArray out, const idgen_segment_info_t& info);
void store(JNIEnv* env, jobjectArray out, const idgen_worker_info_t& info);
void store(JNIEnv* env, jobjectArray out, const idgen_layout_info_t& info);
void store(JNIEnv* env, jobjectArray out, const idgen_field_t& field);
void store(JNIEnv* env, jobjectArray out, const idgen_property_t& property);
// A byte[].
void store(JNIEnv* env, jobjectArray out, const idgen_wide_id_t& id);

// The text of a byte[], cut at a character if it is longer. An exception may be pending afterwards.
void copy_text(JNIEnv* env, jbyteArray from, char* to, std::size_t size);

// What a callback reports with the idgen_error_t or idgen_sql_error_t that it was given.
template <class Reported>
idgen_status_t fail(Reported* error, idgen_status_t status, const char* message) {
  const std::size_t size = std::min(std::strlen(message), sizeof error->message - 1);
  std::memcpy(error->message, message, size);
  error->message[size] = '\0';
  return status;
}

// Writes a text as a byte[] into one element. Does nothing if an exception is pending.
void store_text(JNIEnv* env, jobjectArray out, jsize index, const char* text);

// The inverse of store for idgen_parts_t. False: an exception is pending.
bool load(JNIEnv* env, jlongArray in, idgen_parts_t* parts);
// The inverse for idgen_wide_id_t. The library refuses a length other than 8 and 16.
bool load(JNIEnv* env, jbyteArray in, idgen_wide_id_t* id);

// A byte[] as a NUL-terminated string for the length of a call. A null array gives a null pointer.
class Utf8 {
 public:
  Utf8() = default;
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;
  ~Utf8();

  // False: an exception is pending.
  bool assign(JNIEnv* env, jbyteArray array);
  // SWIG's wrappers hold arguments as char * and cast the const back.
  char* c_str() { return text_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kInline = 256;  // most keys, values and paths need no heap
  char inline_[kInline];
  char* text_ = nullptr;
  std::size_t size_ = 0;
};

// For callbacks, which also come on threads that the JVM does not know. Such a thread is attached for the length of a
// scope: callbacks are rare, and a thread that stays attached holds a Java object for ever. It is a daemon, so that the
// JVM does not wait for it at exit.
class Attached {
 public:
  explicit Attached(JavaVM* vm);
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached();

  JNIEnv* env() const { return env_; }  // null when the JVM is shutting down

 private:
  JavaVM* vm_;
  JNIEnv* env_ = nullptr;
  bool attached_ = false;
};

}  // namespace idgen_jni

#endif
