#include "workers/worker_choice.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "idgen/text.hpp"
#include "idgen/time_units.hpp"

namespace idgen {
namespace {

// So many rows are kept before a number is used again: in a field of 22 bits the table must not grow with every start.
constexpr std::uint64_t kMostKnown = 1024;
// Who chooses at the same time should not choose the same: one of so many, and where that happened, of all.
constexpr std::uint64_t kFew = 16;

std::uint64_t one_of(std::uint64_t count, const WorkerChoice& choice) {
  return choice.random % (choice.is_crowded ? count : std::min(count, kFew));
}

// One of the values that are not in `known`. REQUIRES: there is one.
std::uint64_t new_value(const LeasedField& field, const std::set<std::uint64_t>& known, const WorkerChoice& choice) {
  std::uint64_t skip = one_of(field.size() - known.size(), choice);
  std::uint64_t value = 0;
  for (const std::uint64_t taken : known) {  // in order
    if (value + skip < taken) break;
    skip -= taken - value;
    value = taken + 1;
  }
  return value + skip;
}

std::set<std::uint64_t> known_values(const LeasedField& field, const std::vector<WindowInfo>& rows) {
  std::set<std::uint64_t> known;
  for (const WindowInfo& row : rows)
    if (field.has(row.worker)) known.insert(field.value_of(row.worker));
  return known;
}

[[noreturn, gnu::cold]] void throw_none_free(const std::string& name_space, const LeasedField& field,
                                             const std::vector<WindowInfo>& live, std::uint64_t far_ahead,
                                             std::int64_t max_ahead_ms) {
  constexpr std::size_t kShown = 3;
  std::string holders;
  std::int64_t next_ms = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (i < kShown) holders += (i > 0 ? ", " : "") + (live[i].holder.empty() ? "unknown" : live[i].holder);
    if (live[i].lease_left_ms > 0 && (next_ms == 0 || live[i].lease_left_ms < next_ms)) next_ms = live[i].lease_left_ms;
  }
  if (live.size() > kShown) holders += " and " + std::to_string(live.size() - kShown) + " more";
  std::string why = "no " + field.name + " of namespace " + in_quotes(name_space) + " is free: of " +
                    std::to_string(field.size()) + ", " + std::to_string(live.size()) + " have a live owner (" +
                    holders + ")";
  if (far_ahead > 0) {
    why += ", and " + std::to_string(far_ahead) + " are reserved more than " + std::to_string(max_ahead_ms) +
           " ms ahead of the clock (`idgen worker list`)";
  }
  if (next_ms > 0) why += ". The next lease ends in " + std::to_string(next_ms) + " ms, unless it is renewed";
  throw Error(Status::worker_busy,
              concat({why, ". Stop a process, use a layout with more bits for ", field.name, ", or another namespace"}),
              static_cast<std::uint64_t>(next_ms) * kNsPerMs);
}

}  // namespace

std::optional<std::uint64_t> choose_new_worker(const LeasedField& field, const std::vector<WindowInfo>& rows,
                                               const WorkerChoice& choice) {
  const std::set<std::uint64_t> known = known_values(field, rows);
  if (known.size() >= std::min(field.size(), kMostKnown)) return std::nullopt;
  return field.number(new_value(field, known, choice));
}

std::uint64_t choose_unused_worker(const std::string& name_space, const LeasedField& field,
                                   const std::vector<WindowInfo>& rows, const WorkerChoice& choice) {
  const std::set<std::uint64_t> known = known_values(field, rows);
  if (known.size() < field.size()) return field.number(new_value(field, known, choice));
  throw Error(Status::exhausted,
              concat({"all ", field.size(), " numbers for ", field.name, " of namespace ", quote(name_space),
                      " have been used, and worker_recycle = false. Set it to true (their windows keep "
                      "them apart), or use a layout with more bits for ",
                      field.name}));
}

std::uint64_t choose_worker(const std::string& name_space, const LeasedField& field,
                            const std::vector<WindowInfo>& rows, const WorkerChoice& choice) {
  std::vector<WindowInfo> live;
  std::vector<std::pair<std::int64_t, std::uint64_t>> free, by_name;  // when its time ends, number
  std::uint64_t far_ahead = 0;
  for (const WindowInfo& row : rows) {
    if (!field.has(row.worker)) continue;
    std::int64_t ahead_ms = 0;
    const bool is_far =
        __builtin_sub_overflow(row.hw_ms, choice.now_ms, &ahead_ms) ? row.hw_ms > 0 : ahead_ms > choice.max_ahead_ms;
    if (row.is_live) {
      live.push_back(row);
      if (row.is_by_name && !is_far) by_name.emplace_back(row.hw_ms, row.worker);
    } else if (is_far) {
      ++far_ahead;
    } else {
      free.emplace_back(row.hw_ms, row.worker);
    }
  }
  if (!free.empty()) {
    std::sort(free.begin(), free.end());
    return free[one_of(free.size(), choice)].second;
  }
  const std::set<std::uint64_t> known = known_values(field, rows);
  if (known.size() < field.size()) return field.number(new_value(field, known, choice));
  if (!by_name.empty()) {
    std::sort(by_name.begin(), by_name.end());
    return by_name[one_of(by_name.size(), choice)].second;
  }
  throw_none_free(name_space, field, live, far_ahead, choice.max_ahead_ms);
}

}  // namespace idgen
