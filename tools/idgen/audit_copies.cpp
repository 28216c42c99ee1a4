#include "audit_copies.hpp"

namespace idgen_tool {

CopyFinder::CopyFinder(const std::vector<std::uint64_t>& ids) : filter_(std::size_t{1} << kFilterBits) {
  found_.reserve(ids.size());
  for (const std::uint64_t id : ids) {
    found_.try_emplace(id);
    filter_[place_in_filter(id)] = true;
  }
}

void CopyFinder::add(const IdBlock& block, const SplitRow& split) {
  for (std::size_t i = 0; i < block.count; ++i) {
    const std::uint64_t id = block.ids[i];
    if (open_) {
      open_->after = id;
      open_->has_after = true;
      open_ = nullptr;
    }
    if (filter_[place_in_filter(id)]) {
      const auto found = found_.find(id);
      if (found != found_.end() && found->second.size() < kCopies) {
        Copy copy{.ordinal = ordinal_ + i,
                  .dump = dumps_ - 1,
                  .row = block.row_of(i),
                  .before = i > 0 ? block.ids[i - 1] : last_};
        if (!block.texts.empty() && split) {
          RowParts parts = split(block.texts[i]);
          copy.rest = std::move(parts.rest);
          copy.process = std::move(parts.process);
          copy.time = std::move(parts.time);
        }
        // An element's address outlasts the map's growth, and a vector grows only when its id is found again.
        open_ = &found->second.emplace_back(std::move(copy));
      }
    }
  }
  ordinal_ += block.count;
  if (block.count > 0) last_ = block.ids[block.count - 1];
}

}  // namespace idgen_tool
