#include "audit_flow.hpp"

#include <algorithm>

namespace idgen_tool {
namespace {

constexpr unsigned kFewBits = 16;
constexpr std::size_t kPoints = 1024;
constexpr std::size_t kMostWorkers = 1 << 14;
constexpr std::size_t kMostKept = 1 << 14;  // steps of all workers

}  // namespace

std::uint64_t size_of(const StepBack& step, const IdSpace& space) {
  if (space.has_time()) return space.tick_of(step.from) - space.tick_of(step.to);
  return space.place_of(step.from) - space.place_of(step.to);
}

Flow::Flow(const IdSpace& space, std::uint64_t now_tick) : space_(space), now_tick_(now_tick) {
  if (space.node_bits() <= kFewBits) few_.resize(std::size_t{1} << space.node_bits());
  if (space.has_time())
    first_day_ticks_ = static_cast<std::uint64_t>(std::max<std::int64_t>(86'400'000 / space.tick_ms(), 1));
}

void Flow::begin_dump() { ++dump_; }

Flow::Worker* Flow::worker(std::uint64_t node) {
  if (!few_.empty()) return &few_[node];
  if (many_.size() < kMostWorkers) return &many_[node];
  const auto found = many_.find(node);
  return found == many_.end() ? nullptr : &found->second;
}

void Flow::keep(WorkerSteps& steps, const StepBack& step, const IdSpace& space) {
  ++steps.count;
  std::vector<StepBack>& all = steps.largest;
  const std::uint64_t size = size_of(step, space);
  if (all.size() == WorkerSteps::kKept) {
    if (size <= size_of(all.back(), space)) return;
    all.pop_back();
  }
  const auto smaller = std::ranges::find_if(all, [&](const StepBack& other) { return size_of(other, space) < size; });
  all.insert(smaller, step);
}

void Flow::add(const std::uint64_t* ids, const std::uint64_t* keys, std::size_t count, const std::uint64_t* rows,
               std::uint64_t first_row) {
  const bool by_id = space_.has_time();  // ids of all workers rise with their time
  const std::uint64_t* const order = by_id ? ids : keys;
  const auto step_at = [&](std::size_t i, std::uint64_t from) {
    return StepBack{ordinal_ + i, dump_ - 1, rows ? rows[i] : first_row + i, from, keys[i], false};
  };
  if (!space_.has_nodes()) {
    Worker& only = few_[0];
    std::uint64_t last = only.last;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t key = keys[i];
      if (key < last) [[unlikely]] {
        StepBack step = step_at(i, last);
        step.is_first_of_dump = only.dump != dump_;
        ++steps_back_;
        keep(steps_[0], step, space_);
      }
      only.dump = dump_;
      last = key;
    }
    only.last = last;
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t node = space_.node_of(keys[i]);
      Worker* const followed = worker(node);
      if (!followed) {
        ++not_followed_;
        continue;
      }
      Worker& one = *followed;
      if (keys[i] < one.last) [[unlikely]] {
        StepBack step = step_at(i, one.last);
        step.is_first_of_dump = one.dump != dump_;
        ++steps_back_;
        WorkerSteps& steps = steps_[node];
        if (steps.largest.size() < WorkerSteps::kKept && kept_ < kMostKept) {
          ++kept_;
          keep(steps, step, space_);
        } else if (!steps.largest.empty() && steps.largest.size() == WorkerSteps::kKept) {
          keep(steps, step, space_);
        } else {
          ++steps.count;
        }
      }
      one.last = keys[i];
      one.dump = dump_;
    }
  }
  std::uint64_t last = last_overall_;
  for (std::size_t i = 0; i < count; ++i) {
    if (order[i] < last) [[unlikely]]
      keep(overall_, step_at(i, i == 0 ? last_key_ : keys[i - 1]), space_);
    last = order[i];
  }
  last_overall_ = last;
  if (count > 0) last_key_ = keys[count - 1];
  if (space_.has_time()) look_at_ticks(keys, count);
  draw_course(keys, count);
  ordinal_ += count;
}

void Flow::look_at_ticks(const std::uint64_t* keys, std::size_t count) {
  std::uint64_t least = UINT64_MAX, largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t tick = space_.tick_of(keys[i]);
    least = std::min(least, tick);
    largest = std::max(largest, tick);
  }
  if (count == 0) return;
  earliest_ = std::min(earliest_, least);
  latest_ = std::max(latest_, largest);
  if (largest <= now_tick_ && least >= first_day_ticks_) {
    first_likely_ = std::min(first_likely_, least);
    last_likely_ = std::max(last_likely_, largest);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t tick = space_.tick_of(keys[i]);
    const bool is_future = tick > now_tick_, is_first_day = tick < first_day_ticks_;
    in_future_ += is_future;
    in_first_day_ += is_first_day;
    if (is_future || is_first_day) continue;
    first_likely_ = std::min(first_likely_, tick);
    last_likely_ = std::max(last_likely_, tick);
  }
}

void Flow::draw_course(const std::uint64_t* keys, std::size_t count) {
  std::uint64_t at = ordinal_;
  for (std::size_t i = 0; i < count;) {
    std::size_t point = static_cast<std::size_t>(at / ids_per_point_);
    if (point == kPoints) {  // two become one
      for (std::size_t j = 0; j < kPoints / 2; ++j) {
        course_[j].least = std::min(course_[2 * j].least, course_[2 * j + 1].least);
        course_[j].largest = std::max(course_[2 * j].largest, course_[2 * j + 1].largest);
      }
      course_.resize(kPoints / 2);
      ids_per_point_ *= 2;
      point = static_cast<std::size_t>(at / ids_per_point_);
    }
    if (point >= course_.size()) course_.resize(point + 1);
    const std::size_t n = std::min<std::size_t>(count - i, static_cast<std::size_t>((point + 1) * ids_per_point_ - at));
    std::uint64_t least = course_[point].least, largest = course_[point].largest;
    for (std::size_t j = i; j < i + n; ++j) {
      const std::uint64_t place = space_.place_of(keys[j]);
      least = std::min(least, place);
      largest = std::max(largest, place);
    }
    course_[point] = {least, largest};
    i += n;
    at += n;
  }
}

}  // namespace idgen_tool
