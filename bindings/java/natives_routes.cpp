// Tables of routes and routers. A route is a long[5]: shard, second (-1: none), state, node, version.
#include <idgen/route.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "jni_support.hpp"

using idgen_jni::Error;
using idgen_jni::handle;

namespace {

// An int[] of the caller's, for the length of a call. Empty with an exception pending if there is no memory.
class Ints {
 public:
  Ints(JNIEnv* env, jintArray array, bool is_result) : env_(env), array_(array), mode_(is_result ? 0 : JNI_ABORT) {
    if (array == nullptr) return;
    size_ = static_cast<std::size_t>(env->GetArrayLength(array));
    ints_ = env->GetIntArrayElements(array, nullptr);
  }
  ~Ints() {
    if (ints_ != nullptr) env_->ReleaseIntArrayElements(array_, ints_, mode_);
  }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  std::uint32_t* get() const { return reinterpret_cast<std::uint32_t*>(ints_); }
  std::size_t size() const { return size_; }

 private:
  JNIEnv* env_;
  jintArray array_;
  jint mode_;
  jint* ints_ = nullptr;
  std::size_t size_ = 0;
};

void put(JNIEnv* env, jclass natives, jlongArray out, idgen_status_t status, const idgen_route_t& route,
         const Error& error) {
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  const auto number = [](std::uint32_t shard) { return static_cast<jlong>(static_cast<std::int32_t>(shard)); };
  idgen_jni::store(env, out,
                   {number(route.shard), number(route.second), static_cast<jlong>(route.state),
                    static_cast<jlong>(route.node), static_cast<jlong>(route.version)});
}

// write(buffer, &size, &error) as in rule 4 of idgen.h.
template <class Write>
jbyteArray text_of(JNIEnv* env, jclass natives, Write write) {
  char small[1024];
  std::unique_ptr<char, void (*)(void*)> large(nullptr, std::free);
  Error error;
  std::size_t size = sizeof small;
  idgen_status_t status = write(small, &size, &error);
  while (status == IDGEN_E_BUFFER) {
    large.reset(static_cast<char*>(std::malloc(size)));
    if (!large) {
      idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
      return nullptr;
    }
    status = write(large.get(), &size, &error);
  }
  if (status == IDGEN_OK) return idgen_jni::bytes(env, large ? large.get() : small);
  idgen_jni::raise(env, natives, status, &error);
  return nullptr;
}

idgen_router_options_t options_of(jlong layout, jlong wide_layout, jint rule) {
  idgen_router_options_t options = IDGEN_ROUTER_OPTIONS_INIT;
  options.layout = handle<const idgen_layout_t>(layout);
  options.wide_layout = handle<const idgen_layout_t>(wide_layout);
  options.gene_rule = rule;
  return options;
}

template <class Handle>
jlong made(JNIEnv* env, jclass natives, idgen_status_t status, Handle* created, const Error& error) {
  if (status == IDGEN_OK) return idgen_jni::address(created);
  idgen_jni::raise(env, natives, status, &error);
  return 0;
}

}  // namespace

extern "C" {

#define NATIVE(TYPE, NAME) JNIEXPORT TYPE JNICALL Java_dev_idgen_IdgenJNI_##NAME

NATIVE(jlong, routeTableCreate)
(JNIEnv* env, jclass natives, jlong version, jint bits, jobjectArray shards, jintArray upto, jintArray owners,
 jintArray first, jintArray last, jintArray to, jintArray share) {
  const jsize count = env->GetArrayLength(shards);
  const std::unique_ptr<idgen_jni::Utf8[]> names(new (std::nothrow) idgen_jni::Utf8[static_cast<std::size_t>(count)]);
  const std::unique_ptr<const char*[]> texts(new (std::nothrow) const char*[static_cast<std::size_t>(count)]);
  if (!names || !texts) {
    idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
    return 0;
  }
  for (jsize i = 0; i < count; ++i) {
    const auto name = static_cast<jbyteArray>(env->GetObjectArrayElement(shards, i));
    const bool is_read = names[static_cast<std::size_t>(i)].assign(env, name);
    env->DeleteLocalRef(name);
    if (!is_read) return 0;
    texts[static_cast<std::size_t>(i)] = names[static_cast<std::size_t>(i)].c_str();
  }
  const Ints ends(env, upto, false), of(env, owners, false), from(env, first, false), until(env, last, false),
      into(env, to, false), part(env, share, false);
  if (env->ExceptionCheck() == JNI_TRUE) return 0;
  idgen_route_data_t data = IDGEN_ROUTE_DATA_INIT;
  data.version = static_cast<std::uint64_t>(version);
  data.bits = static_cast<std::uint32_t>(bits);
  data.shards = texts.get();
  data.shard_count = static_cast<std::size_t>(count);
  data.range_upto = ends.get();
  data.range_shard = of.get();
  data.range_count = ends.size();
  data.move_first = from.get();
  data.move_last = until.get();
  data.move_to = into.get();
  data.move_share = part.get();
  data.move_count = from.size();
  Error error;
  idgen_route_table_t* table = nullptr;
  const idgen_status_t status = idgen_route_table_create(&data, &table, &error);
  return made(env, natives, status, table, error);
}

NATIVE(jlong, routeTableRead)(JNIEnv* env, jclass natives, jbyteArray toml_path) {
  idgen_jni::Utf8 path;
  if (!path.assign(env, toml_path)) return 0;
  Error error;
  idgen_route_table_t* table = nullptr;
  const idgen_status_t status = idgen_route_table_read(path.c_str(), &table, &error);
  return made(env, natives, status, table, error);
}

NATIVE(void, routeTableWrite)(JNIEnv* env, jclass natives, jlong table, jbyteArray toml_path, jlong expected) {
  idgen_jni::Utf8 path;
  if (!path.assign(env, toml_path)) return;
  Error error;
  const idgen_status_t status = idgen_route_table_write(handle<const idgen_route_table_t>(table), path.c_str(),
                                                        static_cast<std::uint64_t>(expected), &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

NATIVE(void, routeTableDestroy)(JNIEnv*, jclass, jlong table) {
  idgen_route_table_destroy(handle<idgen_route_table_t>(table));
}

NATIVE(jbyteArray, routeTableText)(JNIEnv* env, jclass natives, jlong table) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_route_table_text(handle<const idgen_route_table_t>(table), buffer, size, error);
  });
}

NATIVE(jbyteArray, routeTableShard)(JNIEnv* env, jclass natives, jlong table, jint index) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_route_table_shard_at(handle<const idgen_route_table_t>(table), static_cast<std::size_t>(index), buffer,
                                      size, error);
  });
}

NATIVE(void, routeTableInfo)(JNIEnv* env, jclass natives, jlong table, jlongArray out) {
  idgen_route_table_info_t info = IDGEN_ROUTE_TABLE_INFO_INIT;
  Error error;
  const idgen_status_t status = idgen_route_table_info(handle<const idgen_route_table_t>(table), &info, &error);
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  idgen_jni::store(
      env, out,
      {static_cast<jlong>(info.version), static_cast<jlong>(info.bits), static_cast<jlong>(info.shard_count),
       static_cast<jlong>(info.range_count), static_cast<jlong>(info.move_count)});
}

NATIVE(void, routeTableRange)(JNIEnv* env, jclass natives, jlong table, jint index, jlongArray out) {
  idgen_route_range_t range = IDGEN_ROUTE_RANGE_INIT;
  Error error;
  const idgen_status_t status = idgen_route_table_range_at(handle<const idgen_route_table_t>(table),
                                                           static_cast<std::size_t>(index), &range, &error);
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  idgen_jni::store(env, out, {static_cast<jlong>(range.upto), static_cast<jlong>(range.shard)});
}

NATIVE(void, routeTableMove)(JNIEnv* env, jclass natives, jlong table, jint index, jlongArray out) {
  idgen_route_move_t move = IDGEN_ROUTE_MOVE_INIT;
  Error error;
  const idgen_status_t status = idgen_route_table_move_at(handle<const idgen_route_table_t>(table),
                                                          static_cast<std::size_t>(index), &move, &error);
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  idgen_jni::store(env, out,
                   {static_cast<jlong>(move.first), static_cast<jlong>(move.last), static_cast<jlong>(move.to),
                    static_cast<jlong>(move.share)});
}

NATIVE(jlong, routerCreate)
(JNIEnv* env, jclass natives, jlong table, jlong layout, jlong wide_layout, jint rule) {
  const idgen_router_options_t options = options_of(layout, wide_layout, rule);
  Error error;
  idgen_router_t* router = nullptr;
  const idgen_status_t status =
      idgen_router_create(handle<const idgen_route_table_t>(table), &options, &router, &error);
  return made(env, natives, status, router, error);
}

NATIVE(jlong, routerOpen)
(JNIEnv* env, jclass natives, jbyteArray toml_path, jlong layout, jlong wide_layout, jint rule, jlong reload_ms) {
  idgen_jni::Utf8 path;
  if (!path.assign(env, toml_path)) return 0;
  idgen_router_options_t options = options_of(layout, wide_layout, rule);
  options.reload_ms = static_cast<std::uint64_t>(reload_ms);
  Error error;
  idgen_router_t* router = nullptr;
  const idgen_status_t status = idgen_router_open(path.c_str(), &options, &router, &error);
  return made(env, natives, status, router, error);
}

NATIVE(void, routerDestroy)(JNIEnv*, jclass, jlong router) { idgen_router_destroy(handle<idgen_router_t>(router)); }

NATIVE(void, route)(JNIEnv* env, jclass natives, jlong router, jlong id, jlongArray out) {
  idgen_route_t route = IDGEN_ROUTE_INIT;
  Error error;
  const idgen_status_t status =
      idgen_router_route(handle<const idgen_router_t>(router), static_cast<std::uint64_t>(id), &route, &error);
  put(env, natives, out, status, route, error);
}

NATIVE(void, routeWide)(JNIEnv* env, jclass natives, jlong router, jbyteArray id, jlongArray out) {
  idgen_wide_id_t wide = IDGEN_WIDE_ID_INIT;
  const jsize size = env->GetArrayLength(id);
  wide.size = static_cast<std::uint32_t>(size);
  if (size == 8 || size == 16) env->GetByteArrayRegion(id, 0, size, reinterpret_cast<jbyte*>(wide.bytes));
  idgen_route_t route = IDGEN_ROUTE_INIT;
  Error error;
  const idgen_status_t status = idgen_router_route_wide(handle<const idgen_router_t>(router), &wide, &route, &error);
  put(env, natives, out, status, route, error);
}

NATIVE(void, routeNode)(JNIEnv* env, jclass natives, jlong router, jint node, jlongArray out) {
  idgen_route_t route = IDGEN_ROUTE_INIT;
  Error error;
  const idgen_status_t status =
      idgen_router_route_node(handle<const idgen_router_t>(router), static_cast<std::uint32_t>(node), &route, &error);
  put(env, natives, out, status, route, error);
}

NATIVE(void, routeOwner)(JNIEnv* env, jclass natives, jlong router, jbyteArray owner, jlongArray out) {
  idgen_jni::Utf8 bytes;
  if (!bytes.assign(env, owner)) return;
  idgen_route_t route = IDGEN_ROUTE_INIT;
  Error error;
  const idgen_status_t status =
      idgen_router_route_owner(handle<const idgen_router_t>(router), bytes.c_str(), bytes.size(), &route, &error);
  put(env, natives, out, status, route, error);
}

NATIVE(void, routeBatch)
(JNIEnv* env, jclass natives, jlong router, jlongArray ids, jintArray shards, jintArray seconds) {
  const auto count = static_cast<std::size_t>(env->GetArrayLength(ids));
  jlong* const source = env->GetLongArrayElements(ids, nullptr);
  if (source == nullptr) return;
  {
    const Ints one(env, shards, true), two(env, seconds, true);
    if (env->ExceptionCheck() == JNI_FALSE) {
      Error error;
      const idgen_status_t status =
          idgen_router_route_batch(handle<const idgen_router_t>(router), reinterpret_cast<const std::uint64_t*>(source),
                                   count, one.get(), two.get(), &error);
      if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
    }
  }
  env->ReleaseLongArrayElements(ids, source, JNI_ABORT);
}

NATIVE(void, routeNodeBatch)
(JNIEnv* env, jclass natives, jlong router, jintArray nodes, jintArray shards, jintArray seconds) {
  const Ints source(env, nodes, false), one(env, shards, true), two(env, seconds, true);
  if (env->ExceptionCheck() == JNI_TRUE) return;
  Error error;
  const idgen_status_t status = idgen_router_route_node_batch(handle<const idgen_router_t>(router), source.get(),
                                                              source.size(), one.get(), two.get(), &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

// A long[8] of the numbers first, then the latest error as a byte[].
NATIVE(void, routerStats)(JNIEnv* env, jclass natives, jlong router, jobjectArray out) {
  idgen_router_stats_t stats = IDGEN_ROUTER_STATS_INIT;
  Error error;
  const idgen_status_t status = idgen_router_stats(handle<const idgen_router_t>(router), &stats, &error);
  if (status != IDGEN_OK) return idgen_jni::raise(env, natives, status, &error);
  jlongArray numbers = env->NewLongArray(7);
  if (numbers == nullptr) return;
  idgen_jni::store(
      env, numbers,
      {static_cast<jlong>(stats.version), static_cast<jlong>(stats.bits), static_cast<jlong>(stats.shard_count),
       static_cast<jlong>(stats.swaps), static_cast<jlong>(stats.failures),
       static_cast<jlong>(stats.last_failure_unix_ms), static_cast<jlong>(stats.last_status)});
  env->SetObjectArrayElement(out, 0, numbers);
  env->DeleteLocalRef(numbers);
  idgen_jni::store_text(env, out, 1, stats.last_error);
}

NATIVE(jbyteArray, routerShard)(JNIEnv* env, jclass natives, jlong router, jint index) {
  return text_of(env, natives, [&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_router_shard_at(handle<const idgen_router_t>(router), static_cast<std::size_t>(index), buffer, size,
                                 error);
  });
}

NATIVE(jlong, routerTable)(JNIEnv* env, jclass natives, jlong router) {
  Error error;
  idgen_route_table_t* table = nullptr;
  const idgen_status_t status = idgen_router_table(handle<const idgen_router_t>(router), &table, &error);
  return made(env, natives, status, table, error);
}

NATIVE(void, routerSwap)(JNIEnv* env, jclass natives, jlong router, jlong table, jlong expected) {
  Error error;
  const idgen_status_t status =
      idgen_router_swap(handle<idgen_router_t>(router), handle<const idgen_route_table_t>(table),
                        static_cast<std::uint64_t>(expected), &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

NATIVE(void, routerReload)(JNIEnv* env, jclass natives, jlong router) {
  Error error;
  const idgen_status_t status = idgen_router_reload(handle<idgen_router_t>(router), &error);
  if (status != IDGEN_OK) idgen_jni::raise(env, natives, status, &error);
}

}  // extern "C"
