// Where reservations are committed.
//
// A store does two things, each one atomic step that is on disk before the call returns: it grants the next numbers of
// a tag, and it grants the next window of a worker's time. Grants of one tag, or of one worker, never overlap (I2). An
// exception after the commit was sent means "unknown": the caller burns the grant (I5).
//
// Threads: every method may be called from any thread, several at once. None is ever called from the fast path.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "idgen/mutex.hpp"
#include "idgen/status.hpp"

namespace idgen {

class Lane;
class NumberStore;
class Runtime;
struct StoreOptions;

using Nonce = std::array<std::uint8_t, 16>;

struct WindowRequest {
  std::string name_space;
  std::uint64_t worker = 0;
  std::uint64_t fence = 0;  // fencing token of the grant being renewed; 0 = acquire
  Nonce owner{};            // of this process image
  std::string holder;       // "process 4711 on db-3"
  std::string format;       // Layout::fingerprint()
  std::int64_t now_ms = 0;  // rounded down to a tick
  std::int64_t width_ms = 0;
  std::int64_t min_ms = 0;
  std::int64_t max_start_ms = 0;
  // For a store with a clock of its own, which machines share:
  std::int64_t max_lead_ms = 0;  // now_ms may be so far ahead of it
  std::int64_t lease_ms = 0;     // by it, we count as alive for so long after this call
};

struct Window {
  std::int64_t start_ms = 0;  // Unix ms
  std::int64_t end_ms = 0;    // exclusive
  std::uint64_t fence = 0;
};

// A worker's row, for operators.
struct WindowInfo {
  std::uint64_t worker = 0;
  std::uint64_t fence = 0;                       // 0: nobody has had the worker yet
  std::int64_t hw_ms = 0;                        // Unix ms, exclusive: the end of the latest window
  std::string format{};                          // of the namespace
  std::string holder{};                          // the latest
  bool is_live = false;                          // an owner is alive, or may be
  bool is_by_name = false;                       // may be: nothing but its holder's name says so
  std::int64_t lease_left_ms = 0;                // until it no longer counts as alive; 0: unknown
  std::optional<std::int64_t> clock_ahead_ms{};  // holder's clock minus the store's, at its latest window
};

struct SegmentRequest {
  std::uint64_t step = 0;    // numbers to take if the row says nothing else
  std::uint64_t wanted = 0;  // at least this many; 0: the step is enough
  std::uint64_t rate = 0;    // ids per second that this generator draws; for SegmentInfo
  std::string holder{};      // "process 4711 on db-3"; for SegmentInfo
  std::uint64_t above = 0;   // the grant begins above this: what is skipped is nobody's
};

struct SegmentGrant {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  // From a table that sets them itself: only ids with id % stride == offset may be issued.
  std::uint64_t stride = 1;
  std::uint64_t offset = 0;
};

struct SegmentInfo {
  std::string name_space;
  std::string tag;
  std::uint64_t max_id = 0;  // highest number granted
  std::uint64_t grants = 0;
  std::int64_t updated_unix_ms = 0;
  std::uint64_t step = 0;  // as set by the operator; 0: each generator uses its own segment.step
  std::uint64_t rate = 0;  // ids per second, as the holder drew them when it took the latest grant; 0 = unknown
  std::string holder{};    // who took the latest grant, "process 4711 on db-3"; "" = unknown
  // In a list: why this row cannot be read. All else is then empty.
  std::optional<Error> damage{};
};

// A grant as the store remembers it; see the property segment.grant_log. It was granted, not necessarily used.
struct LoggedGrant {
  std::uint64_t grant = 0;  // its number: SegmentInfo::grants right after it. 0: the log has none
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // without what was given back
  std::int64_t granted_unix_ms = 0;
  std::string holder{};  // "process 4711 on db-3"
};

// For a store that is a buffer in front of another one.
enum class BreakerState : std::uint32_t { closed, half_open, open };
struct BufferStats {
  BreakerState redis = BreakerState::closed;
  BreakerState database = BreakerState::closed;
  std::uint64_t stock = 0;           // numbers in Redis that were left for this process when it last looked
  std::uint64_t redis_failures = 0;  // calls that failed
  std::uint64_t database_failures = 0;
};

// Where the numbers of a column come from, and which are in use.
struct NumberedColumn {
  std::uint64_t largest = 0;    // in a row; 0: none
  std::string counter{};        // what issues them; "": nothing is known to
  std::uint64_t issued = 0;     // the largest that the counter may have issued, to rows that are deleted too; 0: none
  std::uint64_t increment = 0;  // of the counter
  bool is_always = false;       // the server refuses a number that it has not made
  std::string others{};         // without a counter: some that programs may number the column from

  // A program may take a number of the counter for a block of as many as the increment, which begins there.
  std::uint64_t highest_in_use() const;
};

// Numbers of tags.
class SegmentStore {
 public:
  // max_id = max(max_id, request.above) + count, where count = max(the row's step, or request.step if it has none;
  // request.wanted). The grant is the last `count` up to the new max_id. Throws Error{tag_unknown, exhausted (2^63 - 1
  // would be passed), store_*}.
  virtual SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                                     const SegmentRequest& request) IDGEN_RUNS_HOST_CODE = 0;
  // If max_id == last: max_id = last - unused. Otherwise does nothing: somebody else has drawn since.
  virtual void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                              std::uint64_t unused) IDGEN_RUNS_HOST_CODE = 0;

  // The first grant begins above `above`. Throws Error{tag_exists, store_*, value}; Error{unsupported} for serials if
  // their rows do not hold the number. Makes the store itself if it is missing.
  virtual void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t above = 0) = 0;
  virtual SegmentInfo segment_show(const std::string& name_space, const std::string& tag) = 0;
  // All tags of all namespaces, in the order of their names.
  virtual std::vector<SegmentInfo> segment_list() = 0;
  // max_id = max(max_id + 1, to). So the latest grant's owner can no longer give its rest back, which may be below
  // `to`.
  virtual SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t to) = 0;
  // Sets the step for all generators, from their next grant on. 0: each uses its own.
  virtual SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) = 0;
  // The latest grant that has the number, as far as the store remembers. Throws Error{unsupported} if it never does.
  virtual LoggedGrant segment_grant_of(const std::string& name_space, const std::string& tag, std::uint64_t number);
  // Any table's of the same database. `sequence`: the counter that programs number it from; empty: the database's own,
  // if it has one. Throws Error{unsupported} where there are no tables.
  virtual NumberedColumn segment_column(const std::string& table, const std::string& column,
                                        const std::optional<std::string>& sequence);

 protected:
  ~SegmentStore() = default;
};

// Windows of workers' time.
class WindowStore {
 public:
  // start = max(hw, now_ms), end = max(start + min_ms, now_ms + width_ms), hw = end. See idgen_store_t in host.h.
  // Throws Error{worker_busy, format_mismatch, clock_back (start > max_start_ms), clock_leap (now_ms is more than
  // max_lead_ms ahead of the store's clock), store_*}; clock_* have changed nothing. worker_busy with a time to retry
  // after: the owner may have died, and its lease ends then.
  virtual Window window_take(const WindowRequest& request) IDGEN_RUNS_HOST_CODE = 0;
  // Gives the worker up, so that the next owner is not refused. If hw == end_ms: hw = used_ms.
  virtual void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence,
                             std::int64_t end_ms, std::int64_t used_ms) IDGEN_RUNS_HOST_CODE = 0;

  // True: an owner counts as alive for lease_ms after each window_take. False: the store can tell by itself.
  virtual bool has_leases() const = 0;

  // All workers of the namespace that anybody has had, by number. With `numbers` only that member need be right: it is
  // how a worker is chosen, by a thousand processes at once.
  enum class Detail { numbers, owners };
  virtual std::vector<WindowInfo> window_list(const std::string& name_space, Detail detail) = 0;
  virtual WindowInfo window_show(const std::string& name_space, std::uint64_t worker) = 0;
  // Lowers hw to hw_ms and ends all earlier grants. Throws Error{worker_busy} if an owner is alive or the row has
  // changed since `seen`.
  virtual void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                             std::int64_t hw_ms) = 0;
  // Ends the owner's hold on the worker: the next one need not wait for its lease. What it has reserved stays its own.
  // Throws Error{worker_busy} if an owner is alive and `even_if_live` is false, or if the row has changed since `seen`.
  virtual void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                              bool even_if_live) = 0;

 protected:
  ~WindowStore() = default;
};

class Store : public SegmentStore {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store();

  // What the store keeps besides segments, as long as it lives; null: nothing of the kind. See windows_of().
  virtual WindowStore* windows() noexcept { return nullptr; }
  virtual NumberStore* numbers() noexcept { return nullptr; }  // idgen/number_store.hpp

  // What a namespace was given first, "" if nothing: it is the same for ever and for everybody. If it has nothing and
  // `format` is not "", it is given that. windows give a namespace its WindowRequest::format; the cipher of hidden ids
  // gives names of its own the check values of its keys. Throws Error{store_*, unsupported}.
  virtual std::string namespace_format(const std::string& name_space, const std::string& format) IDGEN_RUNS_HOST_CODE;

  // Of a store that the host has made: what the configuration says about stores. Throws Error{unsupported} for what
  // such a store does not have.
  virtual void configure(const StoreOptions& options);

  // Makes the store, without a tag, if it is missing. Throws Error{store_*, unsupported}.
  virtual void create();

  // What a crash, a power loss and a lost file mean with this store: sentences for idgen_describe, one per line.
  virtual std::string describe() const = 0;
  // Which restored store goes unnoticed, for a line "not covered" of idgen_describe; "" if there is none.
  virtual std::string unnoticed_restore() const { return "a store restored from a backup while this process is down"; }
  // False: what it grants is gone with the process.
  virtual bool is_durable() const { return true; }
  // False: a child process cannot use it, because what it knows lives in the parent's memory.
  virtual bool survives_fork() const = 0;
  virtual std::optional<BufferStats> buffer_stats() const { return std::nullopt; }

  // Gives connections back; the next call opens a new one.
  virtual void disconnect() noexcept {}

  // Waits for calls in the background that nobody waits for, at most as long as their time-outs.
  virtual void wait_until_idle() noexcept {}

  // Open generators on this store: when the last one closes, it is disconnected.
  void enter() noexcept { ++users_; }
  void leave() noexcept {
    if (--users_ > 0) return;
    wait_until_idle();
    disconnect();
  }

  // The lane for background work on this store. The first caller's runtime makes it.
  std::shared_ptr<Lane> lane(Runtime& runtime);

 private:
  std::atomic<std::uint32_t> users_{0};
  std::atomic<const std::shared_ptr<Lane>*> lane_{nullptr};
};

// Throws Error{unsupported} if the store keeps no windows.
WindowStore& windows_of(Store& store);
bool has_leases(Store& store);

// For store = "buffer"; see the properties buffer.*.
struct BufferOptions {
  std::string redis;
  std::string database;
  std::string identity{};  // of the database, for the queue: those that name another one share no numbers with us
  std::int64_t runway_ms = 1'800'000;
  std::uint64_t stock_max = 10'000'000;
  std::uint32_t errors = 3;
  std::int64_t pause_ms = 5000;
  std::int64_t timeout_ms = 1000;  // for one operation in Redis
};

struct StoreOptions {
  bool create = false;             // make a missing store, and a missing tag at 0
  std::int64_t timeout_ms = 5000;  // for another process's lock
  std::string directory;           // that relative paths start from; "" = the working directory
  std::string module_path;         // folder of the store modules; "" = beside this library
  std::string schema = "idgen";    // whose table segments come from: idgen, leaf, tinyid, cosid, key_producer, incr
  std::string pattern{};           // of serials, for the schemas key_producer and incr
  std::uint64_t step = 0;          // for a new tag, if the schema's row needs a step
  std::uint64_t grant_log = 0;     // how many of its latest grants the store remembers for a tag
  BufferOptions buffer{};
  std::shared_ptr<Runtime> runtime{};  // null: the system's
};

// Opens "memory", "memory:NAME", "sqlite:PATH", "buffer" or a URL that a store module knows, such as
// "postgres://USER@HOST/DATABASE". Throws Error{value} for another scheme, naming the known ones; Error{unsupported} if
// the module is missing; Error{store_*} if the store cannot be used.
std::shared_ptr<Store> open_store(const std::string& url, const StoreOptions& options);
// Makes a store without a tag. Throws as Store::create; for a server's URL it throws at once.
void create_store(const std::string& url, const StoreOptions& options);

// A separate store in memory for one generator. The first number of each tag, or of each of its periods, is before + 1.
std::shared_ptr<Store> own_memory_store(std::uint64_t before);

// The same for a generator, or the store that this process has already opened with the same URL and options. Waits for
// another thread that is opening it, however long that takes.
std::shared_ptr<Store> shared_store(const std::string& url, const StoreOptions& options);

// Takes all numbers of a tag that are left, so that nobody draws from it again. Returns the row as it was before:
// all that was ever granted is at most max_id. The row's holder says it from then on, "retired at 4711", because who
// retired it may have had no time to tell. Takes them in a moment when nobody draws, for which it tries on until
// wait_max is over. Throws as segment_grant(), and Error{exhausted} if none is left; Error{store_unavailable} if
// there was no such moment, and the tag goes on.
SegmentInfo retire_segment(SegmentStore& store, const std::string& name_space, const std::string& tag,
                           std::chrono::milliseconds wait_max) IDGEN_RUNS_HOST_CODE;

// What segment_create would run to make the tag, and the table if that is missing: statements or commands, a text to
// read or to put into a migration. Connects to no server; "" if there is nothing to run. Throws as open_store for what
// cannot be opened whatever the server says.
std::string segment_statements(const std::string& url, const StoreOptions& options, const std::string& name_space,
                               const std::string& tag);

// The same name for two URLs of the same store: scheme and resolved path. For the process registry.
std::string store_identity(const std::string& url, const StoreOptions& options);

// The one way to write a store's name, in which its scheme can be compared: "buffer" for "buffer:" and "jdbc:buffer",
// "postgres://..." for "postgresql+psycopg://...". What names no store is left as it is.
std::string plain_store(const std::string& url);

// Of this process or this host alone: processes of other hosts cannot see what is in it.
bool is_local_store(const std::string& url);

}  // namespace idgen
