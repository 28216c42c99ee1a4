#include "idgen/pattern.hpp"

#include <algorithm>
#include <chrono>

#include "idgen/status.hpp"
#include "text/checksum.hpp"
#include "text/systems.hpp"

namespace idgen {
namespace {

// The parts of a date. Java's letters.
struct DatePart {
  std::string_view letters;
  TimeUnit unit;
  std::string_view what;
};
constexpr DatePart kDateParts[] = {
    {"yyyy", TimeUnit::year, "year"},   {"yy", TimeUnit::year, "year"},        {"MM", TimeUnit::month, "month"},
    {"dd", TimeUnit::day, "day"},       {"DDD", TimeUnit::day, "day of year"}, {"HH", TimeUnit::hour, "hour"},
    {"mm", TimeUnit::minute, "minute"}, {"ss", TimeUnit::second, "second"},
};
constexpr std::string_view kDateLetters = "yYMdDhHkKmsS";  // of a date in any notation
constexpr std::string_view kDateSeparators = "-/.:_ T";
constexpr const char* kAllowed =
    "allowed in braces are a number (decimal, hex, crockford, base58 or base62, with a width as in base62:11, or zeros "
    "as in 000000), parts of a date (yyyy yy MM dd DDD HH mm ss), and check";
constexpr std::size_t kMostWidth = kMostDigits;

constexpr std::string_view kEncodings[] = {"decimal", "hex", "crockford", "base58", "base62"};
constexpr std::string_view kNames[] = {"decimal", "hex", "crockford", "base58", "base62", "check"};

// Characters, not bytes, so that a position is the same in every language.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

bool has_day(std::int32_t year, std::int32_t month, std::int32_t day) noexcept {
  return std::chrono::year_month_day(std::chrono::year{year}, std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

}  // namespace

// -------------------------------------------------------------------------------------------------- the pattern

class TextPattern::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { pattern_.text_ = text; }

  TextPattern parse() {
    if (text_.size() > kMostBytes) {
      throw Error(Status::value, concat({"a pattern of ", text_.size(), " bytes; allowed are at most ", kMostBytes}));
    }
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if ((c == '{' || c == '}') && at_ + 1 < text_.size() && text_[at_ + 1] == c) {
        literal(c);
        pattern_.shape_.append(2, c);
        at_ += 2;
      } else if (c == '{') {
        placeholder();
      } else if (c == '}') {
        fail({"a '}' without its '{'; a brace itself is written twice"});
      } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        fail({"a control character"});
      } else {
        literal(c);
        pattern_.shape_ += c;
        ++at_;
      }
    }
    if (!has_number_)
      fail_whole({"it has no number, so all ids would have one text. Add one, such as {base62:11} or {000000}"});
    finish();
    return std::move(pattern_);
  }

 private:
  using Why = std::initializer_list<Part>;
  [[noreturn, gnu::cold]] void fail_whole(Why why) const {
    throw Error(Status::value, concat({"pattern ", quote(text_), ": ", concat(why)}));
  }
  [[noreturn, gnu::cold]] void fail(Why why) const {
    fail_whole({"at position ", characters(text_.substr(0, at_)), ", ", concat(why)});
  }

  void literal(char c) {
    if (pattern_.pieces_.empty() || pattern_.pieces_.back().kind != Kind::literal) pattern_.pieces_.push_back({});
    pattern_.pieces_.back().literal += c;
  }

  void placeholder() {
    const std::size_t end = text_.find('}', at_);
    if (end == text_.npos) fail({"a '{' without its '}'; a brace itself is written twice"});
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const std::string_view name = inside.substr(0, inside.find(':'));
    const std::string_view argument = name.size() < inside.size() ? inside.substr(name.size() + 1) : std::string_view();
    const bool has_argument = name.size() < inside.size();
    const auto* const encoding = std::ranges::find(kEncodings, name);
    if (encoding != std::end(kEncodings)) {
      number(static_cast<Encoding>(encoding - std::begin(kEncodings)), argument, has_argument);
    } else if (name == "check") {
      check(argument, has_argument);
    } else if (!inside.empty() && inside.find_first_not_of("0+") == inside.npos && inside[0] == '0' &&
               inside.find('+') >= inside.size() - 1) {
      number(Encoding::decimal, inside, true, true);
    } else if (is_date(inside)) {
      date(inside);
    } else {
      const std::string_view meant = nearest(name, kNames);
      if (meant.empty()) fail({quote(text_.substr(at_, inside.size() + 2)), " is unknown; ", kAllowed});
      fail({quote(text_.substr(at_, inside.size() + 2)), " is unknown; did you mean ", quote(meant), "?"});
    }
    const bool is_number = pattern_.pieces_.back().kind == Kind::number;
    pattern_.shape_ += '{';
    pattern_.shape_ += is_number ? kEncodings[static_cast<std::size_t>(pattern_.encoding_)] : inside;
    pattern_.shape_ += '}';
    at_ = end + 1;
  }

  // "6", "6+", or zeros as many as the digits.
  void number(Encoding encoding, std::string_view width, bool has_width, bool are_zeros = false) {
    if (has_number_) fail({"a second number; a text has one"});
    has_number_ = true;
    pattern_.encoding_ = encoding;
    if (has_width) {
      pattern_.widens_ = width.ends_with('+');
      if (pattern_.widens_) width.remove_suffix(1);
      const std::size_t most = encoding == Encoding::decimal ? kMostWidth : system_of(encoding).wide_width;
      std::size_t digits = 0;
      if (are_zeros) {
        digits = width.size();
      } else if (!width.empty() && width.size() <= 2 && width.find_first_not_of("0123456789") == width.npos) {
        for (const char c : width) digits = digits * 10 + static_cast<std::size_t>(c - '0');
      }
      if (digits == 0 || digits > most) {
        fail({"a width of ", quote(width), "; allowed are 1 to ", most,
              ", with a '+' behind it if the number may have more digits"});
      }
      pattern_.width_ = static_cast<unsigned>(digits);
    }
    pattern_.pieces_.push_back({.kind = Kind::number, .size = pattern_.width_});
  }

  void check(std::string_view name, bool has_name) {
    if (pattern_.has_check_) fail({"a second check; a text has one"});
    constexpr std::string_view names[] = {"luhn", "mod11_10", "mod97_10"};
    const auto* const found = std::ranges::find(names, has_name ? name : names[0]);
    if (found == std::end(names)) {
      fail({"the check ", quote(name), " is unknown; allowed are luhn (the default), mod11_10 and mod97_10"});
    }
    pattern_.has_check_ = true;
    pattern_.check_ = static_cast<Check>(found - std::begin(names));
    pattern_.pieces_.push_back({.kind = Kind::check, .size = pattern_.check_ == Check::mod97_10 ? 2u : 1u});
  }

  static bool is_date(std::string_view inside) {
    return inside.find_first_of(kDateLetters) != inside.npos && std::ranges::all_of(inside, [](char c) {
             return kDateLetters.find(c) != kDateLetters.npos || kDateSeparators.find(c) != kDateSeparators.npos;
           });
  }

  // What a date in the letters of other notations is in ours: '{yyyyMMdd}' for YYYYMMDD. Empty: nobody can tell.
  static std::string meant_date(std::string_view inside) {
    std::string meant = "{";
    bool is_after_hour = false;
    while (!inside.empty()) {
      const char c = inside[0], letter = c == 'k' || c == 'K' ? 'H' : c;
      const std::size_t count =
          kDateLetters.find(c) == kDateLetters.npos ? 1 : std::min(inside.find_first_not_of(c), inside.size());
      if (kDateLetters.find(c) == kDateLetters.npos) {
        meant += c;
      } else if (letter == 'y' || letter == 'Y') {
        if (count > 4) return {};
        meant.append(count == 2 ? 2 : 4, 'y');
      } else if (count > 2) {
        if (inside.substr(0, count) != "DDD") return {};
        meant += "DDD";
      } else if (letter == 'm' || letter == 'M') {
        meant.append(2, is_after_hour ? 'm' : 'M');
      } else {
        is_after_hour = letter == 'h' || letter == 'H';
        meant.append(2, is_after_hour ? 'H' : letter == 'D' ? 'd' : letter == 'S' ? 's' : letter);
      }
      inside.remove_prefix(count);
    }
    return meant + '}';
  }

  void date(const std::string_view all) {
    std::string_view inside = all;
    while (!inside.empty()) {
      const char c = inside[0];
      if (kDateLetters.find(c) == kDateLetters.npos) {
        literal(c);
        inside.remove_prefix(1);
        continue;
      }
      const std::size_t count = std::min(inside.find_first_not_of(c), inside.size());
      const auto* const part = std::ranges::find_if(
          kDateParts, [&](const DatePart& each) { return each.letters == inside.substr(0, count); });
      if (part == std::end(kDateParts)) {
        const std::string meant = meant_date(all);
        if (!meant.empty())
          fail({quote(inside.substr(0, count)), " is no part of a date; did you mean ", quote(meant), "?"});
        fail({quote(inside.substr(0, count)), " is no part of a date; there are yyyy yy MM dd DDD HH mm ss"});
      }
      const unsigned bit = 1u << static_cast<unsigned>(part->unit);
      if (units_ & bit) {
        fail({"a second ", part->what, c == 'M' || c == 'm' ? "; MM is the month, and mm the minute" : ""});
      }
      units_ |= bit;
      has_day_of_year_ = has_day_of_year_ || c == 'D';
      if (part->unit == TimeUnit::year) {
        pattern_.has_year_ = true;
        pattern_.has_century_ = count == 4;
      }
      pattern_.finest_ = std::max(pattern_.finest_, part->unit);
      pattern_.pieces_.push_back({.kind = Kind::date, .letter = c, .size = count});
      inside.remove_prefix(count);
    }
  }

  void finish() {
    const auto has = [&](TimeUnit unit) { return (units_ & 1u << static_cast<unsigned>(unit)) != 0; };
    if (has_day_of_year_ && has(TimeUnit::month)) fail_whole({"DDD is the day of the year; leave MM out, or write dd"});
    if (has_day_of_year_ && !has(TimeUnit::year))
      fail_whole({"DDD is the day of the year; it needs the year, yyyy or yy"});
    if (has(TimeUnit::minute) && has(TimeUnit::year) && !has(TimeUnit::hour))
      fail_whole({"mm is the minute, and needs the hour, HH; the month is MM"});
    for (int unit = 1; unit < static_cast<int>(pattern_.finest_); ++unit) {
      const bool is_there =
          has(static_cast<TimeUnit>(unit)) || (has_day_of_year_ && unit == static_cast<int>(TimeUnit::month));
      pattern_.is_complete_ = pattern_.is_complete_ && is_there;
    }
    const System& system = system_of(pattern_.encoding_);
    if (pattern_.has_check_ && pattern_.check_ != Check::luhn && pattern_.encoding_ != Encoding::decimal)
      fail_whole({"mod11_10 and mod97_10 are checks of decimal digits; ", system.name, " has luhn"});
    for (Piece& piece : pattern_.pieces_) {
      if (piece.kind == Kind::literal) piece.size = piece.literal.size();
      if (piece.kind != Kind::number) pattern_.others_ += piece.size;
    }
    const bool is_bounded = pattern_.width_ != 0 && !pattern_.widens_;
    pattern_.most_bytes_ =
        pattern_.others_ + (is_bounded ? pattern_.width_ : std::max<std::size_t>(pattern_.width_, system.wide_width));
    if (is_bounded) {
      Id128 end = 1;
      constexpr Id128 kMax = ~Id128{0};
      const Id128 base = system.alphabet.size();
      for (unsigned i = 0; i < pattern_.width_; ++i) {
        if (end > kMax / base) return;  // it holds all there are
        end *= base;
      }
      pattern_.last_number_ = end - 1;
    }
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  TextPattern pattern_;
  bool has_number_ = false, has_day_of_year_ = false;
  unsigned units_ = 0;
};

TextPattern TextPattern::parse(std::string_view text) { return Parser(text).parse(); }

// -------------------------------------------------------------------------------------------------- reading

class TextPattern::Reader {
 public:
  Reader(const TextPattern& pattern, std::string_view text)
      : pattern_(pattern), system_(system_of(pattern.encoding_)), text_(text) {}

  Read read() {
    for (const Piece& piece : pattern_.pieces_) {
      switch (piece.kind) {
        case Kind::literal:
          literal(piece.literal);
          break;
        case Kind::date:
          date(piece);
          break;
        case Kind::number:
          number();
          break;
        case Kind::check:
          check_at_ = at_;
          for (std::size_t i = 0; i < piece.size; ++i) check_values_[i] = digit(system_, system_.name);
          break;
      }
    }
    if (at_ < text_.size()) fail_here({"nothing more may follow"});
    calendar();
    check();
    return read_;
  }

 private:
  using Why = std::initializer_list<Part>;
  [[noreturn, gnu::cold]] void fail(Why why) const {
    throw Error(Status::text,
                concat({quote(text_), " does not fit the pattern ", quote(pattern_.text_), ": ", concat(why)}));
  }
  std::size_t position(std::size_t at) const { return characters(text_.substr(0, at)); }
  [[noreturn, gnu::cold]] void fail_here(Why why) const {
    if (at_ < text_.size()) fail({quote(character_at(text_, at_)), " at position ", position(at_), "; ", concat(why)});
    fail({"it ends after ", position(at_), " characters; ", concat(why)});
  }

  void literal(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) == wanted) {
      at_ += wanted.size();
      return;
    }
    for (std::size_t i = 0; i < wanted.size() && at_ < text_.size() && text_[at_] == wanted[i]; ++i) ++at_;
    while (at_ > 0 && at_ < text_.size() && (text_[at_] & 0xC0) == 0x80) --at_;  // a whole letter is shown
    fail_here({"here ", quote(wanted), " stands"});
  }

  std::uint8_t digit(const System& system, std::string_view what) {
    const std::uint8_t value = at_ < text_.size() ? system.value_of(text_[at_]) : kForeign;
    if (value == kForeign) fail_here({"here a digit of ", what, " stands, ", system.allowed});
    ++at_;
    return value;
  }

  void date(const Piece& piece) {
    std::int32_t value = 0;
    for (std::size_t i = 0; i < piece.size; ++i) {
      const std::uint8_t found = digit(system_of(Encoding::decimal), "the date");
      value = value * 10 + found;
      sum_.add(found);
    }
    LocalTime& when = read_.when;
    switch (piece.letter) {
      case 'y':
        when.year = piece.size == 2 ? 2000 + value : value;
        break;
      case 'M':
        when.month = value;
        break;
      case 'd':
        when.day = value;
        break;
      case 'D':
        day_of_year_ = value;
        break;
      case 'H':
        when.hour = value;
        break;
      case 'm':
        when.minute = value;
        break;
      default:
        when.second = value;
    }
  }

  void number() {
    const std::size_t others = pattern_.others_;
    const std::size_t count = text_.size() > others ? text_.size() - others : 0;
    const bool is_wide = pattern_.width_ == 0 && count == system_.wide_width;
    const std::size_t least = pattern_.width_ != 0 ? pattern_.width_ : system_.min_width;
    const std::size_t most = pattern_.width_ == 0 ? system_.max_width
                             : pattern_.widens_   ? std::max<std::size_t>(least, system_.wide_width)
                                                  : least;
    // Foreign digits first: of a text that is cut or run together, the length says less.
    Id128 value = 0;
    constexpr Id128 kMax = ~Id128{0};
    const Id128 largest = is_wide || pattern_.width_ != 0 ? kMax : ~std::uint64_t{0};
    const Id128 base = system_.alphabet.size();
    const std::size_t begin = at_;
    for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i) {
      const std::uint8_t found = digit(system_, system_.name);
      if (i >= kMostDigits) continue;  // too long: said below
      sum_.add(found);
      if (value > largest / base || value * base > largest - found) {
        if (count > most && !is_wide) break;
        fail({"its number passes the largest id, at position ", position(at_ - 1)});
      }
      value = value * base + found;
    }
    if (!is_wide && (count < least || count > most)) {
      if (pattern_.widens_) fail({"its number has ", count, " digits where ", least, " or more are needed"});
      if (pattern_.width_ != 0) fail({"its number has ", count, " digits where ", least, " are needed"});
      if (least == most)
        fail({"its number has ", count, " digits where ", least, " or ", system_.wide_width, " are needed"});
      fail(
          {"its number has ", count, " digits where ", least, " to ", most, " or ", system_.wide_width, " are needed"});
    }
    // One text for each id.
    const bool is_padded = !is_wide && count > 1 && system_.value_of(text_[begin]) == 0;
    if (is_padded && (pattern_.width_ == 0 ? least != most : count > pattern_.width_))
      fail({"its number has a zero in front, at position ", position(begin)});
    read_.number = value;
    read_.id_bytes = is_wide || value > ~std::uint64_t{0} ? 16 : 8;
  }

  void calendar() {
    LocalTime& when = read_.when;
    if (when.month < 1 || when.month > 12) fail({"there is no month ", when.month});
    if (day_of_year_ > 0) {
      using namespace std::chrono;
      const year_month_day day{sys_days{year{when.year} / 1 / 1} + days{day_of_year_ - 1}};
      if (static_cast<int>(day.year()) != when.year) fail({"the year ", when.year, " has no day ", day_of_year_});
      when.month = static_cast<std::int32_t>(static_cast<unsigned>(day.month()));
      when.day = static_cast<std::int32_t>(static_cast<unsigned>(day.day()));
    } else if (day_of_year_ == 0) {
      fail({"a year has no day 0"});
    }
    // Without its year, every month may be one of a leap year.
    const bool has_year = std::ranges::any_of(pattern_.pieces_, [](const Piece& piece) { return piece.letter == 'y'; });
    if (!has_day(has_year ? when.year : 2000, when.month, when.day))
      fail({"the month ", when.month, " has no day ", when.day});
    if (when.hour > 23 || when.minute > 59 || when.second > 59)
      fail({"hours are 00 to 23, minutes and seconds 00 to 59"});
  }

  void check() const {
    if (!pattern_.has_check_) return;
    std::uint8_t values[2];
    const std::size_t count = sum_.digits(pattern_.check_, static_cast<unsigned>(system_.alphabet.size()), values);
    std::string right;
    bool is_right = true;
    for (std::size_t i = 0; i < count; ++i) {
      is_right = is_right && values[i] == check_values_[i];
      right += system_.alphabet[values[i]];
    }
    if (is_right) return;
    throw Error(
        Status::text,
        concat({quote(text_), ": its check character", count == 1 ? " " : "s ", quote(text_.substr(check_at_, count)),
                " at position ", position(check_at_), " would be ", quote(right),
                " if the rest were right: a character was mistyped or misread, or two were swapped"}));
  }

  const TextPattern& pattern_;
  const System& system_;
  const std::string_view text_;
  std::size_t at_ = 0, check_at_ = 0;
  std::uint8_t check_values_[2] = {0, 0};
  std::int32_t day_of_year_ = -1;
  Checksum sum_;
  Read read_;
};

TextPattern::Read TextPattern::read(std::string_view text) const {
  if (text.size() > kMostText) {
    throw Error(Status::text, concat({quote(text), " has ", text.size(), " bytes; the pattern ", quote(text_),
                                      " writes at most ", kMostText}));
  }
  return Reader(*this, text).read();
}

}  // namespace idgen
