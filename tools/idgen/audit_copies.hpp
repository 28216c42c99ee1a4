// The second look at the dumps: where the copies of some duplicated ids stand, and what stands beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "audit_input.hpp"

namespace idgen_tool {

struct Copy {
  std::uint64_t ordinal = 0;  // among the ids of all dumps, from 0
  std::size_t dump = 0;
  std::uint64_t row = 0;
  std::uint64_t before = 0;  // the ids beside it
  std::uint64_t after = 0;
  bool has_after = false;
  std::string rest{};     // of its record, without the id; of CSV with more columns
  std::string process{};  // of the columns that were named
  std::string time{};
};

// A record's other columns.
struct RowParts {
  std::string rest{};
  std::string process{};
  std::string time{};
};
using SplitRow = std::function<RowParts(std::string_view record)>;

class CopyFinder {
 public:
  static constexpr std::size_t kCopies = 8;  // of one id
  explicit CopyFinder(const std::vector<std::uint64_t>& ids);
  void begin_dump() { ++dumps_; }
  void add(const IdBlock& block, const SplitRow& split);
  // In the order of the dumps.
  const std::vector<Copy>& copies_of(std::uint64_t id) const { return found_.at(id); }

 private:
  static constexpr unsigned kFilterBits = 20;
  static std::size_t place_in_filter(std::uint64_t id) noexcept {
    return static_cast<std::size_t>(id * 0x9E3779B97F4A7C15U >> (64 - kFilterBits));
  }
  std::unordered_map<std::uint64_t, std::vector<Copy>> found_;
  std::vector<bool> filter_;  // most ids are not looked up
  std::uint64_t ordinal_ = 0;
  std::size_t dumps_ = 0;
  std::uint64_t last_ = 0;
  Copy* open_ = nullptr;  // which lacks the id after it
};

}  // namespace idgen_tool
