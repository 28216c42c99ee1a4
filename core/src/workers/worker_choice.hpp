// Which worker a generator leases: rows in, a number out. Values only; the store decides who gets it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "idgen/store.hpp"

namespace idgen {

// The workers that may be leased: base | value << shift, with a value of so many bits. The rest of the number is typed
// in the configuration (datacenter).
struct LeasedField {
  std::uint64_t base = 0;
  unsigned shift = 0;
  unsigned bits = 0;
  std::string name;  // "worker"

  std::uint64_t number(std::uint64_t value) const { return base | value << shift; }
  std::uint64_t value_of(std::uint64_t number) const { return (number >> shift) & (size() - 1); }
  bool has(std::uint64_t number) const { return (number & ~((size() - 1) << shift)) == base; }
  std::uint64_t size() const { return std::uint64_t{1} << bits; }
};

struct WorkerChoice {
  std::int64_t now_ms = 0;
  std::int64_t max_ahead_ms = 0;  // rows whose time is reserved further ahead are left alone
  std::uint64_t random = 0;       // spreads processes that choose at once
  bool is_crowded = false;        // another process was faster just now: spread wider
};

// One that nobody has ever had, as long as fewer than 1024 are known: there is no row that could be wrong, and nobody
// need be asked who is alive. Of `rows` only the numbers count.
std::optional<std::uint64_t> choose_new_worker(const LeasedField& field, const std::vector<WindowInfo>& rows,
                                               const WorkerChoice& choice);

// One that nobody has ever had, however many are known: worker_recycle = false. Throws Error{exhausted}.
std::uint64_t choose_unused_worker(const std::string& name_space, const LeasedField& field,
                                   const std::vector<WindowInfo>& rows, const WorkerChoice& choice);

// Else the least recently used one that nobody holds, by the end of its latest window, or a new one if there is none.
// Else one that only its holder's name says is held: in another container a process may have the same name. If that
// process lives it loses the number, and its next window is refused; ids are not issued twice.
// Throws Error{worker_busy} that says who holds them and when the next one is free.
std::uint64_t choose_worker(const std::string& name_space, const LeasedField& field,
                            const std::vector<WindowInfo>& rows, const WorkerChoice& choice);

}  // namespace idgen
