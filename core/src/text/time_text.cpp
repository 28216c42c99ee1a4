// Instants (RFC 3339) and durations as text. Calendar arithmetic is std::chrono's.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>

#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::sys_days;
using SysMillis = std::chrono::sys_time<milliseconds>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// ------------------------------------------------------------------------------------------------ instants

constexpr SysMillis kFirst = sys_days{std::chrono::year{0} / 1 / 1};
constexpr SysMillis kLast = sys_days{std::chrono::year{10000} / 1 / 1} - milliseconds{1};

[[noreturn]] void bad_instant(std::string_view text, const std::string& reason) {
  throw Error(Status::value,
              concat({in_quotes(text), " is not an instant: ", reason,
                      "; write it like 2025-01-01T00:00:00Z, 2025-01-01T08:00:00.250+08:00 or as Unix ms"}));
}

void append_padded(std::string& out, int value, std::size_t width) {
  const std::string digits = std::to_string(value);
  out.append(width - digits.size(), '0').append(digits);
}

// Parses an instant from left to right.
class InstantReader {
 public:
  explicit InstantReader(std::string_view text) : text_(text) {}

  std::int64_t read() {
    const int year = number(4, "a year of four digits");
    literal("-");
    const int month = number(2, "a month of two digits");
    literal("-");
    const int day = number(2, "a day of two digits");
    literal("Tt ");
    const int hour = number(2, "an hour of two digits");
    literal(":");
    const int minute = number(2, "a minute of two digits");
    literal(":");
    const int second = number(2, "a second of two digits");
    const int ms = fraction();
    const int offset_minutes = offset();
    if (at_ < text_.size()) bad_instant(text_, "something follows it at position " + std::to_string(at_));

    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) bad_instant(text_, "the calendar has no such day");
    if (hour > 23 || minute > 59) bad_instant(text_, "hours are 00 to 23, minutes 00 to 59");
    if (second == 60) bad_instant(text_, "Unix time has no leap second");
    if (second > 59) bad_instant(text_, "seconds are 00 to 59");
    const SysMillis instant = sys_days{date} + std::chrono::hours{hour} +
                              std::chrono::minutes{minute - offset_minutes} + std::chrono::seconds{second} +
                              milliseconds{ms};
    return instant.time_since_epoch().count();
  }

 private:
  bool digit_here() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }

  int number(int digits, const char* wanted) {
    int value = 0;
    const std::size_t start = at_;
    for (int i = 0; i < digits; ++i, ++at_) {
      if (!digit_here())
        bad_instant(text_, "expected " + std::string(wanted) + " at position " + std::to_string(start));
      value = value * 10 + (text_[at_] - '0');
    }
    return value;
  }

  char literal(std::string_view allowed) {
    if (at_ >= text_.size() || allowed.find(text_[at_]) == std::string_view::npos) {
      bad_instant(text_, "expected " + in_quotes(allowed.substr(0, 1)) + " at position " + std::to_string(at_));
    }
    return text_[at_++];
  }

  int fraction() {
    if (at_ >= text_.size() || text_[at_] != '.') return 0;
    ++at_;
    if (!digit_here()) bad_instant(text_, "expected a digit at position " + std::to_string(at_));
    int ms = 0;
    for (int worth = 100; digit_here(); ++at_, worth /= 10) ms += (text_[at_] - '0') * worth;
    return ms;
  }

  int offset() {
    if (at_ >= text_.size()) bad_instant(text_, "it lacks an offset such as Z or +08:00");
    const char sign = text_[at_];
    if (sign != '+' && sign != '-' && sign != 'Z' && sign != 'z') {
      bad_instant(text_, "expected Z or an offset such as +08:00 at position " + std::to_string(at_));
    }
    ++at_;
    if (sign == 'Z' || sign == 'z') return 0;
    const int hours = number(2, "an offset's hours in two digits");
    literal(":");
    const int minutes = number(2, "an offset's minutes in two digits");
    if (hours > 23 || minutes > 59) bad_instant(text_, "offsets are -23:59 to +23:59");
    return (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// ----------------------------------------------------------------------------------------------- durations

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
// From the largest, so that the first one that divides a duration gives its shortest form.
constexpr std::array<Unit, 6> kUnits = {{{"y", 31557600000},  // 365.25 days
                                         {"d", 86400000},
                                         {"h", 3600000},
                                         {"m", 60000},
                                         {"s", 1000},
                                         {"ms", 1}}};

[[noreturn]] void bad_duration(std::string_view text, const std::string& reason) {
  throw Error(Status::value,
              concat({in_quotes(text), " is not a duration: ", reason,
                      "; write a whole number and ms, s, m, h, d or y (365.25 days), like 250ms or 10s"}));
}

}  // namespace

std::string format_instant(std::int64_t unix_ms) {
  SysMillis instant{milliseconds{unix_ms}};
  if (instant < kFirst) instant = kFirst;
  if (instant > kLast) instant = kLast;
  const sys_days day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{instant - day};
  std::string out;
  append_padded(out, static_cast<int>(date.year()), 4);
  append_padded(out += '-', static_cast<int>(static_cast<unsigned>(date.month())), 2);
  append_padded(out += '-', static_cast<int>(static_cast<unsigned>(date.day())), 2);
  append_padded(out += 'T', static_cast<int>(time.hours().count()), 2);
  append_padded(out += ':', static_cast<int>(time.minutes().count()), 2);
  append_padded(out += ':', static_cast<int>(time.seconds().count()), 2);
  append_padded(out += '.', static_cast<int>(time.subseconds().count()), 3);
  return out += 'Z';
}

std::int64_t parse_instant(std::string_view text) {
  if (text.empty()) bad_instant(text, "it is empty");
  const std::string_view digits = text.substr(text[0] == '-' ? 1 : 0);
  if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t ms = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), ms).ec != std::errc{}) {
      bad_instant(text, "Unix ms must fit 64 bits with a sign");
    }
    if (ms > 0 && digits.size() >= 8 && digits.size() <= 11) {
      bad_instant(text, "as Unix ms it would be " + format_instant(ms) +
                            ", so it may be a date, or Unix seconds, which " + "lack 000 at the end");
    }
    return ms;
  }
  return InstantReader(text).read();
}

std::int64_t parse_duration_ms(std::string_view text) {
  if (text.empty()) bad_duration(text, "it is empty");
  if (text[0] == '-') bad_duration(text, "it is negative");
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (end == 0) bad_duration(text, "it does not begin with a digit");
  const std::string_view name = end < text.size() ? text.substr(end) : "ms";
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    std::int64_t count = 0;
    if (std::from_chars(text.data(), text.data() + end, count).ec != std::errc{} || count > kMax / unit.ms) {
      bad_duration(text, "the longest is " + std::to_string(kMax) + "ms");
    }
    return count * unit.ms;
  }
  bad_duration(text, in_quotes(name) + " is not a unit");
}

std::string format_duration_ms(std::int64_t ms) {
  if (ms != 0) {
    for (const Unit& unit : kUnits) {
      if (ms % unit.ms == 0) return std::to_string(ms / unit.ms).append(unit.name);
    }
  }
  return "0ms";
}

}  // namespace idgen
