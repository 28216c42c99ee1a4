#include "audit_sorted.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace idgen_tool {
namespace {

// An incident ends where this many times as many ids came once as between its duplicates on average.
constexpr std::uint64_t kFar = 20;
constexpr std::uint64_t kNear = 50;  // never before as many ids

void thin(std::vector<std::uint64_t>& samples) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples.size(); i += 2) samples[kept++] = samples[i];
  samples.resize(kept);
}

}  // namespace

Incident joined(const Incident& first, const Incident& second) {
  Incident both = first;
  both.last = second.last;
  both.ids += second.ids;
  both.extra += second.extra;
  both.most_copies = std::max(first.most_copies, second.most_copies);
  both.single += second.single + (second.before - first.before - first.single - first.ids);
  both.after = second.after;
  both.samples.insert(both.samples.end(), second.samples.begin(), second.samples.end());
  while (both.samples.size() > Incident::kSamples) thin(both.samples);
  if (both.samples.back() != both.last) both.samples.push_back(both.last);
  return both;
}

SortedPass::SortedPass(const IdSpace& space, std::uint64_t first_tick, std::uint64_t last_tick, std::size_t most)
    : space_(space), most_(most) {
  if (!space.has_time()) return;
  const std::uint64_t ticks = last_tick >= first_tick ? last_tick - first_tick + 1 : 1;
  const auto stretches = static_cast<std::size_t>(std::min<std::uint64_t>(ticks, Rates::kStretches));
  rates_.first_tick = first_tick;
  rates_.ticks_per_stretch = static_cast<double>(ticks) / static_cast<double>(stretches);
  stretches_per_tick_ = 1 / rates_.ticks_per_stretch;
  rates_.others.resize(stretches);
  rates_.all.resize(stretches);
  rates_.duplicated.resize(stretches);
  counts_.resize(stretches);
}

void SortedPass::add(const std::uint64_t* keys, std::size_t count) {
  std::size_t i = 0;
  if (!is_begun_ && count > 0) {
    is_begun_ = true;
    key_ = least_ = keys[0];
    copies_ = 1;
    worker_ = {.node = space_.node_of(key_), .first = key_};
    i = 1;
  }
  for (; i < count; ++i) {
    const std::uint64_t key = keys[i];
    if (key == key_) [[unlikely]] {
      ++copies_;
      continue;
    }
    end_key();
    if (space_.has_time() && space_.tick_and_node_of(key) != space_.tick_and_node_of(key_)) end_tick();
    previous_ = key_;
    has_previous_ = true;
    was_single_ = copies_ == 1;
    if (space_.node_of(key) != worker_.node) {
      end_worker();
      worker_ = {.node = space_.node_of(key), .first = key};
      has_previous_ = false;
    }
    key_ = key;
    copies_ = 1;
  }
}

void SortedPass::end_key() {
  if (copies_ > 1) {
    duplicate();
  } else {
    ++since_;
  }
  ++worker_.ids;
  ++in_tick_;
}

void SortedPass::duplicate() {
  if (incident_.ids > 0 && is_far()) end_incident();
  if (incident_.ids == 0) {
    incident_ = {.node = worker_.node, .first = key_, .before = worker_.ids};
    incident_.begins_in_tick =
        has_previous_ && was_single_ && (!space_.has_time() || space_.tick_of(previous_) == space_.tick_of(key_));
    stride_ = 1;
  } else {
    incident_.single += since_;
  }
  since_ = 0;
  if (incident_.ids % stride_ == 0) {
    if (incident_.samples.size() == Incident::kSamples) {
      thin(incident_.samples);
      stride_ *= 2;
    }
    if (incident_.ids % stride_ == 0) incident_.samples.push_back(key_);
  }
  incident_.last = key_;
  ++incident_.ids;
  incident_.extra += copies_ - 1;
  incident_.most_copies = std::max(incident_.most_copies, copies_);
  ++worker_.duplicated;
  ++duplicated_;
  extra_ += copies_ - 1;
  if (space_.has_time()) {
    const std::uint64_t tick = space_.tick_of(key_);
    const auto stretch =
        tick < rates_.first_tick
            ? SIZE_MAX
            : static_cast<std::size_t>(static_cast<double>(tick - rates_.first_tick) * stretches_per_tick_);
    if (stretch < rates_.duplicated.size()) ++rates_.duplicated[stretch];
  }
}

bool SortedPass::is_far() const {
  const std::uint64_t usual = incident_.single / incident_.ids;
  return since_ > std::max(kNear, kFar * (usual + 1));
}

void SortedPass::end_incident() {
  if (incident_.ids == 0) return;
  if (incident_.samples.back() != incident_.last) incident_.samples.push_back(incident_.last);
  incidents_.push_back(std::exchange(incident_, {}));
  if (incidents_.size() >= 2 * most_) join_nearest();
}

// Halves the incidents, as far as workers allow it, by joining those with the fewest ids between them.
void SortedPass::join_nearest() {
  const auto between = [](const Incident& a, const Incident& b) {
    return a.node == b.node ? b.before - a.before - a.single - a.ids : UINT64_MAX;
  };
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < incidents_.size(); ++i) gaps.push_back(between(incidents_[i - 1], incidents_[i]));
  std::vector<std::uint64_t> ordered = gaps;
  const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(std::min(most_, ordered.size() - 1));
  std::ranges::nth_element(ordered, middle);
  const std::uint64_t limit = *middle;
  std::vector<Incident> kept;
  for (Incident& incident : incidents_) {
    if (!kept.empty() && kept.back().node == incident.node && between(kept.back(), incident) <= limit) {
      kept.back() = joined(kept.back(), incident);
    } else {
      kept.push_back(std::move(incident));
    }
  }
  if (kept.size() >= 2 * most_) {  // each of another worker: the largest say most
    std::ranges::stable_sort(kept, std::greater{}, &Incident::ids);
    kept.resize(most_);
    std::ranges::sort(kept, {}, &Incident::first);
  }
  incidents_ = std::move(kept);
  incidents_of_worker_ = 0;
}

void SortedPass::end_tick() {
  const std::uint64_t tick = space_.tick_of(key_);
  if (worker_.ticks > 0 && tick - last_tick_ > worker_.longest_gap) {
    worker_.longest_gap = tick - last_tick_;
    worker_.gap_begin = last_tick_;
  }
  last_tick_ = tick;
  ++worker_.ticks;
  worker_.full_ticks += in_tick_ >= space_.ids_per_tick();
  if (in_tick_ > worker_.peak) {
    worker_.peak = in_tick_;
    worker_.peak_tick = tick;
  }
  if (tick >= rates_.first_tick) {
    const auto stretch = static_cast<std::size_t>(static_cast<double>(tick - rates_.first_tick) * stretches_per_tick_);
    if (stretch < counts_.size()) counts_[stretch] += in_tick_;
  }
  in_tick_ = 0;
}

void SortedPass::end_worker() {
  end_incident();
  for (std::size_t i = std::min(incidents_of_worker_, incidents_.size()); i < incidents_.size(); ++i) {
    Incident& incident = incidents_[i];
    if (incident.node == worker_.node) incident.after = worker_.ids - incident.before - incident.single - incident.ids;
  }
  incidents_of_worker_ = incidents_.size();
  since_ = 0;
  in_tick_ = 0;
  worker_.last = key_;
  ++worker_count_;
  different_ += worker_.ids;
  workers_.push_back(worker_);
  if (workers_.size() >= 2 * most_) {
    std::ranges::nth_element(workers_, workers_.begin() + static_cast<std::ptrdiff_t>(most_), std::greater{},
                             &WorkerSummary::ids);
    workers_.resize(most_);
  }
  if (!space_.has_time()) return;
  for (std::size_t i = 0; i < counts_.size(); ++i) rates_.all[i] += counts_[i];
  std::vector<Rates::Series>& shown = rates_.shown;
  const auto smaller =
      std::ranges::find_if(shown, [this](const Rates::Series& series) { return series.ids < worker_.ids; });
  if (shown.size() < Rates::kShown || smaller != shown.end()) {
    shown.insert(smaller, {worker_.node, worker_.ids, counts_});
    if (shown.size() > Rates::kShown) {
      for (std::size_t i = 0; i < counts_.size(); ++i) rates_.others[i] += shown.back().counts[i];
      shown.pop_back();
    }
  } else {
    for (std::size_t i = 0; i < counts_.size(); ++i) rates_.others[i] += counts_[i];
  }
  std::ranges::fill(counts_, 0);
}

void SortedPass::finish() {
  if (!is_begun_) return;
  end_key();
  if (space_.has_time()) end_tick();
  end_worker();
  largest_ = key_;
  if (workers_.size() > most_) {
    std::ranges::nth_element(workers_, workers_.begin() + static_cast<std::ptrdiff_t>(most_), std::greater{},
                             &WorkerSummary::ids);
    workers_.resize(most_);
  }
  std::ranges::sort(workers_, {}, &WorkerSummary::node);
}

}  // namespace idgen_tool
