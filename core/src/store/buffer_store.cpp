#include "store/buffer_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <utility>

#include "idgen/concat.hpp"
#include "idgen/mutex.hpp"
#include "idgen/time_units.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/waiting.hpp"
#include "store/breaker.hpp"
#include "store/grant_rules.hpp"
#include "store/module_store.hpp"

namespace idgen {
namespace {

constexpr std::uint64_t kLeastSegments = 4;  // in stock, whatever the rate

// Shortens a message so that two fit into one.
std::string brief(const std::string& text) { return text.size() <= 180 ? text : text.substr(0, 177) + "..."; }

// True for errors about a request, not about the database's own state.
bool is_answer(Status status) {
  switch (status) {
    case Status::argument:
    case Status::value:
    case Status::unsupported:
    case Status::exhausted:
    case Status::tag_unknown:
    case Status::tag_exists:
    case Status::store_regressed:
    case Status::format_mismatch:
      return true;
    default:
      return false;
  }
}

// Opened when needed and possible, then kept. Without a lock, because a forked child may find one held.
template <class T>
class Side {
 public:
  explicit Side(std::function<std::shared_ptr<T>()> open) : open_(std::move(open)) {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { delete opened_.load(); }

  T& get() {
    if (const auto* const opened = opened_.load()) return **opened;
    auto fresh = std::make_unique<const std::shared_ptr<T>>(open_());
    const std::shared_ptr<T>* found = nullptr;
    return opened_.compare_exchange_strong(found, fresh.get()) ? **fresh.release() : **found;
  }
  T* opened() const {
    const auto* const opened = opened_.load();
    return opened == nullptr ? nullptr : opened->get();
  }

 private:
  const std::function<std::shared_ptr<T>()> open_;
  std::atomic<const std::shared_ptr<T>*> opened_{nullptr};
};

class BufferStore final : public Store, public std::enable_shared_from_this<BufferStore> {
 public:
  explicit BufferStore(BufferParts parts)
      : options_(parts.options),
        runtime_(std::move(parts.runtime)),
        loads_(runtime_->make_lane()),
        longest_load_ms_(parts.longest_load_ms),
        queue_(std::move(parts.queue)),
        database_(std::move(parts.database)) {}
  ~BufferStore() override { delete state_->tags; }

  void open() {
    std::string why;
    try {
      queue_.get();
    } catch (const Error& error) {
      if (error.status() != Status::store_unavailable) throw;
      failed(&State::queue);
      why = error.message();
    }
    try {
      database_.get();
    } catch (const Error& error) {
      if (error.status() != Status::store_unavailable || !why.empty()) throw;
      failed(&State::database);
    }
  }

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    if (request.above != 0) {
      throw Error(Status::unsupported,
                  "the buffer holds numbers of all days together, so serials with a date are drawn "
                  "from the database itself: set store to it");
    }
    const std::uint64_t count = grant_size(0, request);
    advance_by(name_space, tag, 0, count);
    const Names names{name_space, tag};
    const Tag known = known_of(names);
    const auto take = [&] {
      return ask_queue([&](Queue& queue) {
        return queue.take(name_space, tag,
                          {.count = count,
                           .above = known.floor,
                           .least = least(count),
                           .rate = request.rate,
                           .runway_ms = static_cast<std::uint64_t>(options_.runway_ms),
                           .stock_max = options_.stock_max});
      });
    };
    Asked<QueuePart> part = take();
    // Our own load is on its way: if we drew past it, it would be of no use to this process.
    if (part.answer && part.answer->count == 0 && !part.answer->stopped && waited_for_own_load(names)) part = take();
    note(names, part);
    if (part.answer ? part.answer->stopped : known.stopped)
      throw_regressed(names, part.answer ? part.answer->witness : known.highest);
    if (part.answer && part.answer->count > 0) {
      if (part.answer->load) load_ahead(names, *part.answer, request);
      return issued(names, {.first = part.answer->first, .count = part.answer->count});
    }
    // Another process may be loading, but below what is drawn here, so a little is loaded in any case.
    const std::uint64_t stock = !part.answer ? 0 : part.answer->load ? missing(*part.answer) : least(count);
    SegmentGrant grant = draw(names, request, count, stock, part);
    if (stock > 0 && grant.count > count) {
      load(names, *part.answer, grant.first + count, grant.count - count);
      grant.count = count;
    }
    return issued(names, grant);
  }
  // Burned: the queue cannot take it, and the witness says that it was granted.
  void segment_return(const std::string&, const std::string&, std::uint64_t last, std::uint64_t unused) override {
    check_segment_return(last, unused);
  }

  // Redis may forget; the database does not.
  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    return database_.get().namespace_format(name_space, format);
  }
  void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    // What Redis holds of an earlier tag of this name must go before there is a row: whoever finds one may draw.
    if (above > 0 && is_missing(name_space, tag)) drop_stock(name_space, tag, 0);
    ask_database([&](Store& database) { database.segment_create(name_space, tag, above); });
    if (above > 0) drop_stock(name_space, tag, above);
  }
  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    return ask_database([&](Store& database) { return database.segment_show(name_space, tag); });
  }
  std::vector<SegmentInfo> segment_list() override {
    return ask_database([&](Store& database) { return database.segment_list(); });
  }
  NumberedColumn segment_column(const std::string& table, const std::string& column,
                                const std::optional<std::string>& sequence) override {
    return ask_database([&](Store& database) { return database.segment_column(table, column, sequence); });
  }
  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    return ask_database([&](Store& database) { return database.segment_set_step(name_space, tag, step); });
  }
  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t to) override {
    SegmentInfo info = ask_database([&](Store& database) { return database.segment_advance(name_space, tag, to); });
    drop_stock(name_space, tag, info.max_id);
    const MutexLock lock(state_->mutex);
    tag_at({name_space, tag}).stopped = false;
    return info;
  }

  std::string describe() const override {
    const Store* const database = database_.opened();
    const Queue* const queue = queue_.opened();
    return "store: a buffer in Redis, " + (queue ? queue->describe() : std::string("not reached yet")) +
           ", in front of a database; only the database makes numbers; " +
           "each grant is committed there before it is put into Redis, and leaves Redis at most once\n" +
           "Redis restarts, fails over, evicts, is flushed: what it holds of a tag, at most buffer.stock_max = " +
           std::to_string(options_.stock_max) +
           " numbers, is lost (a gap); no id is issued twice, whatever Redis forgets\n"
           "Redis down: segments come from the database itself, above what Redis holds\n"
           "database down: segments come from Redis, in steady use for buffer.runway = " +
           std::to_string(options_.runway_ms) +
           " ms\nboth down: ids continue until what this process holds is used up; then calls wait, and fail with an "
           "error that can be retried\n"
           "database loses grants that Redis knows of: STORE_REGRESSED for all, until `idgen segment "
           "advance` has raised the tag\n" +
           (database ? database->describe() : std::string("database: not reached yet\n"));
  }
  // Loads that have not begun are dropped. One that has would otherwise be inside a client library while the process
  // ends and takes that library down: libpq crashed in OpenSSL. It ends by its own time-outs.
  void wait_until_idle() noexcept override {
    Deadline deadline(*runtime_, longest_load_ms_ * kNsPerMs);
    MutexLock lock(state_->mutex);
    state_->is_closing = true;
    while (is_loading() && deadline.wait(lock, state_->loaded)) {
    }
    state_->is_closing = false;
  }
  void disconnect() noexcept override {
    if (Queue* const queue = queue_.opened()) queue->disconnect();
    if (Store* const database = database_.opened()) database->disconnect();
  }
  bool survives_fork() const override {
    const Store* const database = database_.opened();
    return database == nullptr || database->survives_fork();
  }
  std::optional<BufferStats> buffer_stats() const override {
    const std::int64_t now = runtime_->mono_ns();
    const MutexLock lock(state_->mutex);
    return BufferStats{.redis = state_->queue.state(options_.errors, now),
                       .database = state_->database.state(options_.errors, now),
                       .stock = state_->stock,
                       .redis_failures = state_->queue.all_failures(),
                       .database_failures = state_->database.all_failures()};
  }

 private:
  // After the database: the witness then refuses earlier grants, however late they arrive.
  void drop_stock(const std::string& name_space, const std::string& tag, std::uint64_t max_id) {
    const Asked<bool> dropped = ask_queue([&](Queue& queue) {
      queue.reset(name_space, tag, max_id, false);
      return true;
    });
    if (dropped.answer) return;
    throw Error(
        Status::store_unavailable,
        concat({"tag ", quote(tag), ": lower numbers than asked for may be left in Redis, which did not answer: ",
                brief(dropped.why), ". Do this again when Redis is up again"}));
  }

  bool is_missing(const std::string& name_space, const std::string& tag) {
    try {
      segment_show(name_space, tag);
      return false;
    } catch (const Error& error) {
      if (error.status() != Status::tag_unknown && error.status() != Status::store_missing) throw;
      return true;
    }
  }

  using Names = std::pair<std::string, std::string>;  // namespace and tag

  struct Tag {
    std::uint64_t floor = 0;    // the highest number granted to this process: what follows must be above it
    std::uint64_t highest = 0;  // that the database is known to have granted
    bool stopped = false;       // as last reported by Redis
    bool loading = false;
  };

  // All zero in a child, which knows nothing yet; it starts over in any case.
  struct State {
    Mutex mutex;
    std::condition_variable loaded;
    Breaker queue IDGEN_GUARDED_BY(mutex);
    Breaker database IDGEN_GUARDED_BY(mutex);
    std::uint64_t stock IDGEN_GUARDED_BY(mutex);
    bool is_closing IDGEN_GUARDED_BY(mutex);
    std::map<Names, Tag>* tags IDGEN_GUARDED_BY(mutex);
  };

  template <class T>
  struct Asked {
    std::optional<T> answer;
    std::string why;  // none
  };

  Tag& tag_at(const Names& names) IDGEN_REQUIRES(state_->mutex) {
    if (!state_->tags) state_->tags = new std::map<Names, Tag>;
    return (*state_->tags)[names];
  }
  bool is_loading() IDGEN_REQUIRES(state_->mutex) {
    return state_->tags && std::any_of(state_->tags->begin(), state_->tags->end(),
                                       [](const auto& entry) { return entry.second.loading; });
  }
  bool is_closing() {
    const MutexLock lock(state_->mutex);
    return state_->is_closing;
  }
  Tag known_of(const Names& names) {
    const MutexLock lock(state_->mutex);
    return tag_at(names);
  }
  void note(const Names& names, const Asked<QueuePart>& part) {
    if (!part.answer) return;
    const MutexLock lock(state_->mutex);
    Tag& tag = tag_at(names);
    tag.stopped = part.answer->stopped;
    tag.highest = std::max(tag.highest, part.answer->witness);
    state_->stock = part.answer->stock;
  }
  SegmentGrant issued(const Names& names, const SegmentGrant& grant) {
    const MutexLock lock(state_->mutex);
    Tag& tag = tag_at(names);
    tag.floor = std::max(tag.floor, grant.first + grant.count - 1);
    return grant;
  }

  std::uint64_t least(std::uint64_t count) const {
    return count > options_.stock_max / kLeastSegments ? options_.stock_max : count * kLeastSegments;
  }
  // A quarter more than wanted, so that not every segment causes another load.
  std::uint64_t missing(const QueuePart& part) const {
    const std::uint64_t full = std::min(part.wanted + part.wanted / 4, options_.stock_max);
    return full > part.stock ? full - part.stock : 0;
  }

  // No answer is not an error: the database is asked instead.
  template <class Work>
  auto ask_queue(Work&& work) -> Asked<decltype(work(std::declval<Queue&>()))> {
    if (const std::int64_t left = pause_left(&State::queue); left >= 0)
      return {std::nullopt, "it is left alone for " + std::to_string(left / kNsPerMs) + " ms after failures"};
    try {
      auto answer = work(queue_.get());
      succeeded(&State::queue);
      return {std::move(answer), ""};
    } catch (const Error& error) {
      failed(&State::queue);
      return {std::nullopt, error.message()};
    } catch (...) {
      failed(&State::queue);
      throw;
    }
  }
  template <class Work>
  auto ask_database(Work&& work) -> decltype(work(std::declval<Store&>())) {
    if (const std::int64_t left = pause_left(&State::database); left >= 0) {
      throw Error(Status::store_unavailable,
                  concat({"the database is left alone for ", left / kNsPerMs, " ms after ", options_.errors,
                          " failures in a row (buffer.errors, buffer.pause)"}),
                  static_cast<std::uint64_t>(left));
    }
    Settle settle{*this};
    try {
      if constexpr (std::is_void_v<decltype(work(std::declval<Store&>()))>) {
        work(database_.get());
        settle.is_well = true;
      } else {
        auto answer = work(database_.get());
        settle.is_well = true;
        return answer;
      }
    } catch (const Error& error) {
      settle.is_well = is_answer(error.status());
      throw;
    }
  }
  struct Settle {
    BufferStore& store;
    bool is_well = false;
    ~Settle() { is_well ? store.succeeded(&State::database) : store.failed(&State::database); }
  };

  // -1: ask now. Otherwise how long to wait before asking.
  std::int64_t pause_left(Breaker State::*side) {
    const std::int64_t now = runtime_->mono_ns();
    const MutexLock lock(state_->mutex);
    Breaker& breaker = (*state_).*side;
    return breaker.allows(options_.errors, now) ? -1 : std::max<std::int64_t>(breaker.open_until_ns() - now, 0);
  }
  void succeeded(Breaker State::*side) {
    const MutexLock lock(state_->mutex);
    ((*state_).*side).succeeded();
  }
  void failed(Breaker State::*side) {
    const std::int64_t now = runtime_->mono_ns();
    const MutexLock lock(state_->mutex);
    ((*state_).*side).failed(options_.errors, options_.pause_ms * kNsPerMs, now);
  }

  // One grant of the database: count numbers for the caller, and the stock.
  SegmentGrant draw(const Names& names, const SegmentRequest& request, std::uint64_t count, std::uint64_t stock,
                    const Asked<QueuePart>& part) {
    const std::uint64_t highest = known_of(names).highest;  // before the database is asked
    SegmentRequest asked = request;
    if (stock > 0) asked.wanted = count + stock;
    SegmentGrant grant;
    try {
      grant = ask_database([&](Store& database) { return database.segment_grant(names.first, names.second, asked); });
    } catch (const Error& error) {
      if (error.status() == Status::exhausted && stock > 0) return draw(names, request, count, 0, part);
      if (is_answer(error.status())) throw;
      throw Error(
          error.status(),
          concat({brief(error.message()), "; and Redis: ", (part.answer ? "it holds nothing more" : brief(part.why))}),
          error.retry_after_ns());
    }
    if (grant.stride != 1) {
      throw Error(Status::unsupported,
                  concat({"the row of tag ", quote(names.second), " says stride ", grant.stride,
                          "; a buffer holds consecutive numbers. Use the database without the buffer"}));
    }
    const std::uint64_t last = grant.first + grant.count - 1;
    if (grant.first <= highest) {
      const std::uint64_t witness = std::max(highest, last);
      ask_queue([&](Queue& queue) {
        queue.reset(names.first, names.second, witness, true);
        return true;
      });
      {
        const MutexLock lock(state_->mutex);
        Tag& tag = tag_at(names);
        tag.stopped = true;
        tag.highest = std::max(tag.highest, witness);
      }
      throw_regressed(names, witness);
    }
    const MutexLock lock(state_->mutex);
    Tag& tag = tag_at(names);
    tag.highest = std::max(tag.highest, last);
    return grant;
  }

  // Never repeated: if the answer is lost, the numbers are burned or already in the queue.
  void load(const Names& names, const QueuePart& part, std::uint64_t first, std::uint64_t count) {
    const Asked<bool> loaded = ask_queue([&](Queue& queue) {
      return queue.load(names.first, names.second, part.label, first, count, options_.stock_max);
    });
    if (!loaded.answer || !*loaded.answer) return;
    const MutexLock lock(state_->mutex);
    state_->stock += count;
  }

  // Waits as long as one operation in Redis may take. False: there was none, or it takes longer.
  bool waited_for_own_load(const Names& names) {
    Deadline deadline(*runtime_, options_.timeout_ms * kNsPerMs);
    MutexLock lock(state_->mutex);
    if (!tag_at(names).loading) return false;
    while (tag_at(names).loading && deadline.wait(lock, state_->loaded)) {
    }
    return !tag_at(names).loading;
  }

  // On a separate lane, since the database may be down while Redis is up; one at a time per tag. The label was read
  // before the database is asked.
  void load_ahead(const Names& names, const QueuePart& part, const SegmentRequest& request) {
    const std::uint64_t stock = missing(part);
    {
      const MutexLock lock(state_->mutex);
      if (stock == 0 || std::exchange(tag_at(names).loading, true)) return;
    }
    const auto ended = [names](BufferStore& self) {
      const MutexLock lock(self.state_->mutex);
      self.tag_at(names).loading = false;
      self.state_->loaded.notify_all();
    };
    try {
      loads_->post([self = shared_from_this(), names, part, request, stock, ended] {
        if (self->is_closing()) return ended(*self);
        try {
          const SegmentGrant grant =
              self->draw(names, {.step = stock, .rate = request.rate, .holder = request.holder}, stock, 0, {part, ""});
          self->load(names, part, grant.first, grant.count);
        } catch (...) {  // the breaker knows, and the next caller will get the error
        }
        ended(*self);
      });
    } catch (const std::exception&) {  // the thread could not be started: the next one tries again
      ended(*this);
    }
  }

  [[noreturn]] static void throw_regressed(const Names& names, std::uint64_t witness) {
    throw Error(Status::store_regressed,
                concat({tag_name(names.first, names.second), ": the database has granted numbers up to ", witness,
                        " before, and has forgotten them (restored, failed over, or set by hand), "
                        "or another database has, behind the same Redis. Raise the tag to that or "
                        "above with `idgen segment advance` on this buffer"}));
  }

  const BufferOptions options_;
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Lane> loads_;
  const std::int64_t longest_load_ms_;
  Side<Queue> queue_;
  Side<Store> database_;
  ForkPage<State> state_;
};

const StoreScheme& checked(const BufferOptions& options) {
  const std::string not_shown = "of another kind (not shown, it may hold a password)";
  if (options.redis.rfind("redis://", 0) != 0) {
    throw Error(Status::value, concat({"store = \"buffer\" with buffer.redis ",
                                       (options.redis.empty() ? "missing" : not_shown), "; allowed: redis://HOST"}));
  }
  const std::string plain = plain_store(options.database), database = plain.substr(0, plain.find(':'));
  if (database.empty() || database == "buffer" || database == "memory") {
    throw Error(
        Status::value,
        concat({"store = \"buffer\" with buffer.database ", (database.empty() ? "missing" : "\"" + database + "\""),
                "; allowed: a durable store, such as mysql://..., postgres://... or sqlite:PATH"}));
  }
  for (const StoreScheme& scheme : store_schemes())
    if (scheme.name == "redis") return scheme;
  throw Error(Status::unsupported, "this build of idgen knows no Redis");
}

}  // namespace

std::shared_ptr<Store> make_buffer_store(BufferParts parts) {
  if (!parts.runtime) parts.runtime = {std::shared_ptr<void>(), &system_runtime()};
  auto store = std::make_shared<BufferStore>(std::move(parts));
  store->open();
  return store;
}

// Distinguishes it from others that use the same Redis. A file belongs to one machine.
static std::string database_identity(const StoreOptions& options) {
  std::string identity = store_identity(options.buffer.database, options);
  if (identity.rfind("sqlite:", 0) != 0) return identity;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return identity + " on " + host;
}

std::shared_ptr<Store> open_buffer_store(const std::string& rest, const StoreOptions& options) {
  if (!rest.empty()) {
    throw Error(Status::value,
                "store = \"buffer:...\": \"buffer\" alone is allowed; its parts are buffer.redis and buffer.database");
  }
  const StoreScheme& redis = checked(options.buffer);
  StoreOptions of_queue = options;
  of_queue.timeout_ms = options.buffer.timeout_ms;
  of_queue.buffer.identity = database_identity(options);
  return make_buffer_store(
      {.queue = [&redis, of_queue] { return open_module_queue(redis, of_queue.buffer.redis, of_queue); },
       .database = [options] { return open_store(options.buffer.database, options); },
       .options = options.buffer,
       .runtime = options.runtime,
       .longest_load_ms = 2 * options.timeout_ms + options.buffer.timeout_ms});
}

std::string buffer_store_identity(const std::string&, const StoreOptions& options) {
  checked(options.buffer);
  return "buffer:" + store_identity(options.buffer.redis, options) + " " +
         store_identity(options.buffer.database, options);
}

std::string buffer_segment_statements(const StoreOptions& options, const std::string& name_space,
                                      const std::string& tag) {
  checked(options.buffer);
  return segment_statements(options.buffer.database, options, name_space, tag);
}

}  // namespace idgen
