// How the ids of a dump are compared: as keys, in which worker comes before time and time before sequence. Sorted keys
// then are one worker after the other, each in the order in which it issued. Numbers without a layout are their own
// keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "handles.hpp"

namespace idgen_tool {

class IdSpace {
 public:
  // Plain numbers.
  IdSpace() = default;
  // Throws UsageError for a layout of 16 bytes.
  explicit IdSpace(const Layout& layout);

  bool has_time() const noexcept { return tick_ms_ > 0; }
  bool has_nodes() const noexcept { return node_bits_ > 0; }
  unsigned node_bits() const noexcept { return node_bits_; }
  // How many bits of a key say the place; above are those of the node.
  unsigned place_bits() const noexcept { return node_shift_; }
  // Bits that are the same in all ids, and what these have there: 0 beyond the layout, and its constant.
  std::uint64_t outside() const noexcept { return outside_; }
  std::uint64_t constant() const noexcept { return constant_; }
  const std::string& title() const noexcept { return title_; }
  std::int64_t epoch_unix_ms() const noexcept { return epoch_unix_ms_; }
  std::int64_t tick_ms() const noexcept { return tick_ms_; }
  std::uint64_t ids_per_tick() const noexcept { return ids_per_tick_; }

  std::uint64_t key_of(std::uint64_t id) const noexcept;
  std::uint64_t id_of(std::uint64_t key) const noexcept;
  void keys_of(const std::uint64_t* ids, std::size_t count, std::uint64_t* keys) const noexcept;

  std::uint64_t node_of(std::uint64_t key) const noexcept { return node_bits_ == 0 ? 0 : key >> node_shift_; }
  // What rises from id to id of one worker.
  std::uint64_t place_of(std::uint64_t key) const noexcept { return key & place_mask_; }
  // Of a place or a key; only if there is a time.
  std::uint64_t tick_of(std::uint64_t key) const noexcept { return (key & place_mask_) >> tick_shift_; }
  std::uint64_t tick_and_node_of(std::uint64_t key) const noexcept { return key >> tick_shift_; }
  std::int64_t unix_ms_of(std::uint64_t tick) const noexcept {
    return epoch_unix_ms_ + static_cast<std::int64_t>(tick) * tick_ms_;
  }
  // The tick that holds this instant; 0 before the epoch.
  std::uint64_t tick_at(std::int64_t unix_ms) const noexcept;
  // "worker 7", "datacenter 1 worker 3"; "" for plain numbers.
  std::string name_of(std::uint64_t node) const;

 private:
  struct Move {
    unsigned from;  // shift in the id
    unsigned to;    // shift in the key
    std::uint64_t mask;
  };
  struct NodeField {
    std::string name;
    unsigned shift;
    unsigned bits;
  };
  std::vector<Move> moves_;  // none: the id is the key
  std::vector<NodeField> nodes_;
  std::uint64_t outside_ = 0;
  std::uint64_t constant_ = 0;
  std::uint64_t place_mask_ = UINT64_MAX;
  unsigned node_bits_ = 0;
  unsigned node_shift_ = 0;
  unsigned tick_shift_ = 0;
  std::int64_t epoch_unix_ms_ = 0;
  std::int64_t tick_ms_ = 0;
  std::uint64_t ids_per_tick_ = 0;
  std::string title_;
};

}  // namespace idgen_tool
