// Real generators in simulated processes, on machines with wrong clocks, before one store, and everything that can
// happen to them. One seed decides what kinds of faults there are, when they happen, and who goes on at each step.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "idgen/handle.hpp"
#include "sim/machine.hpp"
#include "sim/oracle.hpp"
#include "sim/servers.hpp"

namespace idgen::sim {

enum class Fault : std::uint8_t {
  kill,
  pause,
  suspend,  // a pause that the monotonic clock does not count
  clock,    // is set
  drift,
  fork,
  cut_off,
  lost,  // requests, answers, connections; also late and repeated ones
  server_clock,
  no_threads,
  stale_lists,
  go_back,  // the store loses what it acknowledged
  evict,    // the store loses rows
  hold,     // a thread stands still while others of its process run
};
inline constexpr std::size_t kFaults = 14;
const char* name_of(Fault fault);

struct Outcome {
  std::uint64_t ids = 0;
  std::uint64_t reservations = 0;
  std::uint64_t steps = 0;
  std::uint64_t processes = 0;
  std::array<std::uint64_t, kFaults> faults{};  // how often
  std::int64_t ns = 0;                          // simulated
  std::uint64_t copies = 0;                     // Options::is_copied
  std::optional<std::string> violation;

  void add(const Outcome& other);
};

// A generator that is not ours: see rivals.hpp.
class Rival;
struct Process;
using MakeRival = std::function<std::unique_ptr<Rival>(Process&)>;

struct Options {
  bool is_traced = false;
  MakeRival rival{};  // in place of idgen
  // One machine alone, which says now and then that it was copied: whoever uses it starts over.
  bool is_copied = false;
  // Generators of order = relaxed that lose their leased workers, and have threads that stand still meanwhile.
  bool loses_workers = false;
};

Outcome simulate(std::uint64_t seed, const Options& options = {});

// A process and what it opened, for rivals too.
struct Process : Image {
  Process(Scheduler& scheduling, Server& store_server, Machine& runs_on, std::uint64_t seed, std::uint64_t number);

  std::int64_t wall_ms() { return floor_ms(runtime->wall_ns()); }
  static std::int64_t floor_ms(std::int64_t ns) { return ns / kMs - (ns % kMs < 0); }

  Scheduler& scheduler;
  Server& server;
  Machine& machine;
  std::shared_ptr<MachineRuntime> runtime;
  std::shared_ptr<ServerStore> store;
};

class Rival {
 public:
  virtual ~Rival() = default;
  // A worker number, or whatever it needs. Throws Error.
  virtual void start() {}
  virtual std::uint64_t next() = 0;
};

}  // namespace idgen::sim
