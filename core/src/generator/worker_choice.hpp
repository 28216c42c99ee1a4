// Which worker a generator leases: rows in, a number out. Values only; the store decides who gets it.
#pragma once

#include <cstdint>
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
};

// A number that nobody holds. Numbers that nobody has had come first, until 1024 are known: their rows say nothing that
// could be wrong. Then the least recently used ones, by the end of their latest window. Throws Error{worker_busy} that
// says who holds them and when the next one is free.
std::uint64_t choose_worker(const std::string& name_space, const LeasedField& field,
                            const std::vector<WindowInfo>& rows, const WorkerChoice& choice);

}  // namespace idgen
