// The numbers of workers in the rows of another generator: Baidu's uid-generator, CosId, Leaf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace idgen {

class Store;

// A worker's number by the rows of another generator, whose processes run beside ours: see worker_source.
struct NumberRequest {
  std::string kind;  // the choice of worker_source: "uid_generator", "cosid", "zookeeper"
  std::string name_space;
  std::string address;        // who we are there: "10.0.0.1:8080"
  std::uint64_t numbers = 0;  // our field holds 0 to numbers - 1
  std::int64_t now_ms = 0;    // by our clock
  // cosid: a process that has not reported for so long is taken for dead; 0: none is.
  std::int64_t guard_ms = 0;
  // cosid: our clock may be so far ahead of the server's. zookeeper: so far off the mean of the others' clocks.
  std::int64_t clock_limit_ms = 0;
};

// A number of ours, as those rows have it.
struct ClaimedNumber {
  std::uint64_t number = 0;      // of uid_generator and zookeeper it may be beyond our field
  std::int64_t used_to_ms = 0;   // Unix ms: whoever had it before has reported up to here; 0: nobody had it
  std::int64_t reported_ms = 0;  // Unix ms: our own latest report
  std::int64_t version = -1;     // zookeeper: of its node after our latest report; -1: we have not reported yet
  bool is_unknown = false;       // the outcome of a report after that one
  // uid_generator, beyond our field: who may have the number that is left of it.
  enum class Taken { by_nobody, by_idgen, by_original } taken = Taken::by_nobody;
  std::string lost{};  // why it is ours no more; "": it is
};

// Numbers by the rows of another generator.
class NumberStore {
 public:
  // One that nobody else has by its generator's rules. Throws Error{worker_busy (there is none), clock_back,
  // clock_leap, store_*}; Error{unsupported} if there are no rows of that kind.
  virtual ClaimedNumber number_claim(const NumberRequest& request) = 0;
  // Reports that it is still ours. The outcome may be that it is not: ClaimedNumber::lost. Throws Error{value} if
  // another process reports as ours.
  virtual ClaimedNumber number_keep(const NumberRequest& request, const ClaimedNumber& held) = 0;
  // Gives it back. The next one to have it begins after used_ms; empty: somebody has it already, so it is left for the
  // others to take for dead.
  virtual void number_release(const NumberRequest& request, const ClaimedNumber& held,
                              std::optional<std::int64_t> used_ms) = 0;

 protected:
  ~NumberStore() = default;
};

// Throws Error{unsupported} if the store has no rows of that worker_source.
NumberStore& numbers_of(Store& store, const std::string& kind);

// Throws Error{unsupported} if such a store has no rows of that worker_source; it is not opened.
void check_numbers(const std::string& url, const std::string& kind);

}  // namespace idgen
