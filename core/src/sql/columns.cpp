// Any table's column of the same database: which numbers are in use, and what issues them.
#include <algorithm>

#include "idgen/text.hpp"
#include "sql/tables.hpp"

namespace idgen::sql {
namespace {

class Columns {
 public:
  Columns(const Tables::Session& session, const std::string& table) : session_(session), table_(table) {}

  // The rows first: the counter, read later, has issued what they have meanwhile, too.
  NumberedColumn read(const std::string& column, const std::optional<std::string>& sequence) {
    if (column.empty()) throw Error(Status::value, "the column's name is empty");
    const std::string from = path_of("table", table_);
    Statement highest = question();
    highest << "SELECT MAX(" << identifier(column) << ") AS highest FROM " << from;
    const Answer rows = ask(highest);
    if (!rows.rows.empty()) {
      const Cell& cell = rows.rows.front().at(0);
      check_exact(column, cell);
      found_.largest = largest_of(table_, column, cell.text);
    }
    if (session_.dialect.database == Database::mysql) {
      if (!sequence) {
        read_auto_increment(column);
      } else if (!sequence->empty()) {
        read_mysql_sequence(*sequence);
      }
      return found_;
    }
    const Answer own = ask(own_sequence(from, column));
    if (!own.rows.empty()) found_.is_always = is_true(own.rows.front().at(0));
    std::string counter;
    if (sequence) {
      if (!sequence->empty()) counter = path_of("sequence", *sequence);
    } else if (!own.rows.empty()) {
      counter = own.rows.front().at(1).text;
    }
    if (!counter.empty()) {
      read_sequence(counter);
    } else if (!sequence) {
      add_others(ask(ownerless_sequences(from)));
    }
    return found_;
  }

 private:
  // Columns of text or floating point, whose MAX() may be below ids in use: as text 9 is larger than 10, and floating
  // point may be rounded.
  void check_exact(const std::string& column, const Cell& cell) const {
    if (cell.is_exact) return;
    throw Error(Status::value,
                concat({"the column ", column, " of ", table_,
                        " is not of a type of whole numbers, so its largest value need not be the largest id. Find "
                        "that by hand, and use `idgen segment advance`"}));
  }
  static bool is_true(const Cell& cell) { return cell.text == "1" || cell.text.starts_with('t'); }

  std::string identifier(const std::string& name) const {
    const char mark = session_.dialect.database == Database::mysql ? '`' : '"';
    std::string out(1, mark);
    for (const char c : name) out.append(c == mark ? 2 : 1, c);
    return out + mark;
  }
  // Each part quoted. Throws Error{value}.
  std::string path_of(const char* what, const std::string& name) const {
    std::string path;
    for (const std::string& part : parts_of_name(what, name)) path += (path.empty() ? "" : ".") + identifier(part);
    return path;
  }
  Statement question() const {
    Statement asked(session_.dialect, About::users_table, true);
    asked.users_table = table_;
    return asked;
  }
  Answer ask(const Statement& asked) const {
    // A driver would take these for places of values. They can only have come with a name.
    const auto places = static_cast<std::size_t>(std::count(asked.text.begin(), asked.text.end(), '?'));
    if (places != asked.values.size() || asked.text.find_first_of("%:") != asked.text.npos) {
      throw Error(Status::value, concat({"the table ", quote(table_),
                                         ": a table, column or sequence with ?, % or : in its name cannot be read. "
                                         "Find the highest id by hand, and use `idgen segment advance`"}));
    }
    return session_.connection.execute(asked);
  }
  void add_others(const Answer& others) {
    for (const Row& row : others.rows) found_.others += (found_.others.empty() ? "" : ", ") + row.at(0).text;
  }

  // MySQL. The place of a table in information_schema: " = 'shop'" or " = DATABASE()", and " = 'orders'".
  Statement is_at(const std::string& what, const std::string& name, std::string_view alias) const {
    const std::vector<std::string> parts = parts_of_name(what, name);
    Statement place = question();
    place << alias << "TABLE_SCHEMA = ";
    if (parts.size() > 1) {
      place << Chars{parts.front()};
    } else {
      place << "DATABASE()";
    }
    place << " AND " << alias << "TABLE_NAME = " << Chars{parts.back()};
    return place;
  }
  void read_auto_increment(const std::string& column) {
    // MySQL 8 remembers what it says of a table for a day, unless it is told not to.
    Statement expiry = question();
    expiry << "SHOW VARIABLES LIKE 'information_schema_stats_expiry'";
    const Answer was = ask(expiry);
    const auto expire = [&](std::string_view seconds) {
      if (!was.rows.empty())
        ask(Statement(session_.dialect, About::users_table)
            << "SET SESSION information_schema_stats_expiry = " << seconds);
    };
    expire("0");
    Statement own = question();
    own << "SELECT LOCATE('auto_increment', c.EXTRA) AS counts, COALESCE(t.AUTO_INCREMENT, 1) AS next_number, "
           "COALESCE(c.COLUMN_DEFAULT, '') AS made_by FROM information_schema.COLUMNS c JOIN information_schema.TABLES "
           "t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME WHERE "
        << is_at("table", table_, "c.") << " AND c.COLUMN_NAME = " << Chars{column};
    const Answer answer = ask(own);
    if (!was.rows.empty()) expire(was.rows.front().at(1).text);
    const bool is_known = !answer.rows.empty();
    if (is_known && answer.rows.front().at(0).text != "0") {
      found_.counter = "AUTO_INCREMENT";
      found_.issued =
          std::max<std::uint64_t>(largest_of(table_, "AUTO_INCREMENT", answer.rows.front().at(1).text), 1) - 1;
      found_.increment = 1;
      return;
    }
    // MariaDB: nextval(`ids`.`numbers`)
    constexpr std::string_view kNext = "nextval(";
    if (std::string made = is_known ? answer.rows.front().at(2).text : "";
        made.starts_with(kNext) && made.ends_with(')')) {
      made = made.substr(kNext.size(), made.size() - kNext.size() - 1);
      std::erase(made, '`');
      read_mysql_sequence(made);
      return;
    }
    const std::vector<std::string> parts = parts_of_name("table", table_);
    Statement others = question();
    others << "SELECT t.TABLE_NAME AS name FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = ";
    if (parts.size() > 1) {
      others << Chars{parts.front()};
    } else {
      others << "DATABASE()";
    }
    others << " AND (t.TABLE_TYPE = 'SEQUENCE' OR EXISTS (SELECT 1 FROM information_schema.COLUMNS c WHERE "
              "c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME AND c.COLUMN_NAME = 'next_val')) ORDER "
              "BY 1 LIMIT 5";
    add_others(ask(others));
  }
  // A sequence of MariaDB, or a table of Hibernate's, whose increment only Hibernate knows. What stands there is the
  // next number.
  void read_mysql_sequence(const std::string& sequence) {
    Statement kind = question();
    kind << "SELECT TABLE_TYPE AS kind FROM information_schema.TABLES WHERE " << is_at("sequence", sequence, "");
    const Answer found = ask(kind);
    const bool is_sequence = !found.rows.empty() && found.rows.front().at(0).text == "SEQUENCE";
    const std::string next = is_sequence ? "next_not_cached_value" : "next_val";
    Statement row = question();
    row << "SELECT MAX(" << next << ") AS next_number, MAX(" << (is_sequence ? "increment" : "1") << ") AS steps FROM "
        << path_of("sequence", sequence);
    const Answer answer = ask(row);
    if (answer.rows.empty()) return;
    const std::string& steps = answer.rows.front().at(1).text;
    if (steps.starts_with('-')) return;  // it counts down, so the rows have the highest
    found_.counter = sequence;
    found_.increment = std::max<std::uint64_t>(largest_of(sequence, "increment", steps), 1);
    const std::uint64_t number = largest_of(sequence, next, answer.rows.front().at(0).text);
    found_.issued = number - std::min(number, found_.increment);
  }

  // PostgreSQL. Whether the column is GENERATED ALWAYS, and its sequence: the one in its default, or that it owns
  // (SERIAL, IDENTITY).
  Statement own_sequence(const std::string& from, const std::string& column) const {
    Statement own = question();
    own << "SELECT a.attidentity = 'a' AS is_always, COALESCE((SELECT quote_ident(n.nspname) || '.' || "
           "quote_ident(s.relname) FROM (SELECT d.refobjid AS id, 1 AS place FROM pg_attrdef f JOIN pg_depend d ON "
           "d.objid = f.oid AND d.classid = CAST('pg_attrdef' AS regclass) AND d.refclassid = CAST('pg_class' AS "
           "regclass) WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum UNION ALL SELECT d.objid, 2 FROM pg_depend d "
           "WHERE d.classid = CAST('pg_class' AS regclass) AND d.refclassid = CAST('pg_class' AS regclass) AND "
           "d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i')) AS found JOIN pg_class s "
           "ON s.oid = found.id AND s.relkind = 'S' JOIN pg_namespace n ON n.oid = s.relnamespace ORDER BY found.place "
           "LIMIT 1), '') AS counter FROM pg_attribute a WHERE a.attrelid = CAST("
        << Chars{from} << " AS regclass) AND a.attname = " << Chars{column};
    return own;
  }
  // Of the table's schema, that no column owns: programs may number rows from them.
  Statement ownerless_sequences(const std::string& from) const {
    Statement others = question();
    others
        << "SELECT s.relname AS name FROM pg_class s WHERE (s.relkind = 'S' OR (s.relkind = 'r' AND EXISTS (SELECT 1 "
           "FROM pg_attribute a WHERE a.attrelid = s.oid AND a.attname = 'next_val'))) AND s.relnamespace = (SELECT "
           "relnamespace FROM pg_class WHERE oid = CAST("
        << Chars{from}
        << " AS regclass)) AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = CAST('pg_class' AS regclass) "
           "AND d.objid = s.oid AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')) ORDER BY 1 LIMIT 5";
    return others;
  }
  // What a session has taken into its cache counts as issued, and what is below a number that it was set to. A table is
  // Hibernate's: what stands there is the next number, which only Hibernate knows how to count on.
  void read_sequence(const std::string& counter) {
    Statement kind = question();
    kind << "SELECT relkind FROM pg_class WHERE oid = CAST(" << Chars{counter} << " AS regclass)";
    const Answer is = ask(kind);
    if (!is.rows.empty() && is.rows.front().at(0).text == "r") {
      Statement next = question();
      next << "SELECT MAX(next_val) AS next_number FROM " << counter;
      const Answer answer = ask(next);
      found_.counter = counter;
      if (!answer.rows.empty())
        found_.issued = std::max<std::uint64_t>(largest_of(counter, "next_val", answer.rows.front().at(0).text), 1) - 1;
      found_.increment = 1;
      return;
    }
    Statement state = question();
    state << "SELECT CASE WHEN is_called THEN last_value ELSE GREATEST(last_value - seqincrement, 0) END AS issued, "
             "seqincrement FROM "
          << counter << ", pg_sequence WHERE seqrelid = CAST(" << Chars{counter} << " AS regclass)";
    Answer answer;
    try {
      answer = ask(state);
    } catch (const Error& error) {
      if (error.status() != Status::store_permission) throw;
      throw Error(error.status(),
                  concat({error.message(),
                          ". The column is numbered by that sequence; this user must be allowed to read it: GRANT "
                          "SELECT ON SEQUENCE ",
                          counter}));
    }
    if (answer.rows.size() != 1) throw Error(Status::value, counter + " is not a sequence");
    const Row& row = answer.rows.front();
    if (row.at(1).text.starts_with('-')) return;  // it counts down, so the rows have the highest
    found_.counter = counter;
    found_.issued = largest_of(counter, "last_value", row.at(0).text);
    found_.increment = largest_of(counter, "seqincrement", row.at(1).text);
  }

  const Tables::Session& session_;
  const std::string& table_;
  NumberedColumn found_;
};

}  // namespace

NumberedColumn Tables::column_of(const Session& session, const std::string& table, const std::string& column,
                                 const std::optional<std::string>& sequence) {
  return Columns(session, table).read(column, sequence);
}

}  // namespace idgen::sql
