// Dumps of ids: text of one id per line, CSV, and binary, as blocks of ids with the row of each. Where the bytes come
// from and how a text is read as an id are given, so that this can be tested with any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idgen_tool {

enum class DumpFormat { lines, csv, binary };

// Up to `size` bytes; 0 at the end.
using ReadBytes = std::function<std::size_t(char* to, std::size_t size)>;
// False: it is no id, for the reason that is written to `why`.
using ReadId = std::function<bool(std::string_view text, std::uint64_t& id, std::string& why)>;

struct IdRules {
  ReadId read_id;
  bool is_plain_decimal = true;  // digits are read here, without read_id
  bool is_big_endian = false;    // of binary
  std::uint64_t outside = 0;     // bits that are the same in all ids
  std::uint64_t constant = 0;    // what these have there
  std::string column{};          // of CSV: a name or a number from 1; "" to find it
};

// Rows that hold no id: how many, and the first of them.
struct BrokenRows {
  struct Row {
    std::string dump;
    std::uint64_t row;
    std::string why;
  };
  static constexpr std::size_t kShown = 5;
  std::uint64_t count = 0;
  std::vector<Row> first{};

  void add(const std::string& dump, std::uint64_t row, const std::string& why);
};

struct IdBlock {
  std::size_t count = 0;
  std::vector<std::uint64_t> ids{};       // the first `count`
  std::vector<std::uint64_t> rows{};      // of each, where not all rows in a row have an id; else empty
  std::uint64_t first_row = 0;            // then that of the first
  std::vector<std::string_view> texts{};  // the records, if asked for; they last until the next block is read

  std::uint64_t row_of(std::size_t index) const { return rows.empty() ? first_row + index : rows[index]; }
};

// Reads one dump, once. A row is a line of the file, counted from 1; in binary, an id.
class IdReader {
 public:
  IdReader(std::string dump, DumpFormat format, ReadBytes bytes, const IdRules& rules, BrokenRows& broken,
           std::size_t buffer_size = 1 << 18);

  // False: there is no more. `block` is empty or not; after true it may be empty too. Throws UsageError if there is no
  // such column.
  bool read(IdBlock& block, bool with_texts = false);

  // Of CSV, from its first record on.
  char separator() const noexcept { return separator_; }
  std::size_t column() const noexcept { return column_; }
  const std::vector<std::string>& header() const noexcept { return header_; }  // empty: it has none
  // The place of a column by its name or its number from 1. Throws UsageError.
  std::size_t place_of(const std::string& column) const;

 private:
  bool read_binary(IdBlock& block);
  bool read_text(IdBlock& block, bool with_texts);
  bool is_header(std::string_view record);
  bool is_id(std::string_view text, std::uint64_t& id);

  std::string dump_;
  DumpFormat format_;
  ReadBytes bytes_;
  const IdRules& rules_;
  BrokenRows& broken_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what is not read yet
  std::size_t end_ = 0;
  bool is_over_ = false;
  std::uint64_t row_ = 1;
  bool is_begun_ = false;
  char separator_ = ',';
  std::size_t column_ = 0;
  std::size_t columns_ = 1;
  std::vector<std::string> header_;
  std::string scratch_;
  std::string why_;
};

// What the name and the first bytes say.
enum class DumpKind { lines, csv, binary, parquet };
DumpKind kind_of(const std::string& path, std::string_view head);

}  // namespace idgen_tool
