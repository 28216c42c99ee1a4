#include "audit_input.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <utility>

#include "audit_csv.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr std::size_t kLongestShown = 60;
constexpr const char* kAnother = " is of another layout: it has bits outside the layout, or another constant";

std::string shown(std::string_view text) {
  return "'" + one_line(text.substr(0, kLongestShown)) + (text.size() > kLongestShown ? "...'" : "'");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Up to 19 digits, which cannot overflow.
bool is_short_decimal(std::string_view text, std::uint64_t& id) {
  if (text.empty() || text.size() > 19) return false;
  std::uint64_t number = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (digit > 9) return false;
    number = number * 10 + digit;
  }
  id = number;
  return true;
}

std::string listed_columns(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::uint64_t swapped(std::uint64_t value) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < 8; ++i) out |= (value >> 8 * i & 0xff) << 8 * (7 - i);
  return out;
}

}  // namespace

void BrokenRows::add(const std::string& dump, std::uint64_t row, const std::string& why) {
  ++count;
  if (first.size() < kShown) first.push_back({dump, row, why});
}

IdReader::IdReader(std::string dump, DumpFormat format, ReadBytes bytes, const IdRules& rules, BrokenRows& broken,
                   std::size_t buffer_size)
    : dump_(std::move(dump)),
      format_(format),
      bytes_(std::move(bytes)),
      rules_(rules),
      broken_(broken),
      buffer_(format == DumpFormat::binary ? 0 : buffer_size) {}

bool IdReader::read(IdBlock& block, bool with_texts) {
  block.count = 0;
  return format_ == DumpFormat::binary ? read_binary(block) : read_text(block, with_texts);
}

bool IdReader::read_binary(IdBlock& block) {
  constexpr std::size_t kIds = 1 << 15;
  if (is_over_) return false;
  block.ids.resize(kIds);
  block.rows.clear();
  block.texts.clear();
  char* const to = reinterpret_cast<char*>(block.ids.data());
  std::size_t used = 0;
  while (used < kIds * 8) {
    const std::size_t n = bytes_(to + used, kIds * 8 - used);
    if (n == 0) {
      is_over_ = true;
      break;
    }
    used += n;
  }
  const std::size_t count = used / 8;
  block.first_row = row_;
  row_ += count;
  constexpr bool is_big_endian_here = std::endian::native == std::endian::big;
  if (rules_.is_big_endian != is_big_endian_here) {
    for (std::size_t i = 0; i < count; ++i) block.ids[i] = swapped(block.ids[i]);
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= block.ids[i] ^ rules_.constant;
  if (bits & rules_.outside) {
    for (std::size_t i = 0; i < count; ++i) {
      if ((block.ids[i] ^ rules_.constant) & rules_.outside) {
        broken_.add(dump_, block.first_row + i, std::to_string(block.ids[i]) + kAnother);
        continue;
      }
      block.ids[block.count++] = block.ids[i];
      block.rows.push_back(block.first_row + i);
    }
  } else {
    block.count = count;
  }
  if (used % 8 != 0)
    broken_.add(dump_, row_, "the last " + std::to_string(used % 8) + " bytes are no id: one has 8 bytes");
  return true;
}

bool IdReader::is_id(std::string_view text, std::uint64_t& id) {
  if (rules_.is_plain_decimal && is_short_decimal(text, id)) return true;
  return rules_.read_id(text, id, why_);
}

std::size_t IdReader::place_of(const std::string& column) const {
  if (!column.empty() && column.size() < 6 &&
      std::ranges::all_of(column, [](char c) { return c >= '0' && c <= '9'; })) {
    const std::size_t number = std::stoul(column);
    if (number >= 1 && number <= columns_) return number - 1;
    throw UsageError(dump_ + " has " + std::to_string(columns_) + (columns_ == 1 ? " column" : " columns") +
                     ", and so no column " + column);
  }
  const auto found = std::ranges::find(header_, column);
  if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  if (header_.empty()) throw UsageError(dump_ + " has no header: name its column by its number, from 1");
  throw UsageError(dump_ + " has no column " + shown(column) + "; it has " + one_line(listed_columns(header_)));
}

// The first record says how many columns there are, and, if it is a header, which is that of the ids.
bool IdReader::is_header(std::string_view record) {
  separator_ = separator_of(record);
  const std::vector<std::string> fields = fields_of_record(record, separator_);
  columns_ = fields.size();
  const bool is_number =
      !rules_.column.empty() && std::ranges::all_of(rules_.column, [](char c) { return c >= '0' && c <= '9'; });
  std::uint64_t id = 0;
  if (columns_ == 1 && rules_.column.empty()) {
    header_ = fields;
  } else if (is_number) {
    column_ = place_of(rules_.column);
    header_ = fields;
  } else {
    header_ = fields;
    if (rules_.column.empty()) {
      const auto found = std::ranges::find_if(fields, [](const std::string& name) { return lower(name) == "id"; });
      if (found == fields.end()) {
        throw UsageError(dump_ + " has " + std::to_string(columns_) +
                         " columns and none is called id; name the one of " +
                         "the ids with --column, by its name or its number from 1. The first row is: " +
                         one_line(listed_columns(fields)));
      }
      column_ = static_cast<std::size_t>(found - fields.begin());
    } else {
      column_ = place_of(rules_.column);
    }
    return true;
  }
  if (is_id(trimmed(fields[column_]), id)) {
    header_.clear();
    return false;
  }
  return true;
}

bool IdReader::read_text(IdBlock& block, bool with_texts) {
  if (begin_ == end_ && is_over_) return false;
  block.ids.clear();
  block.rows.clear();
  block.texts.clear();
  std::move(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());  // one record fills it
  while (!is_over_ && end_ < buffer_.size()) {
    const std::size_t n = bytes_(buffer_.data() + end_, buffer_.size() - end_);
    if (n == 0) is_over_ = true;
    end_ += n;
  }
  const bool is_csv = format_ == DumpFormat::csv;
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    if (!is_begun_ && is_csv && !rest.empty()) separator_ = separator_of(rest.substr(0, rest.find('\n')));
    const std::size_t size = record_size(rest, separator_, is_csv, is_over_);
    if (size == 0) break;
    begin_ += size;
    std::string_view record = without_line_end(rest.substr(0, size));
    const std::uint64_t row = row_++;
    if (record.find('\n') != record.npos)
      row_ += static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n'));
    if (row == 1 && record.starts_with("\xEF\xBB\xBF")) record.remove_prefix(3);  // a byte order mark
    if (trimmed(record).empty()) continue;
    if (!is_begun_) {
      is_begun_ = true;
      if (is_csv && is_header(record)) continue;
    }
    std::string_view text = record;
    if (is_csv) {
      const auto field = field_at(record, separator_, column_, scratch_);
      if (!field) {
        broken_.add(dump_, row, shown(record) + " has no column " + std::to_string(column_ + 1));
        continue;
      }
      text = *field;
    }
    std::uint64_t id = 0;
    if (!is_id(trimmed(text), id)) {
      broken_.add(dump_, row, why_);
      continue;
    }
    if ((id ^ rules_.constant) & rules_.outside) {
      broken_.add(dump_, row, std::to_string(id) + kAnother);
      continue;
    }
    block.ids.push_back(id);
    block.rows.push_back(row);
    if (with_texts) block.texts.push_back(record);
  }
  block.count = block.ids.size();
  return true;
}

DumpKind kind_of(const std::string& path, std::string_view head) {
  const std::size_t dot = path.rfind('.');
  const std::string ending = dot == path.npos || path.find('/', dot) != path.npos ? "" : lower(path.substr(dot + 1));
  if (ending == "parquet" || head.starts_with("PAR1")) return DumpKind::parquet;
  if (ending == "csv" || ending == "tsv") return DumpKind::csv;
  if (ending == "bin") return DumpKind::binary;
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' && c != '\n' && c != '\r' && c != '\t') return DumpKind::binary;
  }
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find_first_of(",;\t") != line.npos ? DumpKind::csv : DumpKind::lines;
}

}  // namespace idgen_tool
