#include "sql/tables.hpp"

#include <algorithm>

#include "idgen/text.hpp"
#include "sql/workers.hpp"
#include "store/grant_rules.hpp"
#include "store/stored_number.hpp"

namespace idgen::sql {

// Under row-level security, a trigger or a rule, a statement may succeed and change nothing. A statement may also miss
// a row that somebody else changes at that moment, but not this many times in a row.
static constexpr int kMostUnchanged = 3;

// Of columns, as they are written there.
static std::string_view column_name(std::string_view columns, std::size_t column) {
  for (int depth = 0;; --column) {
    std::size_t end = 0;
    for (; end < columns.size() && (depth != 0 || columns[end] != ','); ++end)
      depth += columns[end] == '(' ? 1 : columns[end] == ')' ? -1 : 0;
    if (column == 0 || end == columns.size()) return columns.substr(0, end);
    columns.remove_prefix(end + 2);
  }
}

Tables::Tables(Wording wording, const Schema& schema)
    : wording_(std::move(wording)), schema_(schema), workers_(wording_.shown) {}

SegmentGrant Tables::take(const Session& session, const std::string& name_space, const std::string& tag,
                          const SegmentRequest& request) {
  advance_by(name_space, tag, request.above, idgen::grant_size(0, request));
  const std::uint64_t above = request.above != 0 ? counter_above(schema_, request.above) : 0;
  const Statement where = where_tag(session, name_space, tag);
  const Key key(name_space, tag);
  const bool is_mysql = session.dialect.database == Database::mysql;
  const bool locks = session.dialect.database == Database::sqlite ||
                     (is_mysql && (session.terms.grant_log != 0 || session.connection.locks_rows()));
  RowTerms terms = recall(key);
  bool created = false;
  for (int unchanged = 0;;) {
    Statement granted(session.dialect, About::segments);
    granted.fill(session.text.granted, {.holder = request.holder, .rate = request.rate});
    const std::uint64_t count = grant_size(terms, request);
    if (!is_mysql && !locks) {
      if (const std::optional<SegmentGrant> grant = take_returning(session, where, granted, above, request))
        return *grant;
    } else {
      granted << where;
      const std::optional<std::uint64_t> counter = locks ? take_locked(session, where, granted, terms, above, count)
                                                         : take_at_once(session, granted, terms, above, count);
      if (counter) return grant_up_to(schema_, *counter, count, terms);
    }
    check_is_no_tidb(session);
    if (const std::optional<SchemaRow> found = find(session, where)) {
      const RowTerms said = terms_of(schema_, *found);
      if (said == terms || (!is_mysql && !locks)) {
        check_room(schema_, name_space, tag, *found, grant_size(said, request));
        if (++unchanged == kMostUnchanged) fail_unchanged(tag);
      }
      terms = said;  // the operator has changed it
      remember(key, terms);
      continue;
    }
    if (!session.terms.create || created) throw_tag_unknown(name_space, tag, wording_.shown, wording_.how_to_create);
    insert(session, name_space, tag, 0);
    created = true;
  }
}

void Tables::give_back(const Session& session, const std::string& name_space, const std::string& tag,
                       std::uint64_t last, std::uint64_t unused) {
  check_segment_return(last, unused);
  if (unused == 0) return;
  const Statement where = where_tag(session, name_space, tag);
  Statement lowered = update(session);
  lowered << schema_.counter << " - " << Number(unused);
  lowered.fill(session.text.changed, {});
  lowered << session.dialect.durably << where << " AND " << schema_.counter << " = "
          << Number(last + schema_.next_free);
  // What was given back is no longer of any grant: the tag stands at max_id again.
  Statement cut(session.dialect, About::grants);
  cut << "UPDATE idgen_grant SET last_id = " << Number(last - unused) << where << " AND last_id > "
      << Number(last - unused);
  bool is_changed = false;
  if (session.terms.grant_log == 0) {
    is_changed = session.connection.execute(lowered).changed == 1;
  } else if (session.dialect.database == Database::postgres) {
    lowered << " RETURNING " << schema_.counter << " AS counter, 0 AS own_step, 1 AS stride, 0 AS remainder";
    cut << " AND EXISTS (SELECT 1 FROM changed)";
    is_changed = execute_logged(session, std::move(lowered), cut).rows.size() == 1;
  } else {
    session.connection.begin();
    is_changed = session.connection.execute(lowered).changed == 1;
    if (is_changed) session.connection.execute(cut);
    session.connection.commit();
  }
  if (!is_changed) read(session, name_space, tag);  // says if it is not there
}

void Tables::create(const Session& session, const std::string& name_space, const std::string& tag,
                    std::uint64_t above) {
  insertion(schema_, session.dialect, session.text, session.terms.step, name_space, tag,
            above);  // says what is invalid before the table is made
  make_segments(session);
  if (!insert(session, name_space, tag, above))
    throw_tag_exists(name_space, tag, read(session, name_space, tag).info.max_id);
}

void Tables::make_segments(const Session& session) const {
  const auto make = [&](std::string_view text, About about) {
    session.connection.execute(Statement(session.dialect, about) << text);
  };
  make(session.text.create_table, About::segments);
  if (session.terms.grant_log != 0) make(session.dialect.create_log, About::grants);
}

void Tables::create_tables(const Session& session) {
  make_segments(session);
  if (!schema_.is_own()) return;
  session.connection.execute(Statement(session.dialect, About::workers) << session.dialect.create_namespaces);
  session.connection.execute(Statement(session.dialect, About::workers) << session.dialect.create_workers);
}

SegmentInfo Tables::show(const Session& session, const std::string& name_space, const std::string& tag) {
  return read(session, name_space, tag).info;
}

SegmentInfo Tables::advance(const Session& session, const std::string& name_space, const std::string& tag,
                            std::uint64_t target) {
  const std::uint64_t wanted = counter_above(schema_, target);
  Statement raised = update(session);
  raised << session.dialect.greatest << "(" << schema_.counter << " + 1, " << Number(wanted) << ")";
  raised.fill(session.text.advanced, {});
  raised << session.dialect.durably << where_tag(session, name_space, tag) << " AND " << schema_.counter << " < "
         << Number(kLargestNumber);
  const bool is_changed = session.connection.execute(raised).changed == 1;
  SchemaRow now = read(session, name_space, tag);
  if (!is_changed) advanced(name_space, tag, now.counter, wanted);  // says that it is exhausted
  if (!is_changed || now.counter < wanted) fail_unchanged(tag);
  return now.info;
}

SegmentInfo Tables::set_step(const Session& session, const std::string& name_space, const std::string& tag,
                             std::uint64_t step) {
  check_step(step);
  Statement changed(session.dialect, About::segments);
  changed << "UPDATE " << schema_.table << " SET step = " << Number(step);
  changed.fill(session.text.changed, {});
  changed << session.dialect.durably << where_tag(session, name_space, tag);
  session.connection.execute(changed);
  SchemaRow now = read(session, name_space, tag);
  if (now.info.step != step) fail_unchanged(tag);
  return now.info;
}

std::vector<SegmentInfo> Tables::list(const Session& session) {
  Statement all = select(session);
  all << schema_.order;
  std::vector<SegmentInfo> found;
  for (const Row& row : session.connection.execute(all).rows)
    found.push_back(row_or_damage([&] { return row_of(session, row).info; }));
  return found;
}

LoggedGrant Tables::grant_of(const Session& session, const std::string& name_space, const std::string& tag,
                             std::uint64_t id) {
  if (!schema_.is_own()) {
    throw Error(Status::unsupported, concat({"the rows of ", schema_.table, " remember no grants but the latest"}));
  }
  const Statement where = where_tag(session, name_space, tag);
  // A tag that was deleted and made again has fewer grants than the rows of its predecessor say.
  Statement latest(session.dialect, About::grants, true);
  latest << "SELECT grant_no, first_id, last_id, granted_unix_ms, holder FROM idgen_grant" << where
         << " AND first_id <= " << Number(id) << " AND last_id >= " << Number(id)
         << " AND grant_no <= (SELECT grants FROM idgen_segment" << where << ") ORDER BY grant_no DESC LIMIT 1";
  const Answer answer = session.connection.execute(latest);
  if (answer.rows.empty()) return {};
  const Row& row = answer.rows.front();
  return {number(row.at(0)), number(row.at(1)), number(row.at(2)), static_cast<std::int64_t>(number(row.at(3))),
          row.at(4).text};
}

void Tables::check_is_no_tidb(const Session& session) const {
  if (session.dialect.unless_tidb.empty()) return;
  Statement question(session.dialect, About::segments, true);
  question << "SELECT " << session.dialect.is_tidb << " AS is_tidb";
  const Answer answer = session.connection.execute(question);
  if (answer.rows.empty() || answer.rows.front().at(0).text != "0") refuse_tidb("what it granted");
}

// Takes effect if the row's terms are still these. `rest` is what else is set, and where.
std::optional<std::uint64_t> Tables::take_at_once(const Session& session, const Statement& rest, const RowTerms& terms,
                                                  std::uint64_t above, std::uint64_t count) const {
  Statement grant = update(session);
  grant << "LAST_INSERT_ID(";
  if (above != 0) {
    grant << "GREATEST(" << schema_.counter << ", " << Number(above) << ")";
  } else {
    grant << schema_.counter;
  }
  grant << " + " << Number(count) << ")" << rest << and_terms(schema_, terms) << " AND " << schema_.counter
        << " BETWEEN " << Number(schema_.next_free) << " AND " << Number(kLargestNumber - count)
        << session.dialect.unless_tidb;
  const Answer answer = session.connection.execute(grant);
  if (answer.changed != 1) return std::nullopt;
  if (answer.last_insert_id > kLargestNumber || answer.last_insert_id < std::max(above, schema_.next_free) + count)
    fail_grant(answer.last_insert_id, count);
  return answer.last_insert_id;
}

// Locks, reads, compares and sets: at any isolation level, a change in between is seen.
std::optional<std::uint64_t> Tables::take_locked(const Session& session, const Statement& where, const Statement& rest,
                                                 const RowTerms& terms, std::uint64_t above,
                                                 std::uint64_t count) const {
  Connection& connection = session.connection;
  const bool is_sqlite = session.dialect.database == Database::sqlite;  // its transaction locks everything
  Statement lock(session.dialect, About::segments, true);
  lock << "SELECT " << schema_.counter << " FROM " << schema_.table << where << and_terms(schema_, terms) << " AND "
       << schema_.counter << " BETWEEN " << Number(schema_.next_free) << " AND " << Number(kLargestNumber - count)
       << session.dialect.unless_tidb << (is_sqlite ? "" : " FOR UPDATE");
  connection.begin();
  const Answer found = connection.execute(lock);
  if (found.rows.empty()) {
    connection.rollback();
    return std::nullopt;
  }
  std::uint64_t before = 0;
  try {
    before = number(found.rows.front().at(0));
  } catch (const Error&) {  // it is not a number
    connection.rollback();
    throw;
  }
  const std::uint64_t from = std::max(before, above);
  Statement grant = update(session);
  grant << Number(from + count) << rest << " AND " << schema_.counter << " = " << Number(before);
  if (connection.execute(grant).changed != 1) {
    connection.rollback();
    return std::nullopt;
  }
  if (session.terms.grant_log != 0) {
    Statement log(session.dialect, About::grants);
    const Number slots(session.terms.grant_log);
    log << "INSERT INTO idgen_grant(ns, tag, slot, grant_no, first_id, last_id, granted_unix_ms, holder) SELECT ns, "
           "tag, ";
    if (is_sqlite) {
      log << "grants - grants / " << slots << " * " << slots;
    } else {
      log << "MOD(grants, " << slots << ")";
    }
    log << ", grants, " << Number(from + 1) << ", " << Number(from + count) << ", updated_unix_ms, holder FROM "
        << schema_.table << where << session.dialect.log_again;
    connection.execute(log);
  }
  connection.commit();
  return from + count;
}

// RowTerms and grant_size() in SQL: the statement takes the row's terms as they are.
std::optional<SegmentGrant> Tables::take_returning(const Session& session, const Statement& where,
                                                   const Statement& granted, std::uint64_t above,
                                                   const SegmentRequest& request) const {
  Statement count(session.dialect, About::segments);
  count << "GREATEST(";
  if (schema_.step.empty()) {
    count << Number(request.step);
  } else {
    count << "CASE WHEN " << schema_.step << " > 0 THEN " << schema_.step << " ELSE " << Number(request.step) << " END";
  }
  count << ", " << Number(request.wanted);
  if (schema_.has_stride) count << ", CASE WHEN delta > 1 THEN delta ELSE 0 END";
  count << ")";

  Statement grant = update(session);
  if (above != 0) {
    grant << "GREATEST(" << schema_.counter << ", " << Number(above) << ")";
  } else {
    grant << schema_.counter;
  }
  grant << " + " << count << granted << session.dialect.durably << where;
  if (schema_.has_stride) grant << " AND delta > 0 AND remainder >= 0 AND remainder < delta";
  grant << " AND " << schema_.counter << " BETWEEN " << Number(schema_.next_free) << " AND " << Number(kLargestNumber)
        << " - " << count << " RETURNING ";
  // Druid's filter "wall" knows no AS here.
  const bool is_short = session.terms.grant_log == 0 && schema_.is_own();
  if (is_short) {
    grant << schema_.counter << ", " << schema_.step;
  } else {
    grant << schema_.counter << " AS counter, " << (schema_.step.empty() ? std::string_view("0") : schema_.step)
          << " AS own_step, " << (schema_.has_stride ? "delta AS stride, remainder" : "1 AS stride, 0 AS remainder");
  }
  Answer answer;
  if (session.terms.grant_log == 0) {
    grant.has_rows = true;
    answer = session.connection.execute(grant);
  } else {
    Statement log(session.dialect, About::grants);
    log << "INSERT INTO idgen_grant(ns, tag, slot, grant_no, first_id, last_id, granted_unix_ms, holder) SELECT ns, "
           "tag, MOD(grants, "
        << Number(session.terms.grant_log) << "), grants, max_id - " << count
        << " + 1, max_id, updated_unix_ms, holder FROM changed" << session.dialect.log_again;
    answer = execute_logged(session, std::move(grant), log);
  }
  if (answer.rows.size() != 1) return std::nullopt;
  const Row& row = answer.rows.front();
  const RowTerms terms{number(row.at(1)), is_short ? 1 : number(row.at(2)), is_short ? 0 : number(row.at(3))};
  const std::uint64_t counter = number(row.at(0)), size = grant_size(terms, request);
  if (counter < std::max(above, schema_.next_free) + size) fail_grant(counter, size);
  return grant_up_to(schema_, counter, size, terms);
}

// An UPDATE ... RETURNING of a tag's row, and with it, if there is a log of grants, what `log` says of the updated row:
// one statement, which commits both or neither.
Answer Tables::execute_logged(const Session& session, Statement&& update, const Statement& log) const {
  Statement both(session.dialect, About::grants, true);
  both << "WITH changed AS (" << update << ", ns, tag, grants, step, max_id, updated_unix_ms, holder), logged AS ("
       << log << ") SELECT counter, own_step, stride, remainder FROM changed";
  return session.connection.execute(both);
}

Statement insertion(const Schema& schema, const Dialect& dialect, const SchemaText& text, std::uint64_t step,
                    const std::string& name_space, const std::string& tag, std::uint64_t above) {
  const std::string key = schema.key != nullptr ? schema.key(schema, name_space, tag) : "";
  const std::uint64_t counter = counter_above(schema, above);
  if (!schema.is_own() && !schema.step.empty() && step == 0)
    throw Error(Status::value, concat({"a row of ", schema.table, " needs a step; set segment.step"}));
  Statement made(dialect, About::segments);
  made << "INSERT INTO " << schema.table;
  made.fill(text.insert, {.name_space = name_space, .tag = tag, .key = key, .counter = counter, .step = step});
  if (schema.is_own()) made << dialect.if_tag_absent;
  return made;
}

bool Tables::insert(const Session& session, const std::string& name_space, const std::string& tag,
                    std::uint64_t above) const {
  return session.connection
             .execute(insertion(schema_, session.dialect, session.text, session.terms.step, name_space, tag, above))
             .changed == 1;
}

std::optional<SchemaRow> Tables::find(const Session& session, const Statement& where) const {
  Statement one = select(session);
  one << where;
  const Answer answer = session.connection.execute(one);
  if (answer.rows.empty()) return std::nullopt;
  return row_of(session, answer.rows.front());
}

SchemaRow Tables::read(const Session& session, const std::string& name_space, const std::string& tag) const {
  std::optional<SchemaRow> found = find(session, where_tag(session, name_space, tag));
  if (!found) throw_tag_unknown(name_space, tag, wording_.shown, wording_.how_to_create);
  return std::move(*found);
}

// Reads SchemaText::columns.
SchemaRow Tables::row_of(const Session& session, const Row& row) const {
  const auto read = [&](std::size_t column) {
    try {
      return number(row.at(column));
    } catch (const Error& error) {
      throw Error(error.status(), concat({"tag ", quote(row.at(1).text), ", column ",
                                          column_name(session.text.columns, column), ": ", error.message()}));
    }
  };
  SchemaRow out;
  out.counter = read(2);
  out.info.name_space = row.at(0).text;
  out.info.tag = row.at(1).text;
  out.info.max_id = out.counter - std::min(out.counter, schema_.next_free);
  out.info.grants = read(3);
  out.info.updated_unix_ms = static_cast<std::int64_t>(read(4));
  out.info.step = read(5);
  out.info.rate = read(6);
  out.info.holder = row.at(7).text;
  if (schema_.joins_names) split_name(out.info, row.at(1).text);
  out.stride = row.at(8).text;
  out.offset = row.at(9).text;
  return out;
}

std::uint64_t Tables::number(const Cell& cell) const {
  return stored_number(concat({"the table ", schema_.table}), cell.is_null ? nullptr : cell.text.c_str());
}

Statement Tables::where_tag(const Session& session, const std::string& name_space, const std::string& tag) const {
  const std::string key = schema_.key != nullptr ? schema_.key(schema_, name_space, tag) : "";
  Statement where(session.dialect, About::segments);
  where.fill(schema_.where, {.name_space = name_space, .tag = tag, .key = key});
  return where;
}

Statement Tables::update(const Session& session) const {
  Statement begun(session.dialect, About::segments);
  begun << "UPDATE " << schema_.table << " SET " << schema_.counter << " = ";
  return begun;
}

Statement Tables::select(const Session& session) const {
  Statement begun(session.dialect, About::segments, true);
  begun << "SELECT " << session.text.columns << " FROM " << schema_.table;
  return begun;
}

void Tables::fail_unchanged(const std::string& tag) const {
  throw Error(Status::store_permission,
              concat({wording_.shown, ": the row of tag ", quote(tag), " in ", schema_.table,
                      " is there, but UPDATE does not change it as asked, without an error: row-level security, a "
                      "trigger or a rule of ",
                      schema_.table, " prevents that. Allow this user to change the row"}));
}

void Tables::fail_grant(std::uint64_t counter, std::uint64_t count) const {
  throw Error(Status::store_damaged,
              concat({wording_.shown, ": the driver gave ", counter, " for the end of a grant of ", count,
                      " numbers; it was not used. For MySQL the driver must give LAST_INSERT_ID() of an UPDATE"}));
}

RowTerms Tables::recall(const Key& key) {
  const MutexLock lock(mutex_);
  const auto known = terms_.find(key);
  return known == terms_.end() ? RowTerms() : known->second;
}

void Tables::remember(const Key& key, const RowTerms& terms) {
  const MutexLock lock(mutex_);
  terms_.insert_or_assign(key, terms);
}

Window Tables::window_take(const Session& session, const WindowRequest& request) {
  WorkerTable rows(session.connection, session.dialect, wording_.shown);
  return workers_.take(rows, request);
}
void Tables::window_return(const Session& session, const std::string& name_space, std::uint64_t worker,
                           std::uint64_t fence, std::int64_t end_ms, std::int64_t used_ms) {
  WorkerTable rows(session.connection, session.dialect, wording_.shown);
  workers_.give_back(rows, name_space, worker, fence, end_ms, used_ms);
}
WindowInfo Tables::window_show(const Session& session, const std::string& name_space, std::uint64_t worker) {
  WorkerTable rows(session.connection, session.dialect, wording_.shown);
  return workers_.show(rows, name_space, worker);
}
std::vector<WindowInfo> Tables::window_list(const Session& session, const std::string& name_space, bool numbers_only) {
  WorkerTable rows(session.connection, session.dialect, wording_.shown);
  return workers_.list(rows, name_space, numbers_only);
}
void Tables::window_repair(const Session& session, const std::string& name_space, std::uint64_t worker,
                           const WindowInfo& seen, std::int64_t hw_ms) {
  WorkerTable rows(session.connection, session.dialect, wording_.shown);
  workers_.repair(rows, name_space, worker, seen, hw_ms);
}
void Tables::window_release(const Session& session, const std::string& name_space, std::uint64_t worker,
                            const WindowInfo& seen, bool even_if_live) {
  WorkerTable rows(session.connection, session.dialect, wording_.shown);
  workers_.release(rows, name_space, worker, seen, even_if_live);
}
std::string Tables::namespace_format(const Session& session, const std::string& name_space, const std::string& format) {
  return WorkerTable(session.connection, session.dialect, wording_.shown).format_of(name_space, format);
}

}  // namespace idgen::sql
