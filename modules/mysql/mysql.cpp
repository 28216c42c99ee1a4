// Segments in MariaDB, MySQL and TiDB.
//
// One round trip: UPDATE ... SET max_id = LAST_INSERT_ID(max_id + n), whose value comes back with the acknowledgement.
// TiDB first runs a statement that commits by itself optimistically, so there it is an explicit pessimistic
// transaction. Windows: sql_workers.hpp.
#include <mysql.h>

#include <map>
#include <optional>

#include "schema.hpp"
#include "sql_numbers.hpp"
#include "sql_workers.hpp"
#include "with_windows.hpp"

namespace idgen::module {
namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env", "tls",        "tls_ca",
                                            "socket",   "accept_loss",  "statements", "auth"};
constexpr std::string_view kTls[] = {"prefer", "off", "require", "verify"};
constexpr std::string_view kStatements[] = {"auto", "single", "transaction"};
constexpr std::string_view kAuth[] = {"safe", "caching_sha2_password", "sha256_password"};
// Plugins that do not show the password to the server, or to an impostor.
constexpr const char* kSafeAuth = "mysql_native_password,client_ed25519,parsec,auth_gssapi_client";
constexpr unsigned kPort = 3306;

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
     .insert = "(ns, tag, max_id, grants, updated_unix_ms) VALUES({namespace}, {tag}, 0, 0, {now})"
               " ON DUPLICATE KEY UPDATE tag = tag",
     .granted = ", grants = grants + 1, rate = {rate}, holder = {holder}, updated_unix_ms = {now}",
     .advanced = ", grants = grants + 1, updated_unix_ms = {now}",
     .changed = ", updated_unix_ms = {now}"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)) ENGINE = InnoDB)",
     .columns = "'default', biz_tag, max_id, 0, CAST(1000 * UNIX_TIMESTAMP(update_time) AS SIGNED), step, 0, '', 1, 0",
     .insert = "(biz_tag, max_id, step) VALUES({key}, 1, {step}) ON DUPLICATE KEY UPDATE biz_tag = biz_tag",
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
     .columns = "'default', biz_type, max_id, version, CAST(1000 * UNIX_TIMESTAMP(update_time) AS SIGNED), "
                "COALESCE(step, 0), 0, '', delta, remainder",
     .insert = "(biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version)"
               " VALUES({key}, 0, 0, {step}, 1, 0, now(), now(), 0) ON DUPLICATE KEY UPDATE biz_type = biz_type",
     .granted = ", update_time = now(), version = version + 1",
     .advanced = ", update_time = now(), version = version + 1",
     .changed = ", update_time = now(), version = version + 1"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS cosid (
  name varchar(100) NOT NULL COMMENT '{namespace}.{name}',
  last_max_id bigint unsigned NOT NULL DEFAULT 0,
  last_fetch_time bigint unsigned NOT NULL DEFAULT 0,
  CONSTRAINT cosid_pk PRIMARY KEY (name)) ENGINE = InnoDB)",
     .columns = "'', name, last_max_id, 0, 1000 * last_fetch_time, 0, 0, '', 1, 0",
     .insert = "(name, last_max_id, last_fetch_time) VALUES({key}, 0, unix_timestamp())"
               " ON DUPLICATE KEY UPDATE name = name",
     .granted = ", last_fetch_time = unix_timestamp()",
     .advanced = ", last_fetch_time = unix_timestamp()",
     .changed = ", last_fetch_time = unix_timestamp()"},
};

constexpr WorkerDialect kWorkers = {.create_namespaces = R"(CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns VARBINARY(512) NOT NULL PRIMARY KEY,
  format VARBINARY(1024) NOT NULL) ENGINE = InnoDB)",
                                    .create_workers = R"(CREATE TABLE IF NOT EXISTS idgen_worker (
  ns VARBINARY(512) NOT NULL,
  worker BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  owner VARBINARY(32) NOT NULL,
  hw BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  clock_ahead BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, worker)) ENGINE = InnoDB)",
                                    // By UTC: a local time comes twice in the hour when clocks go back.
                                    .now_ms = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
                                    .durably = "",
                                    .if_absent = " ON DUPLICATE KEY UPDATE ns = VALUES(ns)"};

constexpr NumberDialect kNumbers = {.create_uid_generator = R"(CREATE TABLE IF NOT EXISTS WORKER_NODE (
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
                                    .now_ms = kWorkers.now_ms,
                                    .durably = "",
                                    .if_absent = " ON DUPLICATE KEY UPDATE name = VALUES(name)",
                                    .returning = ""};

// Server errors, of MariaDB and MySQL alike (mysqld_error.h).
constexpr unsigned kNoSuchTable = 1146, kUnknownDatabase = 1049, kUnknownColumn = 1054, kDataOutOfRange = 1690;
constexpr unsigned kAccessDenied = 1045, kDatabaseDenied = 1044, kTableDenied = 1142, kColumnDenied = 1143;
constexpr unsigned kReadOnlyOption = 1290, kReadOnlyTransaction = 1792, kDiskFull = 1021, kTableFull = 1114;
// The statement was aborted, and has changed nothing.
constexpr unsigned kLockWaitTimeout = 1205, kDeadlock = 1213, kStatementTimeout = 1969, kQueryTimeout = 3024;
constexpr unsigned kFirstOfTheClient = 2000, kTlsFailed = 2026, kAuthRefused = 5010;  // errmsg.h

class Rows {
 public:
  Rows(MYSQL_RES* result, std::string_view table) : result_(result, mysql_free_result), table_(table) {}
  bool next() {
    row_ = mysql_fetch_row(result_.get());
    lengths_ = row_ == nullptr ? nullptr : mysql_fetch_lengths(result_.get());
    return row_ != nullptr;
  }
  unsigned columns() const { return mysql_num_fields(result_.get()); }
  std::string text(unsigned column) const {
    return row_[column] == nullptr ? "" : std::string(row_[column], lengths_[column]);
  }
  std::uint64_t number(unsigned column) const { return stored_number("the table " + table_, row_[column]); }
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
  std::string table_;
  MYSQL_ROW row_ = nullptr;
  unsigned long* lengths_ = nullptr;
};

class MysqlConnection : public SqlWorkers<MysqlConnection> {
 public:
  MysqlConnection(const Settings& settings, const Parameters& parameters)
      : SqlWorkers(settings.url.shown(), kWorkers),
        numbers_(settings.url.shown(), kNumbers, settings.create),
        shown_(settings.url.shown()),
        schema_(kSchemas[schema_number(settings)]),
        connection_(mysql_init(nullptr), mysql_close) {
    if (!connection_) throw std::bad_alloc();
    if (settings.url.hosts.size() != 1) {
      throw Error(Status::value, "store = \"" + shown_ + "\": one host is allowed; behind it a proxy may know several");
    }
    // The client library and most servers know only whole seconds. The server aborts a statement after one
    // store_timeout, the client gives up after two. So no statement that we gave up on is done later.
    const auto seconds = static_cast<unsigned>(std::max<std::int64_t>(1, (settings.timeout_ms + 999) / 1000));
    const unsigned twice = 2 * seconds;
    mysql_optionsv(connection_.get(), MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_optionsv(connection_.get(), MYSQL_OPT_READ_TIMEOUT, &twice);
    mysql_optionsv(connection_.get(), MYSQL_OPT_WRITE_TIMEOUT, &twice);
    const my_bool no = 0, yes = 1;
    const unsigned never = 0;
    mysql_optionsv(connection_.get(), MYSQL_OPT_RECONNECT, &no);  // a new connection would not have been checked
    mysql_optionsv(connection_.get(), MYSQL_OPT_LOCAL_INFILE, &never);
    mysql_optionsv(connection_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    const std::string tls = parameters.choice("tls", kTls);
    const std::string socket_path = parameters.get("socket");
    // By itself this option requests TLS, but goes without it if the server has none.
    const bool wants_tls = tls == "require" || tls == "verify" || (tls == "prefer" && socket_path.empty());
    mysql_optionsv(connection_.get(), MYSQL_OPT_SSL_ENFORCE, wants_tls ? &yes : &no);
    mysql_optionsv(connection_.get(), MYSQL_OPT_SSL_VERIFY_SERVER_CERT, tls == "verify" ? &yes : &no);
    const std::string ca = parameters.file("tls_ca");
    if (!ca.empty()) mysql_optionsv(connection_.get(), MYSQL_OPT_SSL_CA, ca.c_str());
    // The server is known by its certificate, or because only it can open that file. Nobody else is shown the password,
    // whichever way to log in they request.
    const std::string auth = parameters.choice("auth", kAuth);
    if (auth != kAuth[0] && tls != "off") {
      // The client library assumes encryption once it has requested it, even if the server has no TLS. These plugins
      // would then send the password in the clear.
      throw Error(Status::value, "store = \"" + shown_ + "\": auth = " + auth +
                                     " is for tls = off, where the password goes encrypted with the key that the "
                                     "server shows; with tls = verify every way to log in is allowed");
    }
    const std::string allowed = kSafeAuth + ("," + auth);
    if (tls != "verify" && socket_path.empty()) {
      if (mysql_optionsv(connection_.get(), MARIADB_OPT_RESTRICTED_AUTH, allowed.c_str()) != 0) {
        throw Error(Status::unsupported,
                    "store = \"" + shown_ +
                        "\": this libmariadb cannot be told which ways to log in are allowed. Install "
                        "a newer one, or use tls=verify");
      }
      mysql_optionsv(connection_.get(), MYSQL_DEFAULT_AUTH, "mysql_native_password");  // until another is requested
    }
    const unsigned tcp = MYSQL_PROTOCOL_TCP;  // else "localhost" means a socket
    if (socket_path.empty()) mysql_optionsv(connection_.get(), MYSQL_OPT_PROTOCOL, &tcp);

    const StoreHost& host = settings.url.hosts.front();
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string password = parameters.secret("password", settings.url.password);
    if (!mysql_real_connect(connection_.get(), host.name.c_str(), user.c_str(), password.c_str(),
                            settings.url.path.c_str(), host.port == 0 ? kPort : host.port,
                            socket_path.empty() ? nullptr : socket_path.c_str(), 0)) {
      fail("cannot connect to " + shown_);
    }
    close_on_exec(socket());
    keep_alive(socket());
    if ((tls == "require" || tls == "verify") && mysql_get_ssl_cipher(connection_.get()) == nullptr) {
      throw Error(Status::store_unsafe, shown_ + ": tls = " + tls + ", but the server offers no TLS");
    }
    const std::string_view server = mysql_get_server_info(connection_.get());
    is_tidb_ = server.find("TiDB") != server.npos;
    const std::string statements = parameters.choice("statements", kStatements);
    in_transactions_ = statements == "transaction" || (statements == "auto" && is_tidb_);
    const std::string limit = std::to_string(seconds);
    std::string session =
        "SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = " + limit +
        ", lock_wait_timeout = " + limit;
    if (server.find("MariaDB") != server.npos)
      session += ", max_statement_time = " + std::to_string(settings.timeout_ms) + "e-3";
    run(session);
    check_settings(parameters);
  }
  MysqlConnection(const MysqlConnection&) = delete;
  MysqlConnection& operator=(const MysqlConnection&) = delete;

  int socket() const { return static_cast<int>(mysql_get_socket(connection_.get())); }
  bool is_usable() const { return usable_; }
  bool is_tidb() const { return is_tidb_; }
  bool in_transactions() const { return in_transactions_; }

  // What a statement is about, for messages.
  enum class About { segments, workers, numbers, users_table };

  void run(const std::string& sql, About about = About::segments) {
    if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) fail(shown_, about);
  }
  Rows query(const std::string& sql, About about = About::segments, const std::string& users_table = "") {
    run(sql, about);
    MYSQL_RES* const result = mysql_store_result(connection_.get());
    if (result == nullptr) fail(shown_, about);
    return Rows(result, about == About::segments  ? schema_.table
                        : about == About::workers ? std::string_view(kWorkerTable)
                                                  : std::string_view(users_table));
  }

  std::vector<std::vector<std::string>> worker_rows(const std::string& sql) { return all_rows(sql, About::workers); }
  std::uint64_t change_worker(const std::string& sql) {
    return change(sql, About::workers, [this] { return changed_rows(); });
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
  std::uint64_t changed_rows() { return mysql_affected_rows(connection_.get()); }
  // The terms last seen in a row, by its WHERE clause, so that a grant costs one round trip.
  RowTerms& known_terms(const std::string& where) { return terms_[where]; }
  std::uint64_t last_insert_id() { return mysql_insert_id(connection_.get()); }

 private:
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
    if (!in_transactions_) {
      run(sql, about);
      return outcome();
    }
    run(is_tidb_ ? "BEGIN PESSIMISTIC" : "START TRANSACTION", about);
    run(sql, about);
    const std::uint64_t found = outcome();
    run("COMMIT", about);
    return found;
  }

  [[noreturn]] void fail(const std::string& what, About about = About::segments) {
    const unsigned code = mysql_errno(connection_.get());
    const std::string why = what + ": " + mysql_error(connection_.get()) + " (" + std::to_string(code) + ")";
    if (code == 0 || code >= kFirstOfTheClient || in_transactions_) usable_ = false;
    switch (code) {
      case kNoSuchTable:
        if (about == About::users_table) throw Error(Status::value, why);
        if (about == About::workers) throw Error(Status::store_missing, why + ". " + kHowToCreateWorkers);
        if (about == About::numbers) throw Error(Status::store_missing, why + ". " + kHowToCreateNumbers);
        throw Error(Status::store_missing,
                    shown_ + ": the table " + std::string(schema_.table) + " is not there. " + kHowToCreate);
      case kUnknownDatabase:
        throw Error(Status::store_missing, why + ". Make the database first");
      case kAccessDenied:
      case kDatabaseDenied:
      case kTableDenied:
      case kColumnDenied:
        throw Error(Status::store_permission, why);
      case kReadOnlyOption:
      case kReadOnlyTransaction:
        throw Error(Status::store_permission, why + ". Name the primary, which takes writes");
      case kDiskFull:
      case kTableFull:
        throw Error(Status::store_full, why);
      case kUnknownColumn:
        if (about == About::users_table) throw Error(Status::value, why);
        if (about == About::workers)
          throw Error(Status::store_version, why + ". The table " + kWorkerTable + " is of another version");
        if (about == About::numbers)
          throw Error(Status::store_version, why + ". The table is not as its generator's own script makes it");
        throw Error(Status::store_version, why + ". The table " + std::string(schema_.table) +
                                               " is not one of segment.schema = " + std::string(schema_.name) +
                                               ", or of another version");
      case kLockWaitTimeout:
      case kDeadlock:
      case kStatementTimeout:
      case kQueryTimeout:
        throw Error(Status::store_unavailable, why);
      case kAuthRefused:
        throw Error(Status::store_permission,
                    what +
                        ": the server asks for a way to log in that shows it the password, and who answers there is "
                        "not verified. Use tls=verify with tls_ca, or socket=PATH, or let the account log in by "
                        "ed25519 or mysql_native_password. On a network that you trust, "
                        "tls=off&auth=caching_sha2_password will do");
      case kDataOutOfRange:
        throw Error(Status::store_damaged, why);
      case kTlsFailed:
        if (why.find("does not support") != std::string::npos) throw Error(Status::store_unsafe, why);
        if (why.find("certificate") != std::string::npos) throw Error(Status::store_permission, why);
        throw Error(Status::store_unavailable, why);
      default:
        usable_ = false;
        throw Error(Status::store_unavailable, why);
    }
  }

  using Variables = std::map<std::string, std::string>;

  void demand(const Parameters& parameters, const Variables& variables, const std::string& name,
              const std::string& wanted, const std::string& why) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second == wanted || parameters.accepts_loss(name)) return;
    throw Error(Status::store_unsafe, shown_ + ": the server runs with " + name + " = " + found->second + ": " + why +
                                          ", and ids would be issued twice. Set it to " + wanted +
                                          ", or give that up with ?accept_loss=" + name);
  }
  void check_settings(const Parameters& parameters) {
    Variables variables;
    Rows settings = query(
        "SHOW VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', 'tidb_super_read_only', "
        "'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'log_bin', 'sync_binlog')");
    while (settings.next()) variables[settings.text(0)] = settings.text(1);
    for (const char* name : {"read_only", "super_read_only", "tidb_super_read_only"}) {
      const auto found = variables.find(name);
      if (found != variables.end() && (found->second == "ON" || found->second == "1")) {
        throw Error(Status::store_permission,
                    shown_ + ": the server runs with " + name + " = ON, it cannot grant anything; name the primary");
      }
    }
    if (is_tidb_) return;  // it accepts the names below, and commits through Raft whatever they say
    demand(parameters, variables, "innodb_flush_log_at_trx_commit", "1",
           "a crash can undo a commit of the last second");
    demand(parameters, variables, "innodb_doublewrite", "ON", "a power loss can tear a page");
    if (variables["log_bin"] == "ON")
      demand(parameters, variables, "sync_binlog", "1",
             "after a power loss the replicas may not know the last commits");
    const std::string here = " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = " + quoted(std::string(schema_.table));
    Rows counter = query("SELECT DATA_TYPE FROM information_schema.COLUMNS" + here +
                         " AND COLUMN_NAME = " + quoted(std::string(schema_.counter)));
    // In a rounded number, or in a text, which is calculated with as one, max_id + 1 may equal max_id.
    if (counter.next() && counter.text(0).find("int") == std::string::npos && counter.text(0) != "decimal") {
      throw Error(Status::store_version, shown_ + ": the column " + std::string(schema_.counter) + " of the table " +
                                             std::string(schema_.table) + " is of the type " + counter.text(0) +
                                             ", which does not hold whole numbers exactly; it must be bigint");
    }
    Rows rows = query("SELECT ENGINE FROM information_schema.TABLES" + here);
    if (rows.next() && rows.text(0) != "InnoDB") {
      const std::string table(schema_.table);
      throw Error(Status::store_unsafe, shown_ + ": the table " + table + " has the engine " + rows.text(0) +
                                            ", which may forget a commit in a crash: ALTER TABLE " + table +
                                            " ENGINE = InnoDB");
    }
  }

  SqlNumbers<MysqlConnection> numbers_;
  const std::string shown_;
  const Schema& schema_;
  std::map<std::string, RowTerms> terms_;
  bool usable_ = true;
  bool is_tidb_ = false;
  bool in_transactions_ = false;
  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

class MysqlStore final
    : public WithNumbers<WithWindows<SchemaStore<MysqlConnection>, MysqlConnection>, MysqlConnection> {
 public:
  explicit MysqlStore(const Settings& settings) : WithNumbers(settings, kParameters, kDialects) {
    use([&](MysqlConnection& server) {
      if (settings_.create) make_tables(server);
      is_tidb_ = server.is_tidb();
    });
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    const Schema& schema = kSchemas[schema_number(settings)];
    const Dialect& dialect = kDialects[schema_number(settings)];
    return std::string(dialect.create_table) + ";\n" +
           insert_text(schema, dialect, settings, literal(name_space), literal(tag),
                       literal(key_of_row(schema, name_space, tag))) +
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
        insert(server, name_space, tag);
        created = true;
      }
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](MysqlConnection& server) {
      server.run(update() + counter_ + " - " + number(unused) + changed(dialect_.changed) +
                 where_tag(server, name_space, tag) + " AND " + counter_ + " = " + number(last + schema_.next_free));
      if (server.changed_rows() != 1) read(server, name_space, tag);  // says if it is not there
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
  std::uint64_t max_of(const std::string& table, const std::string& column) {
    return use([&](MysqlConnection& server) {
      std::string from;
      for (const std::string& part : parts_of_name("table", table))
        from += (from.empty() ? "" : ".") + identifier(part);
      if (column.empty()) throw Error(Status::value, "the column's name is empty");
      Rows rows = server.query("SELECT MAX(" + identifier(column) + ") FROM " + from,
                               MysqlConnection::About::users_table, table);
      check_column(table, column, rows.is_exact(0));
      return rows.next() ? largest_of(table, column, rows.text(0)) : 0;
    });
  }
  std::string describe() override {
    if (is_tidb_) {
      return "store: " + shown_ +
             " (TiDB); each grant is a pessimistic transaction, committed through Raft before its first id is "
             "issued\n" +
             kWorkersSentence + schema_sentence(schema_);
    }
    return "store: " + shown_ +
           " (MariaDB or MySQL); each grant is committed by InnoDB before its first id is issued\n"
           "power loss: nothing granted is forgotten, as long as the server's disk keeps what it has synced\n"
           "failover: with asynchronous or semi-synchronous replicas the newest grants can be lost. A running process "
           "then stops with STORE_REGRESSED\n" +
           kWorkersSentence + schema_sentence(schema_);
  }

 private:
  static std::string identifier(const std::string& name) {
    std::string out = "`";
    for (const char c : name) out += c == '`' ? std::string("``") : std::string(1, c);
    return out + "`";
  }
  // For people, and on one line: see sql_text(). The connection quotes what is sent.
  static std::string literal(const std::string& text) {
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
    server.run(server.is_tidb() ? "BEGIN PESSIMISTIC" : "START TRANSACTION");
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
    server.run("COMMIT");
    return from + count;
  }

  // Without IGNORE, which would cut a name to the column's length.
  bool insert(MysqlConnection& server, const std::string& name_space, const std::string& tag) const override {
    server.run(insert_text(schema_, dialect_, settings_, server.quoted(name_space), server.quoted(tag),
                           server.quoted(key_of_row(schema_, name_space, tag))));
    return server.changed_rows() == 1;
  }

  SchemaRow row_of(const Rows& rows) const {
    return WithNumbers::row_of([&](unsigned column) { return rows.number(column); },
                               [&](unsigned column) { return rows.text(column); });
  }
  std::vector<SchemaRow> rows_of(MysqlConnection& server, const std::string& sql) const override {
    std::vector<SchemaRow> found;
    for (Rows rows = server.query(sql); rows.next();) found.push_back(row_of(rows));
    return found;
  }

  bool is_tidb_ = false;
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_mysql() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::MysqlStore>("mysql");
  return &module;
}
