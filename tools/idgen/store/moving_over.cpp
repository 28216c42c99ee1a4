#include "store/moving_over.hpp"

#include "shared/text.hpp"
#include "store/segment.hpp"

namespace idgen_tool {
namespace {

// The gap between the numbers of idgen and those of the database above: what idgen may issue meanwhile.
constexpr std::uint64_t kGap = 1'000'000'000;

constexpr const char* kBlockEnd = "$idgen$";

// A name for SQL, in quotes of one kind, which are doubled inside.
std::string quoted(const std::string& name, char quote) {
  std::string out(1, quote);
  for (const char c : name) out.append(c == quote ? 2 : 1, c);
  return out + quote;
}

// SCHEMA.TABLE, each part in quotes.
std::string quoted_path(const std::string& path, char quote) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', begin)) {
    out += quoted(path.substr(begin, dot - begin), quote) + '.';
    begin = dot + 1;
  }
  return out + quoted(path.substr(begin), quote);
}

// A name with a line break, or with the end of a PostgreSQL block, would change the statement.
bool can_be_quoted(const std::string& name) { return one_line(name) == name && name.find(kBlockEnd) == name.npos; }

std::string counter_of(const NumberedColumn& from) { return from.numbering.counter; }

// `why`: why a margin does not keep both apart.
std::string introduction(const std::string& table, const std::string& ways, const std::string& why) {
  return "If nothing inserts into " + table + " without an id any more, you are done.\n" + "Else " + ways +
         " before the first id of idgen is inserted. A margin alone does not help:\n" + why + "\n\n";
}
std::string share(const std::string& numbers) {
  return "1. Share the numbers: odd ones from " + numbers + ", even ones from idgen.\n\n";
}
constexpr const char* kTwoWays = "choose one of two ways";

// The database does not number the rows: programs do, if anything does.
std::string by_programs(const std::string& table, const std::string& counter) {
  if (counter.empty())
    return "The database does not number " + table + ". If no program does any more, you are done.\n";
  return "If no program takes numbers of " + counter + " for " + table +
         " any more, you are done.\nElse stop all that do before the first id of idgen is inserted, and run this "
         "import again.\n";
}

std::string mysql(const NumberedColumn& from) {
  const std::string table = quoted_path(from.table, '`');
  const std::string column = quoted(from.column, '`');
  if (counter_of(from) != "AUTO_INCREMENT") return by_programs(table, counter_of(from));
  std::string text =
      introduction(table, kTwoWays,
                   "InnoDB raises AUTO_INCREMENT above each id that is inserted, into the range that idgen holds.") +
      share("AUTO_INCREMENT") +
      "   SET GLOBAL auto_increment_increment = 2, GLOBAL auto_increment_offset = 1;\n"
      "\n"
      "   Put both into the configuration of this server, and of every replica that may take its place.\n"
      "   Reopen all connections that insert without an id: each keeps the increment that it began with.\n"
      "   Then run this import again, and start the writers with segment.stride = 2 and segment.offset = 0.\n";
  if (from.max_id > kLargestNumber - kGap) return text;
  const std::string above = std::to_string(from.max_id + kGap);
  return text +
         "\n2. Separate the numbers: AUTO_INCREMENT continues far above idgen.\n"
         "\n"
         "   ALTER TABLE " +
         table + " AUTO_INCREMENT = " + above + ";\n" + "   SELECT MAX(" + column + ") FROM " + table + " WHERE " +
         column + " < " + above + ";\n" +
         "\n"
         "   Is that above " +
         std::to_string(from.max_id) + "? Raise the tag to it: idgen segment advance --to MAX.\n" +
         "   Then start the writers. The column's type must hold such numbers (INT ends at 2147483647), and the last\n"
         "   insert without an id must come before idgen reaches " +
         above + ".\n" + "   After it, run this import again.\n";
}

// What may be in use of the sequence. One that was set, or moved, has issued what is below, though it was not called.
std::string in_use(const NumberedColumn& from) {
  const std::string step = std::to_string(std::max<std::uint64_t>(from.numbering.increment, 1));
  if (from.hilo > 1) return "(last_value + is_called::int) * " + std::to_string(from.hilo);
  return "last_value - 1 + is_called::int * " + step;
}

// The sequence moves to `first`, if it has given no number above the tag. ALTER SEQUENCE locks: others wait in
// nextval().
std::string move_sequence(const NumberedColumn& from, const std::string& change, std::uint64_t first) {
  const std::string sequence = counter_of(from);
  return std::string("   DO ") + kBlockEnd + "\n" +
         "   DECLARE\n"
         "     latest bigint;\n"
         "   BEGIN\n"
         "     ALTER SEQUENCE " +
         sequence + ' ' + change + ";\n" + "     SELECT " + in_use(from) + " INTO latest FROM " + sequence +
         ";\n"
         "     IF latest > " +
         std::to_string(from.max_id) + " THEN\n" +
         "       RAISE EXCEPTION 'numbers up to % may be in use: run the import again, with a margin', latest;\n"
         "     END IF;\n"
         "     ALTER SEQUENCE " +
         sequence + " RESTART WITH " + std::to_string(first) + ";\n" + "   END " + kBlockEnd + ";\n";
}

std::string postgres(const NumberedColumn& from) {
  const std::string table = quoted_path(from.table, '"');
  std::string text;
  if (from.numbering.is_always != 0) {
    text += "The column is GENERATED ALWAYS, so PostgreSQL refuses ids of idgen (428C9), until:\n\n   ALTER TABLE " +
            table + " ALTER COLUMN " + quoted(from.column, '"') + " SET GENERATED BY DEFAULT;\n\n";
  }
  if (counter_of(from).empty()) return text + by_programs(table, "");
  const bool are_inserted = from.by_programs || from.numbering.increment > 2 || from.hilo > 1;  // 2: shared already
  text += are_inserted ? "If no program takes numbers of " + counter_of(from) + " for " + table +
                             " any more, you are done.\nElse separate the numbers before the first id of idgen is "
                             "inserted. A margin alone does not help:\nthe sequence grows into it.\n\n"
                       : introduction(table, kTwoWays, "the sequence grows into it.");
  if (!are_inserted) {
    text += share("the sequence") + move_sequence(from, "INCREMENT BY 2", from.max_id + 1 + from.max_id % 2) +
            "\n"
            "   Then start the writers with segment.stride = 2 and segment.offset = 0.\n"
            "   Not for programs that multiply the numbers (hilo): use way 2.\n\n";
  }
  if (from.max_id > kLargestNumber - kGap) return text;
  const std::uint64_t above = from.max_id + kGap;
  return text + (are_inserted ? "" : "2. ") +
         "Separate the numbers: the sequence continues far above idgen.\n"
         "\n" +
         move_sequence(from, "NO CYCLE", from.hilo > 1 ? above / from.hilo + 2 : above) +
         "\n"
         "   Then start the writers. The column's type must hold such numbers (integer ends at 2147483647), and the\n"
         "   last " +
         (are_inserted ? "program that takes numbers of the sequence must stop" : "insert without an id must come") +
         " before idgen reaches " + std::to_string(above) + ".\n   After that, run this import again.\n";
}

}  // namespace

std::string moving_over(const NumberedColumn& from) {
  if (!can_be_quoted(from.table) || !can_be_quoted(from.column) || !can_be_quoted(counter_of(from))) {
    return "The name of the table, column or sequence has characters that end a line or a statement, so none is shown: "
           "see\n"
           "docs/stores.md, Moving over from AUTO_INCREMENT and sequences.\n";
  }
  const std::string scheme = from.store.substr(0, from.store.find(':'));
  if (scheme == "mysql" || scheme == "mariadb") return mysql(from);
  return scheme == "postgres" ? postgres(from) : "";
}

}  // namespace idgen_tool
