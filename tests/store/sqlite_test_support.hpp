// Accesses the store's file directly, as another program would.
#pragma once

#include <sqlite3.h>

#include <string_view>

#include "store/store_test_support.hpp"

namespace idgen {

class InAFolder : public ::testing::Test {
 protected:
  const TempFolder folder;
};

// Runs statements on a file with SQLite itself. Makes the file if it is missing.
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
    sqlite3_busy_timeout(db_, 60'000);
  }
  ~RawDatabase() { sqlite3_close(db_); }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  // The last column of the last row, "" if there is none.
  std::string run(const std::string& sql) {
    std::string last;
    char* message = nullptr;
    const auto keep = [](void* out, int columns, char** values, char**) {
      if (columns > 0 && values[columns - 1] != nullptr) *static_cast<std::string*>(out) = values[columns - 1];
      return 0;
    };
    if (sqlite3_exec(db_, sql.c_str(), keep, &last, &message) != SQLITE_OK) {
      const std::string text = message;
      sqlite3_free(message);
      throw std::runtime_error(sql + ": " + text);
    }
    return last;
  }

 private:
  sqlite3* db_ = nullptr;
};

inline std::string run_sql(const std::string& path, const std::string& sql) { return RawDatabase(path).run(sql); }

// Another process that keeps the database locked until it is told to release it.
class LockingProcess {
 public:
  explicit LockingProcess(const std::string& path) {
    if (pipe2(go_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    child_ = std::make_unique<Child>([&](int report) {
      close(go_[1]);
      RawDatabase db(path);
      db.run("BEGIN EXCLUSIVE");
      write_all(report, "locked\n");
      char c = 0;
      while (read(go_[0], &c, 1) < 0 && errno == EINTR) {
      }
      db.run("ROLLBACK");
    });
    close(go_[0]);
    if (child_->line() != "locked") throw std::runtime_error("the other process could not lock " + path);
  }
  ~LockingProcess() { let_go(); }
  LockingProcess(const LockingProcess&) = delete;
  LockingProcess& operator=(const LockingProcess&) = delete;

  void let_go() {
    if (go_[1] < 0) return;
    close(go_[1]);
    go_[1] = -1;
  }

 private:
  int go_[2] = {-1, -1};
  std::unique_ptr<Child> child_;
};

// While it lives: runs `hook` whenever SQLite in this process is about to delete a journal, which is the moment of the
// commit. The pages are written by then. `hook` does the deleting, or something else; it returns what unlink() does.
class AtCommit {
 public:
  explicit AtCommit(std::function<int(const char* journal)> hook) {
    hook_ = std::move(hook);
    set(reinterpret_cast<sqlite3_syscall_ptr>(&AtCommit::unlink_or_hook));
  }
  ~AtCommit() { set(nullptr); }
  AtCommit(const AtCommit&) = delete;
  AtCommit& operator=(const AtCommit&) = delete;

 private:
  static void set(sqlite3_syscall_ptr call) {
    sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
    if (vfs->xSetSystemCall(vfs, "unlink", call) != SQLITE_OK) throw std::runtime_error("xSetSystemCall");
  }
  static int unlink_or_hook(const char* path) {
    const bool is_journal = std::string_view(path).ends_with("-journal");
    return is_journal && hook_ ? hook_(path) : unlink(path);
  }
  static inline std::function<int(const char*)> hook_;
};

// What another process is told that takes the worker.
inline std::string acquire_elsewhere(const TempFolder& folder, std::uint64_t worker) {
  return in_child([&] {
    return report_of(
        [&] { open_store(folder.url(), not_creating())->windows()->window_take(window_request(worker, 1000, 2)); });
  });
}

// What any code of the host may do, such as a backup or a checksum: afterwards SQLite's locks on the file are gone.
inline void open_and_close(const std::string& path) { close(open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

// Another process that does `work` when it is told to, reports, and lives as long as this object.
class WaitingProcess {
 public:
  explicit WaitingProcess(const std::function<std::string()>& work) {
    if (pipe2(go_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    child_ = std::make_unique<Child>([&](int report) {
      close(go_[1]);
      char c = 0;
      while (read(go_[0], &c, 1) < 0 && errno == EINTR) {
      }
      write_all(report, work() + "\n");
      for (;;) pause();
    });
    close(go_[0]);
  }
  ~WaitingProcess() {
    if (go_[1] >= 0) close(go_[1]);
  }
  WaitingProcess(const WaitingProcess&) = delete;
  WaitingProcess& operator=(const WaitingProcess&) = delete;

  std::string go() {
    close(go_[1]);
    go_[1] = -1;
    return child_->line();
  }

 private:
  int go_[2] = {-1, -1};
  std::unique_ptr<Child> child_;
};

}  // namespace idgen
