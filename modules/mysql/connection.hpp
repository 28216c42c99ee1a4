// A connection to MariaDB, MySQL or TiDB, whose settings were checked.
#pragma once

#include <mysql.h>

#include <memory>
#include <string>
#include <vector>

#include "schema.hpp"
#include "sql/fault.hpp"
#include "sql/server_settings.hpp"
#include "sql_numbers.hpp"

namespace idgen::module {

inline constexpr std::string_view kParameters[] = {
    "user_env",        "password_env", "password_file", "tls",        "tls_ca",
    "tls_fingerprint", "socket",       "accept_loss",   "statements", "auth"};
inline constexpr std::string_view kStatements[] = {"auto", "single", "transaction"};
inline constexpr std::string_view kAuth[] = {"safe", "caching_sha2_password", "sha256_password"};
// Plugins that do not show the password to the server, or to an impostor.
inline constexpr const char* kSafeAuth = "mysql_native_password,client_ed25519,parsec,auth_gssapi_client";
inline constexpr unsigned kPort = 3306;

inline const NumberDialect kNumbers = {.create_uid_generator = R"(CREATE TABLE IF NOT EXISTS WORKER_NODE (
  ID BIGINT NOT NULL AUTO_INCREMENT COMMENT 'auto increment id',
  HOST_NAME VARCHAR(64) NOT NULL COMMENT 'host name',
  PORT VARCHAR(64) NOT NULL COMMENT 'port',
  TYPE INT NOT NULL COMMENT 'node type: ACTUAL or CONTAINER',
  LAUNCH_DATE DATE NOT NULL COMMENT 'launch date',
  MODIFIED TIMESTAMP NOT NULL COMMENT 'modified time',
  CREATED TIMESTAMP NOT NULL COMMENT 'created time',
  PRIMARY KEY (ID)) ENGINE = InnoDB)",
                                       .create_cosid = R"(CREATE TABLE IF NOT EXISTS cosid_machine (
  name varchar(100) NOT NULL COMMENT '{namespace}.{machine_id}',
  namespace varchar(100) NOT NULL,
  machine_id integer unsigned NOT NULL DEFAULT 0,
  last_timestamp bigint unsigned NOT NULL DEFAULT 0,
  instance_id varchar(100) NOT NULL DEFAULT '',
  distribute_time bigint unsigned NOT NULL DEFAULT 0,
  revert_time bigint unsigned NOT NULL DEFAULT 0,
  CONSTRAINT cosid_machine_pk PRIMARY KEY (name),
  KEY idx_namespace (namespace),
  KEY idx_instance_id (instance_id)) ENGINE = InnoDB)",
                                       .now_ms = sql::kMysql.now_ms,
                                       .if_absent = " ON DUPLICATE KEY UPDATE name = VALUES(name)",
                                       .returning = ""};

// The statement was aborted, and has changed nothing.
inline constexpr unsigned kLockWaitTimeout = 1205, kDeadlock = 1213, kStatementTimeout = 1969, kQueryTimeout = 3024;
inline constexpr unsigned kFirstOfTheClient = 2000, kTlsFailed = 2026, kAuthRefused = 5010;  // errmsg.h

class Rows {
 public:
  explicit Rows(MYSQL_RES* result) : result_(result, mysql_free_result) {}
  bool next() {
    row_ = mysql_fetch_row(result_.get());
    lengths_ = row_ == nullptr ? nullptr : mysql_fetch_lengths(result_.get());
    return row_ != nullptr;
  }
  unsigned columns() const { return mysql_num_fields(result_.get()); }
  std::string text(unsigned column) const {
    return row_[column] == nullptr ? "" : std::string(row_[column], lengths_[column]);
  }
  bool is_null(unsigned column) const { return row_[column] == nullptr; }
  // True if this type keeps whole numbers exactly: no text, no rounding.
  bool is_exact(unsigned column) const {
    switch (mysql_fetch_field_direct(result_.get(), column)->type) {
      case MYSQL_TYPE_TINY:
      case MYSQL_TYPE_SHORT:
      case MYSQL_TYPE_INT24:
      case MYSQL_TYPE_LONG:
      case MYSQL_TYPE_LONGLONG:
      case MYSQL_TYPE_DECIMAL:
      case MYSQL_TYPE_NEWDECIMAL:
        return true;
      default:
        return false;
    }
  }

 private:
  std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result_;
  MYSQL_ROW row_ = nullptr;
  unsigned long* lengths_ = nullptr;
};

using About = sql::About;

class MysqlConnection final : public sql::Connection {
 public:
  MysqlConnection(const Settings& settings, const Parameters& parameters)
      : numbers_(settings.url.shown(), kNumbers, settings.create),
        shown_(settings.url.shown()),
        wording_(wording_of(settings)),
        tls_(parameters.tls("prefer")),
        fingerprint_(fingerprint_of(parameters)),
        connection_(nullptr, mysql_close) {
    if (settings.url.hosts.size() != 1) {
      throw Error(Status::value, "store = \"" + shown_ + "\": one host is allowed; behind it a proxy may know several");
    }
    // The client library and most servers know only whole seconds. The server aborts a statement after one
    // store_timeout, the client gives up after two. So no statement that we gave up on is done later.
    const auto seconds = static_cast<unsigned>(std::max<std::int64_t>(1, (settings.timeout_ms + 999) / 1000));
    const std::string socket_path = parameters.get("socket"), auth = parameters.choice("auth", kAuth);
    if (!fingerprint_.empty() && (tls_.mode == "off" || !socket_path.empty())) {
      throw Error(Status::value, "store = \"" + shown_ + "\": tls_fingerprint is for connections with TLS; leave " +
                                     (tls_.mode == "off" ? "tls = off" : "socket") + " out");
    }
    // The server is known by its certificate, or because only it can open that file. Nobody else is shown the password,
    // whichever way to log in they request, unless `auth` says so.
    const bool is_verified = tls_.is_verified() && !accepts_any_certificate_of(settings.url.hosts.front().name);
    const bool is_known = is_verified || !fingerprint_.empty() || !socket_path.empty();
    // By itself this option requests TLS, but goes without it if the server has none.
    const bool wants_tls = tls_.mode == "prefer" ? socket_path.empty() : tls_.mode != "off";
    const auto connect = [&](bool with_tls, const std::string& allowed) {
      connection_.reset(mysql_init(nullptr));
      if (!connection_) throw std::bad_alloc();
      MYSQL* const link = connection_.get();
      const unsigned twice = 2 * seconds, never = 0, tcp = MYSQL_PROTOCOL_TCP;
      const my_bool no = 0, yes = 1;
      mysql_optionsv(link, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
      mysql_optionsv(link, MYSQL_OPT_READ_TIMEOUT, &twice);
      mysql_optionsv(link, MYSQL_OPT_WRITE_TIMEOUT, &twice);
      mysql_optionsv(link, MYSQL_OPT_RECONNECT, &no);  // a new connection would not have been checked
      mysql_optionsv(link, MYSQL_OPT_LOCAL_INFILE, &never);
      mysql_optionsv(link, MYSQL_SET_CHARSET_NAME, "utf8mb4");
      mysql_optionsv(link, MYSQL_OPT_SSL_ENFORCE, with_tls ? &yes : &no);
      mysql_optionsv(link, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, tls_.is_name_verified() ? &yes : &no);
      if (with_tls && !tls_.ca.empty()) mysql_optionsv(link, MYSQL_OPT_SSL_CA, tls_.ca.c_str());
      // An empty one is not compared, but refuses a server without TLS, to which the password would go as it is.
      const bool is_ca_verified = tls_.is_verified() && !tls_.is_name_verified();
      if (is_ca_verified || !fingerprint_.empty()) mysql_optionsv(link, MARIADB_OPT_TLS_PEER_FP, fingerprint_.c_str());
      if (is_ca_verified) check_client_verifies_ca(link);
      if (!is_known) {
        if (mysql_optionsv(link, MARIADB_OPT_RESTRICTED_AUTH, allowed.c_str()) != 0) {
          throw Error(Status::unsupported,
                      "store = \"" + shown_ +
                          "\": this libmariadb cannot be told which ways to log in are allowed. Install "
                          "a newer one, or use tls=verify");
        }
        mysql_optionsv(link, MYSQL_DEFAULT_AUTH, "mysql_native_password");  // until another is requested
      }
      if (socket_path.empty()) mysql_optionsv(link, MYSQL_OPT_PROTOCOL, &tcp);  // else "localhost" means a socket
      const StoreHost& host = settings.url.hosts.front();
      const std::string user = parameters.secret("user", settings.url.user);
      const std::string password = parameters.secret("password", settings.url.password);
      return mysql_real_connect(link, host.name.c_str(), user.c_str(), password.c_str(), settings.url.path.c_str(),
                                host.port == 0 ? kPort : host.port, socket_path.empty() ? nullptr : socket_path.c_str(),
                                0) != nullptr;
    };
    const std::string allowed = auth == kAuth[0] ? kSafeAuth : kSafeAuth + ("," + auth);
    bool is_connected = connect(wants_tls, wants_tls ? kSafeAuth : allowed);
    if (!is_connected && wants_tls && auth != kAuth[0] && mysql_errno(connection_.get()) == kAuthRefused) {
      // Once it was told to use TLS, the client library sends the password as it is, even if the server has no TLS. So
      // it is told so only of a server that has; otherwise the password goes encrypted with the server's key.
      unsigned long offered = 0;
      mariadb_get_infov(connection_.get(), MARIADB_CONNECTION_SERVER_CAPABILITIES, &offered);
      const bool has_tls = (offered & CLIENT_SSL) != 0;
      if (tls_.is_required() && !has_tls) throw_no_tls();
      is_connected = connect(has_tls, allowed);
    }
    if (!is_connected) fail("cannot connect to " + shown_);
    close_on_exec(socket());
    keep_alive(socket());
    if (tls_.is_required() && mysql_get_ssl_cipher(connection_.get()) == nullptr) throw_no_tls();
    const std::string_view server = mysql_get_server_info(connection_.get());
    is_tidb_ = server.find("TiDB") != server.npos;
    const std::string statements = parameters.choice("statements", kStatements);
    // A grant and its row in the log of grants are two statements.
    in_transactions_ = statements == "transaction" || (statements == "auto" && is_tidb_) || settings.grant_log != 0;
    const std::string limit = std::to_string(seconds);
    std::string session =
        "SET SESSION autocommit = 1, completion_type = 0, sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = " +
        limit + ", lock_wait_timeout = " + limit;
    const bool is_mariadb = server.find("MariaDB") != server.npos;
    if (is_mariadb) session += ", max_statement_time = " + std::to_string(settings.timeout_ms) + "e-3";
    // A client that vanishes in a transaction, without a word, must not keep the tag's row locked.
    if (in_transactions_ && !is_mariadb) session += ", wait_timeout = 60";
    run(session);
    if (in_transactions_ && is_mariadb) {  // from 10.3 on; before that, nothing can be had
      mysql_query(connection_.get(), ("SET SESSION idle_transaction_timeout = " + limit).c_str());
    }
    sql::check_server(*this, sql::kMysql, schema_of(settings), wording_, parameters, is_tidb_);
  }
  MysqlConnection(const MysqlConnection&) = delete;
  MysqlConnection& operator=(const MysqlConnection&) = delete;

  int socket() const { return static_cast<int>(mysql_get_socket(connection_.get())); }
  bool is_usable() const { return usable_ && !is_begun_; }

  sql::Answer execute(const sql::Statement& statement) override {
    const std::string sql = with_literals(statement, [this](const std::string& text) { return quoted(text); });
    sql::Answer answer;
    if (statement.has_rows) {
      for (Rows found = query(sql, statement.about); found.next();) {
        sql::Row& row = answer.rows.emplace_back();
        for (unsigned i = 0; i < found.columns(); ++i)
          row.cells.push_back({found.text(i), found.is_null(i), found.is_exact(i)});
      }
      return answer;
    }
    change(sql, statement.about, [&] {
      answer.changed = changed_rows();
      answer.last_insert_id = last_insert_id();
      return answer.changed;
    });
    return answer;
  }
  void begin() override {
    is_begun_ = true;
    run(is_tidb_ ? "BEGIN PESSIMISTIC" : "START TRANSACTION");
  }
  void commit() override {
    run("COMMIT");
    is_begun_ = false;
  }
  void rollback() override {
    run("ROLLBACK");
    is_begun_ = false;
  }
  bool locks_rows() const override { return in_transactions_; }

  void run(const std::string& sql, About about = About::segments) {
    if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) fail(shown_, about);
  }
  Rows query(const std::string& sql, About about = About::segments) {
    run(sql, about);
    MYSQL_RES* const result = mysql_store_result(connection_.get());
    if (result == nullptr) fail(shown_, about);
    return Rows(result);
  }

  std::vector<std::vector<std::string>> segment_rows(const std::string& sql) { return all_rows(sql, About::segments); }
  std::vector<std::vector<std::string>> users_rows(const std::string& sql) { return all_rows(sql, About::users_table); }
  std::uint64_t change_segments(const std::string& sql) {
    return change(sql, About::segments, [this] { return changed_rows(); });
  }

  SqlNumbers<MysqlConnection>& numbers() { return numbers_; }
  std::vector<std::vector<std::string>> number_rows(const std::string& sql) { return all_rows(sql, About::numbers); }
  std::uint64_t change_numbers(const std::string& sql) {
    return change(sql, About::numbers, [this] { return changed_rows(); });
  }
  std::uint64_t insert_number(const std::string& sql) {
    return change(sql, About::numbers, [this] { return last_insert_id(); });
  }
  std::string quoted(const std::string& text) {
    std::string out(2 * text.size() + 1, '\0');
    out.resize(mysql_real_escape_string(connection_.get(), out.data(), text.data(), text.size()));
    return "'" + out + "'";
  }
  static std::string identifier(const std::string& name) {
    std::string out = "`";
    for (const char c : name) out += c == '`' ? std::string("``") : std::string(1, c);
    return out + "`";
  }
  std::string describe() const {
    if (is_tidb_) {
      return "store: " + shown_ +
             " (TiDB); each grant is a pessimistic transaction, committed through Raft before its first id is issued\n";
    }
    return "store: " + shown_ +
           " (MariaDB or MySQL); each grant is committed by InnoDB before its first id is issued\n"
           "power loss: nothing granted is forgotten, as long as the server's disk keeps what it has synced\n"
           "failover: with asynchronous or semi-synchronous replicas the newest grants can be lost. A running process "
           "then stops with STORE_REGRESSED\n";
  }
  std::uint64_t changed_rows() { return mysql_affected_rows(connection_.get()); }
  std::uint64_t last_insert_id() { return mysql_insert_id(connection_.get()); }

 private:
  [[noreturn]] void throw_no_tls() const {
    throw Error(Status::store_unsafe, shown_ + ": tls = " + tls_.mode + ", but the server offers no TLS");
  }
  static bool is_client_3_4_or_later() {
    // Of the library by itself, and as part of a server's release.
    constexpr std::size_t kWanted = 30'400, kFirstOfServers = 100'000, kWantedServer = 110'400;
    std::size_t version = 0;
    mariadb_get_infov(nullptr, MARIADB_CLIENT_VERSION_ID, &version);
    return version >= (version < kFirstOfServers ? kWanted : kWantedServer);
  }
  // Unless there is a file of authorities, later libraries do not verify these two addresses.
  bool accepts_any_certificate_of(const std::string& host) const {
    return is_client_3_4_or_later() && tls_.ca.empty() && (host == "127.0.0.1" || host == "::1");
  }
  // The library has no option for it. Without the host's name it verifies the authority only before 3.4, and only by
  // OpenSSL; by GnuTLS it accepts any authority.
  void check_client_verifies_ca(MYSQL* link) const {
    const char* tls_library = "";
    mariadb_get_infov(link, MARIADB_TLS_LIBRARY, &tls_library);
    if (!is_client_3_4_or_later() && std::string_view(tls_library).starts_with("OpenSSL")) return;
    throw Error(Status::unsupported, "store = \"" + shown_ + "\": tls = verify-ca: this libmariadb (" +
                                         mysql_get_client_info() + ", " + tls_library +
                                         ") cannot verify a certificate without the host's name; it can up to 3.3 with "
                                         "OpenSSL. Use tls_fingerprint=HEX, or tls=verify");
  }

  // As the client library compares it: hexadecimal digits without colons, in capitals.
  std::string fingerprint_of(const Parameters& parameters) const {
    constexpr std::size_t kSha1 = 40, kSha256 = 64;  // digits
    const std::string given = parameters.get("tls_fingerprint");
    std::string digits;
    for (const char c : given) {
      if (c != ':') digits += static_cast<char>(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
    }
    const bool is_hex = digits.find_first_not_of("0123456789ABCDEF") == std::string::npos;
    if (given.empty() || (is_hex && digits.size() == kSha1)) return digits;
    if (!is_hex || digits.size() != kSha256) {
      throw Error(Status::value, "store = \"" + shown_ + "\": tls_fingerprint = " + in_quotes(given) +
                                     "; allowed: the SHA-1 or SHA-256 of the server's certificate, as 40 or 64 "
                                     "hexadecimal digits, with or without colons");
    }
    if (is_client_3_4_or_later()) return digits;
    throw Error(Status::unsupported, "store = \"" + shown_ + "\": this libmariadb is " + mysql_get_client_info() +
                                         ", and knows the SHA-256 of a certificate from 3.4 on; give its SHA-1");
  }

  std::vector<std::vector<std::string>> all_rows(const std::string& sql, About about) {
    std::vector<std::vector<std::string>> rows;
    for (Rows found = query(sql, about); found.next();) {
      rows.emplace_back();
      for (unsigned i = 0; i < found.columns(); ++i) rows.back().push_back(found.text(i));
    }
    return rows;
  }
  // outcome(), after the statement and before its commit.
  template <class Outcome>
  std::uint64_t change(const std::string& sql, About about, Outcome&& outcome) {
    const bool is_alone = in_transactions_ && !is_begun_;
    if (is_alone) begin();
    run(sql, about);
    const std::uint64_t found = outcome();
    if (is_alone) commit();
    return found;
  }

  [[noreturn]] void fail(const std::string& what, About about = About::segments) {
    const unsigned code = mysql_errno(connection_.get());
    const std::string why = what + ": " + mysql_error(connection_.get()) + " (" + std::to_string(code) + ")";
    if (code == 0 || code >= kFirstOfTheClient || in_transactions_ || is_begun_) usable_ = false;
    switch (code) {
      case kLockWaitTimeout:
      case kDeadlock:
      case kStatementTimeout:
      case kQueryTimeout:
        throw Error(Status::store_unavailable, why);
      case kAuthRefused:
        throw Error(
            Status::store_permission,
            what +
                ": the server asks for a way to log in that shows it the password, as MySQL 8 and later do, "
                "and it is not verified. Add auth=caching_sha2_password to the URL: a program that listens does "
                "not learn the password, but one that answers in the server's place does. To rule that "
                "out, use tls=verify or tls=verify-ca with tls_ca, tls_fingerprint=HEX, or socket=PATH instead");
      case kTlsFailed:
        fail_by_tls(why);
      default:
        break;
    }
    const sql::Fault fault = sql::fault_of(code, "", "");
    if (fault == sql::Fault::unknown) usable_ = false;
    sql::throw_fault(fault, why, about, wording_);
  }

  [[noreturn]] void fail_by_tls(const std::string& why) const {
    const auto says = [&](const char* part) { return why.find(part) != std::string::npos; };
    if (says("does not support")) throw Error(Status::store_unsafe, why);
    // libmariadb before 3.4, from it on, and with GnuTLS.
    const bool differs = says("Validation of SSL server certificate failed") || says("Hostname verification failed") ||
                         says("name in the certificate");
    if (!differs && !says("ertificate")) throw Error(Status::store_unavailable, why);
    throw Error(
        Status::store_permission,
        why + (differs ? tls_.if_name_differs() : "") +
            (fingerprint_.empty() ? ". To accept one certificate, whatever its name, use tls_fingerprint=HEX" : ""));
  }

  SqlNumbers<MysqlConnection> numbers_;
  const std::string shown_;
  const sql::Wording wording_;
  const TlsTerms tls_;
  const std::string fingerprint_;
  bool usable_ = true;
  bool is_tidb_ = false;
  bool in_transactions_ = false;  // whatever it changes
  bool is_begun_ = false;
  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

// For people, and on one line: see sql_text(). The connection quotes what is sent.
inline std::string literal(const std::string& text) {
  const bool is_plain = std::none_of(text.begin(), text.end(), is_control);
  std::string out = is_plain ? "'" : "X'";
  for (const char c : text) {
    if (is_plain) {
      out.append(c == '\\' || c == '\'' ? 2 : 1, c);
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      out += {kDigits[static_cast<unsigned char>(c) >> 4], kDigits[c & 15]};
    }
  }
  return out + "'";
}

}  // namespace idgen::module
