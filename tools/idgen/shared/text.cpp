#include "shared/text.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace idgen_tool {

std::int64_t now_unix_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<std::string> rfc3339(std::int64_t unix_ms) {
  using namespace std::chrono;
  constexpr sys_days first = year{0} / January / 1;
  constexpr sys_days end = year{10000} / January / 1;
  const sys_time<milliseconds> time{milliseconds{unix_ms}};
  if (time < first || time >= end) return std::nullopt;
  const sys_days day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return out;
}

std::string instant(std::int64_t unix_ms) {
  if (const auto text = rfc3339(unix_ms)) return *text;
  return unix_ms < 0 ? "before the year 0" : "after the year 9999";
}

std::string relative_to(std::int64_t now_unix_ms, std::int64_t unix_ms) {
  const bool past = unix_ms <= now_unix_ms;
  const std::uint64_t ms = past ? static_cast<std::uint64_t>(now_unix_ms) - static_cast<std::uint64_t>(unix_ms)
                                : static_cast<std::uint64_t>(unix_ms) - static_cast<std::uint64_t>(now_unix_ms);
  const std::uint64_t seconds = ms / 1000;
  const std::uint64_t days = seconds / 86400;
  const auto count = [](std::uint64_t n, const char* unit) { return grouped(n) + ' ' + unit + (n == 1 ? "" : "s"); };
  std::string span;
  if (days >= 365) {
    const std::uint64_t years = days * 100 / 36525 ? days * 100 / 36525 : 1;
    const std::uint64_t gone = years * 36525 / 100;
    span = count(years, "year");
    if (years < 100 && days > gone) span += ' ' + count(days - gone, "day");
  } else if (days > 0) {
    span = count(days, "day");
  } else if (seconds >= 3600) {
    span = count(seconds / 3600, "hour");
  } else if (seconds >= 60) {
    span = count(seconds / 60, "minute");
  } else if (seconds > 0) {
    span = count(seconds, "second");
  } else {
    return "now";
  }
  return past ? span + " ago" : "in " + span;
}

std::string without_secrets(const std::string& url) {
  const std::size_t authority = url.find("://");
  if (authority == std::string::npos) return url;
  std::string out = url.substr(0, url.find('?'));
  const std::size_t host = out.find('/', authority + 3);
  const std::size_t at = out.rfind('@', host);
  const std::size_t password = out.find(':', authority + 3);
  if (at != std::string::npos && at > authority && password < at) out.erase(password, at - password);
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  const auto escape = [&](unsigned char byte) {
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", byte);
    out += code;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      escape(byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F: the other set of control characters
      escape(byte);
      escape(next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ' ';
    out += digits[i];
  }
  return out;
}

std::string approximate(double number) {
  struct Scale {
    double size;
    const char* name;
  };
  constexpr Scale scales[] = {
      {1e18, "quintillion"}, {1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e7, "million"}};
  for (const Scale& scale : scales) {
    if (number >= scale.size) {
      const double unit = scale.size == 1e7 ? 1e6 : scale.size;  // seven digits can be read at a glance
      char out[64];
      std::snprintf(out, sizeof out, "%.3g %s", number / unit, scale.name);
      return out;
    }
  }
  if (number == std::floor(number)) return grouped(static_cast<std::uint64_t>(number));
  return fixed(number, 1);
}

double rounded(double number, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(number * scale) / scale;
}

std::string fixed(double number, int digits) {
  char out[400];
  std::snprintf(out, sizeof out, "%.*f", digits, number);
  return out;
}

std::string first_sentence(const std::string& text) {
  const auto stop = text.find(". ");
  return stop == std::string::npos ? text : text.substr(0, stop + 1);
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = 0;  // of the line that is being filled
  for (std::size_t at = text.find_first_not_of(" \n"); at != text.npos; at = text.find_first_not_of(" \n", at)) {
    const std::string_view word = text.substr(at, text.find_first_of(" \n", at) - at);
    at += word.size();
    if (column > indent && column + 1 + word.size() <= width) {
      out += ' ';
      ++column;
    } else {
      if (column > 0) out += '\n';
      out.append(indent, ' ');
      column = indent;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.append(width - out.size(), ' ');
  return out;
}

std::string right_aligned(std::string_view text, std::size_t width) {
  std::string out;
  if (text.size() < width) out.append(width - text.size(), ' ');
  return out.append(text);
}

}  // namespace idgen_tool
