#include "sim/simulation.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "idgen/text.hpp"

namespace idgen::sim {

const char* name_of(Fault fault) {
  static constexpr const char* kNames[kFaults] = {
      "kill", "pause",          "suspend",    "clock",       "drift",     "fork",    "cut off",
      "lost", "server's clock", "no threads", "stale lists", "went back", "evicted", "held"};
  return kNames[static_cast<std::size_t>(fault)];
}

void Outcome::add(const Outcome& other) {
  ids += other.ids;
  reservations += other.reservations;
  steps += other.steps;
  processes += other.processes;
  for (std::size_t i = 0; i < kFaults; ++i) faults[i] += other.faults[i];
  ns += other.ns;
  copies += other.copies;
}

Process::Process(Scheduler& scheduling, Server& store_server, Machine& runs_on, std::uint64_t seed,
                 std::uint64_t number)
    : scheduler(scheduling),
      server(store_server),
      machine(runs_on),
      runtime(std::make_shared<MachineRuntime>(scheduling, *this, runs_on, seed)),
      store(std::make_shared<ServerStore>(store_server, *this, *runtime, number)) {}

namespace {

// What a process runs, as its operator configured it.
struct Plan {
  std::vector<std::pair<std::string, std::string>> settings;
  std::string tag;  // empty: snowflake
  bool strict = true;
  bool may_lead = false;  // on_clock_back = continue
  bool is_leased = false;
  std::uint64_t worker = 0;
  std::int64_t max_ahead_ms = 20'000;
  unsigned threads = 1;
  bool has_two_handles = false;
  std::int64_t pause = 0;  // between calls, at most
};

// An open generator, and the threads that use it.
struct Opened {
  std::unique_ptr<Handle> handle;
  std::unique_ptr<Handle> other;  // of the same generator; null: it has one handle only
  std::uint64_t number = 0;       // of the generator, counted through the run
  std::uint64_t highest = 0;      // id that a finished call returned
  unsigned users = 0;
  bool is_over = false;
};

struct App {
  std::unique_ptr<Process> process;
  Plan plan;
  std::shared_ptr<Opened> opened;
  const Task* first = nullptr;  // its thread that opens and closes
  int changes = 0;              // threads that open or close
  bool has_left = false;        // by itself
  Status last_error = Status::ok;
  std::unique_ptr<Rival> rival;
};

struct Host {
  Machine machine;
  std::unique_ptr<App> app;
  std::int64_t starts = 0;  // not before
  std::uint64_t progress = 0;
  std::uint64_t worker = 0;  // of its latest id
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const Options& options)
      : options_(options),
        scheduler_(seed),
        random_(scheduler_.random),
        oracle_(scheduler_),
        server_(scheduler_, oracle_) {
    scheduler_.is_traced = options.is_traced;
    set_up();
  }
  ~Simulation() {
    for (Host& host : hosts_) kill(host);
  }

  Outcome run() {
    scheduler_.run([this] { return scheduler_.steps >= budget_; }, [this] { disturb(); });
    if (!scheduler_.violation()) heal();
    outcome_.violation = scheduler_.violation();
    outcome_.ids = oracle_.ids;
    outcome_.reservations = oracle_.reservations;
    outcome_.steps = scheduler_.steps;
    outcome_.ns = scheduler_.now;
    outcome_.faults[static_cast<std::size_t>(Fault::lost)] = server_.lost;
    outcome_.faults[static_cast<std::size_t>(Fault::stale_lists)] = server_.old_lists;
    outcome_.faults[static_cast<std::size_t>(Fault::hold)] = scheduler_.holds;
    for (Host& host : hosts_) kill(host);
    if (!outcome_.violation) outcome_.violation = scheduler_.violation();
    return outcome_;
  }

 private:
  // --- what this seed is about

  void set_up() {
    for (std::size_t i = 0; i < kFaults; ++i) has_[i] = random_.chance(50);
    for (const Fault rare : {Fault::go_back, Fault::evict}) has(rare) = random_.chance(10);
    if (options_.rival) has(Fault::go_back) = has(Fault::evict) = has(Fault::fork) = false;
    server_.kind = static_cast<StoreKind>(random_.below(3));
    Network& network = server_.network;
    if (has(Fault::lost)) {
      network.request_lost = pick({0u, 5u, 20u});
      network.answer_lost = pick({0u, 5u, 20u});
      network.late = pick({0u, 5u, 15u});
      network.repeated = pick({0u, 20u});
      network.disconnected = 50;
    }
    if (has(Fault::hold)) scheduler_.holds_one_in = pick({300u, 3'000u});
    if (has(Fault::stale_lists)) network.stale_lists = 40;
    network.slowest = pick({kUs, 2 * kMs, 300 * kMs, 3 * kSecond});
    network.timeout = pick({200 * kMs, 5 * kSecond});
    scheduler_.run_length = pick({1u, 4u, 30u, 300u});
    scheduler_.most_passes = pick({5 * kUs, 500 * kUs, 20 * kMs});
    jump_ = pick({50 * kMs, 3 * kSecond, 30 * kSecond, 3600 * kSecond});
    trouble_ = pick({1u, 4u, 12u});
    budget_ = pick({500u, 1500u, 4000u});
    layout_ =
        pick({"time:41ms worker:3 sequence:4", "time:39x10ms worker:3 sequence:3", "time:41ms worker:2 sequence:8"});
    hosts_.resize(2 + random_.below(3));
    if (options_.loses_workers) {
      has(Fault::cut_off) = true;
      scheduler_.holds_one_in = 300;
    }
    if (options_.is_copied) {
      hosts_.resize(1);
      hosts_[0].machine.generation = 1;
    }
    for (Host& host : hosts_) {
      host.machine.clock.correct(0);
      if (has(Fault::clock)) host.machine.clock.set_by(random_.between(-jump_, jump_) / 4);
      if (has(Fault::drift)) host.machine.clock.run_at(0, random_.between(-100'000, 100'000));
      host.starts = random_.between(0, 1) * random_.between(0, kSecond);
    }
    for (const char* tag : {"a", "b"}) server_.disk.tags[tag].info = new_segment("default", tag);
    // A worker that somebody had before, up to the middle of a tick.
    Disk::Worker& old = server_.disk.workers[1];
    old.row.fence = 1;
    old.row.hw = kBeginsMs + random_.between(-30'000, 5'003);
    old.row.holder = "somebody before";
    oracle_.acknowledged(0, {"", 1}, old.row.hw - 10'000, old.row.hw);
    server_.remember();
    segments_ = !options_.loses_workers && random_.below(3) == 0;
    snowflakes_ = !segments_ || random_.chance(50);
    if (scheduler_.is_traced) {
      std::string faults;
      for (std::size_t i = 0; i < kFaults; ++i)
        if (has_[i]) faults += std::string(faults.empty() ? "" : ", ") + name_of(static_cast<Fault>(i));
      static constexpr const char* kKinds[] = {"a file", "a server with statements", "a server with versions"};
      scheduler_.trace(std::to_string(hosts_.size()) + " machines, " + kKinds[static_cast<int>(server_.kind)] +
                       "; faults: " + faults);
    }
  }

  bool& has(Fault fault) { return has_[static_cast<std::size_t>(fault)]; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return *(from.begin() + random_.below(from.size()));
  }

  Plan new_plan() {
    Plan plan;
    const auto set = [&](const char* key, const std::string& value) { plan.settings.emplace_back(key, value); };
    const bool timed = snowflakes_ && (!segments_ || random_.chance(60));
    plan.strict = !options_.loses_workers && random_.chance(70);
    plan.threads = options_.loses_workers ? 3 : 1 + static_cast<unsigned>(random_.below(3));
    plan.pause = pick({std::int64_t{0}, 200 * kUs, 20 * kMs, kSecond, 12 * kSecond});
    set("kind", timed ? "snowflake" : "segment");
    set("order", plan.strict ? "strict" : "relaxed");
    set("wait_max", pick({"0", "200ms", "2s"}));
    if (random_.chance(15)) set("on_fork", "error");
    if (timed) {
      plan.has_two_handles = random_.chance(50);
      set("layout", layout_);
      plan.is_leased = options_.loses_workers || random_.chance(50);
      plan.worker = random_.below(2);
      set("worker", plan.is_leased ? "auto" : std::to_string(plan.worker));
      set("on_clock_back", pick({"wait", "continue", "fail"}));
      plan.may_lead = plan.settings.back().second == "continue";
      set("sequence_start", pick({"carry", "zero", "random"}));
      set("on_overflow", pick({"wait", "borrow"}));
      set("window", pick({"100ms", "1s", "10s"}));
      set("worker_lease", pick({"1s", "3s", "15s"}));
      if (random_.chance(50)) set("worker_wait", pick({"0ms", "2s"}));
      if (random_.chance(30)) {
        set("max_ahead", "10s");
        plan.max_ahead_ms = 10'000;
      }
    } else {
      plan.tag = pick({"a", "b"});
      set("tag", plan.tag);
      set("segment.step", std::to_string(1 + random_.below(30)));
      set("segment.runway", pick({"0", "10s"}));
      set("segment.max_age", pick({"0", "100ms", "3s"}));
      set("segment.stock_max", "2000");
      set("segment.prefetch", pick({"0.1", "0.5", "1"}));
      if (random_.chance(20)) {
        set("segment.stride", "3");
        set("segment.offset", std::to_string(random_.below(3)));
      }
    }
    return plan;
  }

  // --- processes

  void start(Host& host) {
    host.app = std::make_unique<App>();
    App& app = *host.app;
    const std::uint64_t number = ++numbers_;
    ++outcome_.processes;
    app.process = std::make_unique<Process>(scheduler_, server_, host.machine, random_(), number);
    app.process->name = "P" + std::to_string(number);
    if (has(Fault::no_threads)) app.process->runtime->has_no_threads = random_.chance(20);
    if (options_.rival) {
      app.rival = options_.rival(*app.process);
      scheduler_.start(*app.process, "main", [this, &host] { rival(host); });
      return;
    }
    app.plan = new_plan();
    if (scheduler_.is_traced) {
      std::string settings;
      for (const auto& [key, value] : app.plan.settings) settings += " " + key + "=" + value;
      scheduler_.trace(app.process->name + " starts:" + settings);
    }
    app.first = &scheduler_.start(*app.process, "main", [this, &host] { live(host); });
  }

  // As by kill -9.
  void kill(Host& host) {
    if (!host.app) return;
    App& app = *host.app;
    Process& process = *app.process;
    process.is_dead = true;
    server_.dies(process.store->number());
    server_.cut_off.erase(&process);
    if (!scheduler_.violation()) scheduler_.finish(process);
    // A thread takes down what is left: an assertion there ends the run, not this program.
    if (!scheduler_.violation()) {
      scheduler_.start(process, "end", [&app] {
        app.opened.reset();
        app.rival.reset();
      });
      scheduler_.finish(process);
    }
    if (scheduler_.violation()) {  // what a fault has left behind is not touched again
      scheduler_.drop(process, nullptr);
      host.app.release();
      return;
    }
    process.runtime->drop_lanes();
    host.app.reset();
  }

  void live(Host& host) {
    App& app = *host.app;
    Process& process = *app.process;
    while (!process.is_dead && !app.has_left) {
      if (!open(host)) continue;
      for (unsigned i = 1; i < app.plan.threads; ++i) {
        ++app.opened->users;
        Task& task = scheduler_.start(process, "thread" + std::to_string(i), [this, &host] {
          use(host);
          if (host.app->first != scheduler_.current()) return;
          // The only thread of a forked child: it goes on as its first one.
          end(host);
          live(host);
        });
        task.stripe = static_cast<unsigned>(i % 2);
      }
      use(host);
      end(host);
    }
    app.has_left = true;
  }
  bool open(Host& host) {
    App& app = *host.app;
    Process& process = *app.process;
    Config config;
    config.runtime = process.runtime;
    config.store = process.store;
    config.log = std::make_shared<const Log>([&process](LogLevel, const std::string& message) {
      process.runtime->host_code_runs("its log");
      if (!process.is_dead) process.scheduler.trace("log: " + message);
    });
    for (const auto& [key, value] : app.plan.settings) config.set(key, value);
    ++app.changes;
    trace(process, "opens");
    try {
      auto opened = std::make_shared<Opened>();
      opened->handle = std::make_unique<Handle>(config);
      if (app.plan.has_two_handles) opened->other = std::make_unique<Handle>(config);
      opened->number = ++numbers_;
      opened->users = 1;
      app.opened = std::move(opened);
      --app.changes;
      return true;
    } catch (const Error& error) {
      --app.changes;
      failed(host, error);
      if (!is_healed_ && random_.chance(20)) app.has_left = true;
      return false;
    }
  }

  void failed(Host& host, const Error& error) {
    App& app = *host.app;
    app.last_error = error.status();
    if (error.status() == Status::store_regressed && !oracle_.store_went_back)
      scheduler_.fail("STORE_REGRESSED, but the store has kept everything");
    trace(*app.process, std::string(status_text(error.status()).name) + ": " + error.message());
    scheduler_.sleep(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(error.retry_after_ns()), 20 * kMs, 20 * kSecond));
  }

  // A thread that draws until it is over.
  void use(Host& host) {
    App& app = *host.app;
    Process& process = *app.process;
    Opened* const opened = app.opened.get();
    std::uint64_t last = 0;
    std::uint64_t image = process.store->number();
    while (!process.is_dead && !opened->is_over) {
      if (image != process.store->number()) last = 0, image = process.store->number();
      try {
        draw(host, *opened, last);
      } catch (const Error& error) {
        if (process.is_dead) break;
        const bool may_pass = status_text(error.status()).retryable && !error.ends_waits();
        if (error.status() == Status::store_regressed && !oracle_.store_went_back)
          scheduler_.fail("STORE_REGRESSED, but the store has kept everything");
        if (!may_pass && !opened->is_over) {
          opened->is_over = true;
          if (error.status() == Status::forked) app.has_left = true;
        }
        if (!opened->is_over) {
          failed(host, error);
          continue;
        }
        if (opened->is_over && error.status() != Status::closed) trace(process, error.message());
      }
      if (is_healed_ && host.progress > 0) scheduler_.sleep(random_.between(kSecond, 9 * kSecond));  // let others be
      if (app.plan.pause > 0) scheduler_.sleep(random_.between(0, app.plan.pause));
      if (is_healed_ || opened->is_over) continue;
      if (random_.chance(1)) close(app, *opened);
      if (has(Fault::fork) && random_.chance(2)) fork(host, *opened);
    }
    --opened->users;
  }

  // The last thread closes, if nobody has, and may end the process.
  void end(Host& host) {
    App& app = *host.app;
    while (app.opened->users > 0 && !app.process->is_dead) scheduler_.sleep(kMs);
    ++app.changes;
    if (app.process->is_dead) return;  // kill() does the rest
    app.opened.reset();
    --app.changes;
    trace(*app.process, "closed");
    if (!is_healed_ && random_.chance(40)) app.has_left = true;
  }

  void close(App& app, Opened& opened) {
    trace(*app.process, "close()");
    ++app.changes;
    opened.handle->close();
    if (opened.other) opened.other->close();
    --app.changes;
    opened.is_over = true;
  }

  void draw(Host& host, Opened& opened, std::uint64_t& last) {
    App& app = *host.app;
    Process& process = *app.process;
    std::uint64_t ids[40];
    std::size_t written = 0;
    const std::uint64_t floor = opened.highest;
    const Begun begun{host.machine.sets, wall_ms(host)};
    const auto done = [&] {
      if (process.is_dead) return;
      for (std::size_t i = 0; i < written; ++i) check(host, opened, ids[i], floor, begun, last);
      for (std::size_t i = 0; i < written; ++i) opened.highest = std::max(opened.highest, ids[i]);
      host.progress += written;
    };
    const std::size_t most = 1 + random_.below(40);
    Handle& handle = opened.other && random_.chance(50) ? *opened.other : *opened.handle;
    try {
      switch (random_.below(5)) {
        case 0:
          handle.fill({ids, most}, written);
          break;
        case 1: {
          const Status status = handle.try_next(ids[0]);
          written = status == Status::ok;
          if (status == Status::would_block) scheduler_.sleep(kMs);
          if (status != Status::ok && status != Status::would_block) throw Error(status, "try_next()");
          break;
        }
        case 2: {
          const Block block = handle.next_block(most);
          for (; written < block.count; ++written) ids[written] = block.first + written * block.stride;
          break;
        }
        case 3:
          if (random_.chance(10)) handle.stats();
          [[fallthrough]];
        default:
          ids[written++] = handle.next();
      }
    } catch (...) {
      done();
      throw;
    }
    done();
  }

  static constexpr std::int64_t kMaxBehindMs = 10;  // the default
  // Of a call.
  struct Begun {
    std::uint64_t sets;  // of its machine's clock, until then
    std::int64_t wall_ms;
  };
  std::int64_t wall_ms(const Host& host) const { return Process::floor_ms(host.machine.clock.wall_ns(scheduler_.now)); }

  void check(Host& host, const Opened& opened, std::uint64_t id, std::uint64_t floor, const Begun& begun,
             std::uint64_t& last) {
    const App& app = *host.app;
    const std::uint64_t image = app.process->store->number();
    if (app.plan.tag.empty()) {
      const Parts parts = opened.handle->layout().decode(id);
      host.worker = parts.worker;
      const std::int64_t tick_ms = opened.handle->layout().tick_ms();
      trace(*app.process, "id " + std::to_string(id), [&] {
        return ": worker " + std::to_string(parts.worker) + ", " + std::to_string(parts.unix_ms) + " ms, " +
               std::to_string(parts.sequence);
      });
      oracle_.issued(image, opened.number, {"", parts.worker}, id, parts.unix_ms, parts.unix_ms + tick_ms);
      // order = relaxed: what a thread's block has left is issued also if the clock is set back meanwhile.
      if (app.plan.strict && begun.sets == host.machine.sets) {
        const std::int64_t ahead_ms = parts.unix_ms - wall_ms(host);
        const std::int64_t behind_ms = begun.wall_ms - (parts.unix_ms + tick_ms - 1);
        if (!app.plan.may_lead && ahead_ms > app.plan.max_ahead_ms) {
          scheduler_.fail("I6: id " + std::to_string(id) + " is " + std::to_string(ahead_ms) +
                          " ms ahead of the clock");
        }
        if (behind_ms > kMaxBehindMs) {
          scheduler_.fail("I6: id " + std::to_string(id) + " is " + std::to_string(behind_ms) + " ms behind the clock");
        }
      }
    } else {
      trace(*app.process, "id " + std::to_string(id));
      oracle_.issued(image, opened.number, {app.plan.tag, 0}, id, static_cast<std::int64_t>(id),
                     static_cast<std::int64_t>(id) + 1);
    }
    if (app.plan.strict && id <= floor && floor != 0)
      scheduler_.fail("I4: id " + std::to_string(id) + " comes after " + std::to_string(floor));
    if (id <= last && last != 0)
      scheduler_.fail("I4: id " + std::to_string(id) + " comes after " + std::to_string(last) + " in one thread");
    last = id;
  }

  // The process becomes its child: what the parent reserved stays the parent's, which may go on issuing from it.
  void fork(Host& host, Opened& opened) {
    App& app = *host.app;
    Process& process = *app.process;
    if (app.changes > 0 || scheduler_.is_any_unseen(process)) return;
    count(Fault::fork);
    trace(process, "forks");
    scheduler_.drop(process, scheduler_.current());
    if (random_.chance(50)) server_.dies(process.store->number());  // the parent ends
    const std::uint64_t number = ++numbers_;
    process.name = "P" + std::to_string(number);
    process.store->fork(number);
    process.runtime->forget_lanes();
    if (!IDGEN_FAULT(fork_page_is_not_wiped))
      for (const auto& [page, bytes] : process.pages) std::memset(static_cast<void*>(page), 0, bytes);
    opened.number = ++numbers_;
    opened.highest = 0;
    opened.users = 1;
    app.first = scheduler_.current();
  }

  void rival(Host& host) {
    App& app = *host.app;
    Process& process = *app.process;
    bool has_begun = false;
    while (!process.is_dead && !app.has_left) {
      try {
        if (!std::exchange(has_begun, true)) app.rival->start();
        for (std::uint64_t i = random_.below(40); i > 0 && !process.is_dead; --i) {
          const std::uint64_t id = app.rival->next();
          if (process.is_dead) break;
          trace(process, "id " + std::to_string(id));
          ++oracle_.ids;
          oracle_.is_twice("", id, process.store->number(), process.store->number());
        }
      } catch (const Error& error) {
        if (!process.is_dead) failed(host, error);
      }
      scheduler_.sleep(random_.between(0, 30 * kMs));
      if (!is_healed_ && random_.chance(2)) app.has_left = true;
    }
    app.has_left = true;
  }

  // --- what happens to them

  void count(Fault fault) { ++outcome_.faults[static_cast<std::size_t>(fault)]; }

  void disturb() {
    for (Host& host : hosts_) {
      if (host.app && host.app->has_left && scheduler_.is_empty(*host.app->process)) {
        kill(host);
        host.starts = scheduler_.now + random_.between(0, kSecond);
      }
      if (!host.app && host.starts <= scheduler_.now) start(host);
    }
    if (is_healed_) return;
    if (options_.is_copied && random_.chance(1) && random_.chance(3)) {
      ++*hosts_[0].machine.generation;
      ++outcome_.copies;
      scheduler_.trace("the machine was copied");
    }
    if (random_.chance(5)) server_.remember();
    if (!random_.chance(trouble_)) return;
    const auto fault = static_cast<Fault>(random_.below(kFaults));
    if (!has(fault)) return;
    Host& host = hosts_[random_.below(hosts_.size())];
    if (!host.app) return;
    Process& process = *host.app->process;
    const auto say = [&](const std::string& what) {
      count(fault);
      scheduler_.trace(process.name + ": " + what);
    };
    switch (fault) {
      case Fault::kill:
        say("killed");
        kill(host);
        host.starts = scheduler_.now + random_.between(0, 1) * random_.between(0, 20 * kSecond);
        break;
      case Fault::pause:
      case Fault::suspend: {
        if (scheduler_.is_any_unseen(process)) break;
        const std::int64_t ns = random_.between(0, pick({10 * kMs, kSecond, 40 * kSecond}));
        say((fault == Fault::pause ? "paused for " : "suspended for ") + std::to_string(ns / kMs) + " ms");
        const std::int64_t thaws = std::max(process.thaws, scheduler_.now + ns);
        if (fault == Fault::suspend) host.machine.clock.forget(thaws - std::max(process.thaws, scheduler_.now));
        process.thaws = thaws;
        break;
      }
      case Fault::clock: {
        const std::int64_t ns = random_.chance(15) ? true_time_from(host.machine) : random_.between(-jump_, jump_);
        say("clock set by " + std::to_string(ns / kMs) + " ms");
        host.machine.clock.set_by(ns);
        ++host.machine.sets;
        furthest_ns_ = std::max(furthest_ns_, -true_time_from(host.machine));
        break;
      }
      case Fault::drift: {
        const std::int64_t ppm = random_.between(-100'000, 100'000);
        say("clock drifts by " + std::to_string(ppm) + " ppm");
        host.machine.clock.run_at(scheduler_.now, ppm);
        break;
      }
      case Fault::cut_off:
        if (server_.kind == StoreKind::file) break;
        if (server_.cut_off.erase(&process) == 0) server_.cut_off.insert(&process);
        say(server_.cut_off.contains(&process) ? "cut off from the store" : "reaches the store again");
        break;
      case Fault::server_clock: {
        const std::int64_t ms = random_.between(-jump_, jump_) / kMs;
        say("the server's clock set by " + std::to_string(ms) + " ms");
        server_.clock_ahead_ms += ms;
        break;
      }
      case Fault::no_threads:
        process.runtime->has_no_threads = !process.runtime->has_no_threads;
        say(process.runtime->has_no_threads ? "can start no threads" : "can start threads again");
        break;
      case Fault::go_back:
        // Of a file it is noticed, by its lock file (tests/store/sqlite_witness_test.cpp).
        if (server_.kind == StoreKind::file || server_.earlier.empty() || !random_.chance(40)) break;
        say("the store goes back to an earlier state");
        server_.disk = server_.earlier[random_.below(server_.earlier.size())];
        oracle_.store_went_back = true;
        break;
      case Fault::evict:
        if (!random_.chance(10)) break;
        say("the store loses a tag");
        server_.disk.tags.erase(pick({"a", "b"}));
        is_evicted_ = true;
        break;
      case Fault::fork:
      case Fault::lost:
      case Fault::stale_lists:
      case Fault::hold:
        break;  // they happen elsewhere
    }
  }
  std::int64_t true_time_from(const Machine& machine) const {
    return kBeginsMs * kMs + scheduler_.now - machine.clock.wall_ns(scheduler_.now);
  }

  // The faults end. Then everybody makes progress, or is refused for a reason that does not pass.
  void heal() {
    if (options_.rival) return;
    is_healed_ = true;
    scheduler_.trace("all faults end");
    server_.network = {};
    scheduler_.holds_one_in = 0;
    server_.cut_off.clear();
    server_.clock_ahead_ms = 0;
    std::erase_if(server_.locks, [this](const auto& lock) {  // of those whose forked children are here
      return std::none_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
        return host.app && host.app->process->store->number() == lock.second;
      });
    });
    std::int64_t ahead_ms = 0;
    for (const auto& [number, worker] : server_.disk.workers)
      ahead_ms = std::max({ahead_ms, worker.row.hw - server_.now_ms(), worker.lease_until_ms - server_.now_ms()});
    for (Host& host : hosts_) {
      // A machine that is suspended wakes up first: its monotonic clock does not go back.
      if (host.app) scheduler_.now = std::max(scheduler_.now, host.app->process->thaws);
    }
    for (Host& host : hosts_) {
      ahead_ms = std::max(ahead_ms, -true_time_from(host.machine) / kMs);
      host.machine.clock.correct(scheduler_.now);
      ++host.machine.sets;
      host.progress = 0;
      host.starts = 0;
      if (!host.app) continue;
      host.app->process->thaws = 0;
      host.app->process->runtime->has_no_threads = false;
      host.app->plan.pause = std::min(host.app->plan.pause, kSecond);
    }
    // That machines are slow ends too: where an answer takes as long as a window, each window is over when it comes.
    scheduler_.most_passes = std::clamp(scheduler_.most_passes, 500 * kUs, 2 * kMs);
    scheduler_.run_length = std::max<std::uint64_t>(scheduler_.run_length, 30);
    // Leases, retries and waits take seconds; what a wrong clock has reserved must pass.
    // And what a request with a wrong time has reserved that is still on its way.
    const std::int64_t until = scheduler_.now + kPatience + std::max(ahead_ms * kMs, furthest_ns_) + jump_;
    const std::uint64_t most_steps = scheduler_.steps + (planted::active ? 300'000 : 20'000'000);
    scheduler_.run(
        [&] {
          return scheduler_.now > until || scheduler_.steps > most_steps ||
                 std::all_of(hosts_.begin(), hosts_.end(), [this](const Host& host) { return is_well(host); });
        },
        [this] { disturb(); });
    if (scheduler_.violation()) return;
    if (planted::active && scheduler_.steps > most_steps)
      return;  // a fault is caught by what is wrong, not by its price
    for (const Host& host : hosts_) {
      if (is_well(host)) continue;
      const std::string who = host.app ? host.app->process->name : "a machine";
      scheduler_.fail("liveness: " + who + " issues nothing within " +
                      std::to_string((until - scheduler_.now + kPatience) / kSecond) + " s after the last fault" +
                      (scheduler_.steps > most_steps ? " (steps)" : "") +
                      "; its last error: " + (host.app ? status_text(host.app->last_error).name : "none"));
    }
  }
  bool is_well(const Host& host) const {
    if (host.progress > 0) return true;
    if (!host.app) return false;
    const App& app = *host.app;
    if (!app.plan.tag.empty()) return is_evicted_ && app.last_error == Status::tag_unknown;
    // Its worker is another's, who lives.
    return !app.plan.is_leased && app.last_error == Status::worker_busy &&
           std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& other) {
             return &other != &host && other.app && other.app->plan.tag.empty() && other.progress > 0 &&
                    other.worker == app.plan.worker;
           });
  }

  template <class More>
  void trace(Process& process, const std::string& what, More&& more) {
    if (scheduler_.is_traced && !process.is_dead) scheduler_.trace(what + more());
  }
  void trace(Process& process, const std::string& what) {
    if (scheduler_.is_traced && !process.is_dead) scheduler_.trace(what);
  }

  static constexpr std::int64_t kPatience = 120 * kSecond;

  const Options& options_;
  Scheduler scheduler_;
  Random& random_;
  Oracle oracle_;
  Server server_;
  std::vector<Host> hosts_;
  std::array<bool, kFaults> has_{};
  std::int64_t jump_ = 0;
  std::int64_t furthest_ns_ = 0;  // that a machine's clock was ever ahead
  unsigned trouble_ = 0;          // how often something happens, in percent of choices
  std::uint64_t budget_ = 0;
  const char* layout_ = "";
  bool segments_ = false, snowflakes_ = false;
  bool is_healed_ = false;
  bool is_evicted_ = false;
  std::uint64_t numbers_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(std::uint64_t seed, const Options& options) {
  // What the core makes once per process is made before: it belongs to no simulated one.
  static const bool is_warm = [] {
    const std::uint64_t fault = std::exchange(planted::active, 0);
    Config config;
    config.set("store", "memory");
    config.set("worker", "0");
    Handle(config).next();
    planted::active = fault;
    return true;
  }();
  (void)is_warm;
  return Simulation(seed, options).run();
}

}  // namespace idgen::sim
