// Text forms: of ids (decimal, hex, Crockford base 32, base 58, base 62), of instants (RFC 3339) and of durations.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "idgen/concat.hpp"
#include "idgen/wide_id.hpp"

namespace idgen {

// The values are IDGEN_TEXT_* of idgen.h.
enum class Encoding : std::int32_t { decimal = 0, hex = 1, crockford = 2, base58 = 3, base62 = 4 };

// All but decimal have a fixed width (16, 13, 11, 11 characters) and an alphabet in ASCII order, so that they sort like
// the ids. Decimal texts of different lengths do not.
std::string format_id(std::uint64_t id, Encoding encoding);
// Throws Error{text} on a foreign digit, an overflow or a wrong length, naming the position (from 0).
std::uint64_t parse_id(std::string_view text, Encoding encoding);

// The same for ids of either length. Those of 16 bytes have 39 digits in decimal, with zeros in front, 32 in hex, 26,
// 22 and 22: the length of the text tells them apart too.
std::string format_wide_id(const WideId& id, Encoding encoding);
WideId parse_wide_id(std::string_view text, Encoding encoding);

// What the two format functions do, fast: writes the digits where there is room for kMostDigits, without a NUL, and
// returns how many. REQUIRES: the encoding is one of them.
constexpr std::size_t kMostDigits = 39;
std::size_t put_digits(std::uint64_t id, Encoding encoding, char* out) noexcept;
std::size_t put_digits(Id128 id, Encoding encoding, char* out) noexcept;
inline std::size_t put_digits(const WideId& id, Encoding encoding, char* out) noexcept {
  return id.bytes == 16 ? put_digits(id.value, encoding, out)
                        : put_digits(static_cast<std::uint64_t>(id.value), encoding, out);
}

// "2026-11-21T07:36:36.123Z", years 0000 to 9999 (clamped). Proleptic Gregorian, no leap seconds.
std::string format_instant(std::int64_t unix_ms);
// RFC 3339 with any offset, fraction to ms (further digits are dropped), or a bare number of Unix ms. Throws
// Error{value}.
std::int64_t parse_instant(std::string_view text);

// "250ms", "10s", "5m", "2h", "1d", "3y" (365.25 days), or a bare number of ms. Not negative. Throws Error{value}.
std::int64_t parse_duration_ms(std::string_view text);
// The shortest exact form of the above.
std::string format_duration_ms(std::int64_t ms);

// Of ASCII; what is no capital letter stays as it is.
char lower(char c) noexcept;

// Edit distance, for "did you mean": small is near. Swapping two neighbours counts once; a text of over 64 bytes is
// near nothing.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The name that a misspelt text probably means, in either case; "" if none is near. Names are lower case.
std::string_view nearest(std::string_view text, std::span<const std::string_view> names);
// A user's text for an error message: in single quotes, cut after 80 characters, with everything but printable ASCII as
// \xNN, so that a message is always one line of valid UTF-8.
std::string in_quotes(std::string_view text);
// It looks like the address of a server: such a text is not repeated in a message, because a password may be in it.
bool may_hold_secret(std::string_view text) noexcept;
// Copies text into `size` bytes (at least 1), NUL included: cut between characters if it is too long, bytes that are
// not UTF-8 as '?'. Returns how many bytes were written before the NUL. Allocates nothing.
std::size_t copy_text(std::string_view text, char* out, std::size_t size) noexcept;

// All bytes of the character at `position`, so that a message shows a whole letter.
std::string_view character_at(std::string_view text, std::size_t position);

}  // namespace idgen
