#include "sim/rivals.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace idgen::sim {
namespace {

constexpr std::int64_t kBegan = kBeginsMs - 86'400'000;

// What all snowflakes share: the clock and a sequence, kept in memory.
class Snowflake : public Rival {
 public:
  explicit Snowflake(Process& process, unsigned sequence_bits = 4) : process_(process), bits_(sequence_bits) {}

  std::uint64_t next() override {
    std::int64_t now = process_.wall_ms();
    if (now < last_) now = behind(now);
    if (now == last_ && ++sequence_ >> bits_ != 0) {
      while ((now = process_.wall_ms()) <= last_) process_.runtime->sleep_ns(kMs / 4);
      sequence_ = 0;
    } else if (now > last_) {
      sequence_ = 0;
    }
    last_ = now;
    return id(now, sequence_);
  }

 protected:
  // The clock is behind the last id. Gives the time to use.
  virtual std::int64_t behind(std::int64_t now) {
    throw Error(Status::clock_back, "the clock moved backwards", static_cast<std::uint64_t>(last_ - now) * kMs);
  }
  std::uint64_t id(std::int64_t ms, std::uint64_t sequence) const {
    return static_cast<std::uint64_t>(ms - kBegan) << (bits_ + 8) | worker_ << bits_ | sequence;
  }
  // A request to whoever keeps the worker numbers, and its answer.
  void ask() {
    process_.scheduler.step();
    if (process_.server.cut_off.contains(&process_)) throw Error(Status::store_unavailable, "not reached");
    process_.scheduler.sleep(static_cast<std::int64_t>(process_.scheduler.random.below(2 * kMs)));
    if (process_.is_dead) throw Error(Status::store_unavailable, "killed");
  }

  Process& process_;
  const unsigned bits_;
  std::uint64_t worker_ = 0;
  std::int64_t last_ = 0;
  std::uint64_t sequence_ = 0;
};

// A number in the configuration, the last time in memory.
class MemoryOnly final : public Snowflake {
 public:
  MemoryOnly(Process& process, const std::map<const Machine*, std::uint64_t>& numbers) : Snowflake(process) {
    worker_ = numbers.at(&process.machine);
  }
};

// Leaf: a number per address for ever; the time is reported every 3 s, and compared at the start.
struct LeafServer {
  std::map<const Machine*, std::uint64_t> numbers;
  std::map<const Machine*, std::int64_t> reported;
};
class Leaf final : public Snowflake {
 public:
  Leaf(Process& process, std::shared_ptr<LeafServer> server) : Snowflake(process), server_(std::move(server)) {}
  void start() override {
    ask();
    const Machine* const me = &process_.machine;
    worker_ = server_->numbers.try_emplace(me, server_->numbers.size()).first->second;
    const std::int64_t now = process_.wall_ms();
    if (now < server_->reported[me]) throw Error(Status::clock_back, "the clock is before the last report");
    server_->reported[me] = last_report_ = now;
  }
  std::uint64_t next() override {
    if (process_.wall_ms() - last_report_ >= 3'000) {  // another thread does it there
      last_report_ = process_.wall_ms();
      server_->reported[&process_.machine] = last_report_;
    }
    return Snowflake::next();
  }

 private:
  // Up to 5 ms it waits.
  std::int64_t behind(std::int64_t now) override {
    if (last_ - now > 5) return Snowflake::behind(now);
    process_.runtime->sleep_ns(2 * (last_ - now) * kMs);
    now = process_.wall_ms();
    return now < last_ ? Snowflake::behind(now) : now;
  }
  const std::shared_ptr<LeafServer> server_;
  std::int64_t last_report_ = 0;
};

// CosId: a number is handed out with the time that its last owner reported, and is free again when that is old enough
// by the clock of whoever asks.
struct CosIdServer {
  struct Row {
    std::uint64_t owner = 0;
    std::int64_t last_ms = 0;
  };
  std::map<std::uint64_t, Row> rows;
};
class CosId final : public Snowflake {
 public:
  CosId(Process& process, std::shared_ptr<CosIdServer> server) : Snowflake(process), server_(std::move(server)) {}
  void start() override {
    ask();
    constexpr std::int64_t kSafeguardMs = 5'000;
    const std::int64_t now = process_.wall_ms();
    for (worker_ = 0;; ++worker_) {
      CosIdServer::Row& row = server_->rows[worker_];
      if (row.owner != 0 && now - row.last_ms < kSafeguardMs) continue;
      row.owner = process_.store->number();
      last_ = std::max(last_, row.last_ms);
      row.last_ms = now;
      guarded_ = now;
      return;
    }
  }
  std::uint64_t next() override {
    const std::int64_t now = process_.wall_ms();
    if (now - guarded_ > 1'000) {
      guarded_ = now;
      CosIdServer::Row& row = server_->rows[worker_];
      if (row.owner != process_.store->number()) throw Error(Status::worker_busy, "the machine id is another's");
      row.last_ms = now;
    }
    return Snowflake::next();
  }

 private:
  const std::shared_ptr<CosIdServer> server_;
  std::int64_t guarded_ = 0;
};

// sonyflake: the address is the number; the elapsed time is kept in memory, and goes on where it stood.
class Sonyflake final : public Snowflake {
 public:
  Sonyflake(Process& process, const std::map<const Machine*, std::uint64_t>& numbers) : Snowflake(process) {
    worker_ = numbers.at(&process.machine);
  }
  std::uint64_t next() override {
    const std::int64_t now = process_.wall_ms() / 10;
    if (last_ < now) {
      last_ = now;
      sequence_ = 0;
    } else {
      sequence_ = (sequence_ + 1) & 15;
      if (sequence_ == 0) {
        ++last_;
        process_.runtime->sleep_ns(std::max<std::int64_t>(last_ - now, 0) * 10 * kMs % kSecond);
      }
    }
    return id(last_ * 10, sequence_);
  }
};

// yitter's drift: while the clock is behind, ids of the time that the clock shows get one of four reserved sequence
// numbers, by how often it was set back.
class Drift final : public Snowflake {
 public:
  Drift(Process& process, const std::map<const Machine*, std::uint64_t>& numbers) : Snowflake(process) {
    worker_ = numbers.at(&process.machine);
    sequence_ = 5;
  }
  std::uint64_t next() override {
    const std::int64_t now = process_.wall_ms();
    if (now < last_) {
      if (back_ == 0) {
        back_ = last_ - 1;
        turn_ = turn_ % 4 + 1;
      }
      return id(back_--, turn_);
    }
    back_ = 0;
    if (now > last_) {
      last_ = now;
      sequence_ = 5;
    } else if (++sequence_ >= 16) {  // beyond the clock
      ++last_;
      sequence_ = 5;
    }
    return id(last_, sequence_);
  }

 private:
  std::int64_t back_ = 0;
  std::uint64_t turn_ = 0;
};

// A lease that its owner checks against its own clock before each id.
struct LeaseServer {
  struct Row {
    std::uint64_t owner = 0;
    std::int64_t until_ms = 0;
  };
  std::map<std::uint64_t, Row> rows;
};
class Leased final : public Snowflake {
 public:
  Leased(Process& process, std::shared_ptr<LeaseServer> server) : Snowflake(process), server_(std::move(server)) {}
  void start() override { acquire(); }
  std::uint64_t next() override {
    const std::int64_t now = process_.wall_ms();
    if (now >= until_ms_)
      acquire();
    else if (now >= until_ms_ - 1'000)
      renew();
    return Snowflake::next();
  }

 private:
  static constexpr std::int64_t kLeaseMs = 3'000;
  void acquire() {
    ask();
    for (worker_ = 0;; ++worker_) {
      LeaseServer::Row& row = server_->rows[worker_];
      if (row.owner != 0 && row.until_ms > process_.server.now_ms()) continue;
      row = {process_.store->number(), process_.server.now_ms() + kLeaseMs};
      until_ms_ = process_.wall_ms() + kLeaseMs;
      return;
    }
  }
  void renew() {
    ask();
    LeaseServer::Row& row = server_->rows[worker_];
    if (row.owner != process_.store->number()) throw Error(Status::worker_busy, "lost");
    row.until_ms = process_.server.now_ms() + kLeaseMs;
    until_ms_ = process_.wall_ms() + kLeaseMs;
  }
  const std::shared_ptr<LeaseServer> server_;
  std::int64_t until_ms_ = 0;
};

// A buffer in front of a database that extends itself: Redis hands out the next range, the database is told; who cannot
// reach Redis asks the database.
struct BufferServer {
  std::uint64_t redis = 0;
  std::uint64_t database = 0;
};
class GlobalBuffer final : public Rival {
 public:
  GlobalBuffer(Process& process, std::shared_ptr<BufferServer> server)
      : process_(process), server_(std::move(server)) {}
  std::uint64_t next() override {
    if (at_ == end_) draw();
    return at_++;
  }

 private:
  static constexpr std::uint64_t kStep = 10;
  void draw() {
    process_.scheduler.step();
    const bool has_redis = !process_.server.cut_off.contains(&process_);
    if (has_redis) {
      at_ = server_->redis += kStep;
      process_.scheduler.sleep(static_cast<std::int64_t>(process_.scheduler.random.below(2 * kMs)));
      if (process_.is_dead) throw Error(Status::store_unavailable, "killed");
      server_->database = std::max(server_->database, at_);
    } else {
      at_ = server_->database += kStep;
    }
    end_ = at_ + kStep;
  }
  Process& process_;
  const std::shared_ptr<BufferServer> server_;
  std::uint64_t at_ = 0, end_ = 0;
};

template <class Kind, class Server>
MakeRival with_server() {
  return [server = std::make_shared<Server>()](Process& process) { return std::make_unique<Kind>(process, server); };
}
// Each machine has a number of its own, as operators promise.
template <class Kind>
MakeRival with_numbers() {
  return [numbers = std::make_shared<std::map<const Machine*, std::uint64_t>>()](Process& process) {
    numbers->try_emplace(&process.machine, numbers->size());
    return std::make_unique<Kind>(process, *numbers);
  };
}

}  // namespace

const std::vector<RivalKind>& rival_kinds() {
  static const std::vector<RivalKind> kinds = {
      {"memory_only", "a number per machine; the last time in memory", &with_numbers<MemoryOnly>},
      {"leaf", "a number per machine; the time is reported every 3 s", &with_server<Leaf, LeafServer>},
      {"cosid", "a number is free when its last report is old", &with_server<CosId, CosIdServer>},
      {"sonyflake", "a number per machine; elapsed time in memory", &with_numbers<Sonyflake>},
      {"yitter_drift", "four reserved numbers while the clock is behind", &with_numbers<Drift>},
      {"lease_by_clock", "a lease that its owner checks by its own clock", &with_server<Leased, LeaseServer>},
      {"global_buffer", "Redis extends itself, and tells the database", &with_server<GlobalBuffer, BufferServer>},
  };
  return kinds;
}

}  // namespace idgen::sim
