#include "audit_cause.hpp"

#include <algorithm>
#include <set>

#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr double kMost = 0.95;  // of the samples, so that rows a little out of order do not count
constexpr double kDense = 0.9;  // of the ids of a run, twice
constexpr std::uint64_t kStandsOut = 5;
constexpr std::uint64_t kClearly = 20;                   // the part of an incident's ids that is no accident
constexpr std::uint64_t kLongestReservationMs = 60'000;  // of a window that a fork may share

struct Meaning {
  const char* name;
  const char* sentence;
};

constexpr Meaning kMeanings[] = {
    {"same-worker", "two processes had the same worker number at the same time"},
    {"clock-back", "the clock was set back and the generator restarted, or restarted before its own time had passed"},
    {"fork", "a process forked, and parent and child drew from the same reservation"},
    {"store-restored", "the store was restored from a backup, or lost and created again"},
    {"two-stores", "two generators draw from two stores, or from two copies of one"},
    {"dumped-twice", "the same rows are in the dump twice; the generator did nothing wrong"},
};

// What the copies of the samples have in common.
struct Traces {
  std::size_t samples = 0;
  bool is_separate = false;       // all first copies come before all second ones
  std::uint64_t split = 0;        // the ordinal of the first second copy
  std::uint64_t distance = 0;     // from copy to copy, the median
  double same_neighbours = 0;     // share of samples with the same ids before and after both copies
  double telling_neighbours = 0;  // share whose next id is not simply the next number
  bool is_second_dump = false;    // the second copies stand in another dump
  enum class Rows { unknown, same, different } rows = Rows::unknown;
  bool has_processes = false;
  std::set<std::string> first_processes, second_processes;
  bool is_same_process = true;
  std::string first_time, second_time;
  const Copy* example_first = nullptr;
  const Copy* example_second = nullptr;
};

std::uint64_t quantile(std::vector<std::uint64_t> values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

Traces traces_of(const std::vector<const std::vector<Copy>*>& copies, const IdSpace& space,
                 const std::vector<std::uint64_t>& samples) {
  Traces out;
  std::vector<std::uint64_t> firsts, seconds, distances;
  std::set<std::string> rests;
  std::size_t same_neighbours = 0, telling = 0, same_rests = 0, with_rests = 0, other_dump = 0;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i]->size() < 2) continue;
    const Copy& first = (*copies[i])[0];
    const Copy& second = (*copies[i])[1];
    if (!out.example_first) {
      out.example_first = &first;
      out.example_second = &second;
    }
    firsts.push_back(first.ordinal);
    seconds.push_back(second.ordinal);
    distances.push_back(second.ordinal - first.ordinal);
    other_dump += first.dump != second.dump;
    const bool is_before_same = first.ordinal == 0 || first.before == second.before;
    const bool is_after_same = !first.has_after || !second.has_after || first.after == second.after;
    // At the edges of what came twice the neighbours on one side differ.
    same_neighbours += is_before_same || is_after_same;
    telling += first.has_after && space.key_of(first.after) != samples[i] + 1;
    if (!first.rest.empty() || !second.rest.empty()) {
      ++with_rests;
      same_rests += first.rest == second.rest;
      rests.insert(first.rest);
    }
    if (!first.process.empty() || !second.process.empty()) {
      out.has_processes = true;
      out.first_processes.insert(first.process);
      out.second_processes.insert(second.process);
      out.is_same_process = out.is_same_process && first.process == second.process;
    }
  }
  out.samples = firsts.size();
  if (out.samples == 0) return out;
  const auto count = static_cast<double>(out.samples);
  out.is_separate = quantile(firsts, kMost) < quantile(seconds, 1 - kMost);
  out.split = quantile(seconds, 1 - kMost);
  out.distance = quantile(distances, 0.5);
  out.same_neighbours = static_cast<double>(same_neighbours) / count;
  out.telling_neighbours = static_cast<double>(telling) / count;
  out.is_second_dump = static_cast<double>(other_dump) >= kMost * count;
  if (with_rests == out.samples) {
    // Equal rows say something only where rows differ from id to id.
    if (static_cast<double>(same_rests) >= kMost * count) {
      if (out.samples >= 4 && rests.size() * 2 > out.samples) out.rows = Traces::Rows::same;
    } else if (same_rests * 2 < out.samples) {
      out.rows = Traces::Rows::different;
    }
  }
  out.first_time = out.example_first->time;
  out.second_time = out.example_second->time;
  return out;
}

class Judge {
 public:
  Judge(const Incident& incident, const std::vector<const std::vector<Copy>*>& copies, const Circumstances& all)
      : incident_(incident),
        space_(all.space),
        flow_(all.flow),
        all_(all),
        traces_(traces_of(copies, all.space, incident.samples)),
        step_(step_between()) {}

  Verdict verdict() {
    if (traces_.samples == 0) {
      say("the rows of its ids were not found again: did the dump change while it was read?");
      return decide(possible_without_order());
    }
    say_processes();
    if (!traces_.first_time.empty() || !traces_.second_time.empty())
      say("the first example's rows are of " + one_line(traces_.first_time) + " and " + one_line(traces_.second_time));
    if (traces_.rows == Traces::Rows::same) {
      say("both copies of a row are the same in all columns");
      return decide({Cause::dumped_twice});
    }
    if (traces_.rows == Traces::Rows::different) say("the copies differ in other columns: they are different rows");
    if (flow_.overall().count == 0) {
      say("the dump is sorted by id, so it does not say in which order ids were issued: one in the order of insertion "
          "says more");
      return decide(possible_without_order());
    }
    return space_.has_time() ? of_snowflakes() : of_numbers();
  }

 private:
  void say(const std::string& sentence) { verdict_.evidence.push_back(sentence); }
  Verdict decide(std::vector<Cause> causes) {
    verdict_.causes = std::move(causes);
    return std::move(verdict_);
  }

  std::string place(const Copy& copy) const { return all_.place(copy.dump, copy.row); }
  std::string place_of(std::uint64_t key) const {
    return space_.has_time() ? instant(space_.unix_ms_of(space_.tick_of(key))) : std::to_string(space_.id_of(key));
  }
  std::uint64_t span_ms() const {
    return (space_.tick_of(incident_.last) - space_.tick_of(incident_.first)) *
           static_cast<std::uint64_t>(space_.tick_ms());
  }
  bool is_dense() const { return incident_.ids > 1 && incident_.density() >= kDense; }

  void say_processes() {
    if (!traces_.has_processes) return;
    const auto listed = [](const std::set<std::string>& names) {
      std::string out;
      std::size_t left = 3;
      for (const std::string& name : names) {
        if (left-- == 0) return out + ", ...";
        out += (out.empty() ? "" : ", ") + one_line(name);
      }
      return out;
    };
    if (traces_.is_same_process) {
      say("both copies are from the same process: " + listed(traces_.first_processes));
    } else {
      say("the first copies are from " + listed(traces_.first_processes) + ", the second from " +
          listed(traces_.second_processes));
    }
  }

  std::vector<Cause> possible_without_order() const {
    std::vector<Cause> causes;
    const bool may_be_dumped = traces_.rows != Traces::Rows::different;
    if (space_.has_time()) {
      if (traces_.has_processes && !traces_.is_same_process) return {Cause::same_worker};
      causes = is_dense() ? std::vector{Cause::fork, Cause::clock_back, Cause::same_worker}
                          : std::vector{Cause::same_worker, Cause::clock_back};
    } else {
      causes = {Cause::store_restored, Cause::two_stores};
      if (is_dense()) causes.push_back(Cause::fork);
    }
    if (may_be_dumped && is_dense()) causes.push_back(Cause::dumped_twice);
    return causes;
  }

  // The worker's step back that lies between first and second copies, reaches from the end of the incident to its
  // beginning, and stands out from the worker's usual ones.
  const StepBack* step_between() const {
    const auto found = flow_.workers_with_steps().find(incident_.node);
    if (found == flow_.workers_with_steps().end() || traces_.samples == 0 || !traces_.is_separate) return nullptr;
    const WorkerSteps& steps = found->second;
    const std::uint64_t first = space_.place_of(incident_.first), last = space_.place_of(incident_.last);
    for (const StepBack& step : steps.largest) {
      const std::uint64_t from = space_.place_of(step.from), to = space_.place_of(step.to);
      const std::uint64_t slack = (from - to) / 10;
      const bool is_between = step.ordinal <= traces_.split && step.ordinal > traces_.example_first->ordinal;
      const bool stands_out = steps.count < WorkerSteps::kKept ||
                              size_of(step, space_) >= kStandsOut * size_of(steps.largest.back(), space_);
      if (is_between && stands_out && to <= first + slack && from + slack >= last) return &step;
    }
    return nullptr;
  }

  void say_step() {
    verdict_.step = step_->ordinal;
    std::string by;
    if (space_.has_time()) {
      const auto ms = static_cast<std::uint64_t>(space_.unix_ms_of(space_.tick_of(step_->from)) -
                                                 space_.unix_ms_of(space_.tick_of(step_->to)));
      by = "the times of " + (space_.has_nodes() ? space_.name_of(incident_.node) : std::string("the dump")) +
           " step back by " + grouped(ms) + " ms, from " + place_of(step_->from) + " to " + place_of(step_->to);
    } else {
      by = "the numbers step back by " + grouped(size_of(*step_, space_)) + ", from " + place_of(step_->from) + " to " +
           place_of(step_->to);
    }
    say("at " + all_.place(step_->dump, step_->row) + ' ' + by +
        "; first copies stand before it, second ones after it");
  }

  std::string apart() const { return grouped(traces_.distance) + (traces_.distance == 1 ? " id apart" : " ids apart"); }

  void say_twice() { say("the ids around both copies are the same: a stretch of the dump comes twice, " + apart()); }

  // Other workers that step back over the same time.
  std::size_t workers_that_step_too() const {
    const std::uint64_t from = space_.tick_of(step_->from), to = space_.tick_of(step_->to);
    std::size_t count = 0;
    for (const auto& [node, steps] : flow_.workers_with_steps()) {
      if (node == incident_.node) continue;
      count += std::ranges::any_of(steps.largest, [&](const StepBack& step) {
        const std::uint64_t its_from = space_.tick_of(step.from), its_to = space_.tick_of(step.to);
        const std::uint64_t overlap_end = std::min(from, its_from), overlap_begin = std::max(to, its_to);
        return overlap_end > overlap_begin && 2 * (overlap_end - overlap_begin) > from - to;
      });
    }
    return count;
  }

  Verdict of_snowflakes() {
    const bool may_be_dumped = traces_.rows != Traces::Rows::different;
    if (may_be_dumped && traces_.is_separate && traces_.samples >= 4 && traces_.same_neighbours >= kMost &&
        traces_.telling_neighbours > 0.5) {
      say_twice();
      return decide({Cause::dumped_twice});
    }
    if (step_) return after_a_step();
    if (is_dense() && incident_.begins_in_tick && incident_.after > 0 && span_ms() <= kLongestReservationMs) {
      say("every id from " + place_of(incident_.first) + " to " + place_of(incident_.last) +
          " came twice, from the middle of a tick on, and none before or after: the rest of one reservation");
      say_near();
      return decide({Cause::fork});
    }
    say_near();
    say(grouped(incident_.ids) + " of " + grouped(incident_.ids + incident_.single) + " ids from " +
        place_of(incident_.first) + " to " + place_of(incident_.last) + " came twice: both drew the same sequence in " +
        "the same tick");
    if (traces_.has_processes && traces_.is_same_process && is_dense())
      return decide({Cause::fork, Cause::same_worker});
    return decide({Cause::same_worker});
  }

  Verdict after_a_step() {
    say_step();
    if (step_->is_first_of_dump && traces_.is_second_dump) {
      const std::uint64_t first = space_.place_of(all_.worker_first), from = space_.place_of(step_->from);
      if (space_.place_of(step_->to) - first <= (from - first) / 20) {
        say("both dumps begin at about the same time: each may be of a process of its own");
        return decide({Cause::same_worker});
      }
      say("the step is where one dump ends and the next begins");
      return decide({Cause::clock_back, Cause::same_worker});
    }
    if (const std::size_t others = workers_that_step_too(); others > 0) {
      say(grouped(others) + (others == 1 ? " other worker steps" : " other workers step") + " back over the same time");
      if (incident_.density() >= 0.5) return decide({Cause::store_restored, Cause::clock_back});
    }
    return decide({Cause::clock_back});
  }

  void say_near() {
    say("first and second copies stand among one another, from " + place(*traces_.example_first) + " on, usually " +
        apart() + ": both were issued at the same time");
  }

  Verdict of_numbers() {
    const bool may_be_dumped = traces_.rows != Traces::Rows::different;
    if (!traces_.is_separate || (traces_.samples < 4 && !step_)) return of_mixed_numbers();
    const bool is_verbatim = traces_.samples >= 4 && traces_.same_neighbours >= kMost;
    if (may_be_dumped && is_verbatim && traces_.telling_neighbours > 0.5) {
      say_twice();
      return decide({Cause::dumped_twice});
    }
    const bool is_from_start = traces_.example_first->ordinal == 0 && incident_.before == 0;
    if (step_) {
      say_step();
      if (may_be_dumped && is_verbatim && is_from_start) {
        say("the second copies repeat the dump from its first id on");
        return decide({Cause::dumped_twice, Cause::store_restored});
      }
      const std::uint64_t from = space_.place_of(step_->from), to = space_.place_of(step_->to);
      if (space_.place_of(incident_.last) + (from - to) / kClearly >= from) {
        say(grouped(incident_.ids) + " of " + grouped(incident_.ids + incident_.single) +
            " ids from there to the old " + "maximum came again");
        return decide({Cause::store_restored});
      }
      say("only the numbers from " + place_of(incident_.first) + " to " + place_of(incident_.last) + " came again");
      return decide(may_be_dumped ? std::vector{Cause::fork, Cause::dumped_twice} : std::vector{Cause::fork});
    }
    say("all second copies come after all first ones, from " + place(*traces_.example_second) + " on");
    return decide({Cause::store_restored});
  }

  Verdict of_mixed_numbers() {
    say_near();
    if (is_dense() && incident_.before > 0 && incident_.after > incident_.ids / kClearly) {
      say("every number from " + place_of(incident_.first) + " to " + place_of(incident_.last) +
          " came twice, and none before or after: the rest of one range");
      return decide({Cause::fork});
    }
    if (is_dense() && incident_.before > 0) {
      say("every number from " + place_of(incident_.first) + " to the last came twice");
      return decide({Cause::fork, Cause::two_stores});
    }
    say(grouped(incident_.ids) + " of " + grouped(incident_.ids + incident_.single) + " numbers from " +
        place_of(incident_.first) + " to " + place_of(incident_.last) + " came twice");
    return decide({Cause::two_stores});
  }

  const Incident& incident_;
  const IdSpace& space_;
  const Flow& flow_;
  const Circumstances& all_;
  Traces traces_;
  const StepBack* step_;
  Verdict verdict_;
};

}  // namespace

const char* name_of(Cause cause) { return kMeanings[static_cast<std::size_t>(cause)].name; }
const char* sentence_of(Cause cause) { return kMeanings[static_cast<std::size_t>(cause)].sentence; }

const char* advice_of(Cause cause, bool has_time) {
  switch (cause) {
    case Cause::same_worker:
      return "give each process a worker number of its own: let them lease it (worker = \"auto\"), or correct the "
             "deployment that sets it";
    case Cause::clock_back:
      return "look at that host's clock (NTP, a virtual machine that was resumed); let the generator reserve its time "
             "in a store, so that a restart begins above all that it issued";
    case Cause::fork:
      return "make the generator in each child, after the fork, or use one that notices a fork";
    case Cause::store_restored:
      return has_time ? "before a restored store is used again, wait until the clock is past the last id"
                      : "before a restored store is used again, lift its counter above the largest id in use "
                        "(idgen segment advance)";
    case Cause::two_stores:
      return "point all generators at one store, and lift its counter above the largest id of both "
             "(idgen segment advance)";
    case Cause::dumped_twice:
      return "export again without the repeated rows, and audit that";
  }
  return "";
}

Verdict judge(const Incident& incident, const std::vector<const std::vector<Copy>*>& copies,
              const Circumstances& circumstances) {
  return Judge(incident, copies, circumstances).verdict();
}

}  // namespace idgen_tool
