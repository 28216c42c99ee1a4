// Windows of a worker's time, as ranges of numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "generator/clock_witness.hpp"
#include "idgen/layout.hpp"
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"
#include "reserve/supply.hpp"
#include "workers/worker_source.hpp"

namespace idgen {

// All of the layout's ticks, unless time and sequence fill 64 bits: the counter holds 63.
std::uint64_t usable_ticks(const Layout& layout);
std::int64_t last_usable_ms(const Layout& layout);

class WindowSource final : public Source {
 public:
  // For a worker that is leased: where its number comes from, who is told before draw() returns the first window, who
  // is told of a number whose row is far ahead, and whether losing the number ends all waiting, because there is
  // another one to be had.
  struct Leasing {
    std::unique_ptr<WorkerSource> numbers;
    std::function<void(std::uint64_t)> chosen;
    std::function<void(const Error&)> skipped;
    bool loss_is_final = false;
  };

  // max_ahead_ms: negative is any.
  WindowSource(std::shared_ptr<Store> store, Runtime& runtime, const Layout& layout, WindowRequest request,
               std::int64_t max_ahead_ms, Leasing leasing);

  Range draw(const Demand&) override;
  void give_back(const Range& unused) override;
  void release() override;
  void abandon() override;
  std::string name_of(std::uint64_t number) const override;
  std::string after_regress() const override;

 private:
  Window lease() IDGEN_RUNS_HOST_CODE;
  std::int64_t to_ms(std::uint64_t number) const;

  const std::shared_ptr<Store> store_;
  Runtime& runtime_;
  const std::int64_t epoch_ms_;
  const std::int64_t tick_ms_;
  const std::uint64_t ticks_end_;
  const std::int64_t last_ms_;
  const unsigned sequence_bits_;
  const std::int64_t max_ahead_ms_;
  const Leasing leasing_;
  bool has_worker_;
  ClockWitness clock_;
  WindowRequest request_;
  Window latest_;
  std::int64_t returned_to_ms_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace idgen
