/*
 * The Java natives: static methods of one package-private class, dev.idgen.IdgenJNI. There are no proxies: a handle is
 * a long, a struct is a long[] or an Object[], text is a byte[] of UTF-8 (JNI strings use a variant of UTF-8), and a
 * failure is thrown. The classes that users see are in java/.
 *
 * SWIG reads the headers that an %include below names, and makes a native of each function that no %ignore names. A
 * function added there needs no change here if its parameters have the usual types and names. If it blocks, makes an
 * id, calls back or returns text of any length, it needs three things: an %ignore, a %native at the end of this file,
 * and code in natives_*.cpp. host.h, route.h and view.h have only such functions, and are not read.
 */
%module(jniclassname="IdgenJNI") IdgenModule

%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) jniclasscode=%{
  static {
    NativeLoader.load();
  }

  private IdgenJNI() {}

  // Runs the initializer.
  static void initialize() {}

  // Called by the natives, on any thread.
  static Object urlDrivers() {
    return UrlDrivers.OF_PROGRAM;
  }

  // The natives call these two, on the caller's thread.
  static RuntimeException error(int status, byte[] message, long retryAfterNs, int written, long cause) {
    return Errors.of(status, message, retryAfterNs, written, cause);
  }

  static boolean interrupted() {
    return Thread.currentThread().isInterrupted();
  }
%}

%{
#include <idgen/admin.h>
#include <idgen/cipher.h>
#include <idgen/standard.h>
#include <idgen/testing.h>

#include "jni_support.hpp"
using namespace idgen_jni;
%}

/* ---- numbers: a long holds the 64 bits of an unsigned number, too */

%define NUMBER(TYPE, JNI, JAVA)
%typemap(jni) TYPE #JNI
%typemap(jtype) TYPE #JAVA
%typemap(jstype) TYPE #JAVA
%typemap(javain) TYPE "$javainput"
%typemap(javaout) TYPE { return $jnicall; }
%typemap(in) TYPE "$1 = static_cast<$1_ltype>($input);"
%typemap(out) TYPE "$result = static_cast<JNI>($1);"
%enddef
NUMBER(uint64_t, jlong, long)
NUMBER(int64_t, jlong, long)
NUMBER(size_t, jlong, long)
NUMBER(uint32_t, jint, int)
NUMBER(int32_t, jint, int)

/* ---- arrays: what idgen.h writes through a pointer is stored in an array of the caller's */

%define ARRAY(PARAMETER, JNI, JAVA)
%typemap(jni) PARAMETER #JNI
%typemap(jtype) PARAMETER #JAVA
%typemap(jstype) PARAMETER #JAVA
%typemap(javain) PARAMETER "$javainput"
%enddef

%define NUMBER_OUT(TYPE)
ARRAY(TYPE *, jlongArray, long[])
%typemap(in) TYPE * (TYPE number = 0) "$1 = &number;"
%typemap(argout) TYPE * "if (result == IDGEN_OK) store(jenv, $input, {static_cast<jlong>(*$1)});"
%enddef
NUMBER_OUT(uint64_t)

%define STRUCT_OUT(TYPE, JNI, JAVA)
ARRAY(TYPE *, JNI, JAVA)
%typemap(in) TYPE * (TYPE value = sized<TYPE>()) "$1 = &value;"
%typemap(argout) TYPE * "if (result == IDGEN_OK) store(jenv, $input, *$1);"
%enddef
STRUCT_OUT(idgen_parts_t, jlongArray, long[])
STRUCT_OUT(idgen_stats_t, jobjectArray, Object[])
STRUCT_OUT(idgen_standard_parts_t, jlongArray, long[])
STRUCT_OUT(idgen_text_parts_t, jlongArray, long[])
STRUCT_OUT(idgen_segment_info_t, jobjectArray, Object[])
STRUCT_OUT(idgen_layout_info_t, jobjectArray, Object[])
STRUCT_OUT(idgen_field_t, jobjectArray, Object[])
STRUCT_OUT(idgen_property_t, jobjectArray, Object[])

ARRAY(const idgen_parts_t *, jlongArray, long[])
%typemap(in) const idgen_parts_t * (idgen_parts_t value = sized<idgen_parts_t>())
  "if (!load(jenv, $input, &value)) return $null; $1 = &value;"
%typemap(argout) const idgen_parts_t * ""

ARRAY(const idgen_wide_id_t *, jbyteArray, byte[])
%typemap(in) const idgen_wide_id_t * (idgen_wide_id_t value = IDGEN_WIDE_ID_INIT)
  "if (!load(jenv, $input, &value)) return $null; $1 = &value;"
%typemap(argout) const idgen_wide_id_t * ""
ARRAY(idgen_wide_id_t *, jobjectArray, Object[])
%typemap(in) idgen_wide_id_t * (idgen_wide_id_t value = IDGEN_WIDE_ID_INIT) "$1 = &value;"
%typemap(argout) idgen_wide_id_t * "if (result == IDGEN_OK) store(jenv, $input, *$1);"

/* A standard id: the Java side sees to its length. */
ARRAY(const uint8_t *id, jbyteArray, byte[])
%typemap(in) const uint8_t *id (Utf8 bytes)
  "if (!bytes.assign(jenv, $input)) return $null; $1 = reinterpret_cast<$1_ltype>(bytes.c_str());"
%typemap(freearg) const uint8_t *id ""
%typemap(argout) const uint8_t *id ""
ARRAY(uint8_t *id, jbyteArray, byte[])
%typemap(in) uint8_t *id (uint8_t value[16] = {}) "$1 = value;"
%typemap(argout) uint8_t *id
  "if (result == IDGEN_OK) jenv->SetByteArrayRegion($input, 0, 16, reinterpret_cast<const jbyte *>($1));"
ARRAY(int32_t *standard, jintArray, int[])
%typemap(in) int32_t *standard (jint number = 0) "$1 = &number;"
%typemap(argout) int32_t *standard "if (result == IDGEN_OK) jenv->SetIntArrayRegion($input, 0, 1, $1);"

/* ---- handles: an address, never touched on the Java side; a new one is stored in a long[1] */

%define HANDLE(TYPE)
%typemap(jni) TYPE *, const TYPE * "jlong"
%typemap(jtype) TYPE *, const TYPE * "long"
%typemap(jstype) TYPE *, const TYPE * "long"
%typemap(javain) TYPE *, const TYPE * "$javainput"
%typemap(in) TYPE *, const TYPE * "$1 = handle<TYPE>($input);"
%typemap(argout) TYPE *, const TYPE * ""
ARRAY(TYPE **out, jlongArray, long[])
%typemap(in) TYPE **out (TYPE *created = nullptr) "$1 = &created;"
%typemap(argout) TYPE **out "if (result == IDGEN_OK) store(jenv, $input, {address(*$1)});"
%enddef
HANDLE(idgen_t)
HANDLE(idgen_config_t)
HANDLE(idgen_layout_t)
HANDLE(idgen_cipher_t)
HANDLE(idgen_pattern_t)

/* ---- text: UTF-8 without a NUL inside (Text.utf8 sees to that); null stays NULL */

ARRAY(const char *, jbyteArray, byte[])
%typemap(in) const char * (Utf8 text) "if (!text.assign(jenv, $input)) return $null; $1 = text.c_str();"
%typemap(freearg) const char * ""
%typemap(argout) const char * ""
%typemap(out) const char * "$result = bytes(jenv, $1);"
%typemap(javaout) const char * { return $jnicall; }
ARRAY((const char *text, size_t length), jbyteArray, byte[])
%typemap(in) (const char *text, size_t length) (Utf8 text)
  "if (!text.assign(jenv, $input)) return $null; $1 = text.c_str(); $2 = text.size();"
%typemap(freearg) (const char *text, size_t length) ""
%typemap(argout) (const char *text, size_t length) ""
ARRAY((const void *owner, size_t size), jbyteArray, byte[])
%typemap(in) (const void *owner, size_t size) (Utf8 bytes)
  "if (!bytes.assign(jenv, $input)) return $null; $1 = bytes.c_str(); $2 = bytes.size();"
%typemap(freearg) (const void *owner, size_t size) ""
%typemap(argout) (const void *owner, size_t size) ""

/* ---- outcome: nothing to return; a failure is thrown, with the library's own message where there is one */

%typemap(jni) idgen_status_t "void"
%typemap(jtype) idgen_status_t "void"
%typemap(jstype) idgen_status_t "void"
%typemap(javaout) idgen_status_t { $jnicall; }
%typemap(out) idgen_status_t
  "static_assert(reports_error<decltype(&$symname)>, \"$symname has no err to throw an exception from\");"
%typemap(in, numinputs=0) idgen_error_t *err (Error error) "$1 = &error;"
%typemap(argout) idgen_error_t *err "if (result != IDGEN_OK) raise(jenv, jcls, result, $1);"

/* Here a status is an argument or the result itself. */
%apply int32_t { idgen_status_t status };
%apply int32_t { idgen_status_t idgen_status_at };

/* ---- ignored: structs and constants; what only a host in C builds; what has a native written by hand (below) */

%rename("$ignore", regextarget=1, fullname=1) "^IDGEN_";
%rename("$ignore", %$isclass) "";
%ignore idgen_abi_1;
%ignore idgen_open;
%ignore idgen_create;
%ignore idgen_create_wait;
%ignore idgen_close;
%ignore idgen_close_wait;
%ignore idgen_next;
%ignore idgen_next_batch;
%ignore idgen_try_next;
%ignore idgen_draw;
%ignore idgen_next_for;
%ignore idgen_next_for_int;
%ignore idgen_try_next_for;
%ignore idgen_format_wide;
%ignore idgen_config_get;
%ignore idgen_config_names;
%ignore idgen_config_describe;
%ignore idgen_cipher_create;
%ignore idgen_cipher_open;
%ignore idgen_cipher_hide;
%ignore idgen_cipher_reveal;
%ignore idgen_cipher_hide_batch;
%ignore idgen_cipher_reveal_batch;
%ignore idgen_cipher_hide_wide;
%ignore idgen_cipher_reveal_wide;
%ignore idgen_cipher_hide_wide_ids;
%ignore idgen_cipher_reveal_wide_ids;
%ignore idgen_cipher_describe;
%ignore idgen_cipher_archive;
%ignore idgen_cipher_check;
%ignore idgen_worker_fn;
%ignore idgen_worker_list;
%ignore idgen_worker_show;
%ignore idgen_worker_plan_repair;
%ignore idgen_worker_repair;
%ignore idgen_worker_release;
%ignore idgen_describe;
%ignore idgen_summary;
%ignore idgen_metrics;
%ignore idgen_segment_column_of;
%ignore idgen_segment_grant_of;
%ignore idgen_segment_list;
%ignore idgen_segment_statements;
%ignore idgen_format;
%ignore idgen_pattern_format;
%ignore idgen_next_text;
%ignore idgen_standard_make;
%ignore idgen_standard_format;
%ignore IDGEN_VERSION_H;

%include "idgen/status.h"
%include "idgen/idgen.h"
%include "idgen/admin.h"
%include "idgen/cipher.h"
%include "idgen/standard.h"
%include "idgen/testing.h"

/* ---- written by hand, in these files:
 *
 * natives_next.cpp, natives_owner.cpp  calls that make ids return the id: an array for it would double their cost
 * natives_lifetime.cpp                 opening and closing notice interrupts; those that make ids do too
 * natives_text.cpp                     texts of any length
 * natives_host.cpp, natives_store.cpp  the log, the clock and the store, which the library calls back
 * natives_sql.cpp                      connections of the program and of its drivers, the same
 * natives_segments.cpp                 the lists of segments and workers, which call back for each row
 * natives_routes.cpp                   tables of routes, and routers
 * natives_cipher.cpp                   hidden ids and their keys
 * natives_standard.cpp                 standard ids; a UUID is two longs
 * jni_support.cpp                      jniVersion
 */
%native(jniVersion) jint jniVersion();
%native(next) jlong next(jlong generator);
%native(view) jlong view(jlong generator, jlongArray shape);
%native(words) jobject words(jlong address);
%native(nextDrawn) jlong nextDrawn(jlong generator, jlong drawn);
%native(tryNextDrawn) jboolean tryNextDrawn(jlong generator, jlong drawn, jlongArray id);
%native(waitMaxNs) jlong waitMaxNs(jlong generator);
%native(nextWaited) jlong nextWaited(jlong generator, jlong waitedNs);
%native(waitForRoom) void waitForRoom(jlong generator, jlong waitedNs);
%native(tryNextBlock) jboolean tryNextBlock(jlong generator, jlong want, jlongArray block);
%native(tryFill) jint tryFill(jlong generator, jlongArray ids, jint offset, jint length);
%native(tryNext) jboolean tryNext(jlong generator, jlongArray id);
%native(fill) void fill(jlong generator, jlongArray ids, jint offset, jint length);
%native(fillDirect) void fillDirect(jlong generator, jobject ids, jint offset, jint length);
%native(nextText) jbyteArray nextText(jlong generator, jlong pattern);
%native(nextBlock) void nextBlock(jlong generator, jlong want, jlongArray block);
%native(nextForInt) jlong nextForInt(jlong generator, jlong owner);
%native(nextForBytes) jlong nextForBytes(jlong generator, jbyteArray owner);
%native(tryNextForInt) jboolean tryNextForInt(jlong generator, jlong owner, jlongArray id);
%native(tryNextForBytes) jboolean tryNextForBytes(jlong generator, jbyteArray owner, jlongArray id);
%native(fillForInts) void fillForInts(jlong generator, jlongArray owners, jlongArray ids);
%native(fillForBytes) void fillForBytes(jlong generator, jbyteArray owners, jintArray ends, jlongArray ids);
%native(fillWideForInts) void fillWideForInts(jlong generator, jlongArray owners, jlongArray ids);
%native(fillWideForBytes) void fillWideForBytes(jlong generator, jbyteArray owners, jintArray ends, jlongArray ids);
%native(create) jlong create(jlong config);
%native(close) void close(jlong generator);
%native(describe) jbyteArray describe(jlong generator);
%native(summary) jbyteArray summary(jlong generator);
%native(metrics) jbyteArray metrics(jlongArray generators);
%native(configNames) jbyteArray configNames(jbyteArray tomlPath);
%native(format) jbyteArray format(jlong id, jint encoding);
%native(formatWide) jbyteArray formatWide(jbyteArray id, jint encoding);
%native(patternFormat) jbyteArray patternFormat(jlong pattern, jlong id);
%native(patternFormatWide) jbyteArray patternFormatWide(jlong pattern, jbyteArray id);
%native(standardFormat) jbyteArray standardFormat(jint standard, jbyteArray id);
%native(standardUuidLow) jlong standardUuidLow(jint standard);
%native(standardUuidHigh) jlong standardUuidHigh(jlong low);
%native(standardUuids) void standardUuids(jint standard, jlongArray halves, jint count);
%native(standardMake) void standardMake(jint standard, jbyteArray ids, jint size, jint count);
%native(configSetLog) void configSetLog(jlong config, jobject sink);
%native(configSetClock) void configSetClock(jlong config, jobject sink);
%native(segmentList) void segmentList(jlong config, jobject rows);
%native(workerList) void workerList(jlong config, jobject rows);
%native(segmentStatements) jbyteArray segmentStatements(jlong config);
%native(routeTableCreate) jlong routeTableCreate(jlong version, jint bits, jobjectArray shards, jintArray upto,
                                                 jintArray owners, jintArray first, jintArray last, jintArray to,
                                                 jintArray share);
%native(routeTableRead) jlong routeTableRead(jbyteArray tomlPath);
%native(routeTableWrite) void routeTableWrite(jlong table, jbyteArray tomlPath, jlong expectedVersion);
%native(routeTableDestroy) void routeTableDestroy(jlong table);
%native(routeTableText) jbyteArray routeTableText(jlong table);
%native(routeTableShard) jbyteArray routeTableShard(jlong table, jint index);
%native(routeTableInfo) void routeTableInfo(jlong table, jlongArray out);
%native(routeTableRange) void routeTableRange(jlong table, jint index, jlongArray out);
%native(routeTableMove) void routeTableMove(jlong table, jint index, jlongArray out);
%native(routerCreate) jlong routerCreate(jlong table, jlong layout, jlong wideLayout, jint rule);
%native(routerOpen) jlong routerOpen(jbyteArray tomlPath, jlong layout, jlong wideLayout, jint rule, jlong reloadMs);
%native(routerDestroy) void routerDestroy(jlong router);
%native(route) void route(jlong router, jlong id, jlongArray out);
%native(routeWide) void routeWide(jlong router, jbyteArray id, jlongArray out);
%native(routeNode) void routeNode(jlong router, jint node, jlongArray out);
%native(routeOwner) void routeOwner(jlong router, jbyteArray owner, jlongArray out);
%native(routeBatch) void routeBatch(jlong router, jlongArray ids, jintArray shards, jintArray seconds);
%native(routeNodeBatch) void routeNodeBatch(jlong router, jintArray nodes, jintArray shards, jintArray seconds);
%native(routerStats) void routerStats(jlong router, jobjectArray out);
%native(routerShard) jbyteArray routerShard(jlong router, jint index);
%native(routerTable) jlong routerTable(jlong router);
%native(routerSwap) void routerSwap(jlong router, jlong table, jlong expectedVersion);
%native(routerReload) void routerReload(jlong router);
%native(configSetStore) void configSetStore(jlong config, jobject sink, jboolean has_workers);
%native(configSetSqlStore) void configSetSqlStore(jlong config, jobject sink);
%native(setSqlDriver) void setSqlDriver();
%native(sqlWork) jint sqlWork(jlong work, jobject session, jint dialect);
%native(sqlRow) void sqlRow(jlong rows, jintArray kinds, jlongArray numbers, jobjectArray texts);
%native(cipherCreate) jlong cipherCreate(jlong config);
%native(cipherApply) jlong cipherApply(jlong cipher, jlong id, jboolean reveals);
%native(cipherApplyAll) void cipherApplyAll(jlong cipher, jlongArray ids, jboolean reveals);
%native(cipherApplyWide) void cipherApplyWide(jlong cipher, jlongArray ids, jboolean reveals);
%native(cipherDescribe) jbyteArray cipherDescribe(jlong cipher);
%native(cipherCheck) jbyteArray cipherCheck(jlong config);
%native(configSetKeys) void configSetKeys(jlong config, jobject sink);
