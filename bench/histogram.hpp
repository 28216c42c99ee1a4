// Latencies in ns, exact below 128 and within 1 % above: 7 bits after the leading one.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace bench {

class Histogram {
 public:
  void add(std::uint64_t ns) {
    ++counts_[bucket(ns)];
    ++total_;
    if (ns > max_) max_ = ns;
  }

  // The smallest value that `share` of all values do not exceed, to the width of its bucket.
  double percentile(double share) const {
    const double wanted = share * static_cast<double>(total_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (static_cast<double>(seen) >= wanted && seen > 0) return static_cast<double>(lowest(i));
    }
    return static_cast<double>(max_);
  }
  double max() const { return static_cast<double>(max_); }
  std::uint64_t total() const { return total_; }

 private:
  static constexpr unsigned kBits = 7;

  static std::size_t bucket(std::uint64_t ns) {
    const auto width = static_cast<unsigned>(std::bit_width(ns));
    if (width <= kBits + 1) return ns;
    const unsigned shift = width - kBits - 1;
    return (std::size_t{shift} << kBits) + (ns >> shift);
  }
  static std::uint64_t lowest(std::size_t bucket) {
    if (bucket < 2u << kBits) return bucket;
    const std::size_t shift = (bucket >> kBits) - 1;
    return (bucket - (shift << kBits)) << shift;
  }

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>((64 - kBits + 1) << kBits);
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace bench
