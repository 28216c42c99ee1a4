// One short visit to an SQLite file: open, check the settings, one transaction, close. Errors come out as idgen's own.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "idgen/status.hpp"
#include "store/fork_gate.hpp"
#include "store/new_file.hpp"
#include "store/sqlite_api.h"

namespace idgen {

// The system's error for writing the file and its folder; "" if there is none.
inline std::string write_obstacle(const std::string& path) {
  if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
    return "the file cannot be read (" + system_error_text(errno) + ")";
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    return "the file cannot be written (" + system_error_text(errno) + ")";
  const std::string folder = folder_of(path);
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return "files cannot be made in its folder \"" + folder + "\" (" + system_error_text(errno) +
           "), which each commit needs";
  }
  return "";
}

inline Error sqlite_permission_error(const std::string& path, const std::string& obstacle) {
  return Error(Status::store_permission, "store \"sqlite:" + path + "\": " + obstacle +
                                             ". Give this process the right to read and write the file and its folder");
}

// Somebody else has SQLite's lock or ours: nothing was done, and a retry is safe.
struct StoreLocked : Error {
  explicit StoreLocked(const Error& error) : Error(error) {}
};

inline Error store_locked_error(const std::string& path, std::int64_t timeout_ms) {
  return Error(Status::store_unavailable,
               "store \"sqlite:" + path + "\": locked by another process or thread; waited " +
                   std::to_string(timeout_ms) +
                   " ms (store_timeout). Try again, or find who keeps a transaction open on it",
               ForkGate::kRetryNs);
}

inline bool is_lock_of_sqlite(int result) {
  return (result & 0xff) == SQLITE_BUSY || (result & 0xff) == SQLITE_LOCKED || (result & 0xff) == SQLITE_PROTOCOL;
}

// An SQLite result as an error of idgen. system_errno: of the file operation behind it, 0 = none.
inline Error sqlite_failure(const std::string& path, int result, int system_errno, const std::string& text,
                            std::string_view doing, std::int64_t timeout_ms) {
  const std::string store = "store \"sqlite:" + path + "\": ";
  const std::string found = std::string(doing) + " gave SQLite error " + std::to_string(result) + ", " + text +
                            (system_errno != 0 ? " (" + system_error_text(system_errno) + ")" : "");
  const bool is_full = system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG;
  const bool is_denied = system_errno == EACCES || system_errno == EPERM || system_errno == EROFS;
  const auto permission = [&] {
    const std::string obstacle = write_obstacle(path);
    return sqlite_permission_error(path, obstacle.empty() ? found : obstacle);
  };
  const auto full = [&] {
    return Error(Status::store_full,
                 store + found + ". Free space on the device, or raise the limit on file sizes; nothing was granted");
  };
  const auto damaged = [&] {
    return Error(Status::store_damaged,
                 store + found +
                     ". Stop its users and restore a good copy; then raise every counter above the "
                     "highest id in use with `idgen segment advance`");
  };
  if (is_lock_of_sqlite(result)) return store_locked_error(path, timeout_ms);
  switch (result & 0xff) {
    case SQLITE_READONLY:
      if (result == SQLITE_READONLY_DBMOVED) {
        return Error(Status::store_missing, store + "the file was moved or deleted while in use. Restore it");
      }
      return permission();
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return permission();
    case SQLITE_CANTOPEN:
      if (is_denied) return permission();
      if (is_full) return full();
      break;
    case SQLITE_FULL:
      return full();
    case SQLITE_IOERR:
      if (result == SQLITE_IOERR_NOMEM) return Error(Status::no_memory, store + found);
      if (is_full) return full();
      if (is_denied) return permission();
      if (result == SQLITE_IOERR_SHORT_READ || result == SQLITE_IOERR_CORRUPTFS) return damaged();
      break;
    case SQLITE_NOMEM:
      return Error(Status::no_memory, store + found);
    case SQLITE_TOOBIG:
      return Error(Status::argument, store + found);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // our statements are constant, so the tables are not as we made them
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return damaged();
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
    case SQLITE_SCHEMA:
      break;
    default:
      return Error(Status::internal, store + found);
  }
  return Error(Status::store_unavailable, store + found + ". Check the disk and its file system, then try again",
               ForkGate::kRetryNs);
}

class SqliteConnection {
 public:
  // Never creates a file. Throws Error{store_*, unsupported}, StoreLocked. timeout_ms: only for the message; the caller
  // does the waiting.
  SqliteConnection(std::string path, std::int64_t timeout_ms) : path_(std::move(path)), timeout_ms_(timeout_ms) {
    if (!sqlite_is_linked()) {
      throw Error(Status::unsupported,
                  "no SQLite is linked into this program, so a \"sqlite:\" store cannot be opened; link SQLite, or use "
                  "store = \"memory\"");
    }
    // By name: the host may have made another one the default, without locks or without fsync.
    constexpr const char* kVfs = "unix";
    if (sqlite3_vfs_find(kVfs) == nullptr) {
      fail_unsafe(
          "this program's SQLite has no VFS \"unix\", the one that locks and syncs files; link one that has it");
    }
    // The path is absolute, so it cannot be taken for a "file:" URI. No shared cache: a private one sees other
    // processes' commits.
    sqlite3* db = nullptr;
    const int result = sqlite3_open_v2(path_.c_str(), &db,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_PRIVATECACHE, kVfs);
    db_.reset(db);
    if (db == nullptr) throw Error(Status::no_memory, "store \"sqlite:" + path_ + "\": out of memory");
    if (result != SQLITE_OK) fail("opening it");
    // A connection gets a mutex unless SQLite was compiled (the first) or configured (the second) for one thread.
    if (sqlite3_threadsafe() == 0 || sqlite3_db_mutex(db) == nullptr) {
      fail_unsafe(
          "this program's SQLite is made for one thread (SQLITE_THREADSAFE=0, or SQLITE_CONFIG_SINGLETHREAD), "
          "but other threads may use it; link or configure one that is safe with threads");
    }
    sqlite3_busy_timeout(db, kReaderWaitMs);
    make_durable();
  }

  // One statement without a result, or whose result does not matter.
  void execute(const char* sql);

  void commit() { execute("COMMIT"); }

  // The number or word that a statement without parameters returns.
  std::int64_t number(const char* sql);
  std::string word(const char* sql);

  int changes() const { return sqlite3_changes(db_.get()); }

  [[noreturn]] void fail(std::string_view doing) const {
    const int result = sqlite3_extended_errcode(db_.get());
    const Error error =
        sqlite_failure(path_, result, sqlite3_system_errno(db_.get()), sqlite3_errmsg(db_.get()), doing, timeout_ms_);
    if (is_lock_of_sqlite(result)) throw StoreLocked(error);
    throw error;
  }
  [[noreturn]] void fail_damaged(const std::string& what) const {
    throw Error(Status::store_damaged,
                "store \"sqlite:" + path_ + "\": " + what +
                    ". Stop its users and restore a good copy; then raise every counter above the highest "
                    "id in use with `idgen segment advance`");
  }

 private:
  friend class SqliteStatement;

  // Waits for other programs that read the file while we commit. SQLite admits no new reader meanwhile, so readers
  // cannot keep us out by taking turns. fork() may have to wait for this, so it is short; the caller does the long
  // wait, outside of ForkGate.
  static constexpr int kReaderWaitMs = 20;

  // A setting that did not take effect would go unnoticed until the power fails, so each is read back.
  void make_durable();
  [[noreturn]] void fail_unsafe(const std::string& what) const {
    throw Error(Status::store_unsafe, "store \"sqlite:" + path_ + "\": " + what);
  }

  struct Close {
    void operator()(sqlite3* db) const noexcept { sqlite3_close(db); }  // rolls back what was not committed
  };
  std::string path_;
  std::int64_t timeout_ms_;
  std::unique_ptr<sqlite3, Close> db_;
};

// A prepared statement, for one execution. Text and blobs are not copied: they must outlive it.
class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& connection, const char* sql) : connection_(connection), sql_(sql) {
    if (sqlite3_prepare_v2(db(), sql, -1, &statement_, nullptr) != SQLITE_OK) connection_.fail(sql_);
  }
  template <class... Values>
  SqliteStatement(SqliteConnection& connection, const char* sql, const Values&... values)
      : SqliteStatement(connection, sql) {
    int index = 0;
    (bind(++index, values), ...);
  }
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // True: there is a row to read.
  bool next() {
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) connection_.fail(sql_);
    return false;
  }

  // For a statement that must change one row. Throws Error{store_damaged} if it changed another number of them.
  void change_one_row() {
    next();
    if (connection_.changes() != 1) {
      connection_.fail_damaged(std::string(sql_) + " changed " + std::to_string(connection_.changes()) +
                               " rows, not 1");
    }
  }

  // Values read back are not trusted: a wrong type is damage, not 0.
  std::int64_t number(int column, const char* name) const {
    if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) fail_type(name, "a whole number");
    return sqlite3_column_int64(statement_, column);
  }
  std::uint64_t natural(int column, const char* name) const {
    const std::int64_t value = number(column, name);
    if (value < 0) connection_.fail_damaged(std::string(name) + " is " + std::to_string(value) + ", below 0");
    return static_cast<std::uint64_t>(value);
  }
  std::string text(int column, const char* name) const {
    if (sqlite3_column_type(statement_, column) != SQLITE3_TEXT) fail_type(name, "text");
    return bytes(column);
  }
  // Empty for NULL.
  std::optional<std::string> blob(int column, const char* name) const {
    const int type = sqlite3_column_type(statement_, column);
    if (type == SQLITE_NULL) return std::nullopt;
    if (type != SQLITE_BLOB) fail_type(name, "a blob");
    return bytes(column);
  }

 private:
  sqlite3* db() const { return connection_.db_.get(); }
  std::string bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::string()
                           : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  [[noreturn]] void fail_type(const char* name, const char* wanted) const {
    connection_.fail_damaged(std::string(name) + " is not " + wanted);
  }

  void bind(int index, std::int64_t value) { check(sqlite3_bind_int64(statement_, index, value)); }
  void bind(int index, std::uint64_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, const std::string& value) {
    check(sqlite3_bind_text(statement_, index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC));
  }
  template <std::size_t N>
  void bind(int index, const std::array<std::uint8_t, N>& value) {
    check(sqlite3_bind_blob(statement_, index, value.data(), static_cast<int>(N), SQLITE_STATIC));
  }
  void check(int result) const {
    if (result != SQLITE_OK) connection_.fail(sql_);
  }

  SqliteConnection& connection_;
  const char* sql_;
  sqlite3_stmt* statement_ = nullptr;
};

inline void SqliteConnection::execute(const char* sql) {
  SqliteStatement statement(*this, sql);
  while (statement.next()) {
  }
}

inline std::int64_t SqliteConnection::number(const char* sql) {
  SqliteStatement statement(*this, sql);
  if (!statement.next()) fail_damaged(std::string(sql) + " has no answer");
  return statement.number(0, sql);
}

inline std::string SqliteConnection::word(const char* sql) {
  SqliteStatement statement(*this, sql);
  if (!statement.next()) fail_damaged(std::string(sql) + " has no answer");
  return statement.text(0, sql);
}

inline void SqliteConnection::make_durable() {
  constexpr std::int64_t kExtra =
      3;  // also syncs the folder after the journal is deleted: otherwise a power loss can undo a commit
  execute("PRAGMA synchronous=EXTRA");
  const std::int64_t synchronous = number("PRAGMA synchronous");
  if (synchronous != kExtra) {
    fail_unsafe("asked SQLite for synchronous = EXTRA (3), it stays at " + std::to_string(synchronous) +
                ", which can lose a commit; link an SQLite without that restriction");
  }
  execute("PRAGMA fullfsync=1");  // macOS: fsync alone does not reach the disk
  execute("PRAGMA mmap_size=0");  // a file that shrinks must be an error, not SIGBUS
  execute("PRAGMA cell_size_check=1");
  std::string mode = word("PRAGMA journal_mode");
  if (mode == "wal") {
    fail_unsafe(
        "the database is in WAL mode, in which SQLite up to 3.51.2 can lose commits. Stop its users and run: sqlite3 "
        "'" +
        path_ + "' 'PRAGMA journal_mode=DELETE'");
  }
  if (mode != "delete") mode = word("PRAGMA journal_mode=DELETE");  // a default chosen when SQLite was compiled
  if (mode != "delete")
    fail_unsafe("asked SQLite for journal_mode = delete, it stays at " + mode + ", which can lose a commit");
}

}  // namespace idgen
