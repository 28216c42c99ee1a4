#include "moving_over.hpp"

#include "segment.hpp"
#include "text.hpp"

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

// `why`: why a margin does not keep both apart.
std::string introduction(const std::string& table, const std::string& numbers, const std::string& why) {
  return "If nothing inserts into " + table + " without an id any more, you are done.\n" +
         "Else choose one of two ways before the first id of idgen is inserted. A margin alone does not help:\n" + why +
         "\n\n1. Share the numbers: odd ones from " + numbers + ", even ones from idgen.\n\n";
}

std::string mysql(const NumberedColumn& from) {
  const std::string table = quoted_path(from.table, '`');
  const std::string column = quoted(from.column, '`');
  std::string text =
      introduction(table, "AUTO_INCREMENT",
                   "InnoDB raises AUTO_INCREMENT above each id that is inserted, into the range that idgen holds.") +
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

// The sequence moves to `first`, if it has given no number above the tag. ALTER SEQUENCE locks: others wait in
// nextval().
std::string move_sequence(const NumberedColumn& from, const std::string& change, std::uint64_t first) {
  const std::string table = quoted_path(from.table, '"');
  const std::string reached = std::to_string(from.max_id);
  return std::string("   DO ") + kBlockEnd + "\n" +
         "   DECLARE\n"
         "     numbers text := pg_get_serial_sequence(" +
         quoted(table, '\'') + ", " + quoted(from.column, '\'') +
         ");\n"
         "     latest bigint;\n"
         "   BEGIN\n"
         "     IF numbers IS NULL THEN RAISE EXCEPTION 'the column owns no sequence: name it here'; END IF;\n"
         "     EXECUTE 'ALTER SEQUENCE ' || numbers || ' " +
         change + "';\n" +
         "     EXECUTE 'SELECT last_value - (NOT is_called)::int FROM ' || numbers INTO latest;\n"
         "     IF latest > " +
         reached + " THEN\n" +
         "       RAISE EXCEPTION 'the sequence stands at %: run the import again, with a margin', latest;\n"
         "     END IF;\n"
         "     EXECUTE 'ALTER SEQUENCE ' || numbers || ' RESTART WITH " +
         std::to_string(first) + "';\n" + "   END " + kBlockEnd + ";\n";
}

std::string postgres(const NumberedColumn& from) {
  std::string text = introduction(quoted_path(from.table, '"'), "the sequence", "the sequence grows into it.") +
                     move_sequence(from, "INCREMENT BY 2", from.max_id + 1 + from.max_id % 2) +
                     "\n"
                     "   Then start the writers with segment.stride = 2 and segment.offset = 0.\n"
                     "   Not for Hibernate and others that take the increment for a block of ids: use way 2.\n";
  if (from.max_id > kLargestNumber - kGap) return text;
  const std::uint64_t above = from.max_id + kGap;
  return text +
         "\n2. Separate the numbers: the sequence continues far above idgen.\n"
         "\n" +
         move_sequence(from, "NO CYCLE", above) +
         "\n"
         "   Then start the writers. The column's type must hold such numbers (integer ends at 2147483647), and the\n"
         "   last insert without an id must come before idgen reaches " +
         std::to_string(above) + ".\n" + "   After it, run this import again.\n";
}

}  // namespace

std::string moving_over(const NumberedColumn& from) {
  if (!can_be_quoted(from.table) || !can_be_quoted(from.column)) {
    return "The name of the table or column has characters that end a line or a statement, so none is shown: see\n"
           "docs/stores.md, Moving over from AUTO_INCREMENT and sequences.\n";
  }
  const std::string scheme = from.store.substr(0, from.store.find(':'));
  if (scheme == "mysql" || scheme == "mariadb") return mysql(from);
  return scheme == "postgres" ? postgres(from) : "";
}

}  // namespace idgen_tool
