// Connections of the host in Java: of its pool, or opened by its drivers for a URL. The library uses them on its own
// threads too, which the JVM does not know.
#include <idgen/sql.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::Error;
using idgen_jni::fail;

namespace {

constexpr char kEnding[] = "the store is written in Java, and the JVM is ending";

// A dev.idgen.SqlSink or UrlDrivers, and methods of it and of SqlSession. Kept between calls, until the library has
// freed the generator.
struct Host {
  JavaVM* vm = nullptr;
  jobject sink = nullptr;
  jmethodID lend = nullptr, close = nullptr, failure = nullptr;
  jmethodID in_transaction = nullptr, execute = nullptr, begin = nullptr, commit = nullptr, rollback = nullptr;
};

struct Method {
  jmethodID Host::*id;
  const char* name;
  const char* signature;
};
constexpr Method kOfPool[] = {{&Host::lend, "lend", "(J)V"}};
constexpr Method kOfDrivers[] = {{&Host::close, "close", "(Ljava/lang/Object;)V"}};
constexpr Method kOfBoth[] = {{&Host::failure, "failure", "(Ljava/lang/Throwable;[J[B)[B"}};
constexpr Method kOfSession[] = {{&Host::in_transaction, "inTransaction", "()I"},
                                 {&Host::execute, "execute", "([BZ[I[J[[BJ[J)V"},
                                 {&Host::begin, "begin", "()V"},
                                 {&Host::commit, "commit", "()V"},
                                 {&Host::rollback, "rollback", "()V"}};

// False: an exception is pending.
bool find(JNIEnv* env, Host& host, jclass type, std::span<const Method> methods) {
  return type != nullptr && std::all_of(methods.begin(), methods.end(), [&](const Method& method) {
           host.*method.id = env->GetMethodID(type, method.name, method.signature);
           return host.*method.id != nullptr;
         });
}

// What the library asked for, on its way through SqlSink.lend.
struct Work {
  idgen_sql_work_fn function;
  void* context;
};

// A dev.idgen.SqlSession, on the thread that has it.
struct Session {
  JNIEnv* env;
  jobject object;
};

// What was thrown, as SqlSink.failure has it. The status if not even that can be said.
idgen_status_t report(JNIEnv* env, const Host& host, jthrowable thrown, idgen_sql_error_t* error) {
  constexpr jsize kNumbers = 4, kStateBytes = 5;
  jlong numbers[kNumbers] = {};
  jlongArray all = env->NewLongArray(kNumbers);
  jbyteArray state = all == nullptr ? nullptr : env->NewByteArray(kStateBytes);
  if (state != nullptr) {
    auto message = static_cast<jbyteArray>(env->CallObjectMethod(host.sink, host.failure, thrown, all, state));
    if (env->ExceptionCheck() == JNI_FALSE) {
      env->GetLongArrayRegion(all, 0, kNumbers, numbers);
      env->GetByteArrayRegion(state, 0, kStateBytes, reinterpret_cast<jbyte*>(error->sqlstate));
      idgen_jni::copy_text(env, message, error->message, sizeof error->message);
      error->retry_after_ns = static_cast<std::uint64_t>(numbers[1]);
      error->cause = static_cast<std::uint64_t>(numbers[2]);
      error->code = static_cast<std::uint32_t>(numbers[3]);
      return static_cast<idgen_status_t>(numbers[0]);
    }
  }
  env->ExceptionClear();
  return fail(error, IDGEN_E_HOST, "the store threw what could not be put into words; is the heap full?");
}

// Runs call(), which calls a method of Java, with room for its references.
template <class Call>
idgen_status_t ask(JNIEnv* env, const Host& host, idgen_sql_error_t* error, Call&& call) {
  constexpr jint kReferences = 32;
  if (env->PushLocalFrame(kReferences) != JNI_OK) {
    env->ExceptionClear();
    return fail(error, IDGEN_E_NO_MEMORY, "no memory to ask the store with");
  }
  call();
  idgen_status_t status = IDGEN_OK;
  if (jthrowable thrown = env->ExceptionOccurred()) {
    env->ExceptionClear();
    status = report(env, host, thrown, error);
  }
  env->PopLocalFrame(nullptr);
  return status;
}

idgen_status_t with_connection(void* context, idgen_sql_work_fn function, void* asked, idgen_sql_error_t* error) {
  const auto& host = *static_cast<const Host*>(context);
  const Attached thread(host.vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE) return fail(error, IDGEN_E_STORE_UNAVAILABLE, kEnding);
  const Work work{function, asked};
  return ask(env, host, error, [&] { env->CallVoidMethod(host.sink, host.lend, idgen_jni::address(&work)); });
}

idgen_status_t call(void* context, void* connection, jmethodID Host::*method, idgen_sql_error_t* error) {
  const auto& host = *static_cast<const Host*>(context);
  const auto [env, session] = *static_cast<const Session*>(connection);
  return ask(env, host, error, [&] { env->CallVoidMethod(session, host.*method); });
}

idgen_status_t begin(void* context, void* connection, idgen_sql_error_t* error) {
  return call(context, connection, &Host::begin, error);
}

idgen_status_t commit(void* context, void* connection, idgen_sql_error_t* error) {
  return call(context, connection, &Host::commit, error);
}

void rollback(void* context, void* connection) {
  const auto* host = static_cast<const Host*>(context);
  const auto [env, session] = *static_cast<const Session*>(connection);
  env->CallVoidMethod(session, host->rollback);
  env->ExceptionClear();  // the failure before it is what is reported
}

idgen_status_t in_transaction(void* context, void* connection, std::int32_t* inside, idgen_sql_error_t* error) {
  const auto& host = *static_cast<const Host*>(context);
  const auto [env, session] = *static_cast<const Session*>(connection);
  return ask(env, host, error, [&] { *inside = env->CallIntMethod(session, host.in_transaction); });
}

idgen_status_t execute(void* context, void* connection, const idgen_sql_statement_t* statement,
                       idgen_sql_outcome_t* outcome, idgen_sql_error_t* error) {
  const auto& host = *static_cast<const Host*>(context);
  const auto [env, session] = *static_cast<const Session*>(connection);
  return ask(env, host, error, [&, env = env, session = session] {
    const auto count = static_cast<jsize>(statement->count);
    jbyteArray sql = idgen_jni::bytes(env, statement->sql);
    jintArray kinds = sql == nullptr ? nullptr : env->NewIntArray(count);
    jlongArray numbers = kinds == nullptr ? nullptr : env->NewLongArray(count);
    jclass text_type = numbers == nullptr ? nullptr : env->FindClass("[B");
    jobjectArray texts = text_type == nullptr ? nullptr : env->NewObjectArray(count, text_type, nullptr);
    jlongArray changed = texts == nullptr ? nullptr : env->NewLongArray(2);
    if (changed == nullptr) return;
    for (jsize i = 0; i < count; ++i) {
      const idgen_sql_value_t& value = statement->values[i];
      env->SetIntArrayRegion(kinds, i, 1, &value.kind);
      const auto number = static_cast<jlong>(value.number);
      env->SetLongArrayRegion(numbers, i, 1, &number);
      if (value.kind != IDGEN_SQL_TEXT && value.kind != IDGEN_SQL_BYTES) continue;
      jbyteArray text = idgen_jni::bytes(env, value.text, value.size);
      if (text == nullptr) return;
      env->SetObjectArrayElement(texts, i, text);
      env->DeleteLocalRef(text);
    }
    env->CallVoidMethod(session, host.execute, sql, static_cast<jboolean>(statement->is_alone != 0), kinds, numbers,
                        texts, statement->each == nullptr ? 0 : idgen_jni::address(statement), changed);
    if (env->ExceptionCheck() == JNI_TRUE) return;
    jlong found[2] = {};
    env->GetLongArrayRegion(changed, 0, 2, found);
    outcome->changed = static_cast<std::uint64_t>(found[0]);
    outcome->last_insert_id = static_cast<std::uint64_t>(found[1]);
  });
}

void release(void* context) {
  const std::unique_ptr<Host> host(static_cast<Host*>(context));
  const Attached thread(host->vm);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(host->sink);
}

// The program's drivers. What is kept for them are weak references, so that an application can be unloaded.
struct Drivers {
  JavaVM* vm;
  jweak natives;  // the class IdgenJNI
};

// A connection that they have opened: `host.sink` is a dev.idgen.UrlDrivers, which keeps the session.
struct Link {
  Host host;
  jweak session;
};

void destroy(JNIEnv* env, Link* link) {
  env->DeleteWeakGlobalRef(link->session);
  env->DeleteWeakGlobalRef(link->host.sink);
  delete link;
}

idgen_status_t unloaded(idgen_sql_error_t* error) {
  return fail(error, IDGEN_E_STORE_UNAVAILABLE, "the Java classes that open connections were unloaded");
}

// Calls use(host, session) as if the session were of a pool.
template <class Use>
idgen_status_t on_link(void* connection, idgen_sql_error_t* error, Use&& use) {
  const auto& link = *static_cast<const Link*>(connection);
  const Attached thread(link.host.vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE) return fail(error, IDGEN_E_STORE_UNAVAILABLE, kEnding);
  Host host = link.host;
  host.sink = env->NewLocalRef(link.host.sink);
  Session session{env, env->NewLocalRef(link.session)};
  const idgen_status_t status =
      host.sink == nullptr || session.object == nullptr ? unloaded(error) : use(host, session);
  env->DeleteLocalRef(session.object);
  env->DeleteLocalRef(host.sink);
  return status;
}

// Within a frame of local references. Null: an exception is pending, or there is no memory.
Link* open_link(JNIEnv* env, Host& host, jclass type, const idgen_sql_address_t& address) {
  jmethodID connect = env->GetMethodID(type, "connect", "(I[[BIJ)Ljava/lang/Object;");
  jclass text = connect == nullptr ? nullptr : env->FindClass("[B");
  const char* const kTexts[] = {address.host,     address.socket, address.user,  address.password,
                                address.database, address.tls,    address.tls_ca};
  const auto count = static_cast<jsize>(std::size(kTexts));
  jobjectArray texts = text == nullptr ? nullptr : env->NewObjectArray(count, text, nullptr);
  if (texts == nullptr) return nullptr;
  for (jsize i = 0; i < count; ++i) idgen_jni::store_text(env, texts, i, kTexts[i]);
  if (env->ExceptionCheck() == JNI_TRUE) return nullptr;
  jobject session = env->CallObjectMethod(host.sink, connect, static_cast<jint>(address.dialect), texts,
                                          static_cast<jint>(address.port), static_cast<jlong>(address.timeout_ms));
  if (env->ExceptionCheck() == JNI_TRUE) return nullptr;
  auto link = std::unique_ptr<Link>(new (std::nothrow) Link{host, nullptr});
  if (link && find(env, link->host, env->GetObjectClass(session), kOfSession)) {
    link->session = env->NewWeakGlobalRef(session);
    link->host.sink = link->session == nullptr ? nullptr : env->NewWeakGlobalRef(host.sink);
    if (link->host.sink != nullptr) return link.release();
    if (link->session != nullptr) env->DeleteWeakGlobalRef(link->session);
  }
  env->ExceptionClear();
  env->CallVoidMethod(host.sink, host.close, session);
  return nullptr;
}

idgen_status_t open(void* context, const idgen_sql_address_t* address, void** connection, idgen_sql_error_t* error) {
  const auto& drivers = *static_cast<const Drivers*>(context);
  const Attached thread(drivers.vm);
  JNIEnv* env = thread.env();
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE) return fail(error, IDGEN_E_STORE_UNAVAILABLE, kEnding);
  auto natives = static_cast<jclass>(env->NewLocalRef(drivers.natives));
  if (natives == nullptr) return unloaded(error);
  Host host;
  host.vm = drivers.vm;
  jmethodID of_program = env->GetStaticMethodID(natives, "urlDrivers", "()Ljava/lang/Object;");
  host.sink = of_program == nullptr ? nullptr : env->CallStaticObjectMethod(natives, of_program);
  jclass type = env->ExceptionCheck() == JNI_TRUE ? nullptr : env->GetObjectClass(host.sink);
  idgen_status_t status = IDGEN_E_NO_MEMORY;
  if (find(env, host, type, kOfDrivers) && find(env, host, type, kOfBoth)) {
    Link* link = nullptr;
    status = ask(env, host, error, [&] { link = open_link(env, host, type, *address); });
    if (status == IDGEN_OK && link == nullptr) status = fail(error, IDGEN_E_NO_MEMORY, "no memory for a connection");
    *connection = link;
  } else {
    env->ExceptionClear();
  }
  env->DeleteLocalRef(type);
  env->DeleteLocalRef(host.sink);
  env->DeleteLocalRef(natives);
  return status;
}

void close(void*, void* connection) {
  auto* link = static_cast<Link*>(connection);
  const Attached thread(link->host.vm);
  idgen_sql_error_t unused{};
  static_cast<void>(on_link(connection, &unused, [](const Host& host, const Session& session) {
    session.env->CallVoidMethod(host.sink, host.close, session.object);
    session.env->ExceptionClear();
    return IDGEN_OK;
  }));
  if (thread.env() != nullptr) destroy(thread.env(), link);
}

idgen_status_t execute_on_link(void*, void* connection, const idgen_sql_statement_t* statement,
                               idgen_sql_outcome_t* outcome, idgen_sql_error_t* error) {
  return on_link(connection, error,
                 [&](Host& host, Session& session) { return execute(&host, &session, statement, outcome, error); });
}

idgen_status_t begin_on_link(void*, void* connection, idgen_sql_error_t* error) {
  return on_link(connection, error, [&](Host& host, Session& session) { return begin(&host, &session, error); });
}

idgen_status_t commit_on_link(void*, void* connection, idgen_sql_error_t* error) {
  return on_link(connection, error, [&](Host& host, Session& session) { return commit(&host, &session, error); });
}

void rollback_on_link(void*, void* connection) {
  idgen_sql_error_t unused{};
  static_cast<void>(on_link(connection, &unused, [](Host& host, Session& session) {
    rollback(&host, &session);
    return IDGEN_OK;
  }));
}

void release_drivers(void* context) {
  const std::unique_ptr<Drivers> drivers(static_cast<Drivers*>(context));
  const Attached thread(drivers->vm);
  if (thread.env() != nullptr) thread.env()->DeleteWeakGlobalRef(drivers->natives);
}

}  // namespace

extern "C" {

// Called when the library is loaded, so it only notes where the drivers are to be asked for.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_setSqlDriver(JNIEnv* env, jclass natives) {
  auto drivers = std::unique_ptr<Drivers>(new (std::nothrow) Drivers{});
  if (!drivers) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&drivers->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  drivers->natives = env->NewWeakGlobalRef(natives);
  if (drivers->natives == nullptr) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  idgen_sql_driver_t table{};
  table.struct_size = sizeof table;
  table.connect = open;
  table.close = close;
  table.execute = execute_on_link;
  table.begin = begin_on_link;
  table.commit = commit_on_link;
  table.rollback = rollback_on_link;
  table.release = release_drivers;
  Error error;
  const idgen_status_t status = idgen_set_sql_driver(&table, drivers.get(), &error);
  if (status == IDGEN_OK) {
    static_cast<void>(drivers.release());  // the library's now
  } else {
    env->DeleteWeakGlobalRef(drivers->natives);
    idgen_jni::raise(env, natives, status, &error);
  }
}

// `sink` is a dev.idgen.SqlSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetSqlStore(JNIEnv* env, jclass natives, jlong config,
                                                                 jobject sink) {
  auto host = std::unique_ptr<Host>(new (std::nothrow) Host);
  if (!host) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&host->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  jclass type = env->GetObjectClass(sink);
  if (!find(env, *host, type, kOfPool) || !find(env, *host, type, kOfBoth) ||
      !find(env, *host, env->FindClass("dev/idgen/SqlSession"), kOfSession))
    return;
  host->sink = env->NewGlobalRef(sink);
  if (host->sink == nullptr) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  idgen_sql_connections_t table{};
  table.struct_size = sizeof table;
  table.with_connection = with_connection;
  table.in_transaction = in_transaction;
  table.execute = execute;
  table.begin = begin;
  table.commit = commit;
  table.rollback = rollback;
  table.release = release;
  Error error;
  const idgen_status_t status =
      idgen_config_set_sql_store(idgen_jni::handle<idgen_config_t>(config), &table, host.get(), &error);
  if (status == IDGEN_OK) {
    static_cast<void>(host.release());  // the library's now
  } else {
    env->DeleteGlobalRef(host->sink);
    idgen_jni::raise(env, natives, status, &error);
  }
}

// By SqlSink.lend: `work` is what it was given.
JNIEXPORT jint JNICALL Java_dev_idgen_IdgenJNI_sqlWork(JNIEnv* env, jclass, jlong work, jobject session, jint dialect) {
  const auto* asked = idgen_jni::handle<const Work>(work);
  Session mine{env, session};
  return asked->function(asked->context, &mine, dialect);
}

// By SqlSession.execute: `rows` is what it was given. A value is numbers[i] or texts[i], by kinds[i].
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_sqlRow(JNIEnv* env, jclass natives, jlong rows, jintArray kinds,
                                                      jlongArray numbers, jobjectArray texts) {
  constexpr jsize kMost = 16;
  const jsize count = env->GetArrayLength(kinds);
  if (count > kMost) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  idgen_sql_value_t values[kMost] = {};
  idgen_jni::Utf8 held[kMost];
  for (jsize i = 0; i < count; ++i) {
    env->GetIntArrayRegion(kinds, i, 1, &values[i].kind);
    jlong number = 0;
    env->GetLongArrayRegion(numbers, i, 1, &number);
    values[i].number = number;
    if (values[i].kind != IDGEN_SQL_TEXT) continue;
    auto text = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, i));
    if (!held[i].assign(env, text)) return;
    env->DeleteLocalRef(text);
    values[i].text = held[i].c_str();
    values[i].size = held[i].size();
  }
  const auto* statement = idgen_jni::handle<const idgen_sql_statement_t>(rows);
  statement->each(statement->rows, values, static_cast<std::size_t>(count));
}

}  // extern "C"
