// Numbers and instants as a person reads them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idgen_tool {

std::int64_t now_unix_ms();

// "2022-06-28T16:07:40.105Z"; nothing outside the years 0000 to 9999, which RFC 3339 cannot write.
std::optional<std::string> rfc3339(std::int64_t unix_ms);
// The same, with words where there is nothing.
std::string instant(std::int64_t unix_ms);
// "4 years 146 days ago", "in 12 minutes", "now".
std::string relative_to(std::int64_t now_unix_ms, std::int64_t unix_ms);

// A store's URL without what may be secret: the password and the parameters.
std::string without_secrets(const std::string& url);

// Somebody else's text (a name, a message) for our own line: control characters as \n, \t or \xNN. Otherwise a name
// could end a comment in a migration, forge a log line, or control a terminal.
std::string one_line(std::string_view text);

std::string grouped(std::uint64_t number);  // "4 096 000"
std::string approximate(double number);     // "4.19 billion"; grouped below ten million
double rounded(double number, int digits);
std::string fixed(double number, int digits);
// "Numbers of a tag." of a help text with more sentences.
std::string first_sentence(const std::string& text);
// Words in lines of at most `width` columns, each after `indent` spaces and with its '\n'.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);
std::string padded(std::string_view text, std::size_t width);         // spaces after
std::string right_aligned(std::string_view text, std::size_t width);  // spaces before

}  // namespace idgen_tool
