#include "audit_csv.hpp"

#include <algorithm>
#include <cstring>

namespace idgen_tool {
namespace {

const char* find(const char* begin, const char* end, char what) {
  return static_cast<const char*>(std::memchr(begin, what, static_cast<std::size_t>(end - begin)));
}

// The end of the quoted text that begins at `at`: behind its closing quote, or `end`.
const char* behind_quoted(const char* at, const char* end) {
  ++at;
  while (at < end) {
    at = find(at, end, '"');
    if (!at) return end;
    if (at + 1 == end || at[1] != '"') return at + 1;
    at += 2;  // a quote that is written twice
  }
  return end;
}

// The end of the field that begins at `at`: its separator, or `end`.
const char* end_of_field(const char* at, const char* end, char separator) {
  if (at < end && *at == '"') at = behind_quoted(at, end);
  const char* const found = at < end ? find(at, end, separator) : nullptr;
  return found ? found : end;
}

// Behind the line's end of a record with quotes; nullptr if it does not end.
const char* behind_record(const char* at, const char* end, char separator) {
  for (;;) {
    if (at < end && *at == '"') {
      at = behind_quoted(at, end);
      if (at == end) return nullptr;
    }
    while (at < end && *at != separator && *at != '\n') ++at;
    if (at == end) return nullptr;
    if (*at++ == '\n') return at;
  }
}

}  // namespace

std::size_t record_size(std::string_view text, char separator, bool is_csv, bool is_last) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* line_end = text.empty() ? nullptr : find(begin, end, '\n');
  const std::size_t line = line_end                                  ? static_cast<std::size_t>(line_end + 1 - begin)
                           : is_last || text.size() > kLongestRecord ? text.size()
                                                                     : 0;
  if (!is_csv || text.empty() || !find(begin, line_end ? line_end : end, '"')) return line;
  const char* const found = behind_record(begin, end, separator);
  if (found && static_cast<std::size_t>(found - begin) <= kLongestRecord)
    return static_cast<std::size_t>(found - begin);
  if (text.size() > kLongestRecord) return line;
  if (!is_last) return 0;
  // The dump ends inside quotes, or without a line's end. In the first case only this line is lost.
  const char* at = begin;
  while (at < end) {
    const char* const next = end_of_field(at, end, separator);
    if (next == end) break;
    at = next + 1;
  }
  const bool is_closed = at == end || *at != '"' || (end - at > 1 && end[-1] == '"');
  return is_closed ? text.size() : line;
}

std::string_view without_line_end(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

std::optional<std::string_view> field_at(std::string_view record, char separator, std::size_t index,
                                         std::string& scratch) {
  const char* at = record.data();
  const char* const end = at + record.size();
  const char* stop = end_of_field(at, end, separator);
  for (; index > 0; --index) {
    if (stop == end) return std::nullopt;
    at = stop + 1;
    stop = end_of_field(at, end, separator);
  }
  const std::string_view field(at, static_cast<std::size_t>(stop - at));
  if (!field.starts_with('"')) return field;
  scratch.clear();
  bool is_quoted = true;
  for (std::size_t i = 1; i < field.size(); ++i) {
    if (is_quoted && field[i] == '"') {
      if (i + 1 < field.size() && field[i + 1] == '"') {
        ++i;
      } else {
        is_quoted = false;
        continue;
      }
    }
    scratch += field[i];
  }
  return scratch;
}

std::vector<std::string> fields_of_record(std::string_view record, char separator) {
  std::vector<std::string> fields;
  std::string scratch;
  const char* at = record.data();
  const char* const end = at + record.size();
  for (;;) {
    const char* const stop = end_of_field(at, end, separator);
    fields.emplace_back(*field_at({at, static_cast<std::size_t>(stop - at)}, separator, 0, scratch));
    if (stop == end) return fields;
    at = stop + 1;
  }
}

char separator_of(std::string_view line) {
  const auto count = [line](char c) { return std::count(line.begin(), line.end(), c); };
  const auto commas = count(','), semicolons = count(';'), tabs = count('\t');
  if (tabs > commas && tabs > semicolons) return '\t';
  return semicolons > commas ? ';' : ',';
}

}  // namespace idgen_tool
