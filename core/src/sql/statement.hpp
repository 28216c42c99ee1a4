// What is sent to an SQL database, and what comes back. The same statements are sent over every connection: a module's,
// whose client library gets values as quoted literals, and a host's, whose driver gets them as parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idgen::sql {

struct Dialect;

struct Value {
  enum class Kind { null, integer, text, bytes };
  Kind kind = Kind::null;
  std::int64_t number = 0;
  std::string text;
};

// What a statement is about, for messages.
enum class About { segments, grants, workers, numbers, users_table };

// Values, as operands of <<.
struct Number {
  explicit Number(std::uint64_t value) : number(static_cast<std::int64_t>(value)) {}
  explicit Number(std::int64_t value) : number(value) {}
  std::int64_t number;
};
struct Text {  // of idgen's own tables, where MySQL has bytes
  const std::string& text;
};
struct Chars {  // of everybody's tables
  const std::string& text;
};

// What the {words} of a schema stand for.
struct Words {
  std::string_view name_space{}, tag{}, key{}, holder{};
  std::uint64_t counter = 0, step = 0, rate = 0;
};

// A statement in the making: s << "UPDATE t SET n = " << Number(n). Each value is a ? in the text. There
// is no other ?, no % and no : in it, because drivers take them for placeholders, too.
class Statement {
 public:
  Statement(const Dialect& statement_dialect, About what, bool returns_rows = false)
      : about(what), has_rows(returns_rows), dialect(statement_dialect) {}

  Statement& operator<<(std::string_view part) {
    text += part;
    return *this;
  }
  Statement& operator<<(Number value);
  Statement& operator<<(Text value);
  Statement& operator<<(Chars value);
  Statement& operator<<(const Statement& part);
  // `with_words` with each {word} replaced.
  Statement& fill(std::string_view with_words, const Words& words);

  std::string text;
  std::vector<Value> values;
  About about;
  bool has_rows;
  std::string users_table{};  // for About::users_table
  const Dialect& dialect;

 private:
  Statement& add(std::string_view mark, Value::Kind kind, std::int64_t number, std::string_view text_value);
};

// A value of a row, as text.
struct Cell {
  std::string text;
  bool is_null = false;
  bool is_exact = false;  // of a type that keeps whole numbers exactly: no text, no rounding
};
struct Row {
  std::vector<Cell> cells;
  const Cell& at(std::size_t column) const;  // throws Error{store_damaged} if the driver gave fewer
};

struct Answer {
  std::vector<Row> rows;
  std::uint64_t changed = 0;  // rows that were inserted or changed
  std::uint64_t last_insert_id = 0;
};

// A connection whose settings were checked. One thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  // In the transaction that was begun; without one, the statement commits by itself, or fails. An INSERT whose row is
  // there already changes none. Throws Error{store_*}: the outcome may be unknown.
  virtual Answer execute(const Statement& statement) = 0;
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;
  // A grant needs a transaction that locks its row: a statement that commits by itself could be optimistic.
  virtual bool locks_rows() const { return false; }
};

}  // namespace idgen::sql
