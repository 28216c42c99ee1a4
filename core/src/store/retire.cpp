// The end of a tag: nobody draws from it again.
#include <optional>

#include "idgen/concat.hpp"
#include "idgen/store.hpp"
#include "store/grant_rules.hpp"

namespace idgen {

SegmentInfo retire_segment(Store& store, const std::string& name_space, const std::string& tag) {
  constexpr int kMostTries = 100;
  constexpr std::string_view kRetired = "retired at ";
  SegmentInfo row = store.segment_show(name_space, tag);
  const bool was_retired = row.holder.starts_with(kRetired);
  std::string holder = row.holder;
  std::optional<std::uint64_t> end;
  std::uint64_t reserved = 0;  // the last number, which a counter that holds the next free one never grants
  for (int i = 0; row.max_id + reserved < kLargestNumber && i < kMostTries; ++i) {
    const std::uint64_t left = kLargestNumber - reserved - row.max_id;
    if (!end && !was_retired) holder = concat({kRetired, row.max_id});
    try {
      // One grant of all that is left: what it begins above is where the tag ended, whoever draws at the same time.
      const SegmentGrant rest = store.segment_grant(name_space, tag, {.step = left, .wanted = left, .holder = holder});
      row.max_id = rest.first + rest.count - 1;
      if (rest.stride != 1) {
        store.segment_return(name_space, tag, row.max_id, rest.count);
        throw Error(Status::unsupported,
                    concat({tag_name(name_space, tag), ": its row has a stride of ", rest.stride,
                            ", and the others of its numbers go on; end it in the database, by hand"}));
      }
      if (!end) end = rest.first - 1;
      reserved = 0;  // it may end too low, too, if somebody has given numbers back since the look: then once more
    } catch (const Error& error) {
      if (error.status() != Status::exhausted) throw;
      const std::uint64_t before = row.max_id;
      row = store.segment_show(name_space, tag);  // somebody has drawn since
      if (row.max_id != before) continue;
      if (end && reserved == 1) break;  // less than the row's step, which nobody is granted
      reserved = 1 - reserved;
    }
  }
  if (end && !was_retired) {
    row.max_id = *end;
    return row;
  }
  throw Error(Status::exhausted, concat({tag_name(name_space, tag),
                                         was_retired || row.holder.starts_with(kRetired) ? " was "
                                         : row.max_id + reserved < kLargestNumber
                                             ? " is being drawn from too fast to be retired; nothing was changed"
                                             : " has no numbers left, or was retired before",
                                         row.holder.starts_with(kRetired) ? row.holder
                                         : was_retired                    ? holder
                                                                          : ""}));
}

}  // namespace idgen
