// From a URL to a store.
#include <fstream>

#include "store/store_test_support.hpp"

namespace idgen {
namespace {

TEST(StoreUrl, AnUnknownSchemeIsRefusedWithTheKnownOnesAndTheNearest) {
  EXPECT_FAILS(open_store("sqlit:ids.db", {}), Status::value, "did you mean \"sqlite:ids.db\"?");
  EXPECT_FAILS(open_store("Memory", {}), Status::value, "did you mean \"memory\"?");
  EXPECT_FAILS(open_store("mongodb://db/ids", {}), Status::value, "allowed: sqlite:PATH, memory or memory:NAME");
  EXPECT_FAILS(open_store("", {}), Status::value, "allowed: sqlite:PATH");
  EXPECT_FAILS(store_identity("oracle:x", {}), Status::value, "allowed: sqlite:PATH");
}

TEST(StoreUrl, ABarePathIsRefusedWithTheUrlThatWasMeant) {
  EXPECT_FAILS(open_store("ids.db", {}), Status::value, "did you mean \"sqlite:ids.db\"?");
  EXPECT_FAILS(open_store("/var/lib/ids", {}), Status::value, "did you mean \"sqlite:/var/lib/ids\"?");
}

TEST(StoreUrl, APathThatCannotBeMeantIsRefused) {
  EXPECT_FAILS(open_store("sqlite:", {}), Status::value, "the path is missing");
  EXPECT_FAILS(open_store("sqlite", {}), Status::value, "the path is missing");
  EXPECT_FAILS(open_store("sqlite://host/ids.db", {}), Status::value, "a file has no host");
  EXPECT_FAILS(open_store("sqlite::memory:", {}), Status::value, "store = \"memory\"");
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
  EXPECT_FAILS(refuse_schema_of_host("leaf"), Status::unsupported, "program's own");
  EXPECT_NO_THROW(refuse_schema_of_host("idgen"));
}

TEST(StoreUrl, WhatWouldMakeATagIsToldWithoutMakingIt) {
  EXPECT_EQ(segment_statements("memory", {}, "ns", "t"), "");
  const std::string text = segment_statements("sqlite:/no/such/folder/ids.db", {}, "it's", "t");
  EXPECT_NE(text.find("CREATE TABLE idgen_segment"), std::string::npos);
  EXPECT_NE(text.find("VALUES('it''s', 't', 0, 0, "), std::string::npos);
}

TEST(StoreUrl, AStoreWithoutOtherTablesCannotReadOne) {
  EXPECT_FAILS(open_store("memory", {})->segment_max_of("orders", "id"), Status::unsupported, "idgen segment advance");
}

}  // namespace
}  // namespace idgen
