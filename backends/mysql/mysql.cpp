// Segments in MariaDB, MySQL and TiDB.
//
// One round trip: UPDATE ... SET max_id = LAST_INSERT_ID(max_id + n), whose value comes back with the acknowledgement. TiDB runs a statement that
// commits by itself optimistically at first, so there it is an explicit pessimistic transaction.
#include <mysql.h>

#include <map>
#include <optional>

#include "module.hpp"
#include "sql.hpp"

namespace idgen::backend {
namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env", "tls",       "tls_ca",
                                            "socket",   "accept_loss",  "statements"};
constexpr std::string_view kTls[] = {"prefer", "off", "require", "verify"};
constexpr std::string_view kStatements[] = {"auto", "single", "transaction"};
constexpr unsigned kPort = 3306;

// Bytes, not characters: no two names are equal but for their collation's sake.
constexpr const char* kTable = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  max_id BIGINT NOT NULL,
  grants BIGINT NOT NULL DEFAULT 0,
  updated_unix_ms BIGINT NOT NULL DEFAULT 0,
  step BIGINT NOT NULL DEFAULT 0,
  rate BIGINT NOT NULL DEFAULT 0,
  holder VARBINARY(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)) ENGINE = InnoDB)";

// Server errors, of MariaDB and MySQL alike (mysqld_error.h).
constexpr unsigned kNoSuchTable = 1146, kUnknownDatabase = 1049, kUnknownColumn = 1054, kDataOutOfRange = 1690;
constexpr unsigned kAccessDenied = 1045, kDatabaseDenied = 1044, kTableDenied = 1142, kColumnDenied = 1143;
constexpr unsigned kReadOnlyOption = 1290, kReadOnlyTransaction = 1792, kDiskFull = 1021, kTableFull = 1114;
constexpr unsigned kFirstOfTheClient = 2000, kTlsFailed = 2026;

class Rows {
 public:
  explicit Rows(MYSQL_RES* result) : result_(result, mysql_free_result) {}
  bool next() {
    row_ = mysql_fetch_row(result_.get());
    lengths_ = row_ == nullptr ? nullptr : mysql_fetch_lengths(result_.get());
    return row_ != nullptr;
  }
  std::string text(unsigned column) const {
    return row_[column] == nullptr ? "" : std::string(row_[column], lengths_[column]);
  }
  std::uint64_t number(unsigned column) const { return stored_number("the table idgen_segment", row_[column]); }

 private:
  std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result_;
  MYSQL_ROW row_ = nullptr;
  unsigned long* lengths_ = nullptr;
};

class MysqlConnection {
 public:
  MysqlConnection(const Settings& settings, const Parameters& parameters)
      : shown_(settings.url.shown()), connection_(mysql_init(nullptr), mysql_close) {
    if (!connection_) throw std::bad_alloc();
    if (settings.url.hosts.size() != 1) {
      throw Error(Status::value, "store = \"" + shown_ + "\": one host is allowed; behind it a proxy may know several");
    }
    // Whole seconds are all it knows.
    const auto seconds = static_cast<unsigned>(std::max<std::int64_t>(1, (settings.timeout_ms + 999) / 1000));
    for (const mysql_option timeout : {MYSQL_OPT_CONNECT_TIMEOUT, MYSQL_OPT_READ_TIMEOUT, MYSQL_OPT_WRITE_TIMEOUT})
      mysql_optionsv(connection_.get(), timeout, &seconds);
    const my_bool no = 0, yes = 1;
    const unsigned never = 0;
    mysql_optionsv(connection_.get(), MYSQL_OPT_RECONNECT, &no);  // a new connection would not have been checked
    mysql_optionsv(connection_.get(), MYSQL_OPT_LOCAL_INFILE, &never);
    mysql_optionsv(connection_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    const std::string tls = parameters.choice("tls", kTls);
    if (tls == "require" || tls == "verify") mysql_optionsv(connection_.get(), MYSQL_OPT_SSL_ENFORCE, &yes);
    mysql_optionsv(connection_.get(), MYSQL_OPT_SSL_VERIFY_SERVER_CERT, tls == "verify" ? &yes : &no);
    const std::string ca = parameters.get("tls_ca");
    if (!ca.empty()) mysql_optionsv(connection_.get(), MYSQL_OPT_SSL_CA, ca.c_str());
    const std::string socket = parameters.get("socket");
    const unsigned tcp = MYSQL_PROTOCOL_TCP;  // else "localhost" means a socket
    if (socket.empty()) mysql_optionsv(connection_.get(), MYSQL_OPT_PROTOCOL, &tcp);

    const StoreHost& host = settings.url.hosts.front();
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string password = parameters.secret("password", settings.url.password);
    if (!mysql_real_connect(connection_.get(), host.name.c_str(), user.c_str(), password.c_str(),
                            settings.url.path.c_str(), host.port == 0 ? kPort : host.port,
                            socket.empty() ? nullptr : socket.c_str(), 0)) {
      fail("cannot connect to " + shown_);
    }
    if ((tls == "require" || tls == "verify") && mysql_get_ssl_cipher(connection_.get()) == nullptr) {
      throw Error(Status::store_unsafe, shown_ + ": tls = " + tls + ", but the server offers no TLS");
    }
    is_tidb_ = std::string_view(mysql_get_server_info(connection_.get())).find("TiDB") != std::string_view::npos;
    const std::string statements = parameters.choice("statements", kStatements);
    in_transactions_ = statements == "transaction" || (statements == "auto" && is_tidb_);
    run("SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES'");
    check_settings(parameters);
  }
  MysqlConnection(const MysqlConnection&) = delete;
  MysqlConnection& operator=(const MysqlConnection&) = delete;

  bool is_usable() const { return usable_; }
  bool is_tidb() const { return is_tidb_; }
  bool in_transactions() const { return in_transactions_; }

  void run(const std::string& sql) {
    if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) fail(shown_);
  }
  Rows query(const std::string& sql) {
    run(sql);
    MYSQL_RES* const result = mysql_store_result(connection_.get());
    if (result == nullptr) fail(shown_);
    return Rows(result);
  }
  std::string quoted(const std::string& text) {
    std::string out(2 * text.size() + 1, '\0');
    out.resize(mysql_real_escape_string(connection_.get(), out.data(), text.data(), text.size()));
    return "'" + out + "'";
  }
  std::uint64_t changed_rows() { return mysql_affected_rows(connection_.get()); }
  // The step that a row was last seen to say, by its WHERE clause: so that a grant of so many costs one round trip.
  std::uint64_t& known_step(const std::string& where) { return steps_[where]; }
  std::uint64_t last_insert_id() { return mysql_insert_id(connection_.get()); }

 private:
  [[noreturn]] void fail(const std::string& what) {
    const unsigned code = mysql_errno(connection_.get());
    const std::string why = what + ": " + mysql_error(connection_.get()) + " (" + std::to_string(code) + ")";
    if (code == 0 || code >= kFirstOfTheClient || in_transactions_) usable_ = false;
    switch (code) {
      case kNoSuchTable:
        throw Error(Status::store_missing, shown_ + ": the table idgen_segment is not there. " + kHowToCreate);
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
        throw Error(Status::store_version, why + ". The table is not idgen's, or of another version");
      case kDataOutOfRange:
        throw Error(Status::store_damaged, why);
      case kTlsFailed:
        if (why.find("does not support") != std::string::npos) throw Error(Status::store_unsafe, why);
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
    if (is_tidb_) return;  // it answers to the names below, and commits through Raft whatever they say
    demand(parameters, variables, "innodb_flush_log_at_trx_commit", "1",
           "a crash can undo a commit of the last second");
    demand(parameters, variables, "innodb_doublewrite", "ON", "a power loss can tear a page");
    if (variables["log_bin"] == "ON")
      demand(parameters, variables, "sync_binlog", "1",
             "after a power loss the replicas may not know the last commits");
    Rows rows = query(
        "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = "
        "'idgen_segment'");
    if (rows.next() && rows.text(0) != "InnoDB") {
      throw Error(Status::store_unsafe, shown_ + ": the table idgen_segment has the engine " + rows.text(0) +
                                            ", which may forget a commit in a crash: ALTER TABLE idgen_segment "
                                            "ENGINE = InnoDB");
    }
  }

  const std::string shown_;
  std::map<std::string, std::uint64_t> steps_;
  bool usable_ = true;
  bool is_tidb_ = false;
  bool in_transactions_ = false;
  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

std::string number(std::uint64_t value) { return std::to_string(value); }

class MysqlStore final : public ConnectedStore<MysqlConnection> {
 public:
  explicit MysqlStore(const Settings& settings) : ConnectedStore(settings, kParameters) {
    use([&](MysqlConnection& server) {
      if (settings_.create) server.run(kTable);
      is_tidb_ = server.is_tidb();
    });
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    advance_by(name_space, tag, 0, grant_size(0, request));
    return use([&](MysqlConnection& server) {
      const std::string where = where_tag(server, name_space, tag);
      std::uint64_t& step = server.known_step(where);
      for (bool created = false;;) {
        const std::uint64_t count = grant_size(step, request);
        const std::string rest = ", grants = grants + 1, rate = " + number(request.rate) +
                                 ", holder = " + server.quoted(request.holder) + stamp() + where;
        const std::optional<std::uint64_t> last = server.in_transactions()
                                                      ? take_in_transaction(server, where, rest, step, count)
                                                      : take_at_once(server, rest, step, count);
        if (last) return SegmentGrant{.first = *last - count + 1, .count = count};
        const std::optional<SegmentInfo> found = find(server, where);
        if (found && found->step != step) {  // the operator has changed it
          step = found->step;
          continue;
        }
        if (found) advance_by(name_space, tag, found->max_id, count);  // says that it is exhausted
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
      server.run("UPDATE idgen_segment SET max_id = max_id - " + number(unused) + stamp() +
                 where_tag(server, name_space, tag) + " AND max_id = " + number(last));
      if (server.changed_rows() != 1) read(server, name_space, tag);  // says if it is not there
    });
  }
  void create(const std::string& name_space, const std::string& tag) override {
    use([&](MysqlConnection& server) {
      server.run(kTable);
      if (!insert(server, name_space, tag)) throw_tag_exists(name_space, tag, read(server, name_space, tag).max_id);
    });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return use([&](MysqlConnection& server) { return read(server, name_space, tag); });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    check_advance(target);
    return use([&](MysqlConnection& server) {
      server.run("UPDATE idgen_segment SET max_id = GREATEST(max_id + 1, " + number(target) + "), grants = grants + 1" +
                 stamp() + where_tag(server, name_space, tag) + " AND max_id < " + number(kLargestNumber));
      const bool changed = server.changed_rows() == 1;
      SegmentInfo now = read(server, name_space, tag);
      if (!changed) advanced(name_space, tag, now.max_id, target);  // says that it is exhausted
      return now;
    });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    return use([&](MysqlConnection& server) {
      server.run("UPDATE idgen_segment SET step = " + number(step) + stamp() + where_tag(server, name_space, tag));
      return read(server, name_space, tag);
    });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) override {
    use([&](MysqlConnection& server) {
      Rows rows = server.query(std::string(kSelect) + " ORDER BY ns, tag");
      while (rows.next()) row(info_of(rows));
    });
  }
  std::string describe() override {
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

 private:
  static constexpr const char* kSelect =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment";

  static std::string stamp() { return ", updated_unix_ms = " + std::to_string(store_clock_unix_ms()); }
  static std::string where_tag(MysqlConnection& server, const std::string& name_space, const std::string& tag) {
    return " WHERE ns = " + server.quoted(name_space) + " AND tag = " + server.quoted(tag);
  }

  // If the row still says `step`. `rest` is what else is set, and where.
  static std::optional<std::uint64_t> take_at_once(MysqlConnection& server, const std::string& rest, std::uint64_t step,
                                                   std::uint64_t count) {
    server.run("UPDATE idgen_segment SET max_id = LAST_INSERT_ID(max_id + " + number(count) + ")" + rest +
               " AND step = " + number(step) + " AND max_id BETWEEN 0 AND " + number(kLargestNumber - count));
    if (server.changed_rows() != 1) return std::nullopt;
    return server.last_insert_id();
  }

  // Locked, read, compared and set: whatever the isolation level, a change in between is seen.
  static std::optional<std::uint64_t> take_in_transaction(MysqlConnection& server, const std::string& where,
                                                          const std::string& rest, std::uint64_t step,
                                                          std::uint64_t count) {
    server.run(server.is_tidb() ? "BEGIN PESSIMISTIC" : "START TRANSACTION");
    Rows found =
        server.query("SELECT max_id FROM idgen_segment" + where + " AND step = " + number(step) + " FOR UPDATE");
    const std::optional<std::uint64_t> before = found.next() ? std::optional(found.number(0)) : std::nullopt;
    if (!before || *before > kLargestNumber - count) {
      server.run("ROLLBACK");
      return std::nullopt;
    }
    server.run("UPDATE idgen_segment SET max_id = " + number(*before + count) + rest +
               " AND max_id = " + number(*before));
    if (server.changed_rows() != 1) {
      server.run("ROLLBACK");
      throw Error(Status::store_unavailable, "the tag changed while its row was locked; nothing was granted");
    }
    server.run("COMMIT");
    return *before + count;
  }

  static bool insert(MysqlConnection& server, const std::string& name_space, const std::string& tag) {
    server.run("INSERT IGNORE INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES(" +
               server.quoted(name_space) + ", " + server.quoted(tag) + ", 0, 0, " +
               std::to_string(store_clock_unix_ms()) + ")");
    return server.changed_rows() == 1;
  }

  static SegmentInfo info_of(const Rows& rows) {
    SegmentInfo info;
    info.name_space = rows.text(0);
    info.tag = rows.text(1);
    info.max_id = rows.number(2);
    info.grants = rows.number(3);
    info.updated_unix_ms = static_cast<std::int64_t>(rows.number(4));
    info.step = rows.number(5);
    info.rate = rows.number(6);
    info.holder = rows.text(7);
    return info;
  }
  static std::optional<SegmentInfo> find(MysqlConnection& server, const std::string& where) {
    Rows rows = server.query(kSelect + where);
    return rows.next() ? std::optional(info_of(rows)) : std::nullopt;
  }
  SegmentInfo read(MysqlConnection& server, const std::string& name_space, const std::string& tag) {
    std::optional<SegmentInfo> found = find(server, where_tag(server, name_space, tag));
    if (!found) throw_tag_unknown(name_space, tag, shown_, kHowToCreate);
    return std::move(*found);
  }

  bool is_tidb_ = false;
};

}  // namespace
}  // namespace idgen::backend

extern "C" __attribute__((visibility("default"))) const idgen_backend* idgen_backend_mysql() {
  return idgen::backend::module<idgen::backend::MysqlStore>("mysql");
}
