// From a URL to a store.
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

#include "idgen/config.hpp"
#include "idgen/handle.hpp"
#include "idgen/url.hpp"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(StoreUrl, AnUnknownSchemeIsRefusedWithTheKnownOnesAndTheNearest) {
  EXPECT_FAILS(open_store("sqlit:ids.db", {}), Status::value, "did you mean 'sqlite:ids.db'?");
  EXPECT_FAILS(open_store("Memory", {}), Status::value, "did you mean 'memory'?");
  EXPECT_FAILS(open_store("mongodb://db/ids", {}), Status::value, "allowed: sqlite:PATH, memory or memory:NAME");
  EXPECT_FAILS(open_store("", {}), Status::value, "allowed: sqlite:PATH");
  EXPECT_FAILS(store_identity("oracle:x", {}), Status::value, "allowed: sqlite:PATH");
}

TEST(StoreUrl, ABarePathIsRefusedWithTheUrlThatWasMeant) {
  EXPECT_FAILS(open_store("ids.db", {}), Status::value, "did you mean 'sqlite:ids.db'?");
  EXPECT_FAILS(open_store("/var/lib/ids", {}), Status::value, "did you mean 'sqlite:/var/lib/ids'?");
}

TEST(StoreUrl, AUrlWithASlipIsNeverShownWithItsPassword) {
  const std::string slips[] = {"mysql//app:s3cret@db/ids",
                               "mysql:/app:s3cret@db/ids",
                               "mysql:app:s3cret@db",
                               "mysql:/s3cret",
                               "mysql/s3cret",
                               "mysql;//app:s3cret@db",
                               "mysql s3cret",
                               "mysq:s3cret",
                               "postgresq://app:s3cret@db/ids",
                               "postgresql+psycopg2:app:s3cret",
                               "sqlserver+pyodbc://app:s3cret@db/ids",
                               "postgresql:app:s3cret",
                               "postgresql//app:s3cret@db",
                               "jdbc:oracle:thin:app/s3cret@db",
                               "jdbc:app:s3cret",
                               "jdbc:mysql://db/ids?user=app&password=s3cret&useSSL=maybe",
                               "jdbc:postgresql://db:x/ids?user=app&password=s3cret",
                               "//app:s3cret@db/ids",
                               "app:s3cret@db/ids",
                               "app:s3cret",
                               "s3cret:app",
                               "s3cret@db",
                               ":s3cret@db",
                               "s3cret@",
                               "mongodb://app:s3cret@db",
                               "oracle:s3cret",
                               "sqlite://app:s3cret@db/ids",
                               "sqlite:mysql://app:s3cret@db/ids",
                               "memory://app:s3cret@db",
                               "buffer://:s3cret@cache",
                               "mysql://app%3As3cret@/ids",
                               "mysql://app:x@s3cret%40db:y/ids",
                               "mysql://app:s3cret%zz@db/ids",
                               "mysql://app:s3cret/ids",
                               "etcd:// s3cret",
                               "host=db user=app password=s3cret dbname=ids",
                               "Server=db;Password=s3cret",
                               "user id=app;password=s3cret"};
  for (const std::string& url : slips) {
    for (const bool is_opened : {true, false}) {
      const Error error = error_of([&] { is_opened ? void(open_store(url, {})) : void(store_identity(url, {})); });
      EXPECT_EQ(error.status(), Status::value) << url;
      EXPECT_THAT(error.message(), AllOf(Not(HasSubstr("s3cret")), HasSubstr("allowed: ")));
    }
  }
  for (const std::string& url : slips) {
    for (const char* key : {"store", "buffer.redis", "buffer.database"}) {
      Config config;
      EXPECT_FAILS(config.set(key, url + std::string(1, '\0')), Status::value, std::string(key) + " holds a NUL");
      EXPECT_FAILS(config.set(key, url + std::string(5000, 'x')), Status::value, std::string(key) + " is too long");
    }
    StoreOptions buffer;
    buffer.buffer.redis = url;
    buffer.buffer.database = "sqlite:ids.db";
    const Error error = error_of([&] { open_store("buffer", buffer); });
    EXPECT_NE(error.status(), Status::ok) << url;
    EXPECT_THAT(error.message(), Not(HasSubstr("s3cret")));
  }
}

TEST(StoreUrl, WhatFollowsTheNameOfADatabaseIsNotShown) {
  for (const char* const scheme : {"mysql", "postgres", "redis", "jdbc:mysql"})
    EXPECT_EQ(StoreUrl::parse(std::string(scheme) + "://db/ids;user=app;password=s3cret").shown().find("s3cret"),
              std::string::npos);
}

TEST(StoreUrl, AUrlIsShownByNoPropertyThatItWasGivenToByMistake) {
  const TempFolder folder;
  for (const Property& property : properties()) {
    for (const std::string url :
         {"mysql://app:s3cret@db/ids", "host=db password=s3cret", "Server=db;Password=s3cret"}) {
      for (const char* const kind : {"snowflake", "segment", "business", "serial"}) {
        Config config;
        for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
                 {"kind", kind}, {"store", "memory"}, {"tag", "t"}, {"worker", "1"}, {"directory", folder.path()}})
          config.set(name, value);
        if (kind == std::string("serial")) config.set("pattern", "{000}");
        try {
          config.set(property.name, url);
          EXPECT_EQ(property.type, PropertyType::text) << property.name << " was accepted";
          (void)Handle(config).next();
        } catch (const Error& error) {
          EXPECT_EQ(error.message().find("s3cret"), std::string::npos) << property.name << ": " << error.message();
        }
      }
    }
  }
}

TEST(StoreUrl, APathThatCannotBeMeantIsRefused) {
  EXPECT_FAILS(open_store("sqlite:", {}), Status::value, "the path is missing");
  EXPECT_FAILS(open_store("sqlite", {}), Status::value, "the path is missing");
  EXPECT_FAILS(open_store("sqlite://host/ids.db", {}), Status::value, "a file has no host");
  for (const char* const url : {"sqlite::memory:", "sqlite:///:memory:", "jdbc:sqlite::memory:", "sqlite:////:memory:",
                                "sqlite:/tmp/:memory:", "sqlite:file::memory:?cache=shared"})
    EXPECT_FAILS(open_store(url, {}), Status::value, "store = \"memory\"");
  EXPECT_FAILS(open_store("sqlite:file:ids.db", {}), Status::value, "without file:");
  EXPECT_FAILS(open_store("sqlite:~/ids.db", {}), Status::value, "~ is not expanded");
  EXPECT_FAILS(open_store("sqlite:ids.db?mode=rwc", {}), Status::value, "store_timeout");
  EXPECT_FAILS(open_store("sqlite:folder/", {}), Status::value, "that is a folder");
  EXPECT_FAILS(open_store(std::string("sqlite:a\0b", 10), {}), Status::value, "NUL");
}

TEST(StoreUrl, ATimeoutOfNothingIsRefusedForEveryStore) {
  for (const std::int64_t timeout_ms : {-1, 0}) {
    StoreOptions options;
    options.timeout_ms = timeout_ms;
    for (const char* const url : {"memory", "sqlite:ids.db", "postgres://app@127.0.0.1:1/ids", "redis://127.0.0.1:1"})
      EXPECT_FAILS(open_store(url, options), Status::value, "store_timeout");
  }
}

TEST(StoreUrl, AllSpellingsOfAPathAreOneStore) {
  const TempFolder folder;
  StoreOptions inside;
  inside.directory = folder.path();
  const std::string wanted = "sqlite:" + folder.path() + "/ids.db";
  std::filesystem::create_directory(folder.file("sub"));
  std::filesystem::create_directory_symlink(folder.path(), folder.file("link"));
  for (const bool exists : {false, true}) {
    if (exists) std::ofstream(folder.file("ids.db")) << "x";
    EXPECT_EQ(store_identity("sqlite:ids.db", inside), wanted);
    EXPECT_EQ(store_identity("sqlite:./ids.db", inside), wanted);
    EXPECT_EQ(store_identity("sqlite:sub/../ids.db", inside), wanted);
    EXPECT_EQ(store_identity("sqlite:link/ids.db", inside), wanted);
    EXPECT_EQ(store_identity("sqlite:" + folder.path() + "/ids.db", {}), wanted);
    EXPECT_EQ(store_identity("sqlite://" + folder.path() + "/ids.db", {}), wanted);
  }
  std::filesystem::create_symlink(folder.file("ids.db"), folder.file("other-name.db"));
  EXPECT_EQ(store_identity("sqlite:other-name.db", inside), wanted);
  EXPECT_NE(store_identity("sqlite:ids2.db", inside), wanted);
}

TEST(StoreUrl, ARelativePathStartsFromTheDirectoryElseFromTheWorkingDirectory) {
  const std::string here = std::filesystem::canonical(std::filesystem::current_path()).string();
  EXPECT_EQ(store_identity("sqlite:ids.db", {}), "sqlite:" + here + "/ids.db");
  StoreOptions relative;
  relative.directory = ".";
  EXPECT_EQ(store_identity("sqlite:ids.db", relative), "sqlite:" + here + "/ids.db");
}

// What depends on the kind of a store asks for its name, so another spelling of the name must not change the answer.
TEST(StoreUrl, AConfigurationHasOneNameForAStoreHoweverItIsWritten) {
  const std::pair<const char*, const char*> names[] = {
      {"buffer", "buffer"},
      {"buffer:", "buffer"},
      {"jdbc:buffer", "buffer"},
      {"jdbc:buffer:", "buffer"},
      {"memory:", "memory"},
      {"jdbc:memory:here", "memory:here"},
      {"jdbc:sqlite:ids.db", "sqlite:ids.db"},
      {"sqlite:", "sqlite:"},
      {"jdbc:postgresql://db/ids", "postgres://db/ids"},
      {"postgresql+psycopg://app@db/ids", "postgres://app@db/ids"},
      {"mysql+pymysql://app@db/ids", "mysql://app@db/ids"},
      {"rediss://cache", "rediss://cache"},
      {"jdbc:oracle:thin", "jdbc:oracle:thin"},
      {"Buffer", "Buffer"},
  };
  for (const auto& [written, name] : names) {
    for (const char* key : {"store", "buffer.database", "worker_url"}) {
      Config config;
      config.set(key, written);
      EXPECT_EQ(config.get(key), name) << key << " = " << written;
    }
  }
}

TEST(StoreUrl, MemoryStoresAreKnownByTheirName) {
  EXPECT_EQ(store_identity("memory", {}), "memory");
  EXPECT_EQ(store_identity("memory:", {}), "memory");
  EXPECT_EQ(store_identity("memory:a", {}), "memory:a");
  EXPECT_EQ(draw_from(open_store("memory:url-a", creating()), "ns", "t", 5), 1u);
  EXPECT_EQ(draw_from(open_store("memory:url-b", creating()), "ns", "t", 5), 1u);
  EXPECT_EQ(draw_from(open_store("memory:url-a", creating()), "ns", "t", 5), 6u);
}

TEST(StoreUrl, ASchemaThatAStoreDoesNotKnowIsRefusedWithTheStoresThatDo) {
  const auto with = [](const char* schema) {
    StoreOptions options;
    options.schema = schema;
    return options;
  };
  EXPECT_FAILS(open_store("memory", with("leaf")), Status::unsupported, "mysql, mariadb, postgres");
  EXPECT_FAILS(open_store("sqlite:ids.db", with("cosid")), Status::unsupported, "mysql, mariadb, postgres, redis");
  EXPECT_FAILS(open_store("redis://h", with("tinyid")), Status::unsupported, "redis://HOST");
  EXPECT_FAILS(segment_statements("etcd://h", with("cosid"), "ns", "t"), Status::unsupported, "redis");
  StoreOptions of_host;
  const std::shared_ptr<Store> host = open_store("memory", {});
  EXPECT_NO_THROW(host->configure(of_host));
  of_host.grant_log = 1;
  EXPECT_FAILS(host->configure(of_host), Status::unsupported, "program's own");
  of_host.schema = "leaf";
  EXPECT_FAILS(host->configure(of_host), Status::unsupported, "program's own");
}

TEST(StoreUrl, WhatWouldMakeATagIsToldWithoutMakingIt) {
  EXPECT_EQ(segment_statements("memory", {}, "ns", "t"), "");
  const std::string text = segment_statements("sqlite:/no/such/folder/ids.db", {}, "it's", "t");
  EXPECT_NE(text.find("CREATE TABLE idgen_segment"), std::string::npos);
  EXPECT_NE(text.find("VALUES('it''s', 't', 0, 0, "), std::string::npos);
}

TEST(StoreUrl, AStoreWithoutOtherTablesCannotReadOne) {
  EXPECT_FAILS(open_store("memory", {})->segment_column("orders", "id", {}), Status::unsupported,
               "idgen segment advance");
}

}  // namespace
}  // namespace idgen
