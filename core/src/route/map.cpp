// From a table to what lookups read.
#include <algorithm>
#include <bit>

#include "idgen/router.hpp"
#include "idgen/text.hpp"

namespace idgen {

RouteMap::RouteMap(RouteTable table, std::vector<std::string> names, const RouteMap* older)
    : table_(std::move(table)), names_(std::move(names)), older_(older), version_(table_.version()) {
  cut();
  index();
}

// A piece ends where a range or a move begins or ends.
void RouteMap::cut() {
  const RouteData& data = table_.data();
  std::vector<std::uint32_t> number_of(data.shards.size());
  for (std::size_t i = 0; i < data.shards.size(); ++i) {
    number_of[i] = static_cast<std::uint32_t>(std::find(names_.begin(), names_.end(), data.shards[i]) - names_.begin());
  }
  auto move = data.moves.begin();
  std::uint32_t node = 0;
  for (const RouteRange& range : data.ranges) {
    while (node <= range.upto) {
      const bool in_move = move != data.moves.end() && move->first <= node;
      std::uint32_t end = range.upto;
      if (in_move) {
        end = std::min(end, move->last);
      } else if (move != data.moves.end()) {
        end = std::min(end, move->first - 1);
      }
      upto_.push_back(end);
      // share / 10000 of 1024, rounded up: so 0 is none, and anything above is at least one of 1024.
      pieces_.push_back({number_of[range.shard], in_move ? number_of[move->to] : Route::kNoShard,
                         in_move ? (move->share * (1u << GeneField::kMovedBits) + RouteTable::kWholeShare - 1) /
                                       RouteTable::kWholeShare
                                 : 0});
      if (in_move && end == move->last) ++move;
      node = end + 1;
    }
  }
}

void RouteMap::index() {
  const std::uint32_t bits = table_.data().bits;
  // Four buckets for each piece, so that most nodes are found at once; 4096 (16 KiB) at most.
  const auto wanted = static_cast<std::uint32_t>(std::bit_width(pieces_.size() - 1)) + 2;
  const std::uint32_t index_bits = std::min({bits, 12u, wanted});
  shift_ = bits - index_bits;
  first_of_.reserve((std::size_t{1} << index_bits) + 1);
  std::uint32_t piece = 0;
  for (std::uint32_t bucket = 0; bucket < 1u << index_bits; ++bucket) {
    while (upto_[piece] < bucket << shift_) ++piece;
    first_of_.push_back(piece);
  }
  first_of_.push_back(static_cast<std::uint32_t>(pieces_.size() - 1));
}

GeneField GeneField::of(const Layout& layout, std::uint32_t ring_bits) {
  const Field* field = layout.find(FieldKind::gene);
  if (field == nullptr) {
    throw Error(Status::value,
                concat({"the layout ", quote(layout.text()),
                        " has no gene, so its ids do not say which node they belong to; use a layout with "
                        "one, such as 'business64' or 'order'"}));
  }
  if (field->bits < ring_bits) {
    throw Error(Status::value,
                concat({"the ring has 2^", ring_bits, " nodes, and the gene of the layout ", quote(layout.text()),
                        " has only ", field->bits, " bits; set bits of the table to that, or to less"}));
  }
  return {field->shift, field->bits, (1u << ring_bits) - 1};
}

}  // namespace idgen
