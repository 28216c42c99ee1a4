#include "store/sqlite_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "idgen/system_calls.hpp"
#include "store/lock_file.hpp"
#include "store/new_file.hpp"
#include "store/sqlite_connection.hpp"

namespace idgen {

// idgen_store has one row. randomblob() draws from the kernel's random numbers.
static constexpr const char* kSqliteSchema[] = {
    R"(CREATE TABLE idgen_store(
  identity BLOB NOT NULL,
  commits INTEGER NOT NULL
))",       "INSERT INTO idgen_store(identity, commits) VALUES(randomblob(16), 0)",
    R"(CREATE TABLE idgen_namespace(
  ns TEXT NOT NULL PRIMARY KEY,
  format TEXT NOT NULL
) WITHOUT ROWID)",
    R"(CREATE TABLE idgen_worker(
  ns TEXT NOT NULL,
  worker INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  owner BLOB,
  hw INTEGER NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY(ns, worker)
) WITHOUT ROWID)",
    R"(CREATE TABLE idgen_segment(
  ns TEXT NOT NULL,
  tag TEXT NOT NULL,
  max_id INTEGER NOT NULL,
  grants INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  step INTEGER NOT NULL DEFAULT 0,
  rate INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(ns, tag)
) WITHOUT ROWID)",     "PRAGMA user_version=3",
    "PRAGMA application_id=1768187758",
};
static_assert(kSqliteApplicationId == 1768187758 && kSqliteSchemaVersion == 3);

std::span<const char* const> sqlite_schema() noexcept { return kSqliteSchema; }

std::string resolve_sqlite_path(const std::string& rest, const std::string& directory) {
  const auto reject = [&](const std::string& why) {
    return Error(Status::value, concat({"store = \"sqlite:", rest, "\": ", why,
                                        "; allowed: sqlite:ids.db, sqlite:/var/lib/app/ids.db"}));
  };
  std::string path = rest;
  if (path.starts_with("//")) {
    if (!path.starts_with("///")) throw reject("a file has no host; write sqlite:PATH");
    path = path.substr(2);
  }
  if (path.empty()) throw reject("the path is missing");
  if (path == ":memory:" || path.ends_with("/:memory:") || path.starts_with("file::memory:"))
    throw reject("for a store in memory write store = \"memory\"");
  if (path.starts_with("file:")) throw reject("write the path itself, without file:");
  if (path.starts_with("~")) throw reject("~ is not expanded; write the path of the home folder");
  if (path.find('?') != std::string::npos)
    throw reject("parameters are not known here; use the properties store_timeout and store_create");
  if (path.back() == '/') throw reject("that is a folder");
  if (path.front() != '/') {
    std::string base = directory;
    if (base.empty() || base.front() != '/') {
      const std::unique_ptr<char, decltype(&std::free)> cwd(getcwd(nullptr, 0), &std::free);
      if (cwd == nullptr) {
        if (errno == ENOMEM) throw std::bad_alloc();
        throw Error(
            Status::store_missing,
            concat({"store = \"sqlite:", rest,
                    "\" is relative to the working directory, which cannot be read: ", system_error_text(errno)}));
      }
      base = base.empty() ? std::string(cwd.get()) : std::string(cwd.get()) + "/" + base;
    }
    path = base + "/" + path;
  }
  // A missing file or folder is not an error yet: it may be made, and using the store reports it.
  const auto resolved = [](const std::string& p) {
    const std::unique_ptr<char, decltype(&std::free)> text(realpath(p.c_str(), nullptr), &std::free);
    if (text == nullptr && errno == ENOMEM) throw std::bad_alloc();  // must not be taken for a missing file
    return text == nullptr ? std::string() : std::string(text.get());
  };
  if (std::string whole = resolved(path); !whole.empty()) return whole;
  const std::string folder = resolved(folder_of(path));
  if (folder.empty()) return path;
  return (folder == "/" ? "" : folder) + path.substr(path.find_last_of('/'));
}

// ----------------------------------------------------------------------------------------------------- the file system

void check_file_system(const std::string& path) {
  check_locks_work(path, "store \"sqlite:" + path + "\"",
                   "so two machines could get the same ids. Put the file on a local disk (ext4, XFS, btrfs, ZFS and "
                   "others: docs/stores.md)");
}

// As in the list of mounts: spaces and other special characters as \040.
static std::string mount_point_text(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool plain = c != ' ' && c != '\t' && c != '\n' && c != '\\';
    char octal[8];
    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
    text += plain ? std::string(1, c) : octal;
  }
  return text;
}

static bool is_in_list_of_mounts(const std::string& path) {
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string wanted = mount_point_text(path);
  for (std::string id, parent, device, root, point, rest;
       mounts >> id >> parent >> device >> root >> point && std::getline(mounts, rest);) {
    if (point == wanted) return true;
  }
  return false;
}

static bool is_mounted_alone(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  const std::optional<std::uint64_t> file = mount_of(path.c_str());
  const std::optional<std::uint64_t> folder = mount_of(folder_of(path).c_str());
  return file && folder ? *file != *folder : is_in_list_of_mounts(path);
}

// ------------------------------------------------------------------------------------------------------------ the file

bool sqlite_file_exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 || errno != ENOENT;
}

static Error sqlite_file_missing(const std::string& path) {
  const std::string store = "store \"sqlite:" + path + "\"";
  const std::string folder = folder_of(path);
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    return Error(Status::store_missing,
                 concat({store, ": its folder \"", folder, "\" does not exist. Make the folder, or correct the path"}));
  }
  if (lstat(lock_path_of(path).c_str(), &info) == 0) {
    return Error(
        Status::store_missing,
        concat({store,
                " is lost: its lock file is there, the database is not. Restore the database. A new one would "
                "repeat ids, so none is made; if that is what you want, stop all users of the store and delete \"",
                lock_path_of(path), "\" too"}));
  }
  return Error(Status::store_missing,
               concat({store,
                       " does not exist. If it existed before, restore it: a new one begins at 0 and would repeat ids. "
                       "Else make it with `idgen store create --store sqlite:",
                       path, "`, or a tag along with it with `idgen segment create`, or set store_create = true"}));
}

SqliteFileId check_sqlite_file(const std::string& path) {
  const std::string store = "store \"sqlite:" + path + "\": ";
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw sqlite_file_missing(path);
    const Status status = errno == EACCES ? Status::store_permission : Status::store_unavailable;
    throw Error(status, concat({store, "the file cannot be reached: ", system_error_text(errno),
                                ". Every folder on the way needs the right to search it"}));
  }
  if (!S_ISREG(info.st_mode)) throw Error(Status::store_damaged, store + "that is not a file. Give the path of a file");
  if (info.st_size == 0) {
    throw Error(Status::store_damaged,
                store +
                    "the file is empty (0 bytes); idgen never leaves one empty. If it was cut off, restore a "
                    "sound copy; if it is new, delete it and set store_create = true");
  }
  // SQLite finds the journal by the file's name, and idgen its lock file. A user of another name would find other
  // files. This also happens with a file mounted by itself, as in `docker run -v ids.db:/ids.db`.
  if (info.st_nlink > 1) {
    throw Error(Status::store_unsafe,
                concat({store, "the file has ", std::to_string(info.st_nlink),
                        " names (hard links). Remove the others: under two names a commit can be lost"}));
  }
  for (const std::string& part : {path, path + "-journal", lock_path_of(path)}) {
    if (!is_mounted_alone(part)) continue;
    throw Error(Status::store_unsafe,
                concat({store, "\"", part,
                        "\" is mounted by itself, so a process that reaches it elsewhere has another journal "
                        "and another lock file. Mount the folder that holds the store"}));
  }
  return {info.st_dev, info.st_ino};
}

static Error sqlite_create_error(const std::string& path, int error) {
  const std::string text = "store \"sqlite:" + path + "\" cannot be made in the folder \"" + folder_of(path) +
                           "\": " + system_error_text(error);
  if (error == EACCES || error == EPERM || error == EROFS) {
    return Error(Status::store_permission, text + ". Give this process the right to write the folder");
  }
  if (error == ENOSPC || error == EDQUOT) return Error(Status::store_full, text + ". Free space on the device");
  if (error == ENOENT || error == ENOTDIR) return sqlite_file_missing(path);
  return Error(Status::store_unavailable, text, ForkGate::kRetryNs);
}

void create_sqlite_file(const std::string& path, std::int64_t timeout_ms) {
  struct stat info {};
  // The database is always made first. So if the lock file exists, the database exists or is lost.
  if (lstat(lock_path_of(path).c_str(), &info) == 0) {
    if (sqlite_file_exists(path)) return;
    throw sqlite_file_missing(path);
  }
  for (const char* suffix : {"-journal", "-wal"}) {
    if (stat((path + suffix).c_str(), &info) == 0 && !sqlite_file_exists(path)) {
      throw Error(Status::store_damaged,
                  concat({"store \"sqlite:", path, "\" does not exist, but its journal \"", path, suffix,
                          "\" does: the database was moved or deleted without it. Restore the file, or delete the "
                          "journal too to begin at 0"}));
    }
  }
  NewFile file(path);
  const int fd = file.open(0644);
  if (fd < 0) throw sqlite_create_error(path, errno);
  close(fd);
  {
    SqliteConnection connection(file.path(), timeout_ms);
    connection.execute("BEGIN IMMEDIATE");
    for (const char* statement : kSqliteSchema) connection.execute(statement);
    connection.commit();
  }
  const int error = file.move_to(path);
  if (error == EEXIST) return;  // somebody else has made it
  if (error != 0) throw sqlite_create_error(path, error);
  const int folder = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int synced = folder < 0 ? -1 : fsync(folder);
  const int sync_error = errno;
  if (folder >= 0) close(folder);
  if (synced != 0) throw sqlite_create_error(path, sync_error);
}

}  // namespace idgen
