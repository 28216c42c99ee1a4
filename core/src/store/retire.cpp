// The end of a tag: nobody draws from it again.
#include "idgen/concat.hpp"
#include "idgen/store.hpp"
#include "store/grant_rules.hpp"

namespace idgen {

SegmentInfo retire_segment(Store& store, const std::string& name_space, const std::string& tag) {
  constexpr int kMostTries = 100;
  const std::string retired_at = "retired at ";
  SegmentInfo row = store.segment_show(name_space, tag);
  for (int i = 0; row.max_id < kLargestNumber && i < kMostTries; ++i) {
    const std::uint64_t left = kLargestNumber - row.max_id;
    try {
      // One grant of all that is left: what it begins above is where the tag ended, whoever draws at the same time.
      const SegmentGrant rest = store.segment_grant(
          name_space, tag,
          {.step = left, .wanted = left, .rate = 0, .holder = retired_at + std::to_string(row.max_id)});
      row.max_id = (rest.first - 1) * rest.stride + rest.offset;
      return row;
    } catch (const Error& error) {
      if (error.status() != Status::exhausted) throw;
      row = store.segment_show(name_space, tag);  // somebody has drawn since
    }
  }
  const bool is_drawn_from = row.max_id < kLargestNumber;
  throw Error(Status::exhausted,
              concat({tag_name(name_space, tag),
                      is_drawn_from ? " is being drawn from too fast to be retired; nothing was changed"
                      : row.holder.starts_with(retired_at) ? " was "
                                                           : " has no numbers left, or was retired before",
                      !is_drawn_from && row.holder.starts_with(retired_at) ? row.holder : ""}));
}

}  // namespace idgen
