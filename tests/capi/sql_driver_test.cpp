// mysql:// and postgres:// over a driver of the host: a driver that answers as a server would, and says what was asked
// of it. With real servers and drivers: tests/servers/test_url_drivers_*.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <idgen/idgen.h>
#include <idgen/sql.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "temp_folder.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

idgen_status_t fail(idgen_sql_error_t* err, idgen_status_t status, const char* message, const char* sqlstate = "") {
  std::snprintf(err->message, sizeof err->message, "%s", message);
  std::snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
  return status;
}

void give_numbers_and_texts(const idgen_sql_statement_t& statement, const std::vector<std::string>& texts) {
  std::vector<idgen_sql_value_t> row(texts.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool is_number = texts[i].find_first_not_of("0123456789") == std::string::npos;
    row[i] = {is_number ? IDGEN_SQL_INTEGER : IDGEN_SQL_TEXT, 0, is_number ? std::stoll("0" + texts[i]) : 0,
              texts[i].data(), texts[i].size()};
  }
  statement.each(statement.rows, row.data(), row.size());
}

// One tag in memory, behind PostgreSQL's statements.
class Server {
 public:
  Server() {
    idgen_sql_driver_t driver{};
    driver.struct_size = sizeof driver;
    driver.connect = [](void* ctx, const idgen_sql_address_t* address, void** connection, idgen_sql_error_t* err) {
      return static_cast<Server*>(ctx)->connect(*address, connection, err);
    };
    driver.close = [](void* ctx, void* connection) {
      auto& self = *static_cast<Server*>(ctx);
      const std::lock_guard lock(self.mutex_);
      ASSERT_EQ(self.open.erase(connection), 1u);
    };
    driver.execute = [](void* ctx, void* connection, const idgen_sql_statement_t* statement,
                        idgen_sql_outcome_t* outcome, idgen_sql_error_t* err) {
      return static_cast<Server*>(ctx)->execute(connection, *statement, outcome, err);
    };
    driver.begin = [](void*, void*, idgen_sql_error_t*) -> idgen_status_t { return IDGEN_OK; };
    driver.commit = driver.begin;
    driver.rollback = [](void*, void*) {};
    driver.release = [](void* ctx) { static_cast<Server*>(ctx)->is_released = true; };
    EXPECT_EQ(idgen_set_sql_driver(&driver, this, nullptr), IDGEN_OK);
  }
  ~Server() {
    EXPECT_EQ(idgen_set_sql_driver(nullptr, nullptr, nullptr), IDGEN_OK);
    EXPECT_TRUE(is_released);
    EXPECT_TRUE(open.empty()) << "connections that nobody closed";
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Of the last connection.
  std::map<std::string, std::string> address() {
    const std::lock_guard lock(mutex_);
    return address_;
  }
  void lose_connections() {
    const std::lock_guard lock(mutex_);
    dead_ = open;
  }

  // What the next connections are refused with, the server's settings, and what was seen.
  idgen_status_t refusal = IDGEN_OK;
  const char* refusal_state = "";
  std::vector<std::string> settings{"on", "on", "0", "p"};
  std::set<void*> open;
  std::atomic<int> connected = 0;
  bool is_released = false;

 private:
  idgen_status_t connect(const idgen_sql_address_t& given, void** connection, idgen_sql_error_t* err) {
    const std::lock_guard lock(mutex_);
    if (refusal != IDGEN_OK) return fail(err, refusal, "no driver for PostgreSQL is here", refusal_state);
    address_ = {{"dialect", std::to_string(given.dialect)},
                {"host", given.host},
                {"socket", given.socket},
                {"port", std::to_string(given.port)},
                {"user", given.user},
                {"password", given.password},
                {"database", given.database},
                {"tls", given.tls},
                {"tls_ca", given.tls_ca},
                {"timeout_ms", std::to_string(given.timeout_ms)}};
    *connection = reinterpret_cast<void*>(static_cast<std::uintptr_t>(++connected));
    open.insert(*connection);
    return IDGEN_OK;
  }
  idgen_status_t execute(void* connection, const idgen_sql_statement_t& statement, idgen_sql_outcome_t* outcome,
                         idgen_sql_error_t* err) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(open.count(connection), 1u) << statement.sql;
    if (dead_.count(connection) != 0) return fail(err, IDGEN_E_HOST, "server closed the connection unexpectedly");
    const std::string sql = statement.sql;
    if (sql == "SELECT 1 AS one") {
      give_numbers_and_texts(statement, {"1"});
    } else if (sql.find("current_setting('fsync')") != std::string::npos) {
      give_numbers_and_texts(statement, settings);
    } else if (statement.each == nullptr) {
      outcome->changed = 0;  // of what a generator gives back, nothing is taken
    } else if (sql.starts_with("UPDATE idgen_segment")) {
      // SET max_id = GREATEST(max_id, above) + GREATEST(step, wanted)
      const std::size_t from = sql.find("GREATEST(max_id, ") != std::string::npos ? 1 : 0;
      const auto value = [&](std::size_t i) { return static_cast<std::uint64_t>(statement.values[i].number); };
      counter_ = std::max(counter_, from == 1 ? value(0) : 0) + std::max(value(from), value(from + 1));
      give_numbers_and_texts(statement, {std::to_string(counter_), "0"});
    } else if (sql.find("max_id") != std::string::npos) {
      give_numbers_and_texts(statement,
                             {"default", "orders", std::to_string(counter_), "1", "0", "10", "0", "", "", ""});
    } else {
      return fail(err, IDGEN_E_HOST, "relation does not exist", "42P01");
    }
    return IDGEN_OK;
  }

  std::mutex mutex_;  // the generator refills in a thread of its own
  std::set<void*> dead_;
  std::map<std::string, std::string> address_;
  std::uint64_t counter_ = 0;
};

// A generator of a URL whose module is in none of the folders.
class Opened {
 public:
  explicit Opened(const std::string& url, const std::string& wait_max = "0s") {
    EXPECT_EQ(idgen_config_create(&config_, nullptr), IDGEN_OK);
    const std::pair<const char*, std::string> properties[] = {
        {"kind", "segment"},     {"tag", "orders"}, {"segment.step", "10"},         {"wait_max", wait_max},
        {"store_timeout", "7s"}, {"store", url},    {"module.path", folder_.path()}};
    for (const auto& [key, value] : properties)
      EXPECT_EQ(idgen_config_set(config_, key, value.c_str(), nullptr), IDGEN_OK);
    status = idgen_create(config_, &generator_, &error_);
  }
  ~Opened() {
    idgen_destroy(generator_);
    idgen_config_destroy(config_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  std::string message() const { return error_.message; }
  std::uint64_t next() {
    std::uint64_t id = 0;
    status = idgen_next(generator_, &id, &error_);
    return id;
  }
  std::string described() const {
    std::string text(4096, '\0');
    std::size_t size = text.size();
    EXPECT_EQ(idgen_describe(generator_, text.data(), &size, nullptr), IDGEN_OK);
    return text;
  }

  idgen_status_t status = IDGEN_OK;

 private:
  const TempFolder folder_;
  idgen_config_t* config_ = nullptr;
  idgen_t* generator_ = nullptr;
  idgen_error_t error_ = IDGEN_ERROR_INIT;
};

TEST(SqlDriver, WithoutOneTheModuleIsMissed) {
  const Opened opened("postgres://ids@db/app");
  EXPECT_EQ(opened.status, IDGEN_E_UNSUPPORTED);
  EXPECT_THAT(opened.message(), AllOf(HasSubstr("libidgen_postgres.so is not in"), Not(HasSubstr("driver"))));
}

TEST(SqlDriver, ItGetsTheAddressAndTheStoreDrawsOverIt) {
  Server server;
  Opened opened("postgres://ids:s3cr3t%40@[::1]/app?tls=require");
  ASSERT_EQ(opened.status, IDGEN_OK) << opened.message();
  EXPECT_EQ(opened.next(), 1u);
  const std::map<std::string, std::string> expected = {
      {"dialect", "2"},        {"host", "::1"},     {"socket", ""},     {"port", "5432"}, {"user", "ids"},
      {"password", "s3cr3t@"}, {"database", "app"}, {"tls", "require"}, {"tls_ca", ""},   {"timeout_ms", "7000"}};
  EXPECT_EQ(server.address(), expected);
  EXPECT_THAT(opened.described(),
              AllOf(HasSubstr("postgres://ids@[::1]/app over a driver of the program"), Not(HasSubstr("s3cr3t"))));
}

TEST(SqlDriver, ASocketTakesTheHostsPlaceAndMysqlHasItsOwnPort) {
  Server server;
  server.refusal = IDGEN_E_HOST;  // this server speaks no MySQL
  const Opened opened("mariadb://ids@db/app?socket=/run/db.sock");
  EXPECT_EQ(opened.status, IDGEN_E_STORE_UNAVAILABLE);
  server.refusal = IDGEN_OK;
  const Opened again("mariadb://ids@db/app?socket=/run/db.sock");
  EXPECT_EQ(server.address().at("socket"), "/run/db.sock");
  EXPECT_EQ(server.address().at("port"), "3306");
  EXPECT_EQ(server.address().at("dialect"), "1");
}

TEST(SqlDriver, ThatThereIsNoDriverIsSaidBesideTheModule) {
  Server server;
  server.refusal = IDGEN_E_UNSUPPORTED;
  const Opened opened("postgres://ids@db/app");
  EXPECT_EQ(opened.status, IDGEN_E_UNSUPPORTED);
  EXPECT_THAT(opened.message(),
              AllOf(HasSubstr("libidgen_postgres.so is not in"),
                    HasSubstr(". Without it, a driver of the program is used: no driver for PostgreSQL is here")));
}

TEST(SqlDriver, WhatOnlyTheModuleKnowsIsRefusedByName) {
  Server server;
  for (const char* name : {"auth=safe", "channel_binding=require", "statements=single", "tls_fingerprint=00"}) {
    const Opened opened("postgres://ids@db/app?" + std::string(name));
    EXPECT_EQ(opened.status, IDGEN_E_UNSUPPORTED) << name;
    EXPECT_THAT(opened.message(), HasSubstr("no parameter " + std::string(name, std::string(name).find('='))));
  }
  const Opened several("postgres://ids@db1,db2/app");
  EXPECT_EQ(several.status, IDGEN_E_UNSUPPORTED);
  EXPECT_THAT(several.message(), HasSubstr("no list of hosts"));
  const Opened typo("postgres://ids@db/app?tsl=off");
  EXPECT_EQ(typo.status, IDGEN_E_VALUE);
  EXPECT_THAT(typo.message(), HasSubstr("did you mean 'tls'?"));
  EXPECT_EQ(server.connected, 0);
}

TEST(SqlDriver, AServerThatCanForgetACommitIsRefusedUnlessTheUrlAcceptsIt) {
  Server server;
  server.settings[0] = "off";
  const Opened refused("postgres://ids@db/app");
  EXPECT_EQ(refused.status, IDGEN_E_STORE_UNSAFE);
  EXPECT_THAT(refused.message(),
              HasSubstr("fsync = off: a power loss can undo a commit, and ids would be issued twice"));
  EXPECT_TRUE(server.open.empty());
  EXPECT_EQ(Opened("postgres://ids@db/app?accept_loss=fsync").status, IDGEN_OK);
  server.settings = {"on", "on", "1", "p"};
  EXPECT_EQ(Opened("postgres://ids@db/app").status, IDGEN_E_STORE_PERMISSION);
  server.settings = {"on", "on", "0", "u"};
  EXPECT_EQ(Opened("postgres://ids@db/app").status, IDGEN_E_STORE_UNSAFE);
}

TEST(SqlDriver, AnIdleConnectionThatHasDiedIsReplacedBeforeAnythingIsSent) {
  Server server;
  Opened opened("postgres://ids@db/app", "60s");
  std::uint64_t before = 0;
  while (server.connected < 4) {
    server.lose_connections();
    const std::uint64_t id = opened.next();
    ASSERT_EQ(opened.status, IDGEN_OK) << opened.message();
    ASSERT_GT(id, before);
    before = id;
  }
}

TEST(SqlDriver, ThePasswordIsReadAnewForEachConnection) {
  const TempFolder folder;
  const std::string path = folder.file("password");
  std::ofstream(path) << "first\n";
  Server server;
  Opened opened("postgres://ids@db/app?password_file=" + path, "60s");
  EXPECT_EQ(server.address().at("password"), "first");
  std::ofstream(path) << "second\n";
  while (server.connected < 2) {
    server.lose_connections();
    opened.next();
    ASSERT_EQ(opened.status, IDGEN_OK) << opened.message();
  }
  EXPECT_EQ(server.address().at("password"), "second");
}

TEST(SqlDriver, MembersThatAreMissingAndFlagsThatAreUnknownAreRefused) {
  idgen_sql_driver_t driver{};
  idgen_error_t error = IDGEN_ERROR_INIT;
  EXPECT_EQ(idgen_set_sql_driver(&driver, nullptr, &error), IDGEN_E_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("struct_size"));
  driver.struct_size = sizeof driver;
  EXPECT_EQ(idgen_set_sql_driver(&driver, nullptr, &error), IDGEN_E_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("driver.connect"));
  driver.flags = 2;
  EXPECT_EQ(idgen_set_sql_driver(&driver, nullptr, &error), IDGEN_E_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("driver.flags is 2"));
}

}  // namespace
}  // namespace idgen
