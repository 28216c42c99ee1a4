// Segments in PostgreSQL: UPDATE ... RETURNING, one statement that commits by itself. Not a SEQUENCE: the value that
// nextval() returns is not yet durable when it arrives. Windows: sql_workers.hpp.
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <optional>

#include "key_producer.hpp"
#include "schema.hpp"
#include "sql_numbers.hpp"
#include "sql_workers.hpp"
#include "with_windows.hpp"

namespace idgen::module {
namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env",    "password_file", "tls",
                                            "tls_ca",   "channel_binding", "accept_loss"};
constexpr std::string_view kChannelBinding[] = {"prefer", "disable", "require"};  // libpq's
constexpr std::uint16_t kPort = 5432;

constexpr WorkerDialect kWorkers = {.create_namespaces = R"(CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns varchar(128) NOT NULL PRIMARY KEY,
  format varchar(1024) NOT NULL))",
                                    .create_workers = R"(CREATE TABLE IF NOT EXISTS idgen_worker (
  ns varchar(128) NOT NULL,
  worker bigint NOT NULL CHECK (worker >= 0),
  fence bigint NOT NULL CHECK (fence > 0),
  owner varchar(32) NOT NULL,
  hw bigint NOT NULL,
  lease_until bigint NOT NULL,
  clock_ahead bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, worker)))",
                                    .now_ms = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
                                    .if_absent = " ON CONFLICT DO NOTHING"};

// As below: their MySQL tables.
constexpr NumberDialect kNumbers = {.create_uid_generator = R"(CREATE TABLE IF NOT EXISTS WORKER_NODE (
  ID bigserial NOT NULL PRIMARY KEY,
  HOST_NAME varchar(64) NOT NULL,
  PORT varchar(64) NOT NULL,
  TYPE integer NOT NULL,
  LAUNCH_DATE date NOT NULL,
  MODIFIED timestamptz NOT NULL,
  CREATED timestamptz NOT NULL))",
                                    .create_cosid = R"(CREATE TABLE IF NOT EXISTS cosid_machine (
  name varchar(100) NOT NULL CONSTRAINT cosid_machine_pk PRIMARY KEY,
  namespace varchar(100) NOT NULL,
  machine_id integer NOT NULL DEFAULT 0,
  last_timestamp bigint NOT NULL DEFAULT 0,
  instance_id varchar(100) NOT NULL DEFAULT '',
  distribute_time bigint NOT NULL DEFAULT 0,
  revert_time bigint NOT NULL DEFAULT 0))",
                                    .now_ms = kWorkers.now_ms,
                                    .if_absent = " ON CONFLICT DO NOTHING",
                                    .returning = " RETURNING ID"};

// For people. The connection quotes what is sent.
std::string literal(const std::string& text) { return sql_text(text, "chr"); }

// As below: the MySQL table.
constexpr KeyProducerDialect kKeyProducerRows = {
    .parameters = kParameters,
    .time_type = "timestamptz DEFAULT now()",
    .table_options = "",
    .updated_ms = "COALESCE((1000 * extract(epoch FROM update_time::timestamptz))::bigint, 0)",
    .changed = ", update_time = now()",
    .if_absent = " ON CONFLICT DO NOTHING",
    .literal = literal};

// None of the others ships a table for PostgreSQL: these are their MySQL tables, column by column.
constexpr Dialect kDialects[] = {
    {.create_table = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  max_id bigint NOT NULL CHECK (max_id >= 0),
  grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
  updated_unix_ms bigint NOT NULL DEFAULT 0,
  step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  rate bigint NOT NULL DEFAULT 0,
  holder varchar(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)))",
     .columns = "ns, tag, max_id, grants, updated_unix_ms, step, rate, holder, 1, 0",
     .insert = "(ns, tag, max_id, grants, updated_unix_ms) VALUES({namespace}, {tag}, {counter}, 0, {now})",
     .granted = ", grants = grants + 1, updated_unix_ms = {now}, rate = {rate}, holder = {holder}",
     .advanced = ", grants = grants + 1, updated_unix_ms = {now}",
     .changed = ", updated_unix_ms = {now}",
     .create_log = R"(CREATE TABLE IF NOT EXISTS idgen_grant (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  slot bigint NOT NULL,
  grant_no bigint NOT NULL,
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  granted_unix_ms bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, tag, slot),
  UNIQUE (ns, tag, last_id, slot)))"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY,
  max_id bigint NOT NULL DEFAULT 1,
  step integer NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamptz NOT NULL DEFAULT now()))",
     .columns =
         "'default', biz_tag, max_id, 0, COALESCE((1000 * extract(epoch FROM update_time::timestamptz))::bigint, 0), "
         "step, 0, '', 1, 0",
     .insert = "(biz_tag, max_id, step) VALUES({key}, {counter}, {step})",
     .granted = ", update_time = now()",
     .advanced = ", update_time = now()",
     .changed = ", update_time = now()"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS tiny_id_info (
  id bigserial PRIMARY KEY,
  biz_type varchar(63) NOT NULL DEFAULT '' UNIQUE,
  begin_id bigint NOT NULL DEFAULT 0,
  max_id bigint NOT NULL DEFAULT 0,
  step integer DEFAULT 0,
  delta integer NOT NULL DEFAULT 1,
  remainder integer NOT NULL DEFAULT 0,
  create_time timestamptz NOT NULL DEFAULT '2010-01-01 00:00:00',
  update_time timestamptz NOT NULL DEFAULT '2010-01-01 00:00:00',
  version bigint NOT NULL DEFAULT 0))",
     .columns = "'default', biz_type, max_id, version, "
                "COALESCE((1000 * extract(epoch FROM update_time::timestamptz))::bigint, 0), COALESCE(step, 0), 0, '', "
                "delta, remainder",
     .insert = "(biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version)"
               " VALUES({key}, {counter}, {counter}, {step}, 1, 0, now(), now(), 0)",
     .granted = ", update_time = now(), version = version + 1",
     .advanced = ", update_time = now(), version = version + 1",
     .changed = ", update_time = now(), version = version + 1"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS cosid (
  name varchar(100) NOT NULL CONSTRAINT cosid_pk PRIMARY KEY,
  last_max_id bigint NOT NULL DEFAULT 0,
  last_fetch_time bigint NOT NULL DEFAULT 0))",
     .columns = "'', name, last_max_id, 0, 1000 * COALESCE(last_fetch_time, 0), 0, 0, '', 1, 0",
     .insert = "(name, last_max_id, last_fetch_time) VALUES({key}, {counter}, extract(epoch FROM now())::bigint)",
     .granted = ", last_fetch_time = extract(epoch FROM now())::bigint",
     .advanced = ", last_fetch_time = extract(epoch FROM now())::bigint",
     .changed = ", last_fetch_time = extract(epoch FROM now())::bigint"},
};

class Result {
 public:
  Result(PGresult* result, std::string_view table) : result_(result, PQclear), table_(table) {}
  int rows() const { return PQntuples(result_.get()); }
  std::string_view state() const {
    const char* const state = PQresultErrorField(result_.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? "" : state;
  }
  bool failed() const {
    const ExecStatusType status = PQresultStatus(result_.get());
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
  }
  int columns() const { return PQnfields(result_.get()); }
  std::uint64_t changed() const { return std::strtoull(PQcmdTuples(result_.get()), nullptr, 10); }
  std::string text(int row, int column) const { return PQgetvalue(result_.get(), row, column); }
  // True if this type keeps whole numbers exactly: no text, no rounding.
  bool is_exact(int column) const {
    constexpr std::array<Oid, 4> kExact = {20, 21, 23, 1700};  // int8, int2, int4, numeric: pg_type.dat
    return std::find(kExact.begin(), kExact.end(), PQftype(result_.get(), column)) != kExact.end();
  }
  std::uint64_t number(int row, int column) const {
    return stored_number("the table " + table_,
                         PQgetisnull(result_.get(), row, column) ? nullptr : PQgetvalue(result_.get(), row, column));
  }

 private:
  std::unique_ptr<PGresult, decltype(&PQclear)> result_;
  std::string table_;
};

class PostgresConnection : public SqlWorkers<PostgresConnection> {
 public:
  PostgresConnection(const Settings& settings, const Parameters& parameters)
      : SqlWorkers(settings.url.shown(), kWorkers),
        numbers_(settings.url.shown(), kNumbers, settings.create),
        shown_(settings.url.shown()),
        schema_(schema_of(settings)),
        timeout_ms_(settings.timeout_ms),
        connection_(nullptr, PQfinish) {
    std::string hosts, ports;
    for (const StoreHost& host : settings.url.hosts) {
      hosts += (hosts.empty() ? "" : ",") + host.name;
      ports += (ports.empty() ? "" : ",") + std::to_string(host.port == 0 ? kPort : host.port);
    }
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string password = parameters.secret("password", settings.url.password);
    const TlsTerms tls = parameters.tls("prefer");
    const std::string binding = parameters.choice("channel_binding", kChannelBinding);
    const std::string seconds =
        std::to_string(std::max<std::int64_t>(2, (timeout_ms_ + 999) / 1000));  // libpq's minimum is 2
    const std::string milliseconds = std::to_string(timeout_ms_);
    const std::array<std::pair<const char*, std::string>, 13> wanted{{
        {"host", hosts},
        {"port", ports},
        {"dbname", settings.url.path},
        {"user", user},
        {"password", password},
        {"sslmode", tls.mode == "off"        ? "disable"
                    : tls.is_name_verified() ? "verify-full"
                                             : tls.mode},
        {"sslrootcert", tls.ca},
        {"channel_binding", binding == "prefer" ? "" : binding},  // its default, which an older libpq does not know
        {"connect_timeout", seconds},
        {"tcp_user_timeout", milliseconds},
        {"application_name", "idgen"},
        {"target_session_attrs", "read-write"},
        {"client_encoding", "UTF8"},
    }};
    std::array<const char*, wanted.size() + 1> keys{};
    std::array<const char*, wanted.size() + 1> values{};
    std::size_t count = 0;
    for (const auto& [key, value] : wanted) {
      if (value.empty()) continue;
      keys[count] = key;
      values[count++] = value.c_str();
    }
    connection_.reset(PQconnectdbParams(keys.data(), values.data(), 0));
    if (!connection_) throw std::bad_alloc();
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail_to_connect(tls);
    close_on_exec(socket());
    keep_alive(socket());
    PQsetNoticeReceiver(connection_.get(), &PostgresConnection::notice, this);
    check_settings(parameters);
  }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  int socket() const { return PQsocket(connection_.get()); }
  bool is_usable() const { return PQstatus(connection_.get()) == CONNECTION_OK && !not_replicated_ && !timed_out_; }

  // What a statement is about, for messages.
  enum class About { segments, grants, workers, numbers, users_table };

  Result query(const std::string& sql, About about = About::segments, const std::string& users_table = "") {
    const std::string_view read_from = about == About::segments || about == About::grants ? schema_.table
                                       : about == About::workers ? std::string_view(kWorkerTable)
                                                                 : std::string_view(users_table);
    Result result = answer(sql, read_from);
    check(result, about, read_from);
    return result;
  }
  void run(const std::string& sql) { query(sql); }

  std::vector<std::vector<std::string>> segment_rows(const std::string& sql) { return all_rows(query(sql)); }
  std::vector<std::vector<std::string>> users_rows(const std::string& sql, const std::string& table) {
    return all_rows(query(sql, About::users_table, table));
  }
  // Above read committed, a statement that meets a row which has changed since it began is refused, and has changed
  // nothing. Sent again, it sees the row as it is.
  std::uint64_t change_segments(const std::string& sql) {
    constexpr int kMostRefused = 3;
    for (int refused = 0;; ++refused) {
      const Result result = answer(sql, schema_.table);
      if (result.state() == "40001" && refused < kMostRefused) continue;
      check(result, About::segments, schema_.table);
      return result.changed();
    }
  }

  std::vector<std::vector<std::string>> worker_rows(const std::string& sql) {
    return all_rows(query(sql, About::workers));
  }
  std::uint64_t change_worker(const std::string& sql) { return query(sql, About::workers).changed(); }

  SqlNumbers<PostgresConnection>& numbers() { return numbers_; }
  std::vector<std::vector<std::string>> number_rows(const std::string& sql) {
    return all_rows(query(sql, About::numbers));
  }
  std::uint64_t change_numbers(const std::string& sql) { return query(sql, About::numbers).changed(); }
  std::uint64_t insert_number(const std::string& sql) { return query(sql, About::numbers).number(0, 0); }

  std::string quoted(const std::string& text) {
    return escaped(PQescapeLiteral(connection_.get(), text.data(), text.size()));
  }
  std::string identifier(const std::string& name) {
    return escaped(PQescapeIdentifier(connection_.get(), name.data(), name.size()));
  }
  std::string describe() const {
    return "store: " + shown_ +
           " (PostgreSQL); each grant is committed with synchronous_commit = on before its first id is issued\n"
           "power loss: nothing granted is forgotten, as long as the server's disk keeps what it has synced\n"
           "failover: safe with synchronous standbys (synchronous_standby_names); with asynchronous ones the newest "
           "grants can be lost. A running process then stops with STORE_REGRESSED\n";
  }

 private:
  static std::vector<std::vector<std::string>> all_rows(const Result& found) {
    std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(found.rows()));
    for (int i = 0; i < found.rows(); ++i)
      for (int j = 0; j < found.columns(); ++j) rows[static_cast<std::size_t>(i)].push_back(found.text(i, j));
    return rows;
  }

  // Of the last statement, or the first error.
  Result answer(const std::string& sql, std::string_view read_from) {
    not_replicated_ = false;
    if (!PQsendQuery(connection_.get(), (terms_ + sql).c_str())) {
      throw Error(Status::store_unavailable, shown_ + ": " + message());
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * timeout_ms_ + 100);
    Result result(next_result(deadline), read_from);
    while (PGresult* const more = next_result(deadline)) {
      Result later(more, read_from);
      if (!result.failed()) result = std::move(later);
    }
    return result;
  }
  void check(const Result& result, About about, std::string_view read_from) const {
    if (result.failed()) fail(result, about, read_from);
    if (not_replicated_) {
      throw Error(Status::store_unavailable,
                  shown_ +
                      ": the commit was canceled while it waited for the standby: it may be lost in a failover, so "
                      "what it granted is not used");
    }
  }

  std::string escaped(char* made) const {
    if (made == nullptr) throw Error(Status::value, shown_ + ": " + message());  // not UTF-8
    const std::unique_ptr<char, decltype(&PQfreemem)> owned(made, PQfreemem);
    return made;
  }

  // "The transaction has already committed locally, but might not have been replicated to the standby": a success with
  // a warning, in the server's language.
  static void notice(void* self, const PGresult* warning) {
    const char* const function = PQresultErrorField(warning, PG_DIAG_SOURCE_FUNCTION);
    if (function != nullptr && std::string_view(function) == "SyncRepWaitForLSN")
      static_cast<PostgresConnection*>(self)->not_replicated_ = true;
  }

  // The server's statement_timeout is not enough: a stopped server, or a network that drops packets, never answers.
  // Null after the last result, when the server is ready for another statement.
  PGresult* next_result(std::chrono::steady_clock::time_point deadline) {
    while (PQisBusy(connection_.get())) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
      const int ready = left > 0 ? poll(&socket, 1, static_cast<int>(left)) : 0;
      if (ready == 0) {
        timed_out_ = true;
        throw Error(Status::store_unavailable, shown_ + ": no answer within " + std::to_string(2 * timeout_ms_) +
                                                   " ms (twice store_timeout); the connection is given up");
      }
      if (ready > 0 && !PQconsumeInput(connection_.get())) break;  // the result says what happened
    }
    return PQgetResult(connection_.get());
  }

  std::string message() const {
    std::string text = PQerrorMessage(connection_.get());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  [[noreturn]] void fail_to_connect(const TlsTerms& tls) const {
    const std::string why = message();
    const auto says = [&](const char* text) { return why.find(text) != std::string::npos; };
    const auto status = [&] {
      if (says("the database system is "))
        return Status::store_unavailable;  // starting up, in recovery mode, shutting down
      if (says("server does not support SSL")) return Status::store_unsafe;
      if (says("authentication") || says("role ") || says("pg_hba") || says("permission") || says("certificate"))
        return Status::store_permission;
      if (says("does not exist")) return Status::store_missing;
      if (says("read-only") || says("in recovery") || says("hot standby")) return Status::store_permission;
      return Status::store_unavailable;
    };
    const bool differs = says("server certificate") && says("host name");
    throw Error(status(), "cannot connect to " + shown_ + ": " + why + (differs ? tls.if_name_differs() : ""));
  }

  [[noreturn]] void fail(const Result& result, About about, std::string_view read_from) const {
    const std::string table(read_from);
    const std::string_view state = result.state();
    const std::string why = shown_ + ": " + message();
    if (state == "42501" || state == "25006") throw Error(Status::store_permission, why);  // no privilege; read-only
    if (about == About::users_table && state.substr(0, 2) == "42") throw Error(Status::value, why);
    if (state == "42P01") {
      const bool is_log = why.find(kGrantTable) != std::string::npos;  // its statement has both tables
      const std::string how = about == About::numbers            ? kHowToCreateNumbers
                              : about == About::grants && is_log ? kHowToCreateGrants
                              : about == About::grants           ? kHowToCreate
                                                                 : kHowToCreateWorkers;
      throw Error(Status::store_missing, about == About::segments
                                             ? shown_ + ": the table " + table + " is not there. " + kHowToCreate
                                             : why + ". " + how);
    }
    if (state == "42703" || state == "42804" || state == "42883" ||
        state == "42846") {  // columns of other names or types
      if (about == About::numbers)
        throw Error(Status::store_version, why + ". The table is not as its generator's own script makes it");
      throw Error(
          Status::store_version,
          why + ". The table " + table +
              (about == About::segments ? " is not one of segment.schema = " + std::string(schema_.name) + ", or"
                                        : std::string(" is")) +
              " of another version");
    }
    if (state == "3F000") {
      throw Error(Status::store_missing, why +
                                             ". No schema of the role's search_path is there; make one, or name one: "
                                             "ALTER ROLE ... SET search_path = ...");
    }
    if (state == "53100") throw Error(Status::store_full, why);
    if (state == "22003" || state == "23514") throw Error(Status::store_damaged, why);
    throw Error(Status::store_unavailable, why);  // the outcome is unknown, or the error is temporary
  }

  void check_settings(const Parameters& parameters) {
    const Result found = query(
        "SELECT current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(), (SELECT "
        "relpersistence FROM pg_class WHERE oid = to_regclass('" +
        std::string(schema_.table) + "'))");
    for (int column = 0; column < 2; ++column) {
      const char* const setting = column == 0 ? "fsync" : "full_page_writes";
      if (found.text(0, column) == "on" || parameters.accepts_loss(setting)) continue;
      throw Error(Status::store_unsafe,
                  shown_ + ": the server runs with " + setting +
                      " = off: a power loss can undo a commit, and ids would be issued twice. Set it "
                      "to on, or give that up with ?accept_loss=" +
                      setting);
    }
    if (found.text(0, 2) != "f") {
      throw Error(Status::store_permission,
                  shown_ + ": the server is in recovery (a standby), it cannot grant anything; name the primary");
    }
    if (found.text(0, 3) == "u") {
      const std::string table(schema_.table);
      throw Error(Status::store_unsafe, shown_ + ": the table " + table +
                                            " is UNLOGGED: a crash empties it, and standbys do not have it: ALTER "
                                            "TABLE " +
                                            table + " SET LOGGED");
    }
  }

  SqlNumbers<PostgresConnection> numbers_;
  const std::string shown_;
  const Schema& schema_;
  const std::int64_t timeout_ms_;
  // Of the transaction that each statement is, in the same message: a pooler may hand out another session for each, and
  // other programs set sessions up. The commit is on disk before it is acknowledged, a warning about that is sent, and
  // what was given up is not executed later.
  const std::string terms_ =
      "SET LOCAL synchronous_commit = on; SET LOCAL client_min_messages = warning; SET LOCAL "
      "statement_timeout = " +
      std::to_string(timeout_ms_) + "; SET LOCAL lock_timeout = " + std::to_string(timeout_ms_) + "; ";
  bool not_replicated_ = false;
  bool timed_out_ = false;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

class PostgresStore final
    : public WithNumbers<WithWindows<SchemaStore<PostgresConnection>, PostgresConnection>, PostgresConnection> {
 public:
  using Serials = KeyProducer<PostgresConnection, kKeyProducerRows>;

  explicit PostgresStore(const Settings& settings) : WithNumbers(settings, kParameters, kDialects) {
    use([&](PostgresConnection& server) {
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
    const std::string from = request.above == 0
                                 ? counter_
                                 : "GREATEST(" + counter_ + ", " + number(counter_above(schema_, request.above)) + ")";
    return use([&](PostgresConnection& server) {
      const std::string where = where_tag(server, name_space, tag);
      const std::string count = count_text(request);
      const std::string terms = terms_text();
      bool created = false;
      for (int unchanged = 0;;) {
        const Result row = query_logged(
            server, "counter, own_step, stride, remainder",
            update() + from + " + " + count +
                filled(dialect_.granted,
                       {{"rate", number(request.rate)}, {"holder", server.quoted(request.holder)}, {"now", now()}}) +
                where + (schema_.has_stride ? " AND delta > 0 AND remainder >= 0 AND remainder < delta" : "") +
                " AND " + counter_ + " BETWEEN " + number(schema_.next_free) + " AND 9223372036854775807 - " + count +
                " RETURNING " + counter_ + ", " + terms,
            [&](const std::string& granted) {
              return insert_grant(settings_.grant_log, "max_id - " + count + " + 1", "max_id", granted) +
                     " ON CONFLICT (ns, tag, slot) DO UPDATE SET grant_no = EXCLUDED.grant_no, first_id = "
                     "EXCLUDED.first_id, last_id = EXCLUDED.last_id, granted_unix_ms = EXCLUDED.granted_unix_ms, "
                     "holder = EXCLUDED.holder";
            });
        if (row.rows() == 1) {
          const RowTerms found{row.number(0, 1), row.number(0, 2), row.number(0, 3)};
          return grant_up_to(schema_, row.number(0, 0), grant_size(found, request), found);
        }
        const std::optional<SchemaRow> found = find(server, where);
        if (found) {
          check_room(schema_, name_space, tag, *found, grant_size(terms_of(schema_, *found), request));
          if (++unchanged == kMostUnchanged) throw_unchanged(schema_, shown_, tag);
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
    use([&](PostgresConnection& server) {
      const std::string where = where_tag(server, name_space, tag);
      const Result row =
          query_logged(server, "counter",
                       update() + counter_ + " - " + number(unused) + changed(dialect_.changed) + where + " AND " +
                           counter_ + " = " + number(last + schema_.next_free) + " RETURNING " + counter_,
                       [&](const std::string& changed_row) {
                         return cut_grants(last - unused, where) + " AND EXISTS (SELECT 1 FROM " + changed_row + ")";
                       });
      if (row.rows() != 1) read(server, name_space, tag);  // throws if it does not exist
    });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    const std::uint64_t wanted = counter_above(schema_, target);
    return use([&](PostgresConnection& server) {
      const Result row = server.query(update() + "GREATEST(" + counter_ + " + 1, " + number(wanted) + ")" +
                                      changed(dialect_.advanced) + where_tag(server, name_space, tag) + " AND " +
                                      counter_ + " < 9223372036854775807 RETURNING " + std::string(dialect_.columns));
      if (row.rows() == 1) {
        const SchemaRow now = row_of(row, 0, false);
        if (now.counter < wanted) throw_unchanged(schema_, shown_, tag);
        return now.info;
      }
      advanced(name_space, tag, read(server, name_space, tag).counter, wanted);  // throws that it is exhausted
      throw_unchanged(schema_, shown_, tag);
    });
  }
  // The rows first: the counter, read later, has issued what they have meanwhile, too.
  NumberedColumn column_of(const std::string& table, const std::string& column,
                           const std::optional<std::string>& sequence) {
    return use([&](PostgresConnection& server) {
      const std::string from = path_of(server, "table", table);
      const auto ask = [&](const std::string& sql) {
        return server.query(sql, PostgresConnection::About::users_table, table);
      };
      NumberedColumn found;
      const Result rows = ask("SELECT MAX(" + server.identifier(column) + ") FROM " + from);
      check_column(table, column, rows.is_exact(0));
      if (rows.rows() == 1) found.largest = largest_of(table, column, rows.text(0, 0));
      const Result own = ask(own_sequence(server.quoted(from), server.quoted(column)));
      if (own.rows() == 1) found.is_always = own.text(0, 0) == "t";
      std::string counter;
      if (sequence) {
        if (!sequence->empty()) counter = path_of(server, "sequence", *sequence);
      } else if (own.rows() == 1) {
        counter = own.text(0, 1);
      }
      if (!counter.empty()) {
        read_sequence(server, counter, found);
      } else if (!sequence) {
        const Result others = ask(ownerless_sequences(server.quoted(from)));
        for (int row = 0; row < others.rows(); ++row)
          found.others += (found.others.empty() ? "" : ", ") + others.text(row, 0);
      }
      return found;
    });
  }
  std::string describe() override { return server_ + kWorkersSentence + schema_sentence(schema_); }

  LoggedGrant grant_of(const std::string& name_space, const std::string& tag, std::uint64_t id) {
    check_log();
    return use([&](PostgresConnection& server) {
      const Result row =
          server.query(select_grant(id, where_tag(server, name_space, tag)), PostgresConnection::About::grants);
      if (row.rows() == 0) return LoggedGrant{};
      return LoggedGrant{row.number(0, 0), row.number(0, 1), row.number(0, 2),
                         static_cast<std::int64_t>(row.number(0, 3)), row.text(0, 4)};
    });
  }

 private:
  // Whether the column is GENERATED ALWAYS, and its sequence: the one in its default, or that it owns (SERIAL,
  // IDENTITY).
  static std::string own_sequence(const std::string& table, const std::string& column) {
    return "SELECT a.attidentity = 'a', COALESCE((SELECT quote_ident(n.nspname) || '.' || quote_ident(s.relname) FROM "
           "(SELECT d.refobjid AS id, 1 AS place FROM pg_attrdef f JOIN pg_depend d ON d.objid = f.oid AND d.classid = "
           "'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass WHERE f.adrelid = a.attrelid AND f.adnum = "
           "a.attnum UNION ALL SELECT d.objid, 2 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND "
           "d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype "
           "IN ('a', 'i')) AS found JOIN pg_class s ON s.oid = found.id AND s.relkind = 'S' JOIN pg_namespace n ON "
           "n.oid = s.relnamespace ORDER BY found.place LIMIT 1), '') FROM pg_attribute a WHERE a.attrelid = " +
           table + "::regclass AND a.attname = " + column;
  }
  // Of the table's schema, that no column owns: programs may number rows from them.
  static std::string ownerless_sequences(const std::string& table) {
    return "SELECT s.relname FROM pg_class s WHERE (s.relkind = 'S' OR (s.relkind = 'r' AND EXISTS (SELECT 1 FROM "
           "pg_attribute a WHERE a.attrelid = s.oid AND a.attname = 'next_val'))) AND s.relnamespace = (SELECT "
           "relnamespace FROM "
           "pg_class WHERE oid = " +
           table +
           "::regclass) AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = "
           "s.oid AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')) ORDER BY 1 LIMIT 5";
  }
  // What a session has taken into its cache counts as issued, and what is below a number that it was set to. A table is
  // Hibernate's: what stands there is the next number, which only Hibernate knows how to count on.
  static void read_sequence(PostgresConnection& server, const std::string& counter, NumberedColumn& found) {
    const Result kind =
        server.query("SELECT relkind FROM pg_class WHERE oid = " + server.quoted(counter) + "::regclass",
                     PostgresConnection::About::users_table, counter);
    if (kind.rows() == 1 && kind.text(0, 0) == "r") {
      const Result next =
          server.query("SELECT MAX(next_val) FROM " + counter, PostgresConnection::About::users_table, counter);
      found.counter = counter;
      found.issued = std::max<std::uint64_t>(largest_of(counter, "next_val", next.text(0, 0)), 1) - 1;
      found.increment = 1;
      return;
    }
    const Result row = [&] {
      try {
        return server.query(
            "SELECT CASE WHEN is_called THEN last_value ELSE GREATEST(last_value - seqincrement, 0) END, "
            "seqincrement FROM " +
                counter + ", pg_sequence WHERE seqrelid = " + server.quoted(counter) + "::regclass",
            PostgresConnection::About::users_table, counter);
      } catch (const Error& error) {
        if (error.status() != Status::store_permission) throw;
        throw Error(error.status(), std::string(error.message()) +
                                        ". The column is numbered by that sequence; this user must be allowed to read "
                                        "it: GRANT SELECT ON SEQUENCE " +
                                        counter);
      }
    }();
    if (row.rows() != 1) throw Error(Status::value, counter + " is not a sequence");
    if (row.text(0, 1)[0] == '-') return;  // it counts down, so the rows have the highest
    found.counter = counter;
    found.issued = largest_of(counter, "last_value", row.text(0, 0));
    found.increment = row.number(0, 1);
  }

  // An UPDATE ... RETURNING of a tag's row, and with it, if there is a log of grants, what log(the updated row) says:
  // one statement, which commits both or neither. `names`: what the columns of RETURNING are called there.
  template <class Log>
  Result query_logged(PostgresConnection& server, const std::string& names, const std::string& sql, Log&& log) const {
    if (!has_log()) return server.query(sql);
    return server.query("WITH changed(" + names + ") AS (" + sql +
                            ", ns, tag, grants, step, max_id, updated_unix_ms, holder), logged AS (" + log("changed") +
                            ") SELECT " + names + " FROM changed",
                        PostgresConnection::About::grants);
  }

  // RowTerms in SQL.
  std::string terms_text() const {
    return (schema_.step.empty() ? "0" : std::string(schema_.step)) +
           (schema_.has_stride ? ", delta, remainder" : ", 1, 0");
  }
  // grant_size() in SQL.
  std::string count_text(const SegmentRequest& request) const {
    const std::string step(schema_.step);
    const std::string own =
        step.empty() ? number(request.step)
                     : "CASE WHEN " + step + " > 0 THEN " + step + " ELSE " + number(request.step) + "::bigint END";
    return "GREATEST(" + own + ", " + number(request.wanted) + "::bigint" +
           (schema_.has_stride ? ", CASE WHEN delta > 1 THEN delta ELSE 0 END" : "") + ")";
  }

  static std::string insert_text(const Schema& schema, const Dialect& dialect, const Settings& settings,
                                 const std::string& name_space, const std::string& tag, const std::string& key,
                                 std::uint64_t above) {
    return WithNumbers::insert_text(schema, dialect, settings, name_space, tag, key, above) + " ON CONFLICT DO NOTHING";
  }
  bool insert(PostgresConnection& server, const std::string& name_space, const std::string& tag,
              std::uint64_t above) const override {
    return server
               .query(insert_text(schema_, dialect_, settings_, server.quoted(name_space), server.quoted(tag),
                                  server.quoted(key_of_row(schema_, name_space, tag)), above) +
                      " RETURNING 1")
               .rows() == 1;
  }

  SchemaRow row_of(const Result& rows, int i, bool is_list) const {
    const auto at = [](unsigned column) { return static_cast<int>(column); };
    return WithNumbers::row_of(
        is_list, [&](unsigned column) { return rows.number(i, at(column)); },
        [&](unsigned column) { return rows.text(i, at(column)); });
  }
  std::vector<SchemaRow> rows_of(PostgresConnection& server, const std::string& sql, bool is_list) const override {
    const Result rows = server.query(sql);
    std::vector<SchemaRow> found;
    for (int i = 0; i < rows.rows(); ++i) found.push_back(row_of(rows, i, is_list));
    return found;
  }

  std::string server_;  // what describe() says of it
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_postgres() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::PostgresStore>("postgres");
  return &module;
}
