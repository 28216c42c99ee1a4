// Dumps of ids, as databases and scripts write them: the reader of `idgen audit`. The first byte chooses the format and
// how the bytes arrive.
#include <algorithm>
#include <vector>

#include "audit_csv.hpp"
#include "audit_input.hpp"
#include "failure.hpp"
#include "fuzz.hpp"

namespace {

using namespace idgen_tool;

struct Dump {
  std::vector<std::uint64_t> ids, rows;
  std::uint64_t broken = 0;
  std::string refusal;
  bool operator==(const Dump&) const = default;
};

Dump read_dump(std::string_view input, DumpFormat format, std::size_t piece, std::size_t buffer_size) {
  Dump dump;
  BrokenRows broken;
  const IdRules rules{.read_id =
                          [](std::string_view, std::uint64_t&, std::string& why) {
                            why = "no id";
                            return false;
                          },
                      .outside = std::uint64_t{1} << 63};
  const auto bytes = [&](char* to, std::size_t size) {
    const std::size_t n = std::min({size, piece, input.size()});
    std::copy_n(input.data(), n, to);
    input.remove_prefix(n);
    return n;
  };
  try {
    IdReader reader("dump", format, bytes, rules, broken, buffer_size);
    IdBlock block;
    while (reader.read(block, true)) {
      idgen::fuzz::expect(block.texts.empty() || block.texts.size() == block.count, "a text for each id");
      for (std::size_t i = 0; i < block.count; ++i) {
        dump.ids.push_back(block.ids[i]);
        dump.rows.push_back(block.row_of(i));
      }
    }
  } catch (const UsageError& error) {
    dump.refusal = error.what();
    idgen::fuzz::expect_message(dump.refusal);
  }
  dump.broken = broken.count;
  for (const BrokenRows::Row& row : broken.first) idgen::fuzz::expect_message(row.why);
  return dump;
}

void cut(std::string_view input) {
  std::string scratch;
  for (const char separator : {',', ';', '\t'}) {
    std::string_view rest = input;
    while (!rest.empty()) {
      const std::size_t size = record_size(rest, separator, true, true);
      idgen::fuzz::expect(size > 0 && size <= rest.size(), "a record has at least a byte");
      const std::string_view record = without_line_end(rest.substr(0, size));
      const auto fields = fields_of_record(record, separator);
      for (std::size_t i = 0; i < fields.size(); ++i)
        idgen::fuzz::expect(field_at(record, separator, i, scratch) == fields[i], "a field alone is that of all");
      idgen::fuzz::expect(!field_at(record, separator, fields.size(), scratch), "there is no field more");
      rest.remove_prefix(size);
    }
  }
}

}  // namespace

void idgen::fuzz::read(std::string_view input) {
  const unsigned chosen = take(input);
  const DumpFormat format = static_cast<DumpFormat>(chosen % 3);
  const std::size_t piece = 1 + chosen / 3 % 7;
  const Dump whole = read_dump(input, format, input.size() + 1, 1 << 16);
  expect(std::ranges::is_sorted(whole.rows), "rows rise");
  expect(read_dump(input, format, piece, 1 + chosen / 21) == whole, "it does not matter how the bytes arrive");
  if (format == DumpFormat::csv) cut(input);
}
