#include "audit_space.hpp"

#include <algorithm>
#include <cstring>

#include "failure.hpp"
#include "layout_fields.hpp"

namespace idgen_tool {
namespace {

constexpr std::uint32_t kNodes = IDGEN_FIELD_DATACENTER | IDGEN_FIELD_WORKER | IDGEN_FIELD_PROCESS | IDGEN_FIELD_SHARD;

// From the key's top: who issued, then what rises, then what an owner or a key adds.
unsigned rank_of(std::uint32_t kind) {
  if (kind & kNodes) return 0;
  if (kind == IDGEN_FIELD_TIME) return 1;
  if (kind == IDGEN_FIELD_SEGMENT || kind == IDGEN_FIELD_SEQUENCE) return 2;
  return 3;
}

}  // namespace

IdSpace::IdSpace(const Layout& layout) {
  const idgen_layout_info_t info = info_of(layout);
  if (info.bits > 64)
    throw UsageError("ids of 16 bytes cannot be audited: " + title_of(info) + " has " + std::to_string(info.bits) +
                     " bits");
  title_ = title_of(info);
  outside_ = info.bits == 64 ? 0 : ~largest(info.bits);
  epoch_unix_ms_ = info.epoch_unix_ms;
  tick_ms_ = info.tick_ms;
  ids_per_tick_ = info.ids_per_tick;
  std::vector<idgen_field_t> fields = fields_of(layout, info);
  std::ranges::stable_sort(fields, {}, [](const idgen_field_t& field) { return rank_of(field.kind); });
  unsigned left = info.bits;
  for (const idgen_field_t& field : fields) {
    left -= field.bits;
    moves_.push_back({field.shift, left, largest(field.bits)});
    if (field.kind & kNodes) {
      node_bits_ += field.bits;
      node_shift_ = left;
    }
    if (field.kind == IDGEN_FIELD_TIME) tick_shift_ = left;
    if (field.kind == IDGEN_FIELD_FIXED && std::strchr(info.text, '=') != nullptr) {
      outside_ |= largest(field.bits) << field.shift;
      const idgen_parts_t none = IDGEN_PARTS_INIT;
      ErrorSlot error;
      check(idgen_layout_encode(layout.get(), &none, &constant_, error), error);
    }
  }
  for (std::size_t i = 0; i < fields.size() && (fields[i].kind & kNodes); ++i)
    nodes_.push_back({fields[i].name, moves_[i].to - node_shift_, fields[i].bits});
  if (node_bits_ > 0) place_mask_ = largest(node_shift_);
}

std::uint64_t IdSpace::key_of(std::uint64_t id) const noexcept {
  if (moves_.empty()) return id;
  std::uint64_t key = 0;
  for (const Move& move : moves_) key |= (id >> move.from & move.mask) << move.to;
  return key;
}

std::uint64_t IdSpace::id_of(std::uint64_t key) const noexcept {
  if (moves_.empty()) return key;
  std::uint64_t id = 0;
  for (const Move& move : moves_) id |= (key >> move.to & move.mask) << move.from;
  return id;
}

// Field by field, so that the compiler turns each into a loop over vectors.
void IdSpace::keys_of(const std::uint64_t* ids, std::size_t count, std::uint64_t* keys) const noexcept {
  if (moves_.empty()) {
    std::copy_n(ids, count, keys);
    return;
  }
  constexpr std::size_t kPiece = 1024;  // stays in the first cache
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    const std::size_t n = std::min(kPiece, count - begin);
    const std::uint64_t* const in = ids + begin;
    std::uint64_t* const out = keys + begin;
    for (const Move& move : moves_) {
      const bool is_first = &move == moves_.data();
      if (is_first) {
        for (std::size_t i = 0; i < n; ++i) out[i] = (in[i] >> move.from & move.mask) << move.to;
      } else {
        for (std::size_t i = 0; i < n; ++i) out[i] |= (in[i] >> move.from & move.mask) << move.to;
      }
    }
  }
}

std::uint64_t IdSpace::tick_at(std::int64_t unix_ms) const noexcept {
  if (unix_ms <= epoch_unix_ms_ || tick_ms_ == 0) return 0;
  return static_cast<std::uint64_t>(unix_ms - epoch_unix_ms_) / static_cast<std::uint64_t>(tick_ms_);
}

std::string IdSpace::name_of(std::uint64_t node) const {
  std::string out;
  for (const NodeField& field : nodes_)
    out += (out.empty() ? "" : " ") + field.name + ' ' + std::to_string(node >> field.shift & largest(field.bits));
  return out;
}

}  // namespace idgen_tool
