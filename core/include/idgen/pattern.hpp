// Patterns: how people write an id. "ORD-{base62:11}-{check}", "SO{yyyyMMdd}{000000}". The grammar is in docs/text.md.
// Pure: what is written is a number and a moment by somebody's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "idgen/text.hpp"
#include "idgen/wide_id.hpp"

namespace idgen {

// By the clocks of one place. What a pattern does not write stays at its first value.
struct LocalTime {
  std::int32_t year = 1970;  // 0 to 9999
  std::int32_t month = 1;
  std::int32_t day = 1;
  std::int32_t hour = 0;
  std::int32_t minute = 0;
  std::int32_t second = 0;
  bool operator==(const LocalTime&) const = default;
};

// From the longest to the shortest. The values are IDGEN_UNIT_* of idgen.h.
enum class TimeUnit : std::int32_t { none = 0, year = 1, month = 2, day = 3, hour = 4, minute = 5, second = 6 };

class TextPattern {
 public:
  static constexpr std::size_t kMostBytes = 128;  // of a pattern
  static constexpr std::size_t kMostText = 192;   // bytes of what it writes

  // Throws Error{value} with the reason and the position.
  static TextPattern parse(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  // The same without the number's width. Two patterns of one shape write a number, if they both hold it, in texts that
  // differ in zeros only.
  const std::string& shape() const noexcept { return shape_; }
  // The shortest unit of its date; none if it has no date.
  TimeUnit finest() const noexcept { return finest_; }
  // It also has all units above that one. So the date is another one in each such period, of a century with {yy}.
  bool is_complete() const noexcept { return is_complete_; }
  bool has_century() const noexcept { return has_century_; }
  bool has_year() const noexcept { return has_year_; }
  // Its number has no width: it is as wide as the encoding's, and ids of 16 bytes have another one than those of 8.
  bool is_natural() const noexcept { return width_ == 0; }
  // The largest number that it holds, if it does not widen.
  Id128 last_number() const noexcept { return last_number_; }

  // The length of its longest text.
  std::size_t most_bytes() const noexcept { return most_bytes_; }

  // Writes at most kMostText bytes, without a NUL, and returns how many. Throws Error{value} if the number, an id of so
  // many bytes, has more digits than the pattern holds.
  std::size_t write(Id128 number, unsigned id_bytes, const LocalTime& when, char* out) const;

  struct Read {
    Id128 number = 0;
    unsigned id_bytes = 8;  // 16: it has the length that ids of 16 bytes have, or does not fit into 8
    LocalTime when{};
  };
  // Throws Error{text}, with the position in characters, if write() writes no such text. Where the encoding's letters
  // may be read in either case, they are.
  Read read(std::string_view text) const;

 private:
  enum class Kind : std::uint8_t { literal, date, number, check };
  enum class Check : std::uint8_t { luhn, mod11_10, mod97_10 };
  struct Piece {
    Kind kind = Kind::literal;
    char letter = 0;       // of a date: y, M, d, D, H, m, s
    std::size_t size = 0;  // of a number without a width: 0
    std::string literal{};
  };
  class Parser;
  class Reader;
  class Checksum;

  static char* put_date(const Piece& piece, const LocalTime& when, char* out) noexcept;
  char* put_number(Id128 number, unsigned id_bytes, char* out) const;
  void put_check(char* text, std::size_t number_size) const noexcept;
  [[noreturn, gnu::cold]] void throw_too_large(std::string_view digits) const;

  std::string text_, shape_;
  std::vector<Piece> pieces_;
  Encoding encoding_ = Encoding::decimal;
  unsigned width_ = 0;   // 0: as ids are written without a pattern
  bool widens_ = false;  // beyond the width
  Check check_ = Check::luhn;
  bool has_check_ = false;
  std::size_t most_bytes_ = 0;
  std::size_t others_ = 0;  // bytes of all pieces but the number
  TimeUnit finest_ = TimeUnit::none;
  bool is_complete_ = true;
  bool has_century_ = false, has_year_ = false;
  Id128 last_number_ = ~Id128{0};
};

}  // namespace idgen
