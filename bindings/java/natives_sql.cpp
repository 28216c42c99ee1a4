// Connections of the host's pool in Java: the library borrows them on its own threads too, which the JVM does not know.
#include <idgen/sql.h>

#include <memory>
#include <new>

#include "jni_support.hpp"

using idgen_jni::Attached;
using idgen_jni::Error;
using idgen_jni::fail;

namespace {

// A dev.idgen.SqlSink, and methods of it and of SqlSession. Kept between calls, until the library has freed the
// generator.
struct Host {
  JavaVM* vm = nullptr;
  jobject sink = nullptr;
  jmethodID lend = nullptr, failure = nullptr;
  jmethodID in_transaction = nullptr, execute = nullptr, begin = nullptr, commit = nullptr, rollback = nullptr;
};

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
  if (env == nullptr || env->ExceptionCheck() == JNI_TRUE)
    return fail(error, IDGEN_E_STORE_UNAVAILABLE, "the store is written in Java, and the JVM is ending");
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

}  // namespace

extern "C" {

// `sink` is a dev.idgen.SqlSink.
JNIEXPORT void JNICALL Java_dev_idgen_IdgenJNI_configSetSqlStore(JNIEnv* env, jclass natives, jlong config,
                                                                 jobject sink) {
  auto host = std::unique_ptr<Host>(new (std::nothrow) Host);
  if (!host) return idgen_jni::raise(env, natives, IDGEN_E_NO_MEMORY);
  if (env->GetJavaVM(&host->vm) != JNI_OK) return idgen_jni::raise(env, natives, IDGEN_E_INTERNAL);
  jclass session = env->FindClass("dev/idgen/SqlSession");
  if (session == nullptr) return;
  const struct {
    jmethodID Host::*method;
    jclass type;
    const char* name;
    const char* signature;
  } kMethods[] = {{&Host::lend, env->GetObjectClass(sink), "lend", "(J)V"},
                  {&Host::failure, env->GetObjectClass(sink), "failure", "(Ljava/lang/Throwable;[J[B)[B"},
                  {&Host::in_transaction, session, "inTransaction", "()I"},
                  {&Host::execute, session, "execute", "([BZ[I[J[[BJ[J)V"},
                  {&Host::begin, session, "begin", "()V"},
                  {&Host::commit, session, "commit", "()V"},
                  {&Host::rollback, session, "rollback", "()V"}};
  for (const auto& [method, type, name, signature] : kMethods) {
    (*host).*method = env->GetMethodID(type, name, signature);
    if ((*host).*method == nullptr) return;
  }
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
