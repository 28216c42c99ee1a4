// The embedded store: one SQLite file on a local disk. The reasons for its design are in docs/stores.md.
//
// No connection is kept. Each call opens the file, checks it, does one transaction under the lock of PATH-lock,
// confirms the commit, and closes. So nothing is carried across fork(), a deleted or replaced file is noticed and never
// written to, and uniqueness does not depend on SQLite's own locks, which any close() in the process may drop.
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "store/fork_gate.hpp"
#include "store/grant_rules.hpp"
#include "store/lock_file.hpp"
#include "store/lock_wait.hpp"
#include "store/owner_locks.hpp"
#include "store/process_start.hpp"
#include "store/sqlite_connection.hpp"
#include "store/sqlite_file.hpp"
#include "store/store_schemes.hpp"

namespace idgen {

enum class SqliteAccess {
  read,
  rely,    // read, unless the database is an older copy
  repair,  // write, even if the database is an older copy
  write,
  create,  // write, and make a missing file
};

static bool only_reads(SqliteAccess access) { return access == SqliteAccess::read || access == SqliteAccess::rely; }

class SqliteStore final : public Store, public WindowStore {
 public:
  SqliteStore(std::string path, const StoreOptions& options)
      : path_(std::move(path)),
        lock_path_(lock_path_of(path_)),
        create_(options.create),
        grant_log_(options.grant_log),
        timeout_ms_(options.timeout_ms) {}

  // A child releases nothing: the parent's workers are not in its list.
  ~SqliteStore() override {
    try {
      OwnerLocks::at(lock_path_).release_all(this);
    } catch (const std::exception&) {  // they could not be made, so nothing was ever owned
    }
  }

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    // Checks for a count that no counter could grant, before a file is touched or made.
    advance_by(name_space, tag, 0, grant_size(0, request));
    return transact(access(), [&](SqliteConnection& db) {
      std::optional<SegmentInfo> found = read_segment(db, name_space, tag);
      if (!found && !create_) throw_unknown(name_space, tag);
      if (!found) found = insert_segment(db, name_space, tag);
      const SegmentGrant grant = take_grant(*found, request);
      write_segment(db, *found);
      if (grant_log_ != 0) {
        make_grant_log(db);
        // By turns, so that there are never more of them than the largest of such properties says.
        SqliteStatement(db, "INSERT OR REPLACE INTO idgen_grant VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", name_space,
                        tag, found->grants % grant_log_, found->grants, grant.first, found->max_id,
                        found->updated_unix_ms, found->holder)
            .change_one_row();
      }
      return grant;
    });
  }

  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    transact(SqliteAccess::write, [&](SqliteConnection& db) {
      SegmentInfo row = must_read_segment(db, name_space, tag);
      if (row.max_id != last) return;
      row.max_id = last - unused;
      write_segment(db, row);
      if (grant_log_ == 0) return;
      make_grant_log(db);
      SqliteStatement(db, "UPDATE idgen_grant SET last_id = ?3 WHERE ns = ?1 AND tag = ?2 AND last_id > ?3", name_space,
                      tag, row.max_id)
          .next();
    });
  }

  WindowStore* windows() noexcept override { return this; }
  bool has_leases() const override { return false; }

  Window window_take(const WindowRequest& request) override {
    check_window_request(request);
    return request.fence == 0 ? acquire(request) : renew(request);
  }

  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    OwnerLocks& owners = OwnerLocks::at(lock_path_);
    const std::optional<OwnerLocks::Owned> owned = owners.find(name_space, worker);
    if (!owned || owned->fence != fence) return;  // not ours to give back: a child's call, or taken over
    const std::int64_t lowered = high_water_after_return(owned->first_start_ms, end_ms, used_ms);
    // Whatever happens to the row, this owner is gone: the window fences what it has issued.
    try {
      return_window(name_space, worker, fence, end_ms, lowered);
    } catch (...) {
      owners.release(name_space, worker, fence);
      throw;
    }
    owners.release(name_space, worker, fence);  // after the commit: until then the row still says that we are alive
  }

  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    // Nearly always it is there, and nothing has to be written.
    if (!create_ || sqlite_file_exists(path_)) {
      std::string found =
          transact(SqliteAccess::rely, [&](SqliteConnection& db) { return read_format(db, name_space); });
      if (!found.empty() || format.empty()) return found;
    }
    return transact(access(), [&](SqliteConnection& db) {
      std::string found = read_format(db, name_space);
      if (!found.empty() || format.empty()) return found;
      insert_format(db, name_space, format);
      return format;
    });
  }

  void create() override {
    transact(SqliteAccess::create, [](SqliteConnection&) {});
  }

  std::vector<WindowInfo> window_list(const std::string& name_space, Detail detail) override {
    // To write, so that nobody acquires a worker while its lock is tried.
    const SqliteAccess access = detail == Detail::owners ? SqliteAccess::write : SqliteAccess::read;
    return transact(access, [&](SqliteConnection& db) {
      std::vector<WindowInfo> found;
      SqliteStatement row(db, "SELECT worker FROM idgen_worker WHERE ns = ?1 ORDER BY worker", name_space);
      while (row.next()) found.push_back({.worker = row.natural(0, "worker")});
      if (detail == Detail::owners)
        for (WindowInfo& each : found) each = window_info(db, name_space, each.worker);
      return found;
    });
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    return transact(SqliteAccess::write, [&](SqliteConnection& db) { return window_info(db, name_space, worker); });
  }

  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    transact(SqliteAccess::write, [&](SqliteConnection& db) {
      const StoredWorker found = read_worker(db, name_space, worker);
      const bool is_live = found.found && has_live_owner(name_space, worker, found.row);
      const WorkerRow row = repaired_row(name_space, worker, found.row, is_live, seen, hw_ms);
      SqliteStatement(db, "UPDATE idgen_worker SET fence = ?3, owner = NULL, hw = ?4 WHERE ns = ?1 AND worker = ?2",
                      name_space, worker, row.fence, row.hw)
          .change_one_row();
    });
  }

  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) override {
    transact(SqliteAccess::write, [&](SqliteConnection& db) {
      const StoredWorker found = read_worker(db, name_space, worker);
      const bool is_live = found.found && has_live_owner(name_space, worker, found.row);
      const WorkerRow row = released_row(name_space, worker, found.row, is_live, seen, even_if_live);
      SqliteStatement(db, "UPDATE idgen_worker SET fence = ?3, owner = NULL WHERE ns = ?1 AND worker = ?2", name_space,
                      worker, row.fence)
          .change_one_row();
    });
  }

  void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    check_advance(above);  // before the file is made
    transact(SqliteAccess::create, [&](SqliteConnection& db) {
      const std::optional<SegmentInfo> found = read_segment(db, name_space, tag);
      if (found) throw_tag_exists(name_space, tag, found->max_id);
      insert_segment(db, name_space, tag, above);
    });
  }

  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    return transact(SqliteAccess::read, [&](SqliteConnection& db) { return must_read_segment(db, name_space, tag); });
  }

  LoggedGrant segment_grant_of(const std::string& name_space, const std::string& tag, std::uint64_t number) override {
    return transact(SqliteAccess::read, [&](SqliteConnection& db) {
      LoggedGrant found;
      const SegmentInfo segment = must_read_segment(db, name_space, tag);
      if (db.number("SELECT count(*) FROM sqlite_master WHERE name = 'idgen_grant'") == 0) return found;
      // A tag that was deleted and made again has fewer grants than the rows of its predecessor say.
      SqliteStatement row(db,
                          "SELECT grant_no, first_id, last_id, granted_unix_ms, holder FROM idgen_grant WHERE ns = ?1 "
                          "AND tag = ?2 AND ?3 BETWEEN first_id AND last_id AND grant_no <= ?4 ORDER BY grant_no DESC",
                          name_space, tag, number, segment.grants);
      if (!row.next()) return found;
      found = {row.natural(0, "grant_no"), row.natural(1, "first_id"), row.natural(2, "last_id"),
               row.number(3, "granted_unix_ms"), row.text(4, "holder")};
      return found;
    });
  }

  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t to) override {
    check_advance(to);
    return transact(SqliteAccess::repair, [&](SqliteConnection& db) {
      SegmentInfo row = must_read_segment(db, name_space, tag);
      row.max_id = advanced(name_space, tag, row.max_id, to);
      ++row.grants;
      write_segment(db, row);
      return row;
    });
  }

  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    return transact(SqliteAccess::write, [&](SqliteConnection& db) {
      SegmentInfo row = must_read_segment(db, name_space, tag);
      row.step = step;
      write_segment(db, row);
      return row;
    });
  }

  std::vector<SegmentInfo> segment_list() override {
    return transact(SqliteAccess::read, [&](SqliteConnection& db) {
      std::vector<SegmentInfo> rows;
      SqliteStatement row(db, kSelectSegments);
      while (row.next()) rows.push_back(row_or_damage([&] { return segment_of(row); }));
      return rows;
    });
  }

  std::string describe() const override {
    const std::optional<StoreWitness> witness = LockFile::witness_at(lock_path_);
    std::string text =
        "store sqlite:" + path_ + ", identity " + (witness ? witness->identity : "not known before the first grant") +
        ": a reservation is on disk (journal DELETE, synchronous EXTRA) before an id of it is issued.\n"
        "A crash, kill -9 or power loss: no id is issued twice; what was reserved and not used is lost.\n"
        "A worker number is guarded in this file: a second owner is refused while the first is alive (a lock on " +
        lock_path_ +
        "), and a restart need not wait.\n"
        "Another file, on this machine or another one, guards only its own numbers: use one file for one set of ids. "
        "Two files have different identities, unless one is a copy of the other.\n"
        "A file restored from an older copy is refused (STORE_REGRESSED) while its lock file is kept.\n";
    text += create_
                ? "A missing file is made again, at 0 (store_create = true), unless its lock file is still there: if "
                  "both are lost, ids repeat.\n"
                : "A missing file is refused: counting never silently restarts at 0.\n";
    const FileSystemVerdict found = file_system_of(path_);
    if (found.kind == FileSystemKind::memory) {
      text +=
          std::string("Warning: the file is on ") + found.name + ", in memory: it is gone when the machine restarts.\n";
    }
    if (found.kind == FileSystemKind::container) {
      text += std::string("Warning: the file is on ") + found.name +
              ", a container's own layer: it is gone with the container.\n";
    }
    return text;
  }

  std::string unnoticed_restore() const override {
    return Store::unnoticed_restore() + ", unless its latest lock file was kept (a snapshot brings an older one back)";
  }

  bool survives_fork() const override { return true; }

 private:
  struct StoredWorker {
    bool found = false;
    WorkerRow row;
  };

  SqliteAccess access() const { return create_ ? SqliteAccess::create : SqliteAccess::write; }

  // One transaction: all of `work` or nothing. An exception from the commit, or after it, means that the outcome is
  // unknown, so the grant is burned (I5). Waits for locks up to store_timeout; `work` may run several times.
  template <class Work>
  auto transact(SqliteAccess access, const Work& work) -> decltype(work(std::declval<SqliteConnection&>())) {
    using Result = decltype(work(std::declval<SqliteConnection&>()));
    if constexpr (std::is_void_v<Result>) {
      transact(access, Step{[](const void* of, SqliteConnection& db) { (*static_cast<const Work*>(of))(db); }, &work});
    } else {
      std::optional<Result> result;
      transact(access, [&](SqliteConnection& db) { result = work(db); });
      return std::move(*result);
    }
  }

  // Any `work`: what surrounds it is compiled once.
  struct Step {
    void (*run)(const void* of, SqliteConnection& db);
    const void* of;
  };
  void transact(SqliteAccess access, const Step& work) {
    for (LockWait<> wait(timeout_ms_);;) {
      try {
        const ForkGate::Pass pass;
        return transact_now(access, work, wait);
      } catch (const StoreLocked& locked) {
        if (!wait.pause()) throw Error(locked);
      }
    }
  }

  void transact_now(SqliteAccess access, const Step& work, LockWait<>& wait) {
    check_file_system(path_);
    if (access == SqliteAccess::create && !sqlite_file_exists(path_)) create_sqlite_file(path_, timeout_ms_);
    const SqliteFileId file = check_sqlite_file(path_);
    const TransactionLock lock = lock_transaction(access, wait);
    SqliteConnection db(path_, timeout_ms_);
    db.execute(only_reads(access) ? "BEGIN" : "BEGIN IMMEDIATE");
    check_schema(db);
    const StoreWitness before = read_witness(db);
    const StoreWitness known = lock.file ? lock.file->witness() : before;
    check_witness(before, known, access);
    work.run(work.of, db);
    if (only_reads(access)) return db.commit();
    SqliteStatement(db, "UPDATE idgen_store SET commits = commits + 1").change_one_row();
    // An older copy stays one, however many repairs it gets: deleting the lock file declares that all were made.
    const bool is_older_copy = before.commits < known.commits;
    if (is_older_copy) lock.file->note({known.identity, known.commits + 1});
    db.commit();
    confirm(db, before.commits + 1, *lock.file);
    if (!is_older_copy) lock.file->note({before.identity, before.commits + 1});
    check_not_replaced(file);
  }

  struct TransactionLock {
    std::optional<LockFile> file;  // empty: a reader, and there is none and none can be made
    explicit TransactionLock(std::optional<LockFile> locked) : file(std::move(locked)) {}
    TransactionLock(TransactionLock&&) = default;
    TransactionLock& operator=(TransactionLock&&) = delete;
    // Not left to close(): a child made by a raw clone() meanwhile has the description too, and would keep the lock.
    ~TransactionLock() {
      if (file) file->unlock(kTransactionByte);
    }
  };

  // Throws StoreLocked, Error{store_*, unsupported}.
  TransactionLock lock_transaction(SqliteAccess access, LockWait<>& wait) const {
    for (int attempt = 0; attempt < 3; ++attempt) {
      std::optional<LockFile> file = open_lock_file(access);
      if (!file && only_reads(access)) return TransactionLock(std::nullopt);
      if (!file) continue;  // deleted at this moment
      if (!wait.try_lock(*file, lock_path_)) break;
      if (file->is_at(lock_path_)) return TransactionLock(std::move(file));
    }
    throw StoreLocked(store_locked_error(path_, timeout_ms_));
  }

  // Makes it for a database without one: a new store, or a copy restored without it.
  std::optional<LockFile> open_lock_file(SqliteAccess access) const {
    const bool is_reader = only_reads(access);
    try {
      if (std::optional<LockFile> file = LockFile::open(lock_path_, is_reader)) return file;
      SqliteConnection db(path_, timeout_ms_);
      check_schema(db);
      LockFile::make(path_, read_witness(db));
    } catch (const Error& error) {
      if (error.status() != Status::store_permission) throw;
      if (is_reader && !sqlite_file_exists(lock_path_)) return std::nullopt;
      // If the database is not writable either, the error is about the database.
      const std::string obstacle = is_reader ? "" : write_obstacle(path_);
      if (obstacle.empty()) throw;
      throw sqlite_permission_error(path_, obstacle);
    }
    return LockFile::open(lock_path_, is_reader);
  }

  static StoreWitness read_witness(SqliteConnection& db) {
    SqliteStatement row(db, "SELECT lower(hex(identity)), commits FROM idgen_store");
    if (!row.next()) db.fail_damaged("idgen_store has no row");
    StoreWitness witness{row.text(0, "identity"), row.natural(1, "commits")};
    if (witness.identity.size() != 2 * sizeof(Nonce)) db.fail_damaged("identity is not a blob of 16 bytes");
    return witness;
  }

  void check_witness(const StoreWitness& found, const StoreWitness& known, SqliteAccess access) const {
    // The order of the steps differs: beside another store's lock file even `advance` is refused.
    if (found.identity != known.identity) {
      throw Error(
          Status::store_missing,
          concat({"store \"sqlite:", path_, "\": another store took its place (identity ", found.identity,
                  ", its lock file is of ", known.identity,
                  "). Restore the right one; if this one is right, stop all users of the store, delete \"", lock_path_,
                  "\", then raise every tag above the highest id in use with `idgen segment advance`"}));
    }
    if (found.commits >= known.commits || access == SqliteAccess::read || access == SqliteAccess::repair) return;
    throw Error(
        Status::store_regressed,
        concat({"store \"sqlite:", path_, "\": the file is an older copy, at commit ", std::to_string(found.commits),
                " of ", std::to_string(known.commits),
                ". Restore the latest one; if it is lost, stop all users of the store, raise every tag above the "
                "highest id in use with `idgen segment advance`, then delete \"",
                lock_path_, "\""}));
  }

  // If SQLite's locks are gone because the host has closed a descriptor of the file, another process that reads the
  // database takes our journal for one left by a crash, and rolls our commit back. So we check for the commit after
  // making it, still under our lock. docs/stores.md says why that is enough.
  void confirm(SqliteConnection& db, std::uint64_t commits, const LockFile& lock) const {
    const auto throw_unknown_outcome = [&](const char* what) {
      throw Error(Status::store_unavailable,
                  concat({"store \"sqlite:", path_, "\": ", what, "; what was granted is not used"}),
                  ForkGate::kRetryNs);
    };
    try {
      if (read_witness(db).commits != commits) {
        throw_unknown_outcome(
            "another process has rolled a commit back, because this program closed the file meanwhile "
            "and so dropped SQLite's locks");
      }
    } catch (const StoreLocked&) {
      throw_unknown_outcome("it was locked by another process before the commit could be confirmed");
    }
    if (!lock.is_open() || !lock.is_at(lock_path_)) {
      throw_unknown_outcome("its lock file was closed or replaced during the transaction");
    }
  }

  // Nobody will ever see a commit to a file that has lost its name.
  void check_not_replaced(const SqliteFileId& before) const {
    if (check_sqlite_file(path_) == before) return;
    throw Error(Status::store_unavailable,
                concat({"store \"sqlite:", path_,
                        "\": another file took its place during the transaction; what was granted is not used"}),
                ForkGate::kRetryNs);
  }

  void check_schema(SqliteConnection& db) const {
    const std::int64_t application = db.number("PRAGMA application_id");
    if (application != kSqliteApplicationId) {
      throw Error(Status::store_damaged,
                  concat({"store \"sqlite:", path_, "\" is an SQLite database, but not one of idgen (application_id ",
                          std::to_string(application), ", expected ", std::to_string(kSqliteApplicationId), "; it has ",
                          std::to_string(db.number("SELECT count(*) FROM sqlite_master")),
                          " tables and indexes). Give idgen a file of its own"}));
    }
    const std::int64_t version = db.number("PRAGMA user_version");
    if (version == kSqliteSchemaVersion) return;
    const std::string found = concat({"store \"sqlite:", path_, "\" has schema version ", std::to_string(version)});
    if (version > kSqliteSchemaVersion) {
      throw Error(Status::store_version,
                  concat({found, ", this idgen knows up to ", std::to_string(kSqliteSchemaVersion),
                          ": it was made by a newer idgen. Upgrade this one"}));
    }
    if (version == 1) {
      throw Error(Status::store_version,
                  found +
                      ", which only builds before the first release made. Read its tags with that build (`idgen "
                      "segment show`), make a new store, and raise its tags above them with `idgen segment advance`");
    }
    if (version == 2) {
      throw Error(
          Status::store_version,
          concat({found,
                  ", which only builds before the first release made. Stop all users of the store, then run this with "
                  "sqlite3: ",
                  kSqliteUpgradeFrom2}));
    }
    db.fail_damaged("schema version " + std::to_string(version) + " has never existed");
  }

  [[noreturn]] void throw_unknown(const std::string& name_space, const std::string& tag) const {
    throw_tag_unknown(name_space, tag, "sqlite:" + path_,
                      "Make it with `idgen segment create --store sqlite:" + path_ + " --tag " + tag +
                          "`, or set store_create = true");
  }

  // A statement keeps its text, so these are never destroyed.
  static constexpr const char* kSelectSegment =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment WHERE ns = ?1 AND tag = "
      "?2";
  static constexpr const char* kSelectSegments =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment ORDER BY ns, tag";

  static SegmentInfo segment_of(const SqliteStatement& row) {
    const std::string name_space = row.text(0, "ns"), tag = row.text(1, "tag");
    try {
      return {name_space,
              tag,
              row.natural(2, "max_id"),
              row.natural(3, "grants"),
              row.number(4, "updated_unix_ms"),
              row.natural(5, "step"),
              row.natural(6, "rate"),
              row.text(7, "holder")};
    } catch (const Error& error) {
      throw Error(error.status(), concat({tag_name(name_space, tag), ": ", error.message()}));
    }
  }

  static std::optional<SegmentInfo> read_segment(SqliteConnection& db, const std::string& name_space,
                                                 const std::string& tag) {
    SqliteStatement row(db, kSelectSegment, name_space, tag);
    return row.next() ? std::optional(segment_of(row)) : std::nullopt;
  }

  SegmentInfo must_read_segment(SqliteConnection& db, const std::string& name_space, const std::string& tag) const {
    std::optional<SegmentInfo> found = read_segment(db, name_space, tag);
    if (!found) throw_unknown(name_space, tag);
    return std::move(*found);
  }

  static SegmentInfo insert_segment(SqliteConnection& db, const std::string& name_space, const std::string& tag,
                                    std::uint64_t above = 0) {
    SegmentInfo row = new_segment(name_space, tag, above);
    SqliteStatement(db, "INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES(?1, ?2, ?3, 0, ?4)",
                    name_space, tag, row.max_id, row.updated_unix_ms)
        .change_one_row();
    return row;
  }

  static void write_segment(SqliteConnection& db, const SegmentInfo& row) {
    SqliteStatement(db,
                    "UPDATE idgen_segment SET max_id = ?3, grants = ?4, updated_unix_ms = ?5, step = ?6, rate = ?7, "
                    "holder = ?8 WHERE ns = ?1 AND tag = ?2",
                    row.name_space, row.tag, row.max_id, row.grants, store_clock_unix_ms(), row.step, row.rate,
                    row.holder)
        .change_one_row();
  }

  static void make_grant_log(SqliteConnection& db) {
    db.execute(
        "CREATE TABLE IF NOT EXISTS idgen_grant(ns TEXT, tag TEXT, slot INTEGER, grant_no INTEGER, first_id INTEGER, "
        "last_id INTEGER, granted_unix_ms INTEGER, holder TEXT, PRIMARY KEY(ns, tag, slot), "
        "UNIQUE(ns, tag, last_id, slot)) WITHOUT ROWID");
  }

  static StoredWorker read_worker(SqliteConnection& db, const std::string& name_space, std::uint64_t worker) {
    SqliteStatement row(db, "SELECT fence, owner, hw, holder FROM idgen_worker WHERE ns = ?1 AND worker = ?2",
                        name_space, worker);
    if (!row.next()) return {};
    StoredWorker stored;
    stored.found = true;
    stored.row.fence = row.natural(0, "fence");
    stored.row.hw = row.number(2, "hw");
    stored.row.holder = row.text(3, "holder");
    if (const std::optional<std::string> owner = row.blob(1, "owner")) {
      if (owner->size() != stored.row.owner.size()) db.fail_damaged("owner is not a blob of 16 bytes");
      std::memcpy(stored.row.owner.data(), owner->data(), owner->size());
      stored.row.owned = true;
    }
    if (stored.row.fence == 0 || stored.row.fence >= kLargestNumber) {
      db.fail_damaged("fence is " + std::to_string(stored.row.fence) + ", outside 1 to 2^63 - 2");
    }
    return stored;
  }

  // REQUIRES: a transaction that writes.
  WindowInfo window_info(SqliteConnection& db, const std::string& name_space, std::uint64_t worker) const {
    const StoredWorker found = read_worker(db, name_space, worker);
    const bool is_locked = found.found && has_lock(name_space, worker);
    const bool is_by_name = found.found && !is_locked && may_have_lost_its_lock(found.row);
    return {.worker = worker,
            .fence = found.row.fence,
            .hw_ms = found.row.hw,
            .format = read_format(db, name_space),
            .holder = found.row.holder,
            .is_live = is_locked || is_by_name,
            .is_by_name = is_by_name};
  }

  // "": it has none.
  static std::string read_format(SqliteConnection& db, const std::string& name_space) {
    SqliteStatement row(db, "SELECT format FROM idgen_namespace WHERE ns = ?1", name_space);
    return row.next() ? row.text(0, "format") : "";
  }
  static void insert_format(SqliteConnection& db, const std::string& name_space, const std::string& format) {
    SqliteStatement(db, "INSERT INTO idgen_namespace(ns, format) VALUES(?1, ?2)", name_space, format).change_one_row();
  }
  static void check_format(SqliteConnection& db, const WindowRequest& request) {
    const std::string found = read_format(db, request.name_space);
    if (found.empty()) return insert_format(db, request.name_space, request.format);
    if (found != request.format) throw_format_mismatch(request.name_space, found, request.format);
  }

  Window acquire(const WindowRequest& request) {
    OwnerLocks& owners = OwnerLocks::at(lock_path_);
    bool claimed = false;
    // Fence 0: until the grant is committed.
    const auto let_go = [&] {
      if (std::exchange(claimed, false)) owners.release(request.name_space, request.worker, 0);
    };
    try {
      const Window window = transact(access(), [&](SqliteConnection& db) {
        let_go();  // from an attempt that met a lock of SQLite's
        check_format(db, request);
        const WorkerRow before = read_worker(db, request.name_space, request.worker).row;
        release_if_taken_over(request, before);
        const OwnerLocks::Claim claim = owners.claim(request.name_space, request.worker, this);
        if (claim != OwnerLocks::Claim::granted) throw_busy(request, before, claim);
        claimed = true;
        const Window granted = next_window(before, request);
        SqliteStatement(db,
                        "INSERT INTO idgen_worker(ns, worker, fence, owner, hw, holder) VALUES(?1, ?2, ?3, ?4, ?5, ?6) "
                        "ON CONFLICT(ns, worker) DO UPDATE SET fence = ?3, owner = ?4, hw = ?5, holder = ?6",
                        request.name_space, request.worker, granted.fence, request.owner, granted.end_ms,
                        request.holder)
            .change_one_row();
        return granted;
      });
      owners.own(request.name_space, request.worker, window.fence, window.start_ms);
      return window;
    } catch (...) {
      let_go();
      throw;
    }
  }

  // While our lock was lost somebody else became the owner; our lock must not stand for that owner.
  void release_if_taken_over(const WindowRequest& request, const WorkerRow& row) const {
    OwnerLocks& owners = OwnerLocks::at(lock_path_);
    const std::optional<OwnerLocks::Owned> owned = owners.find(request.name_space, request.worker);
    if (!owned || owned->fence == 0 || (row.owned && row.fence == owned->fence)) return;
    owners.release(request.name_space, request.worker, owned->fence);
  }

  Window renew(const WindowRequest& request) {
    OwnerLocks& owners = OwnerLocks::at(lock_path_);
    return transact(SqliteAccess::write, [&](SqliteConnection& db) {
      owners.restore();
      check_format(db, request);
      const WorkerRow row = read_worker(db, request.name_space, request.worker).row;
      release_if_taken_over(request, row);
      const std::optional<OwnerLocks::Owned> owned = owners.find(request.name_space, request.worker);
      const bool is_ours = owned && owned->fence == request.fence && row.owned && row.fence == request.fence &&
                           row.owner == request.owner;
      if (!is_ours) throw_not_owner(request, row);
      const Window granted = next_window(row, request);
      SqliteStatement(db, "UPDATE idgen_worker SET hw = ?3, holder = ?4 WHERE ns = ?1 AND worker = ?2",
                      request.name_space, request.worker, granted.end_ms, request.holder)
          .change_one_row();
      return granted;
    });
  }

  void return_window(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t lowered) {
    transact(SqliteAccess::write, [&](SqliteConnection& db) {
      const StoredWorker stored = read_worker(db, name_space, worker);
      if (!stored.found || stored.row.fence != fence) return;
      SqliteStatement(db, "UPDATE idgen_worker SET owner = NULL, hw = ?3 WHERE ns = ?1 AND worker = ?2", name_space,
                      worker, stored.row.hw == end_ms ? lowered : stored.row.hw)
          .change_one_row();
    });
  }

  // REQUIRES: a transaction that writes.
  bool has_live_owner(const std::string& name_space, std::uint64_t worker, const WorkerRow& row) const {
    return has_lock(name_space, worker) || may_have_lost_its_lock(row);
  }
  bool has_lock(const std::string& name_space, std::uint64_t worker) const {
    OwnerLocks& owners = OwnerLocks::at(lock_path_);
    if (owners.claim(name_space, worker, this) != OwnerLocks::Claim::granted) return true;
    owners.release(name_space, worker, 0);
    return false;
  }
  // The host closed all descriptors, or somebody deleted the lock file.
  static bool may_have_lost_its_lock(const WorkerRow& row) {
    return row.owned && may_be_process_here(row.holder, row.hw);
  }

  // "process 4711 on db-3", as holder_text() writes it. True if that is this machine or container, and the process runs
  // and may be the one that reserved time up to `hw_ms`. In a container other processes have the same name later on:
  // the first one is always process 1.
  static bool may_be_process_here(const std::string& holder, std::int64_t hw_ms) {
    int process = 0;
    char host[256] = "", here[256] = "";
    // NOLINTNEXTLINE(cert-err34-c): a number that does not fit is nobody's
    if (std::sscanf(holder.c_str(), "process %d on %255s", &process, host) != 2 || process <= 0) return false;
    if (gethostname(here, sizeof here - 1) != 0 || std::strcmp(host, here) != 0) return false;
    if (process == getpid()) return false;  // which owns what it has a lock for
    if (kill(process, 0) != 0 && errno != EPERM) return false;
    const std::optional<std::int64_t> began_ms = process_began_ms(process);
    return !began_ms || *began_ms <= hw_ms;
  }

  // The kernel does not say who has the lock. The row does, unless its owner has died and left a raw clone that keeps
  // the lock.
  [[noreturn]] void throw_busy(const WindowRequest& request, const WorkerRow& row, OwnerLocks::Claim claim) const {
    const char* where = " (live)";
    if (claim == OwnerLocks::Claim::held_here) {
      where = " (this process)";
    } else if (row.holder == request.holder) {  // processes in two containers may have the same name
      where = " (this process, through another copy of the library, or another container)";
    }
    throw Error(Status::worker_busy,
                concat({worker_name(request.name_space, request.worker), " is owned by ",
                        (row.holder.empty() ? "a process" : row.holder), where,
                        "; stop it, or give this process another worker number. Store: sqlite:", path_}));
  }

  const std::string path_;
  const std::string lock_path_;
  const bool create_;
  const std::uint64_t grant_log_;
  const std::int64_t timeout_ms_;
};

std::string sqlite_store_identity(const std::string& rest, const StoreOptions& options) {
  return "sqlite:" + resolve_sqlite_path(rest, options.directory);
}

std::string sqlite_segment_statements(const std::string& name_space, const std::string& tag) {
  std::string text;
  for (const char* const statement : sqlite_schema()) text += std::string(statement) + ";\n";
  return text + "INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES(" +
         sql_text(name_space, "char") + ", " + sql_text(tag, "char") + ", 0, 0, " +
         std::to_string(store_clock_unix_ms()) + ");\n";
}

std::shared_ptr<Store> open_sqlite_store(const std::string& rest, const StoreOptions& options) {
  std::string path = resolve_sqlite_path(rest, options.directory);
  check_file_system(path);
  return std::make_shared<SqliteStore>(std::move(path), options);
}

}  // namespace idgen
