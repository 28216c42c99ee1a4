// Segments in MariaDB, MySQL and TiDB.
//
// One round trip: UPDATE ... SET max_id = LAST_INSERT_ID(max_id + n), whose value comes back with the acknowledgement.
// TiDB first runs a statement that commits by itself optimistically, so there it is an explicit pessimistic
// transaction. Windows: sql_workers.hpp.
#include <optional>

#include "connection.hpp"
#include "key_producer.hpp"
#include "schema.hpp"
#include "with_windows.hpp"

namespace idgen::module {
namespace {

// idgen's own names are bytes, not characters, so that no collation makes two of them equal. The tables of the others
// are as their makers define them.
constexpr Dialect kDialects[] = {
    {.create_table = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  max_id BIGINT NOT NULL,
  grants BIGINT NOT NULL DEFAULT 0,
  updated_unix_ms BIGINT NOT NULL DEFAULT 0,
  step BIGINT NOT NULL DEFAULT 0,
  rate BIGINT NOT NULL DEFAULT 0,
  holder VARBINARY(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)) ENGINE = InnoDB)",
     .columns = "ns, tag, max_id, grants, updated_unix_ms, step, rate, holder, 1, 0",
     .insert = "(ns, tag, max_id, grants, updated_unix_ms) VALUES({namespace}, {tag}, {counter}, 0, {now})"
               " ON DUPLICATE KEY UPDATE tag = tag",
     .granted = ", grants = grants + 1, rate = {rate}, holder = {holder}, updated_unix_ms = {now}",
     .advanced = ", grants = grants + 1, updated_unix_ms = {now}",
     .changed = ", updated_unix_ms = {now}",
     .create_log = R"(CREATE TABLE IF NOT EXISTS idgen_grant (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  slot BIGINT NOT NULL,
  grant_no BIGINT NOT NULL,
  first_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL,
  granted_unix_ms BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, tag, slot),
  KEY by_last (ns, tag, last_id)) ENGINE = InnoDB)"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)) ENGINE = InnoDB)",
     .columns = "'default', biz_tag, max_id, 0, CAST(1000 * COALESCE(UNIX_TIMESTAMP(update_time), 0) AS SIGNED), step, "
                "0, '', 1, 0",
     .insert = "(biz_tag, max_id, step) VALUES({key}, {counter}, {step}) ON DUPLICATE KEY UPDATE biz_tag = biz_tag",
     .granted = "",
     .advanced = "",
     .changed = ""},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS tiny_id_info (
  id bigint(20) NOT NULL AUTO_INCREMENT,
  biz_type varchar(63) NOT NULL DEFAULT '',
  begin_id bigint(20) NOT NULL DEFAULT '0',
  max_id bigint(20) NOT NULL DEFAULT '0',
  step int(11) DEFAULT '0',
  delta int(11) NOT NULL DEFAULT '1',
  remainder int(11) NOT NULL DEFAULT '0',
  create_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
  update_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
  version bigint(20) NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  UNIQUE KEY uniq_biz_type (biz_type)) ENGINE = InnoDB DEFAULT CHARSET = utf8)",
     .columns =
         "'default', biz_type, max_id, version, CAST(1000 * COALESCE(UNIX_TIMESTAMP(update_time), 0) AS SIGNED), "
         "COALESCE(step, 0), 0, '', delta, remainder",
     .insert = "(biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version)"
               " VALUES({key}, {counter}, {counter}, {step}, 1, 0, now(), now(), 0)"
               " ON DUPLICATE KEY UPDATE biz_type = biz_type",
     .granted = ", update_time = now(), version = version + 1",
     .advanced = ", update_time = now(), version = version + 1",
     .changed = ", update_time = now(), version = version + 1"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS cosid (
  name varchar(100) NOT NULL COMMENT '{namespace}.{name}',
  last_max_id bigint unsigned NOT NULL DEFAULT 0,
  last_fetch_time bigint unsigned NOT NULL DEFAULT 0,
  CONSTRAINT cosid_pk PRIMARY KEY (name)) ENGINE = InnoDB)",
     .columns = "'', name, last_max_id, 0, 1000 * COALESCE(last_fetch_time, 0), 0, 0, '', 1, 0",
     .insert = "(name, last_max_id, last_fetch_time) VALUES({key}, {counter}, unix_timestamp())"
               " ON DUPLICATE KEY UPDATE name = name",
     .granted = ", last_fetch_time = unix_timestamp()",
     .advanced = ", last_fetch_time = unix_timestamp()",
     .changed = ", last_fetch_time = unix_timestamp()"},
};

constexpr KeyProducerDialect kKeyProducerRows = {
    .parameters = kParameters,
    .time_type = "datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
    .table_options = " ENGINE = InnoDB DEFAULT CHARSET = utf8 COLLATE = utf8_bin",
    .updated_ms = "CAST(1000 * COALESCE(UNIX_TIMESTAMP(update_time), 0) AS SIGNED)",
    .changed = "",
    .if_absent = " ON DUPLICATE KEY UPDATE TABLENAME = TABLENAME",
    .literal = literal};

class MysqlStore final
    : public WithNumbers<WithWindows<SchemaStore<MysqlConnection>, MysqlConnection>, MysqlConnection> {
 public:
  using Serials = KeyProducer<MysqlConnection, kKeyProducerRows>;

  explicit MysqlStore(const Settings& settings) : WithNumbers(settings, kParameters, kDialects) {
    use([&](MysqlConnection& server) {
      if (settings_.create) make_tables(server);
      server_ = server.describe();
    });
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    if (settings.schema == kKeyProducer.name) return Serials::statements(settings, name_space, tag);
    const Schema& schema = schema_of(settings);
    const Dialect& dialect = dialect_of(kDialects, settings);
    return tables_text(dialect, settings) +
           insert_text(schema, dialect, settings, literal(name_space), literal(tag),
                       literal(key_of_row(schema, name_space, tag)), 0) +
           ";\n";
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    advance_by(name_space, tag, request.above, grant_size(0, request));
    const std::uint64_t above = request.above != 0 ? counter_above(schema_, request.above) : 0;
    return use([&](MysqlConnection& server) {
      const std::string where = where_tag(server, name_space, tag);
      RowTerms& terms = server.known_terms(where);
      bool created = false;
      for (int unchanged = 0;;) {
        const std::uint64_t count = grant_size(terms, request);
        const std::string rest =
            filled(dialect_.granted,
                   {{"rate", number(request.rate)}, {"holder", server.quoted(request.holder)}, {"now", now()}}) +
            where;
        const std::optional<std::uint64_t> counter =
            server.in_transactions() ? take_in_transaction(server, tag, where, rest, terms, above, count)
                                     : take_at_once(server, rest, terms, above, count);
        if (counter) return grant_up_to(schema_, *counter, count, terms);
        const std::optional<SchemaRow> found = find(server, where);
        if (found) {
          const RowTerms said = terms_of(schema_, *found);
          if (said == terms) {
            check_room(schema_, name_space, tag, *found, count);
            if (++unchanged == kMostUnchanged) throw_unchanged(schema_, shown_, tag);
          }
          terms = said;  // the operator has changed it
          continue;
        }
        if (!settings_.create || created) throw_tag_unknown(name_space, tag, shown_, kHowToCreate);
        insert(server, name_space, tag, 0);
        created = true;
      }
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](MysqlConnection& server) {
      const std::string where = where_tag(server, name_space, tag);
      if (has_log()) server.run(server.begin());
      server.run(update() + counter_ + " - " + number(unused) + changed(dialect_.changed) + where + " AND " + counter_ +
                 " = " + number(last + schema_.next_free));
      const bool is_changed = server.changed_rows() == 1;
      if (has_log()) {
        if (is_changed) server.run(cut_grants(last - unused, where), MysqlConnection::About::grants);
        server.run("COMMIT");
      }
      if (!is_changed) read(server, name_space, tag);  // says if it is not there
    });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    const std::uint64_t wanted = counter_above(schema_, target);
    return use([&](MysqlConnection& server) {
      server.run(update() + "GREATEST(" + counter_ + " + 1, " + number(wanted) + ")" + changed(dialect_.advanced) +
                 where_tag(server, name_space, tag) + " AND " + counter_ + " < " + number(kLargestNumber));
      const bool is_changed = server.changed_rows() == 1;
      SchemaRow now = read(server, name_space, tag);
      if (!is_changed) advanced(name_space, tag, now.counter, wanted);  // says that it is exhausted
      if (!is_changed || now.counter < wanted) throw_unchanged(schema_, shown_, tag);
      return now.info;
    });
  }
  // The rows first: the counter, read later, has issued what they have meanwhile, too.
  NumberedColumn column_of(const std::string& table, const std::string& column,
                           const std::optional<std::string>& sequence) {
    return use([&](MysqlConnection& server) {
      if (column.empty()) throw Error(Status::value, "the column's name is empty");
      const auto ask = [&](const std::string& sql) {
        return server.query(sql, MysqlConnection::About::users_table, table);
      };
      NumberedColumn found;
      Rows rows = ask("SELECT MAX(" + server.identifier(column) + ") FROM " + path_of(server, "table", table));
      check_column(table, column, rows.is_exact(0));
      if (rows.next()) found.largest = largest_of(table, column, rows.text(0));
      if (!sequence) {
        read_auto_increment(ask, server, table, column, found);
      } else if (!sequence->empty()) {
        read_sequence(ask, server, *sequence, found);
      }
      return found;
    });
  }
  std::string describe() override { return server_ + kWorkersSentence + schema_sentence(schema_); }

  LoggedGrant grant_of(const std::string& name_space, const std::string& tag, std::uint64_t id) {
    check_log();
    return use([&](MysqlConnection& server) {
      Rows row = server.query(select_grant(id, where_tag(server, name_space, tag)), MysqlConnection::About::grants);
      if (!row.next()) return LoggedGrant{};
      return LoggedGrant{row.number(0), row.number(1), row.number(2), static_cast<std::int64_t>(row.number(3)),
                         row.text(4)};
    });
  }

 private:
  // The place of a table in information_schema: "'shop'" or "DATABASE()", and "'orders'".
  static std::pair<std::string, std::string> place_of(MysqlConnection& server, const std::string& what,
                                                      const std::string& name) {
    const std::vector<std::string> parts = parts_of_name(what, name);
    return {parts.size() > 1 ? server.quoted(parts[0]) : "DATABASE()", server.quoted(parts.back())};
  }
  template <class Ask>
  static void read_auto_increment(Ask&& ask, MysqlConnection& server, const std::string& table,
                                  const std::string& column, NumberedColumn& found) {
    // MySQL 8 remembers what it says of a table for a day, unless it is told not to.
    if (ask("SHOW VARIABLES LIKE 'information_schema_stats_expiry'").next())
      server.run("SET SESSION information_schema_stats_expiry = 0");
    const auto [database, name] = place_of(server, "table", table);
    Rows own = ask(
        "SELECT c.EXTRA LIKE '%auto_increment%', COALESCE(t.AUTO_INCREMENT, 1), COALESCE(c.COLUMN_DEFAULT, '') FROM "
        "information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND "
        "t.TABLE_NAME = c.TABLE_NAME WHERE c.TABLE_SCHEMA = " +
        database + " AND c.TABLE_NAME = " + name + " AND c.COLUMN_NAME = " + server.quoted(column));
    const bool is_known = own.next();
    if (is_known && own.text(0) == "1") {
      found.counter = "AUTO_INCREMENT";
      found.issued = std::max<std::uint64_t>(largest_of(table, "AUTO_INCREMENT", own.text(1)), 1) - 1;
      found.increment = 1;
      return;
    }
    // MariaDB: nextval(`ids`.`numbers`)
    constexpr std::string_view kNext = "nextval(";
    if (std::string made = is_known ? own.text(2) : ""; made.starts_with(kNext) && made.ends_with(')')) {
      made = made.substr(kNext.size(), made.size() - kNext.size() - 1);
      std::erase(made, '`');
      read_sequence(ask, server, made, found);
      return;
    }
    Rows others = ask(
        "SELECT t.TABLE_NAME FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = " + database +
        " AND (t.TABLE_TYPE = 'SEQUENCE' OR EXISTS (SELECT 1 FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = "
        "t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME AND c.COLUMN_NAME = 'next_val')) ORDER BY 1 LIMIT 5");
    while (others.next()) found.others += (found.others.empty() ? "" : ", ") + others.text(0);
  }
  // A sequence of MariaDB, or a table of Hibernate's, whose increment only Hibernate knows. What stands there is the
  // next number.
  template <class Ask>
  static void read_sequence(Ask&& ask, MysqlConnection& server, const std::string& sequence, NumberedColumn& found) {
    const auto [database, name] = place_of(server, "sequence", sequence);
    Rows kind = ask("SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + database +
                    " AND TABLE_NAME = " + name);
    const bool is_sequence = kind.next() && kind.text(0) == "SEQUENCE";
    const std::string next = is_sequence ? "next_not_cached_value" : "next_val";
    Rows row = ask("SELECT MAX(" + next + "), MAX(" + (is_sequence ? "increment" : "1") + ") FROM " +
                   path_of(server, "sequence", sequence));
    if (!row.next() || row.text(1)[0] == '-') return;  // it counts down, so the rows have the highest
    found.counter = sequence;
    found.increment = std::max<std::uint64_t>(largest_of(sequence, "increment", row.text(1)), 1);
    const std::uint64_t number = largest_of(sequence, next, row.text(0));
    found.issued = number - std::min(number, found.increment);
  }

  // Takes effect if the row's terms are still these. `rest` is what else is set, and where.
  std::optional<std::uint64_t> take_at_once(MysqlConnection& server, const std::string& rest, const RowTerms& terms,
                                            std::uint64_t above, std::uint64_t count) const {
    const std::string from = above == 0 ? counter_ : "GREATEST(" + counter_ + ", " + number(above) + ")";
    server.run(update() + "LAST_INSERT_ID(" + from + " + " + number(count) + ")" + rest + and_terms(schema_, terms) +
               and_room(schema_, count));
    if (server.changed_rows() != 1) return std::nullopt;
    return server.last_insert_id();
  }

  // Locks, reads, compares and sets: at any isolation level, a change in between is seen.
  std::optional<std::uint64_t> take_in_transaction(MysqlConnection& server, const std::string& tag,
                                                   const std::string& where, const std::string& rest,
                                                   const RowTerms& terms, std::uint64_t above,
                                                   std::uint64_t count) const {
    server.run(server.begin());
    Rows found = server.query("SELECT " + counter_ + " FROM " + table_ + where + and_terms(schema_, terms) +
                              and_room(schema_, count) + " FOR UPDATE");
    if (!found.next()) {
      server.run("ROLLBACK");
      return std::nullopt;
    }
    std::uint64_t before = 0;
    try {
      before = found.number(0);
    } catch (const Error&) {  // it is not a number
      server.run("ROLLBACK");
      throw;
    }
    const std::uint64_t from = std::max(before, above);
    server.run(update() + number(from + count) + rest + " AND " + counter_ + " = " + number(before));
    if (server.changed_rows() != 1) {
      server.run("ROLLBACK");
      throw_unchanged(schema_, shown_, tag);  // nobody else can have changed it while it was locked
    }
    if (has_log()) {
      server.run(insert_grant(settings_.grant_log, number(from + 1), number(from + count), table_ + where) +
                     " ON DUPLICATE KEY UPDATE grant_no = VALUES(grant_no), first_id = VALUES(first_id), last_id = "
                     "VALUES(last_id), granted_unix_ms = VALUES(granted_unix_ms), holder = VALUES(holder)",
                 MysqlConnection::About::grants);
    }
    server.run("COMMIT");
    return from + count;
  }

  // Without IGNORE, which would cut a name to the column's length.
  bool insert(MysqlConnection& server, const std::string& name_space, const std::string& tag,
              std::uint64_t above) const override {
    server.run(insert_text(schema_, dialect_, settings_, server.quoted(name_space), server.quoted(tag),
                           server.quoted(key_of_row(schema_, name_space, tag)), above));
    return server.changed_rows() == 1;
  }

  SchemaRow row_of(const Rows& rows, bool is_list) const {
    return WithNumbers::row_of(
        is_list, [&](unsigned column) { return rows.number(column); },
        [&](unsigned column) { return rows.text(column); });
  }
  std::vector<SchemaRow> rows_of(MysqlConnection& server, const std::string& sql, bool is_list) const override {
    std::vector<SchemaRow> found;
    for (Rows rows = server.query(sql); rows.next();) found.push_back(row_of(rows, is_list));
    return found;
  }

  std::string server_;  // what describe() says of it
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_mysql() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::MysqlStore>("mysql");
  return &module;
}
