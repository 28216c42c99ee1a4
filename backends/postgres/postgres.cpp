// Segments in PostgreSQL: UPDATE ... RETURNING, one statement that commits by itself. Not a SEQUENCE: the value that nextval() returns is not yet
// durable when it arrives.
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <initializer_list>

#include "module.hpp"
#include "sql.hpp"

namespace idgen::backend {
namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env", "tls", "tls_ca", "accept_loss"};
constexpr std::string_view kTls[] = {"prefer", "off", "require", "verify"};
constexpr std::uint16_t kPort = 5432;

constexpr const char* kTable = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  max_id bigint NOT NULL CHECK (max_id >= 0),
  grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
  updated_unix_ms bigint NOT NULL DEFAULT 0,
  step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  rate bigint NOT NULL DEFAULT 0,
  holder varchar(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)))";

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
  std::string text(int row, int column) const { return PQgetvalue(result_.get(), row, column); }
  std::uint64_t number(int row, int column) const {
    return stored_number("the table idgen_segment",
                         PQgetisnull(result_.get(), row, column) ? nullptr : PQgetvalue(result_.get(), row, column));
  }

 private:
  std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

class PostgresConnection {
 public:
  PostgresConnection(const Settings& settings, const Parameters& parameters)
      : shown_(settings.url.shown()), timeout_ms_(settings.timeout_ms), connection_(nullptr, PQfinish) {
    std::string hosts, ports;
    for (const StoreHost& host : settings.url.hosts) {
      hosts += (hosts.empty() ? "" : ",") + host.name;
      ports += (ports.empty() ? "" : ",") + std::to_string(host.port == 0 ? kPort : host.port);
    }
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string password = parameters.secret("password", settings.url.password);
    const std::string tls = parameters.choice("tls", kTls);
    const std::string ca = parameters.get("tls_ca");
    const std::string seconds =
        std::to_string(std::max<std::int64_t>(2, (timeout_ms_ + 999) / 1000));  // libpq's least is 2
    const std::string milliseconds = std::to_string(timeout_ms_);
    const std::string options =
        "-c synchronous_commit=on -c statement_timeout=" + milliseconds + " -c lock_timeout=" + milliseconds;
    const std::array<std::pair<const char*, std::string>, 13> wanted{{
        {"host", hosts},
        {"port", ports},
        {"dbname", settings.url.path},
        {"user", user},
        {"password", password},
        {"sslmode", tls == "off"      ? "disable"
                    : tls == "verify" ? "verify-full"
                                      : tls},
        {"sslrootcert", ca},
        {"connect_timeout", seconds},
        {"tcp_user_timeout", milliseconds},
        {"options", options},
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
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail_to_connect();
    PQsetNoticeProcessor(connection_.get(), &PostgresConnection::notice, this);
    check_settings(parameters);
  }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  bool is_usable() const { return PQstatus(connection_.get()) == CONNECTION_OK && !not_replicated_ && !timed_out_; }

  Result query(const char* sql, std::initializer_list<std::string> values = {}) {
    std::array<const char*, 8> pointers{};
    std::size_t count = 0;
    for (const std::string& value : values) pointers[count++] = value.c_str();
    not_replicated_ = false;
    if (!PQsendQueryParams(connection_.get(), sql, static_cast<int>(count), nullptr, pointers.data(), nullptr, nullptr,
                           0)) {
      throw Error(Status::store_unavailable, shown_ + ": " + message());
    }
    await_answer();
    Result result(PQgetResult(connection_.get()));
    while (PGresult* const more = PQgetResult(connection_.get())) PQclear(more);
    if (result.failed()) fail(result);
    if (not_replicated_) {
      throw Error(Status::store_unavailable,
                  shown_ +
                      ": the commit was canceled while it waited for the standby: it may be lost in a failover, so "
                      "what it granted is not used");
    }
    return result;
  }

 private:
  // "The transaction has already committed locally, but might not have been replicated to the standby": a success with a warning.
  static void notice(void* self, const char* message) {
    if (std::string_view(message).find("not have been replicated") != std::string_view::npos)
      static_cast<PostgresConnection*>(self)->not_replicated_ = true;
  }

  // The server's statement_timeout is not enough: a server that has stopped, or a network that swallows packets, never answers.
  void await_answer() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * timeout_ms_ + 100);
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
      if (ready > 0 && !PQconsumeInput(connection_.get())) return;  // PQgetResult says what happened
    }
  }

  std::string message() const {
    std::string text = PQerrorMessage(connection_.get());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  [[noreturn]] void fail_to_connect() const {
    const std::string why = message();
    const auto says = [&](const char* text) { return why.find(text) != std::string::npos; };
    const auto status = [&] {
      if (says("server does not support SSL")) return Status::store_unsafe;
      if (says("authentication") || says("role ") || says("pg_hba") || says("permission") || says("certificate"))
        return Status::store_permission;
      if (says("does not exist")) return Status::store_missing;
      if (says("read-only") || says("in recovery") || says("hot standby")) return Status::store_permission;
      return Status::store_unavailable;
    };
    throw Error(status(), "cannot connect to " + shown_ + ": " + why);
  }

  [[noreturn]] void fail(const Result& result) const {
    const std::string_view state = result.state();
    const std::string why = shown_ + ": " + message();
    if (state == "42501" || state == "25006") throw Error(Status::store_permission, why);  // no privilege; read-only
    if (state == "42P01") {
      throw Error(Status::store_missing, shown_ + ": the table idgen_segment is not there. " + kHowToCreate);
    }
    if (state == "42703" || state == "42804") throw Error(Status::store_version, why);  // other columns than ours
    if (state == "53100") throw Error(Status::store_full, why);
    if (state == "22003" || state == "23514") throw Error(Status::store_damaged, why);
    throw Error(Status::store_unavailable, why);  // the outcome is unknown, or it can pass
  }

  void check_settings(const Parameters& parameters) {
    const Result found = query(
        "SELECT current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(), "
        "current_setting('synchronous_commit')");
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
    if (found.text(0, 3) == "off") {
      throw Error(Status::store_unsafe, shown_ +
                                            ": synchronous_commit is off although this session has set it on "
                                            "(a connection pooler in between?); set it for the role: ALTER ROLE ... "
                                            "SET synchronous_commit = on");
    }
  }

  const std::string shown_;
  const std::int64_t timeout_ms_;
  bool not_replicated_ = false;
  bool timed_out_ = false;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

class PostgresStore final : public ConnectedStore<PostgresConnection> {
 public:
  explicit PostgresStore(const Settings& settings) : ConnectedStore(settings, kParameters) {
    use([&](PostgresConnection& server) {
      if (settings_.create) server.query(kTable);
    });
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    advance_by(name_space, tag, 0, grant_size(0, request));
    return use([&](PostgresConnection& server) {
      for (bool created = false;; created = true) {
        // $3 is the step, $4 what is wanted at least: grant_size() in SQL.
        const Result row = server.query(
            "UPDATE idgen_segment SET max_id = max_id + GREATEST(CASE WHEN step > 0 THEN step ELSE $3::bigint END, "
            "$4::bigint), grants = grants + 1, updated_unix_ms = $5, rate = $6, holder = $7"
            " WHERE ns = $1 AND tag = $2 AND max_id BETWEEN 0 AND 9223372036854775807 - GREATEST(CASE WHEN step > 0 "
            "THEN step ELSE $3::bigint END, $4::bigint) RETURNING max_id, step",
            {name_space, tag, std::to_string(request.step), std::to_string(request.wanted),
             std::to_string(store_clock_unix_ms()), std::to_string(request.rate), request.holder});
        if (row.rows() == 1) {
          const std::uint64_t count = grant_size(row.number(0, 1), request);
          return SegmentGrant{.first = row.number(0, 0) - count + 1, .count = count};
        }
        const Result found =
            server.query("SELECT max_id, step FROM idgen_segment WHERE ns = $1 AND tag = $2", {name_space, tag});
        if (found.rows() == 1) {
          advance_by(name_space, tag, found.number(0, 0),
                     grant_size(found.number(0, 1), request));  // exhausted, it says
        }
        if (!settings_.create || created) throw_tag_unknown(name_space, tag, shown_, kHowToCreate);
        server.query(kInsert, {name_space, tag, std::to_string(store_clock_unix_ms())});
      }
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](PostgresConnection& server) {
      const Result row = server.query(
          "UPDATE idgen_segment SET max_id = max_id - $4, updated_unix_ms = $5"
          " WHERE ns = $1 AND tag = $2 AND max_id = $3 RETURNING max_id",
          {name_space, tag, std::to_string(last), std::to_string(unused), std::to_string(store_clock_unix_ms())});
      if (row.rows() != 1) read(server, name_space, tag);  // says if it is not there
    });
  }
  void create(const std::string& name_space, const std::string& tag) override {
    use([&](PostgresConnection& server) {
      server.query(kTable);
      const Result made = server.query((std::string(kInsert) + " RETURNING max_id").c_str(),
                                       {name_space, tag, std::to_string(store_clock_unix_ms())});
      if (made.rows() == 0) throw_tag_exists(name_space, tag, read(server, name_space, tag).max_id);
    });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return use([&](PostgresConnection& server) { return read(server, name_space, tag); });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    check_advance(target);
    return use([&](PostgresConnection& server) {
      const Result row = server.query(
          "UPDATE idgen_segment SET max_id = GREATEST(max_id + 1, $3), grants = grants + 1, updated_unix_ms = $4"
          " WHERE ns = $1 AND tag = $2 AND max_id < 9223372036854775807"
          " RETURNING ns, tag, max_id, grants, updated_unix_ms, step, rate, holder",
          {name_space, tag, std::to_string(target), std::to_string(store_clock_unix_ms())});
      if (row.rows() == 1) return info_of(row, 0);
      const SegmentInfo now = read(server, name_space, tag);
      advanced(name_space, tag, now.max_id, target);  // says that it is exhausted
      return now;
    });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    return use([&](PostgresConnection& server) {
      server.query("UPDATE idgen_segment SET step = $3, updated_unix_ms = $4 WHERE ns = $1 AND tag = $2",
                   {name_space, tag, std::to_string(step), std::to_string(store_clock_unix_ms())});
      return read(server, name_space, tag);
    });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) override {
    use([&](PostgresConnection& server) {
      const Result rows = server.query((std::string(kSelect) + " ORDER BY ns, tag").c_str());
      for (int i = 0; i < rows.rows(); ++i) row(info_of(rows, i));
    });
  }
  std::string describe() override {
    return "store: " + shown_ +
           " (PostgreSQL); each grant is committed with synchronous_commit = on before its first id is issued\n"
           "power loss: nothing granted is forgotten, as long as the server's disk keeps what it has synced\n"
           "failover: safe with synchronous standbys (synchronous_standby_names); with asynchronous ones the newest "
           "grants "
           "can be lost. A running process then stops with STORE_REGRESSED\n";
  }

 private:
  static constexpr const char* kSelect =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment";
  static constexpr const char* kInsert =
      "INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES($1, $2, 0, 0, $3) ON CONFLICT DO "
      "NOTHING";

  static SegmentInfo info_of(const Result& rows, int row) {
    SegmentInfo info;
    info.name_space = rows.text(row, 0);
    info.tag = rows.text(row, 1);
    info.max_id = rows.number(row, 2);
    info.grants = rows.number(row, 3);
    info.updated_unix_ms = static_cast<std::int64_t>(rows.number(row, 4));
    info.step = rows.number(row, 5);
    info.rate = rows.number(row, 6);
    info.holder = rows.text(row, 7);
    return info;
  }
  SegmentInfo read(PostgresConnection& server, const std::string& name_space, const std::string& tag) {
    const Result row = server.query((std::string(kSelect) + " WHERE ns = $1 AND tag = $2").c_str(), {name_space, tag});
    if (row.rows() == 0) throw_tag_unknown(name_space, tag, shown_, kHowToCreate);
    return info_of(row, 0);
  }
};

}  // namespace
}  // namespace idgen::backend

extern "C" __attribute__((visibility("default"))) const idgen_backend* idgen_backend_postgres() {
  return idgen::backend::module<idgen::backend::PostgresStore>("postgres");
}
