// Texts and ids of a serial's pattern, for rows that hold what is written. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "calendar/period.hpp"
#include "idgen/pattern.hpp"
#include "idgen/text.hpp"

namespace idgen::module {

// Rows that do not hold a number of ours when they are new. Throws Error{unsupported}.
inline void refuse_above(std::uint64_t above) {
  if (above == 0) return;
  throw Error(Status::unsupported,
              "a tag of this segment.schema cannot be made above a number; make it, and raise it with `idgen segment "
              "advance` before anything draws");
}

class SerialText {
 public:
  // Throws Error{value}.
  explicit SerialText(const std::string& pattern) : pattern_(TextPattern::parse(pattern)) {
    if (pattern_.finest() > TimeUnit::hour || !pattern_.is_complete()) {
      throw Error(Status::value, concat({"pattern ", quote(pattern_.text()),
                                         ": a serial counts from 1 in each hour, day, month or year, and its date has "
                                         "all units above that one"}));
    }
    last_number_ = static_cast<std::uint64_t>(
        std::min<Id128>(pattern_.last_number(), has_date() ? kLastSerial : kLargestNumber - 1));
  }

  const TextPattern& pattern() const noexcept { return pattern_; }
  bool has_date() const noexcept { return pattern_.finest() != TimeUnit::none; }
  // The largest number that the pattern holds in a period.
  std::uint64_t last_number() const noexcept { return last_number_; }
  std::uint64_t period_begin(std::uint64_t id) const noexcept {
    return has_date() ? id >> kSerialBits << kSerialBits : 0;
  }
  std::uint64_t last_of(std::uint64_t id) const noexcept { return period_begin(id) + last_number_; }

  // REQUIRES: a number that the pattern holds.
  std::string write(std::uint64_t id) const {
    char out[TextPattern::kMostText];
    const LocalTime when = has_date() ? begin_of(id >> kSerialBits, pattern_.finest()) : LocalTime{};
    return {out, pattern_.write(id - period_begin(id), 8, when, out)};
  }
  // Throws Error{text}. The number may be 0: of a row that has come to this day, and has given it all back.
  std::uint64_t read(const std::string& text) const {
    const TextPattern::Read found = pattern_.read(text);
    if (found.number > last_number_ || (has_date() && found.when.year < 1970))
      throw Error(Status::text, concat({quote(text), " is no serial of the pattern ", quote(pattern_.text())}));
    const auto number = static_cast<std::uint64_t>(found.number);
    return has_date() ? period_of(found.when, pattern_.finest()) << kSerialBits | number : number;
  }

 private:
  const TextPattern pattern_;
  std::uint64_t last_number_ = 0;
};

}  // namespace idgen::module
