#include "sql/statement.hpp"

#include "sql/dialect.hpp"
#include "store/grant_rules.hpp"

namespace idgen::sql {

Statement& Statement::add(std::string_view mark, Value::Kind kind, std::int64_t number, std::string_view text_value) {
  text += mark;
  Value& value = values.emplace_back();
  value.kind = kind;
  value.number = number;
  value.text = text_value;
  return *this;
}

Statement& Statement::operator<<(Number value) { return add(dialect.number, Value::Kind::integer, value.number, {}); }
Statement& Statement::operator<<(Text value) {
  return add(dialect.text, dialect.has_bytes ? Value::Kind::bytes : Value::Kind::text, 0, value.text);
}
Statement& Statement::operator<<(Chars value) { return add(dialect.text, Value::Kind::text, 0, value.text); }

Statement& Statement::operator<<(const Statement& part) {
  text += part.text;
  values.insert(values.end(), part.values.begin(), part.values.end());
  return *this;
}

Statement& Statement::fill(std::string_view with_words, const Words& words) {
  for (;;) {
    const std::size_t open = with_words.find('{');
    *this << with_words.substr(0, open);
    if (open == with_words.npos) return *this;
    const std::size_t close = with_words.find('}', open);
    const std::string_view word = with_words.substr(open + 1, close - open - 1);
    const Value::Kind own = dialect.has_bytes ? Value::Kind::bytes : Value::Kind::text;
    if (word == "namespace") add(dialect.text, own, 0, words.name_space);
    if (word == "tag") add(dialect.text, own, 0, words.tag);
    if (word == "holder") add(dialect.text, own, 0, words.holder);
    if (word == "key") add(dialect.text, Value::Kind::text, 0, words.key);
    if (word == "counter") *this << Number(words.counter);
    if (word == "step") *this << Number(words.step);
    if (word == "rate") *this << Number(words.rate);
    if (word == "now") *this << Number(store_clock_unix_ms());
    with_words.remove_prefix(close + 1);
  }
}

const Cell& Row::at(std::size_t column) const {
  if (column < cells.size()) return cells[column];
  throw Error(Status::store_damaged,
              concat({"the driver gave a row of ", cells.size(), " values where it has more; it was not used"}));
}

}  // namespace idgen::sql
