// How ids are written: by a pattern, whose date is the id's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "idgen/config.hpp"
#include "idgen/layout.hpp"
#include "idgen/pattern.hpp"
#include "idgen/status.hpp"
#include "idgen/zone.hpp"

namespace idgen {

// An id that was read.
struct TextParts {
  WideId id;
  Id128 number = 0;                  // as it stands in the text: the id itself, but for a serial
  TimeUnit finest = TimeUnit::none;  // of `when`
  LocalTime when{};                  // the date in the text; what is not there, at its first value
};

// Where the latest period that was asked for begins: serials are of one period for a long time. In one word, so that no
// lock is needed.
class LatestPeriod {
 public:
  LatestPeriod() = default;
  LatestPeriod(const LatestPeriod&) noexcept {}
  LatestPeriod& operator=(const LatestPeriod&) = delete;
  LocalTime begin(std::uint64_t period, TimeUnit unit) const noexcept;

 private:
  mutable std::atomic<std::uint64_t> known_{0};
};

// Threads: any.
class TextForm {
 public:
  // Ids of a layout, or of any. A date is that of the id's time in the zone, so it needs a layout with time. Throws
  // Error{value} for a pattern or zone that is none, Error{unsupported} for a date without time.
  TextForm(std::string_view pattern, std::shared_ptr<const Zone> zone, std::optional<Layout> layout);
  // Ids of kind = serial: a period of the pattern's date, and a number in it; see calendar/period.hpp. Throws
  // Error{value} if two periods could be written alike.
  static TextForm of_serials(std::string_view pattern, std::shared_ptr<const Zone> zone);
  // Of a generator: the properties pattern, zone, layout and kind. Without a pattern: decimal.
  static TextForm of(const Config& config);

  const TextPattern& pattern() const noexcept { return pattern_; }
  const std::shared_ptr<const Zone>& zone() const noexcept { return zone_; }
  bool is_serial() const noexcept { return is_serial_; }

  // At most TextPattern::kMostText bytes, without a NUL. Throws Error{value} for an id that the pattern does not hold,
  // or that is none of the layout.
  std::size_t write(const WideId& id, char* out) const;
  // Throws Error{text} if no id is written so: also if the date is not that of the id.
  TextParts read(std::string_view text) const;

 private:
  TextForm(TextPattern pattern, std::shared_ptr<const Zone> zone, std::optional<Layout> layout, bool is_serial);
  LocalTime time_of(const WideId& id) const;
  [[noreturn, gnu::cold]] void refuse(Status status, std::initializer_list<Part> why) const;

  const TextPattern pattern_;
  const std::shared_ptr<const Zone> zone_;
  const std::optional<Layout> layout_;
  const bool is_serial_;
  const LatestPeriod latest_{};
};

}  // namespace idgen
