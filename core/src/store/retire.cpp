// The end of a tag: nobody draws from it again.
#include <chrono>
#include <optional>

#include "idgen/concat.hpp"
#include "idgen/store.hpp"
#include "store/grant_rules.hpp"

namespace idgen {

SegmentInfo retire_segment(SegmentStore& store, const std::string& name_space, const std::string& tag,
                           std::chrono::milliseconds wait_max) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + wait_max;
  constexpr std::string_view kRetired = "retired at ";
  SegmentInfo row = store.segment_show(name_space, tag);
  bool was_retired = row.holder.starts_with(kRetired);
  std::string holder = row.holder;
  bool may_end = was_retired;
  std::uint64_t mark = row.max_id;   // nobody has a number above it
  std::optional<std::uint64_t> end;  // the mark, once the rest is taken
  bool is_busy = false;
  std::uint64_t reserved = 0;  // the last number, which a counter that holds the next free one never grants
  while (row.max_id + reserved < kLargestNumber) {
    const std::uint64_t left = kLargestNumber - reserved - row.max_id;
    try {
      if (!may_end) {
        // A grant as any other, which is burned. It says whether there is a stride, before all is taken. And after it
        // nobody gives back what was granted before: then all that is left would be less than all.
        const SegmentGrant any = store.segment_grant(name_space, tag, {.step = 1, .wanted = 1, .holder = holder});
        if (any.stride != 1) {
          throw Error(Status::unsupported,
                      concat({tag_name(name_space, tag), ": its row has a stride of ", any.stride,
                              ", and the others of its numbers go on; end it in the database, by hand"}));
        }
        mark = any.first - 1;
        row.max_id = mark + any.count;
        may_end = true;
        continue;
      }
      if (!end && !was_retired) holder = concat({kRetired, mark});
      // One grant of all that is left, and so refused if somebody has drawn since the look.
      const SegmentGrant rest = store.segment_grant(name_space, tag, {.step = left, .wanted = left, .holder = holder});
      row.max_id = rest.first + rest.count - 1;
      if (!end) end = mark;
      reserved = 0;  // it may end too low, too, if somebody has given numbers back since the look: then once more
    } catch (const Error& error) {
      if (error.status() != Status::exhausted) throw;
      const std::uint64_t before = row.max_id;
      row = store.segment_show(name_space, tag);  // somebody has drawn since
      if (!end && row.max_id != before) mark = row.max_id;
      if (!end && row.holder.starts_with(kRetired)) {  // another one retires it, and knows better where it ended
        was_retired = true;
        holder = row.holder;
      }
      const bool is_late = Clock::now() >= deadline;
      if (row.max_id != before) {
        is_busy = is_late && !end && !was_retired;  // what may be left once the end is set is little: others draw it up
        if (is_busy) break;
        continue;
      }
      // Less than the row's step, which nobody is granted.
      if (reserved == 1 && (end || row.step > left || is_late)) break;
      reserved = 1 - reserved;
    }
  }
  if (end && !was_retired) {
    row.max_id = *end;
    return row;
  }
  throw Error(is_busy ? Status::store_unavailable : Status::exhausted,
              concat({tag_name(name_space, tag),
                      is_busy ? ": others drew from it without a pause, for all of wait_max; it goes on. Try again, "
                                "or raise wait_max"
                      : was_retired ? " was "
                                    : " has no numbers left, or was retired before",
                      was_retired ? std::string_view(holder) : std::string_view()}));
}

}  // namespace idgen
