// A store over SQL connections of the host: one in front of SQLite, whose rows are real, and one that answers by a
// script, for what only other databases say and for drivers that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <idgen/idgen.h>
#include <idgen/sql.h>
#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "temp_folder.hpp"

namespace idgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The C error of a call that must fail.
struct Failed {
  idgen_error_t error = IDGEN_ERROR_INIT;
  idgen_status_t status = IDGEN_OK;
  std::string message() const { return error.message; }
};
Failed failed(const std::function<idgen_status_t(idgen_error_t*)>& call) {
  Failed out;
  out.status = call(&out.error);
  return out;
}

// What a test does instead of, or besides, the driver's own work.
struct Driver {
  virtual ~Driver() = default;
  virtual idgen_status_t execute(const idgen_sql_statement_t* statement, idgen_sql_outcome_t* outcome,
                                 idgen_sql_error_t* err) = 0;
  virtual idgen_status_t begin(idgen_sql_error_t*) { return IDGEN_OK; }
  virtual idgen_status_t commit(idgen_sql_error_t*) { return IDGEN_OK; }
  virtual void rollback() { ++rollbacks; }

  int32_t dialect = IDGEN_SQL_SQLITE;
  int32_t inside = 0;
  bool lends = true;
  int rollbacks = 0;
  std::vector<std::string> sent;
  std::vector<int32_t> returned;  // what the work said of each connection
};

idgen_status_t refuse(idgen_sql_error_t* err, const char* message, std::uint32_t code = 0, const char* state = "") {
  std::snprintf(err->message, sizeof err->message, "%s", message);
  std::snprintf(err->sqlstate, sizeof err->sqlstate, "%s", state);
  err->code = code;
  err->cause = 4711;
  return IDGEN_E_HOST;
}

idgen_sql_connections_t callbacks() {
  idgen_sql_connections_t table{};
  table.struct_size = sizeof table;
  table.with_connection = [](void* ctx, idgen_sql_work_fn work, void* what, idgen_sql_error_t* err) -> idgen_status_t {
    auto& driver = *static_cast<Driver*>(ctx);
    if (!driver.lends) {
      err->retry_after_ns = IDGEN_ENDS_WAITS;
      refuse(err, "the pool has lent all its connections");
      return IDGEN_E_STORE_UNAVAILABLE;
    }
    driver.returned.push_back(work(what, &driver, driver.dialect));
    return IDGEN_OK;
  };
  table.in_transaction = [](void*, void* connection, int32_t* inside, idgen_sql_error_t*) -> idgen_status_t {
    *inside = static_cast<Driver*>(connection)->inside;
    return IDGEN_OK;
  };
  table.execute = [](void*, void* connection, const idgen_sql_statement_t* statement, idgen_sql_outcome_t* outcome,
                     idgen_sql_error_t* err) -> idgen_status_t {
    auto& driver = *static_cast<Driver*>(connection);
    const std::string sql = statement->sql;
    driver.sent.push_back(sql);
    EXPECT_EQ(static_cast<std::size_t>(std::count(sql.begin(), sql.end(), '?')), statement->count) << sql;
    EXPECT_EQ(sql.find_first_of("%:$"), sql.npos) << sql << " has what a driver takes for a placeholder";
    return driver.execute(statement, outcome, err);
  };
  table.begin = [](void*, void* connection, idgen_sql_error_t* err) {
    return static_cast<Driver*>(connection)->begin(err);
  };
  table.commit = [](void*, void* connection, idgen_sql_error_t* err) {
    return static_cast<Driver*>(connection)->commit(err);
  };
  table.rollback = [](void*, void* connection) { static_cast<Driver*>(connection)->rollback(); };
  return table;
}

class Sqlite final : public Driver {
 public:
  Sqlite() { EXPECT_EQ(sqlite3_open((folder_.path() + "/own.db").c_str(), &db_), SQLITE_OK); }
  ~Sqlite() override { sqlite3_close(db_); }

  idgen_status_t run(const char* sql, idgen_sql_error_t* err) {
    return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? IDGEN_OK : refuse(err, sqlite3_errmsg(db_));
  }
  idgen_status_t execute(const idgen_sql_statement_t* statement, idgen_sql_outcome_t* outcome,
                         idgen_sql_error_t* err) override {
    if (!meanwhile.empty() && std::string(statement->sql).starts_with("UPDATE idgen_worker"))
      sqlite3_exec(db_, std::exchange(meanwhile, "").c_str(), nullptr, nullptr, nullptr);
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(db_, statement->sql, -1, &made, nullptr) != SQLITE_OK)
      return refuse(err, sqlite3_errmsg(db_));
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> owned(made, sqlite3_finalize);
    for (std::size_t i = 0; i < statement->count; ++i) {
      const idgen_sql_value_t& value = statement->values[i];
      if (value.kind == IDGEN_SQL_INTEGER) {
        sqlite3_bind_int64(made, static_cast<int>(i) + 1, value.number);
      } else {
        sqlite3_bind_text(made, static_cast<int>(i) + 1, value.text, static_cast<int>(value.size), SQLITE_TRANSIENT);
      }
    }
    int step = 0;
    while ((step = sqlite3_step(made)) == SQLITE_ROW) {
      std::vector<idgen_sql_value_t> row(static_cast<std::size_t>(sqlite3_column_count(made)));
      for (std::size_t i = 0; i < row.size(); ++i) {
        const int column = static_cast<int>(i);
        const int type = sqlite3_column_type(made, column);
        row[i].kind = type == SQLITE_NULL      ? IDGEN_SQL_NULL
                      : type == SQLITE_INTEGER ? IDGEN_SQL_INTEGER
                                               : IDGEN_SQL_TEXT;
        row[i].number = sqlite3_column_int64(made, column);
        row[i].text = reinterpret_cast<const char*>(sqlite3_column_text(made, column));
        row[i].size = static_cast<std::size_t>(sqlite3_column_bytes(made, column));
      }
      if (statement->each != nullptr) statement->each(statement->rows, row.data(), row.size());
    }
    if (step != SQLITE_DONE) return refuse(err, sqlite3_errmsg(db_));
    outcome->changed = changes_nothing ? 0 : static_cast<std::uint64_t>(sqlite3_changes(db_));
    return IDGEN_OK;
  }
  idgen_status_t begin(idgen_sql_error_t* err) override { return run("BEGIN IMMEDIATE", err); }
  idgen_status_t commit(idgen_sql_error_t* err) override {
    if (const idgen_status_t status = run("COMMIT", err); status != IDGEN_OK) return status;
    return lost_acknowledgements-- > 0 ? refuse(err, "the connection was lost") : IDGEN_OK;
  }
  void rollback() override {
    Driver::rollback();
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  std::int64_t number(const char* sql) {
    std::int64_t found = -1;
    sqlite3_exec(
        db_, sql,
        [](void* to, int, char** values, char**) {
          *static_cast<std::int64_t*>(to) = values[0] == nullptr ? -1 : std::stoll(values[0]);
          return 0;
        },
        &found, nullptr);
    return found;
  }

  int lost_acknowledgements = 0;
  bool changes_nothing = false;
  std::string meanwhile;  // somebody else's statement, before the next change of a worker

 private:
  const TempFolder folder_;
  sqlite3* db_ = nullptr;
};

// Answers by the first row of the script whose text is in the statement.
class Scripted final : public Driver {
 public:
  struct Line {
    std::string has;
    std::function<idgen_status_t(const idgen_sql_statement_t&, idgen_sql_outcome_t*, idgen_sql_error_t*)> answer;
  };
  explicit Scripted(int32_t spoken) { dialect = spoken; }
  idgen_status_t execute(const idgen_sql_statement_t* statement, idgen_sql_outcome_t* outcome,
                         idgen_sql_error_t* err) override {
    for (const Line& line : script)
      if (std::string(statement->sql).find(line.has) != std::string::npos) return line.answer(*statement, outcome, err);
    return IDGEN_OK;
  }
  std::vector<Line> script;
};

void give(const idgen_sql_statement_t& statement, const std::vector<std::string>& texts) {
  std::vector<idgen_sql_value_t> row(texts.size());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = {IDGEN_SQL_TEXT, 0, 0, texts[i].data(), texts[i].size()};
  statement.each(statement.rows, row.data(), row.size());
}

class Configured {
 public:
  explicit Configured(Driver& driver, const std::vector<std::pair<const char*, const char*>>& properties = {}) {
    EXPECT_EQ(idgen_config_create(&config_, nullptr), IDGEN_OK);
    const idgen_sql_connections_t table = callbacks();
    EXPECT_EQ(idgen_config_set_sql_store(config_, &table, &driver, nullptr), IDGEN_OK);
    set("kind", "segment");
    set("tag", "orders");
    set("segment.step", "10");
    for (const auto& [key, value] : properties) set(key, value);
  }
  ~Configured() { idgen_config_destroy(config_); }
  Configured(const Configured&) = delete;
  Configured& operator=(const Configured&) = delete;

  void set(const char* key, const char* value) { ASSERT_EQ(idgen_config_set(config_, key, value, nullptr), IDGEN_OK); }
  void make() {
    ASSERT_EQ(idgen_store_create(config_, nullptr), IDGEN_OK);
    ASSERT_EQ(idgen_segment_create(config_, nullptr), IDGEN_OK);
  }
  idgen_segment_info_t show() {
    idgen_segment_info_t info{};
    info.struct_size = sizeof info;
    idgen_error_t error = IDGEN_ERROR_INIT;
    EXPECT_EQ(idgen_segment_show(config_, &info, &error), IDGEN_OK) << error.message;
    return info;
  }
  // Why a generator cannot be made; without waiting for anything to change.
  Failed opening() {
    set("wait_max", "0s");
    return failed([&](idgen_error_t* err) {
      idgen_t* made = nullptr;
      const idgen_status_t status = idgen_create(config_, &made, err);
      idgen_destroy(made);
      return status;
    });
  }
  std::uint64_t first_id() {
    idgen_t* made = nullptr;
    idgen_error_t error = IDGEN_ERROR_INIT;
    EXPECT_EQ(idgen_create(config_, &made, &error), IDGEN_OK) << error.message;
    std::uint64_t id = 0;
    if (made != nullptr) {
      EXPECT_EQ(idgen_next(made, &id, &error), IDGEN_OK) << error.message;
    }
    idgen_destroy(made);
    return id;
  }
  idgen_config_t* get() const { return config_; }

 private:
  idgen_config_t* config_ = nullptr;
};

TEST(SqlStore, ATagIsMadeDrawnFromAndAdministered) {
  Sqlite driver;
  Configured config(driver);
  EXPECT_EQ(config.opening().status, IDGEN_E_STORE_MISSING);
  config.make();
  const Failed again = failed([&](idgen_error_t* err) { return idgen_segment_create(config.get(), err); });
  EXPECT_EQ(again.status, IDGEN_E_TAG_EXISTS);
  EXPECT_EQ(config.first_id(), 1u);
  EXPECT_EQ(config.show().grants, 1u);

  idgen_segment_info_t info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(idgen_segment_advance(config.get(), 1000, &info, nullptr), IDGEN_OK);
  EXPECT_EQ(info.max_id, 1000u);
  ASSERT_EQ(idgen_segment_set_step(config.get(), 70, &info, nullptr), IDGEN_OK);
  EXPECT_EQ(config.first_id(), 1001u);
  EXPECT_EQ(driver.number("SELECT step FROM idgen_segment"), 70);
  EXPECT_THAT(driver.returned, Not(::testing::Contains(IDGEN_SQL_REFUSED)));

  std::vector<std::string> tags;
  ASSERT_EQ(idgen_segment_list(
                config.get(),
                [](void* to, const char*, const char* tag, const idgen_segment_info_t*) {
                  static_cast<std::vector<std::string>*>(to)->push_back(tag);
                },
                &tags, nullptr),
            IDGEN_OK);
  EXPECT_THAT(tags, ElementsAre("orders"));
  config.set("tag", "nobody");
  EXPECT_EQ(config.opening().status, IDGEN_E_TAG_UNKNOWN);
}

TEST(SqlStore, TheRowsStepIsTakenAndTheLogOfGrantsIsWritten) {
  Sqlite driver;
  Configured config(driver, {{"segment.grant_log", "2"}});
  config.make();
  ASSERT_EQ(idgen_segment_set_step(config.get(), 100, nullptr, nullptr), IDGEN_OK);
  EXPECT_EQ(config.first_id(), 1u);
  EXPECT_EQ(driver.number("SELECT first_id FROM idgen_grant WHERE grant_no = 1"), 1);
  idgen_segment_grant_t grant{};
  grant.struct_size = sizeof grant;
  ASSERT_EQ(idgen_segment_grant_of(config.get(), 1, &grant, nullptr), IDGEN_OK);
  EXPECT_EQ(grant.grant, 1u);
  EXPECT_EQ(grant.first, 1u);
  for (int i = 0; i < 3; ++i) config.first_id();
  EXPECT_EQ(driver.number("SELECT COUNT(*) FROM idgen_grant"), 2);
}

TEST(SqlStore, AGrantWhoseAcknowledgementIsLostIsNeverIssued) {
  Sqlite driver;
  Configured config(driver);
  config.make();
  driver.lost_acknowledgements = 1;
  const Failed lost = config.opening();
  EXPECT_EQ(lost.status, IDGEN_E_STORE_UNAVAILABLE);
  EXPECT_THAT(lost.message(), HasSubstr("the connection was lost"));
  EXPECT_EQ(lost.error.cause, 4711u);
  EXPECT_EQ(driver.returned.back(), IDGEN_SQL_FAILED);
  EXPECT_EQ(config.show().max_id, 10u) << "it was committed";
  EXPECT_EQ(config.first_id(), 11u);
}

TEST(SqlStore, AConnectionInsideATransactionIsRefusedAndLeftAsItIs) {
  Sqlite driver;
  Configured config(driver);
  config.make();
  driver.sent.clear();
  driver.inside = 1;
  const Failed refused = config.opening();
  EXPECT_EQ(refused.status, IDGEN_E_STORE_UNSAFE);
  EXPECT_THAT(refused.message(), HasSubstr("inside a transaction"));
  EXPECT_THAT(driver.sent, ElementsAre());
  EXPECT_EQ(driver.rollbacks, 0);
  EXPECT_EQ(driver.returned.back(), IDGEN_SQL_REFUSED);
  driver.inside = -1;
  EXPECT_EQ(config.opening().status, IDGEN_E_UNSUPPORTED) << "the driver does not tell";
  driver.inside = 0;
  EXPECT_EQ(config.first_id(), 1u);
}

TEST(SqlStore, AnUpdateThatChangesNothingGrantsNothing) {
  Sqlite driver;
  Configured config(driver);
  config.make();
  driver.changes_nothing = true;
  const Failed unchanged = config.opening();
  EXPECT_EQ(unchanged.status, IDGEN_E_STORE_PERMISSION);
  EXPECT_THAT(unchanged.message(), HasSubstr("row-level security"));
  driver.changes_nothing = false;
  EXPECT_EQ(config.show().max_id, 0u) << "rolled back";
  EXPECT_EQ(config.first_id(), 1u);
}

TEST(SqlStore, APoolThatLendsNothingEndsTheWait) {
  Sqlite driver;
  Configured config(driver);
  driver.lends = false;
  const Failed empty = failed([&](idgen_error_t* err) {  // wait_max is as it is by default
    idgen_t* made = nullptr;
    return idgen_create(config.get(), &made, err);
  });
  EXPECT_EQ(empty.status, IDGEN_E_STORE_UNAVAILABLE);
  EXPECT_THAT(empty.message(), HasSubstr("lent all"));
}

TEST(SqlStore, AWorkerIsLeasedOnceAndGivenBack) {
  Sqlite driver;
  Configured config(driver, {{"kind", "snowflake"}, {"worker", "7"}});
  ASSERT_EQ(idgen_store_create(config.get(), nullptr), IDGEN_OK);
  EXPECT_NE(config.first_id(), 0u);
  EXPECT_EQ(driver.number("SELECT COUNT(*) FROM idgen_worker WHERE worker = 7 AND owner = ''"), 1) << "given back";
  EXPECT_EQ(driver.number("SELECT fence FROM idgen_worker"), 1);
  EXPECT_NE(config.first_id(), 0u);
  EXPECT_EQ(driver.number("SELECT fence FROM idgen_worker"), 2);
  ASSERT_EQ(driver.number("UPDATE idgen_worker SET owner = 'nobody' RETURNING 1"), 1);
  const Failed damaged = config.opening();
  EXPECT_EQ(damaged.status, IDGEN_E_STORE_DAMAGED);
  EXPECT_THAT(damaged.message(), HasSubstr("32 hexadecimal digits"));
}

TEST(SqlStore, AWorkersRowIsReplacedOnlyIfItIsAsItWasSeen) {
  Sqlite driver;
  Configured config(driver, {{"kind", "snowflake"}, {"worker", "7"}});
  ASSERT_EQ(idgen_store_create(config.get(), nullptr), IDGEN_OK);
  EXPECT_NE(config.first_id(), 0u);
  for (const char* const change : {"fence = fence + 5", "hw = hw + 1", "owner = '000102030405060708090a0b0c0d0e0f'"}) {
    const std::int64_t fence = driver.number("SELECT fence FROM idgen_worker");
    driver.meanwhile = std::string("UPDATE idgen_worker SET ") + change;
    EXPECT_NE(config.first_id(), 0u) << change;
    EXPECT_EQ(driver.meanwhile, "");
    EXPECT_EQ(driver.number("SELECT fence FROM idgen_worker"),
              fence + (std::string(change).starts_with("fence") ? 6 : 1))
        << change << ": it was read again";
  }
}

TEST(SqlStore, InMysqlAGrantIsOneStatementThatNoTidbTakes) {
  Scripted driver(IDGEN_SQL_MYSQL);
  std::uint64_t end = 10;
  driver.script = {{"LAST_INSERT_ID", [&](const auto& statement, auto* outcome, auto*) {
                      EXPECT_EQ(statement.is_alone, 1u);
                      EXPECT_EQ(statement.each, nullptr);
                      EXPECT_TRUE(std::any_of(statement.values, statement.values + statement.count,
                                              [](const auto& value) { return value.kind == IDGEN_SQL_BYTES; }));
                      outcome->changed = end == 0 ? 0 : 1;
                      outcome->last_insert_id = end;
                      return IDGEN_OK;
                    }}};
  Configured config(driver);
  EXPECT_EQ(config.first_id(), 1u);
  EXPECT_THAT(driver.sent.front(), HasSubstr("LOCATE('TiDB', @@GLOBAL.version) = 0"));
  for (const std::uint64_t nonsense : {std::uint64_t{9}, UINT64_MAX}) {
    end = nonsense;
    const Failed damaged = config.opening();
    EXPECT_EQ(damaged.status, IDGEN_E_STORE_DAMAGED);
    EXPECT_THAT(damaged.message(), HasSubstr("it was not used"));
  }
  end = 0;
  driver.script.push_back({"AS is_tidb", [](const auto& statement, auto*, auto*) {
                             give(statement, {"1"});
                             return IDGEN_OK;
                           }});
  const Failed tidb = config.opening();
  EXPECT_EQ(tidb.status, IDGEN_E_UNSUPPORTED);
  EXPECT_THAT(tidb.message(), HasSubstr("which knows TiDB"));
}

TEST(SqlStore, MysqlItselfIsAskedWhereTheDriverDoesNotTell) {
  Scripted driver(IDGEN_SQL_MYSQL);
  driver.inside = -1;
  driver.script = {{"SET TRANSACTION", [](const auto& statement, auto*, auto* err) {
                      EXPECT_EQ(statement.is_alone, 0u);
                      return refuse(err, "not while a transaction is in progress", 1568);
                    }}};
  Configured config(driver);
  EXPECT_EQ(config.opening().status, IDGEN_E_STORE_UNSAFE);
  EXPECT_EQ(driver.sent.size(), 1u);
  EXPECT_EQ(driver.rollbacks, 0);
  EXPECT_EQ(driver.returned.back(), IDGEN_SQL_REFUSED);
}

TEST(SqlStore, InPostgresEveryChangeIsDurableAndItsParametersHaveTypes) {
  Scripted driver(IDGEN_SQL_POSTGRES);
  std::vector<std::string> row{"10", "0", "1", "0"};
  driver.script = {{"RETURNING", [&](const auto& statement, auto*, auto*) {
                      EXPECT_EQ(statement.is_alone, 1u);
                      give(statement, row);
                      return IDGEN_OK;
                    }}};
  Configured config(driver);
  EXPECT_EQ(config.first_id(), 1u);
  for (const std::string& sql : driver.sent) {
    if (sql.starts_with("UPDATE")) {
      EXPECT_THAT(sql, HasSubstr("set_config('synchronous_commit', 'on', true)"));
      for (std::size_t at = sql.find('?'); at != sql.npos; at = sql.find('?', at + 1))
        EXPECT_THAT(sql.substr(at - 5, 9), "CAST(? AS") << sql;
    }
  }
  for (const std::vector<std::string>& nonsense : std::vector<std::vector<std::string>>{
           {"9.5", "0", "1", "0"}, {"9", "0", "1", "0"}, {"10"}, {"x", "0", "1", "0"}}) {
    row = nonsense;
    EXPECT_EQ(config.opening().status, IDGEN_E_STORE_DAMAGED) << row.front();
  }
}

TEST(SqlStore, WhatTheDriverRaisesMeansWhatItMeansToTheNativeStores) {
  struct Case {
    int32_t dialect;
    std::uint32_t code;
    const char* state;
    const char* message;
    idgen_status_t status;
  };
  for (const Case& is :
       std::vector<Case>{{IDGEN_SQL_MYSQL, 1146, "", "no table", IDGEN_E_STORE_MISSING},
                         {IDGEN_SQL_MYSQL, 1045, "", "denied", IDGEN_E_STORE_PERMISSION},
                         {IDGEN_SQL_MYSQL, 1054, "", "column", IDGEN_E_STORE_VERSION},
                         {IDGEN_SQL_MYSQL, 1021, "", "full", IDGEN_E_STORE_FULL},
                         {IDGEN_SQL_MYSQL, 1213, "", "deadlock", IDGEN_E_STORE_UNAVAILABLE},
                         {IDGEN_SQL_POSTGRES, 0, "42P01", "no table", IDGEN_E_STORE_MISSING},
                         {IDGEN_SQL_POSTGRES, 0, "42501", "denied", IDGEN_E_STORE_PERMISSION},
                         {IDGEN_SQL_POSTGRES, 0, "42703", "column", IDGEN_E_STORE_VERSION},
                         {IDGEN_SQL_POSTGRES, 0, "23514", "check", IDGEN_E_STORE_DAMAGED},
                         {IDGEN_SQL_POSTGRES, 0, "40001", "serialize", IDGEN_E_STORE_UNAVAILABLE},
                         {IDGEN_SQL_SQLITE, 0, "", "no such table: idgen_segment", IDGEN_E_STORE_MISSING}}) {
    Scripted driver(is.dialect);
    driver.script = {
        {"idgen_segment", [&](const auto&, auto*, auto* err) { return refuse(err, is.message, is.code, is.state); }}};
    Configured config(driver);
    const Failed found = config.opening();
    EXPECT_EQ(found.status, is.status) << is.message << ": " << found.message();
    EXPECT_EQ(found.error.cause, 4711u);
    EXPECT_EQ(driver.returned.back(), IDGEN_SQL_FAILED);
    EXPECT_EQ(driver.rollbacks, 1);
  }
}

TEST(SqlStore, AStatusOfTheHostsOwnStandsAsItIs) {
  Scripted driver(IDGEN_SQL_MYSQL);
  driver.script = {{"idgen_segment", [&](const auto&, auto*, auto* err) -> idgen_status_t {
                      refuse(err, "as the program says");
                      return IDGEN_E_STORE_FULL;
                    }}};
  Configured config(driver);
  const Failed found = config.opening();
  EXPECT_EQ(found.status, IDGEN_E_STORE_FULL);
  EXPECT_EQ(found.message(), "as the program says");
}

TEST(SqlStore, ARowThatIsThereIsNoFailureOfMysql) {
  Scripted driver(IDGEN_SQL_MYSQL);
  driver.script = {{"INSERT", [&](const auto&, auto*, auto* err) { return refuse(err, "duplicate", 1062); }},
                   {"SELECT ns", [&](const auto& statement, auto*, auto*) {
                      give(statement, {"default", "orders", "70", "7", "0", "0", "0", "", "1", "0"});
                      return IDGEN_OK;
                    }}};
  Configured config(driver);
  const Failed exists = failed([&](idgen_error_t* err) { return idgen_segment_create(config.get(), err); });
  EXPECT_EQ(exists.status, IDGEN_E_TAG_EXISTS);
  EXPECT_THAT(exists.message(), HasSubstr("stands at 70"));
}

TEST(SqlStore, MembersThatAreMissingAndOtherSchemasAreRefused) {
  Sqlite driver;
  Configured config(driver);
  idgen_sql_connections_t table = callbacks();
  table.commit = nullptr;
  EXPECT_EQ(idgen_config_set_sql_store(config.get(), &table, &driver, nullptr), IDGEN_E_ARGUMENT);
  config.set("segment.schema", "leaf");
  EXPECT_EQ(config.opening().status, IDGEN_E_UNSUPPORTED);
  config.set("segment.schema", "idgen");
  driver.dialect = 9;
  EXPECT_EQ(config.opening().status, IDGEN_E_ARGUMENT);
}

}  // namespace
}  // namespace idgen
