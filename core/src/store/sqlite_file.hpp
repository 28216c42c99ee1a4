// The file of an SQLite store: where it is, whether it may be used, how it is made. The reasons are in docs/stores.md.
// TRAP: never open() the database: closing it would drop SQLite's locks on it in this process. Only stat() it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "idgen/status.hpp"
#include "store/file_system.hpp"

namespace idgen {

constexpr std::int64_t kSqliteApplicationId = 0x6964676e;  // "idgn"
constexpr std::int64_t kSqliteSchemaVersion = 3;  // 1 and 2 were only ever made by builds before the first release

// Statements for the sqlite3 command. Only the name of a column differs, so nothing is lost, and it is not worth
// keeping code for it.
constexpr const char* kSqliteUpgradeFrom2 =
    "BEGIN EXCLUSIVE; ALTER TABLE idgen_worker RENAME COLUMN epoch TO fence; PRAGMA user_version = 3; COMMIT";

// Turns an empty database into a store.
std::span<const char* const> sqlite_schema() noexcept;

// Absolute, symbolic links resolved. `rest`: what follows "sqlite:" in the URL. Throws Error{value, store_missing}.
std::string resolve_sqlite_path(const std::string& rest, const std::string& directory);

struct SqliteFileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const SqliteFileId&) const = default;
};

// The database, if it can be used as it is. Throws Error{store_missing, store_permission, store_damaged, store_unsafe}.
SqliteFileId check_sqlite_file(const std::string& path);
bool sqlite_file_exists(const std::string& path);

// Throws Error{store_unsafe}.
void check_file_system(const std::string& path);

// Makes a store with a new identity, unless one exists. Throws StoreLocked, Error{store_*}: store_missing if there was
// one.
void create_sqlite_file(const std::string& path, std::int64_t timeout_ms);

}  // namespace idgen
