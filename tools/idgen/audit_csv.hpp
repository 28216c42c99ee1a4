// Text dumps cut into records, and records into fields: RFC 4180, by hand, because a dump has a billion of them. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idgen_tool {

// A quote that is never closed would make the rest of a dump one record. Beyond this size a record ends with its line.
inline constexpr std::size_t kLongestRecord = 1 << 20;

// The size of the first record with its line's end. 0: it does not end in `text`, and may be longer. `is_last`: nothing
// follows `text`, so the record ends where it does. In a dump of lines (`is_csv` false) quotes mean nothing.
std::size_t record_size(std::string_view text, char separator, bool is_csv, bool is_last);

// Without its line's end.
std::string_view without_line_end(std::string_view record);

// The field `index`, counted from 0; nothing if the record has fewer. A quoted field is unquoted into `scratch`.
std::optional<std::string_view> field_at(std::string_view record, char separator, std::size_t index,
                                         std::string& scratch);

std::vector<std::string> fields_of_record(std::string_view record, char separator);

// The one of , ; and tab that the line has most of; a comma if it has none.
char separator_of(std::string_view line);

}  // namespace idgen_tool
