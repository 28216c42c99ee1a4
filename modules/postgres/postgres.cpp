// Segments and workers in PostgreSQL. What is sent is in core/src/sql.
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <chrono>

#include "key_producer.hpp"
#include "schema.hpp"
#include "sql/fault.hpp"
#include "sql/server_settings.hpp"
#include "sql_numbers.hpp"

namespace idgen::module {
namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env",    "password_file", "tls",
                                            "tls_ca",   "channel_binding", "accept_loss"};
constexpr std::string_view kChannelBinding[] = {"prefer", "disable", "require"};  // libpq's
constexpr std::uint16_t kPort = 5432;

// As below: their MySQL tables.
const NumberDialect kNumbers = {.create_uid_generator = R"(CREATE TABLE IF NOT EXISTS WORKER_NODE (
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
                                .now_ms = sql::kPostgres.now_ms,
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
constexpr sql::SchemaText kOthers[] = {
    {.create_table = R"(CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY,
  max_id bigint NOT NULL DEFAULT 1,
  step integer NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamptz NOT NULL DEFAULT now()))",
     .columns =
         "'default', biz_tag, max_id, 0, COALESCE((1000 * extract(epoch FROM update_time::timestamptz))::bigint, 0), "
         "step, 0, '', 1, 0",
     .insert = "(biz_tag, max_id, step) VALUES({key}, {counter}, {step}) ON CONFLICT DO NOTHING",
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
               " VALUES({key}, {counter}, {counter}, {step}, 1, 0, now(), now(), 0) ON CONFLICT DO NOTHING",
     .granted = ", update_time = now(), version = version + 1",
     .advanced = ", update_time = now(), version = version + 1",
     .changed = ", update_time = now(), version = version + 1"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS cosid (
  name varchar(100) NOT NULL CONSTRAINT cosid_pk PRIMARY KEY,
  last_max_id bigint NOT NULL DEFAULT 0,
  last_fetch_time bigint NOT NULL DEFAULT 0))",
     .columns = "'', name, last_max_id, 0, 1000 * COALESCE(last_fetch_time, 0), 0, 0, '', 1, 0",
     .insert = "(name, last_max_id, last_fetch_time) VALUES({key}, {counter}, extract(epoch FROM now())::bigint)"
               " ON CONFLICT DO NOTHING",
     .granted = ", last_fetch_time = extract(epoch FROM now())::bigint",
     .advanced = ", last_fetch_time = extract(epoch FROM now())::bigint",
     .changed = ", last_fetch_time = extract(epoch FROM now())::bigint"},
};

class Result {
 public:
  explicit Result(PGresult* result) : result_(result, PQclear) {}
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
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }

 private:
  std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

using About = sql::About;

class PostgresConnection final : public sql::Connection {
 public:
  PostgresConnection(const Settings& settings, const Parameters& parameters)
      : numbers_(settings.url.shown(), kNumbers, settings.create),
        shown_(settings.url.shown()),
        wording_(wording_of(settings)),
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
    sql::check_server(*this, sql::kPostgres, schema_of(settings), wording_, parameters);
  }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  int socket() const { return PQsocket(connection_.get()); }
  bool is_usable() const {
    return PQstatus(connection_.get()) == CONNECTION_OK && !not_replicated_ && !timed_out_ && !is_begun_;
  }

  sql::Answer execute(const sql::Statement& statement) override {
    const Result found =
        query(with_literals(statement, [this](const std::string& text) { return quoted(text); }), statement.about);
    sql::Answer answer;
    answer.changed = found.changed();
    for (int i = 0; statement.has_rows && i < found.rows(); ++i) {
      sql::Row& row = answer.rows.emplace_back();
      for (int j = 0; j < found.columns(); ++j)
        row.cells.push_back({found.text(i, j), found.is_null(i, j), found.is_exact(j)});
    }
    return answer;
  }
  void begin() override {
    is_begun_ = true;
    run("BEGIN");
  }
  void commit() override {
    run("COMMIT");
    is_begun_ = false;
  }
  void rollback() override {
    run("ROLLBACK");
    is_begun_ = false;
  }

  Result query(const std::string& sql, About about = About::segments) {
    Result result = answer(sql);
    check(result, about);
    return result;
  }
  void run(const std::string& sql) { query(sql); }

  std::vector<std::vector<std::string>> segment_rows(const std::string& sql) { return all_rows(query(sql)); }
  std::vector<std::vector<std::string>> users_rows(const std::string& sql) {
    return all_rows(query(sql, About::users_table));
  }
  // Above read committed, a statement that meets a row which has changed since it began is refused, and has changed
  // nothing. Sent again, it sees the row as it is.
  std::uint64_t change_segments(const std::string& sql) {
    constexpr int kMostRefused = 3;
    for (int refused = 0;; ++refused) {
      const Result result = answer(sql);
      if (result.state() == "40001" && refused < kMostRefused) continue;
      check(result, About::segments);
      return result.changed();
    }
  }

  SqlNumbers<PostgresConnection>& numbers() { return numbers_; }
  std::vector<std::vector<std::string>> number_rows(const std::string& sql) {
    return all_rows(query(sql, About::numbers));
  }
  std::uint64_t change_numbers(const std::string& sql) { return query(sql, About::numbers).changed(); }
  std::uint64_t insert_number(const std::string& sql) {
    return stored_number(shown_, query(sql, About::numbers).text(0, 0).c_str());
  }

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
  Result answer(const std::string& sql) {
    not_replicated_ = false;
    if (!PQsendQuery(connection_.get(), (terms_ + sql).c_str())) {
      throw Error(Status::store_unavailable, shown_ + ": " + message());
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * timeout_ms_ + 100);
    Result result(next_result(deadline));
    while (PGresult* const more = next_result(deadline)) {
      Result later(more);
      if (!result.failed()) result = std::move(later);
    }
    return result;
  }
  void check(const Result& result, About about) const {
    if (result.failed())
      sql::throw_fault(sql::fault_of(0, result.state(), ""), shown_ + ": " + message(), about, wording_);
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

  SqlNumbers<PostgresConnection> numbers_;
  const std::string shown_;
  const sql::Wording wording_;
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
  bool is_begun_ = false;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

const SchemaDialect kDialect = {sql::kPostgres, kOthers};

class PostgresStore final : public WithNumbers<SchemaStore<PostgresConnection>, PostgresConnection> {
 public:
  using Serials = KeyProducer<PostgresConnection, kKeyProducerRows>;

  explicit PostgresStore(const Settings& settings) : WithNumbers(settings, kParameters, kDialect) {}

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    if (settings.schema == kKeyProducer.name) return Serials::statements(settings, name_space, tag);
    return statements_of(kDialect, settings, name_space, tag, literal);
  }
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_postgres() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::PostgresStore>("postgres");
  return &module;
}
