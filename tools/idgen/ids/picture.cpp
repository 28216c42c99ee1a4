#include "ids/picture.hpp"

#include <idgen/idgen.h>

#include <algorithm>

#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr std::size_t kIndent = 1;

const char* ink_of(std::uint32_t field_kind) {
  switch (field_kind) {
    case IDGEN_FIELD_TIME:
      return ink::cyan;
    case IDGEN_FIELD_DATACENTER:
      return ink::magenta;
    case IDGEN_FIELD_WORKER:
      return ink::yellow;
    case IDGEN_FIELD_PROCESS:
      return ink::magenta;
    case IDGEN_FIELD_SHARD:
      return ink::blue;
    case IDGEN_FIELD_SEQUENCE:
      return ink::green;
    case IDGEN_FIELD_SEGMENT:
      return ink::green;
    case IDGEN_FIELD_GENE:
      return ink::blue;
    case IDGEN_FIELD_VERSION:
      return ink::pink;
    default:
      return ink::dim;
  }
}

std::string bits_of(std::uint64_t id, const PictureField& field) {
  std::string out;
  for (unsigned i = field.bits; i-- > 0;) out += (id >> (field.shift + i)) & 1 ? '1' : '0';
  return out;
}

// "62        22": the numbers of a field's outermost bits over its ends, if there is space.
std::string ruler_over(const PictureField& field) {
  const std::string high = std::to_string(field.shift + field.bits - 1);
  const std::string low = std::to_string(field.shift);
  if (field.bits < high.size()) return "";
  if (field.bits < high.size() + 1 + low.size()) return padded(high, field.bits);
  return high + right_aligned(low, field.bits - high.size());
}

std::string bracket_under(const PictureField& field) {
  if (field.bits == 1) return "│";
  std::string out = "├";
  for (unsigned i = 2; i < field.bits; ++i) out += "─";
  return out + "┘";
}

// A row built by column: the text so far is `column` cells wide, whatever bytes and colours it holds.
class Row {
 public:
  explicit Row(const Terminal& terminal) : terminal_(terminal) {}
  void put(std::size_t column, const char* ink, const std::string& text, std::size_t cells) {
    if (column > column_) text_.append(column - column_, ' ');
    text_ += terminal_.paint(ink, text);
    column_ = std::max(column, column_) + cells;
  }
  std::string end() const { return text_ + '\n'; }

 private:
  const Terminal& terminal_;
  std::string text_;
  std::size_t column_ = 0;
};

std::string label(const PictureField& field, const Terminal& terminal) {
  return terminal.paint(ink_of(field.kind), field.name) + (field.value.empty() ? "" : ' ' + field.value);
}

std::string list(std::uint64_t id, const std::vector<PictureField>& fields, const Terminal& terminal) {
  std::string out;
  for (const PictureField& field : fields) {
    out.append(kIndent, ' ');
    out += label(field, terminal) + '\n';
    out.append(kIndent + 2, ' ');
    out += terminal.paint(ink_of(field.kind), bits_of(id, field)) + '\n';
  }
  return out;
}

// Where each field begins, with this many spaces between the fields.
std::vector<std::size_t> starts_of(const std::vector<PictureField>& fields, std::size_t gap) {
  std::vector<std::size_t> starts;
  std::size_t column = kIndent;
  for (const PictureField& field : fields) {
    starts.push_back(column);
    column += field.bits + gap;
  }
  return starts;
}

// The width of the bits and the labels under them, in columns.
std::size_t width_of(const std::vector<PictureField>& fields, const std::vector<std::size_t>& starts) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t label = 2 + fields[i].name.size() + 1 + fields[i].value.size();  // all ASCII
    width = std::max(width, starts[i] + std::max<std::size_t>(fields[i].bits, label));
  }
  return width;
}

}  // namespace

std::string draw(std::uint64_t id, const std::vector<PictureField>& fields, const Terminal& terminal,
                 std::size_t width) {
  std::vector<std::size_t> starts = starts_of(fields, 2);
  if (width_of(fields, starts) > width) starts = starts_of(fields, 1);
  if (width_of(fields, starts) > width) return list(id, fields, terminal);

  Row ruler(terminal), bits(terminal), brackets(terminal);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string numbers = ruler_over(fields[i]);
    ruler.put(starts[i], ink::dim, numbers, numbers.size());
    bits.put(starts[i], ink_of(fields[i].kind), bits_of(id, fields[i]), fields[i].bits);
    brackets.put(starts[i], ink_of(fields[i].kind), bracket_under(fields[i]), fields[i].bits);
  }
  std::string out = ruler.end() + bits.end() + brackets.end();
  for (std::size_t i = fields.size(); i-- > 0;) {
    Row row(terminal);
    for (std::size_t j = 0; j < i; ++j) row.put(starts[j], ink_of(fields[j].kind), "│", 1);
    row.put(starts[i], ink_of(fields[i].kind), "└ ", 2);
    row.put(starts[i] + 2, ink::plain, label(fields[i], terminal), 0);  // nothing follows it
    out += row.end();
  }
  return out;
}

}  // namespace idgen_tool
