// Writing by a pattern. Its other half, pattern.cpp, is compiled for size.
#include <chrono>
#include <cstring>

#include "idgen/pattern.hpp"
#include "idgen/status.hpp"
#include "text/checksum.hpp"
#include "text/systems.hpp"

namespace idgen {
namespace {

void put_padded(std::int32_t value, std::size_t size, char* out) noexcept {
  for (std::size_t i = size; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
}

std::int32_t day_of_year(const LocalTime& when) noexcept {
  using namespace std::chrono;
  const sys_days day = year{when.year} / when.month / when.day, first = year{when.year} / 1 / 1;
  return static_cast<std::int32_t>((day - first).count()) + 1;
}

}  // namespace

char* TextPattern::put_date(const Piece& piece, const LocalTime& when, char* out) noexcept {
  std::int32_t value = 0;
  switch (piece.letter) {
    case 'y':
      value = piece.size == 2 ? when.year % 100 : when.year;
      break;
    case 'M':
      value = when.month;
      break;
    case 'd':
      value = when.day;
      break;
    case 'D':
      value = day_of_year(when);
      break;
    case 'H':
      value = when.hour;
      break;
    case 'm':
      value = when.minute;
      break;
    default:
      value = when.second;
  }
  put_padded(value, piece.size, out);
  return out + piece.size;
}

void TextPattern::throw_too_large(std::string_view digits) const {
  throw Error(Status::value, concat({digits, " has ", digits.size(), " digits, and the pattern ", quote(text_),
                                     " holds ", width_, ". Widen it, or let it grow with a '+' behind the width"}));
}

char* TextPattern::put_number(Id128 number, unsigned id_bytes, char* out) const {
  char digits[kMostDigits];
  const bool is_wide = id_bytes == 16 && (width_ == 0 || number >> 64 != 0);
  std::size_t count = is_wide ? put_digits(number, encoding_, digits)
                              : put_digits(static_cast<std::uint64_t>(number), encoding_, digits);
  const char* from = digits;
  if (width_ != 0) {
    const char zero = system_of(encoding_).alphabet[0];
    while (count > 1 && *from == zero) ++from, --count;
    if (count > width_ && !widens_) throw_too_large({from, count});
    const std::size_t zeros = width_ > count ? width_ - count : 0;
    std::memset(out, zero, zeros);
    out += zeros;
  }
  std::memcpy(out, from, count);
  return out + count;
}

// Into a text that has all the rest.
void TextPattern::put_check(char* text, std::size_t number_size) const noexcept {
  const System& system = system_of(encoding_);
  Checksum sum;
  char* check = nullptr;
  for (const Piece& piece : pieces_) {
    const std::size_t size = piece.kind == Kind::number ? number_size : piece.size;
    if (piece.kind == Kind::check) check = text;
    if (piece.kind == Kind::date)
      for (std::size_t i = 0; i < size; ++i) sum.add(static_cast<unsigned>(text[i] - '0'));
    if (piece.kind == Kind::number)
      for (std::size_t i = 0; i < size; ++i) sum.add(system.value_of(text[i]));
    text += size;
  }
  std::uint8_t values[2];
  const std::size_t count = sum.digits(check_, static_cast<unsigned>(system.alphabet.size()), values);
  for (std::size_t i = 0; i < count; ++i) check[i] = system.alphabet[values[i]];
}

std::size_t TextPattern::write(Id128 number, unsigned id_bytes, const LocalTime& when, char* out) const {
  char* const begin = out;
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::literal:
        std::memcpy(out, piece.literal.data(), piece.size);
        out += piece.size;
        break;
      case Kind::date:
        out = put_date(piece, when, out);
        break;
      case Kind::number:
        out = put_number(number, id_bytes, out);
        break;
      case Kind::check:
        out += piece.size;
        break;
    }
  }
  const auto size = static_cast<std::size_t>(out - begin);
  if (has_check_) put_check(begin, size - others_);
  return size;
}

}  // namespace idgen
