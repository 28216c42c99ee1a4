#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "patience.hpp"
#include "route/tables.hpp"
#include "store/store_test_support.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RouteFile : public ::testing::Test {
 protected:
  RouteTable read(const std::string& text) {
    std::ofstream(path) << text;
    return read_route_table(path);
  }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  const TempFolder folder;
  const std::string path = folder.file("routes.toml");
};

constexpr const char* kExample = R"(version = 7
bits = 16
shards = ["db0", "db1"]

[[move]]
nodes = "0-1023"
to = "db1"
share = "35%"

[[range]]
upto = 16383
shard = "db0"

[[range]]
upto = 65535
shard = "db1"
)";

TEST_F(RouteFile, IsReadAsItIsWritten) {
  const RouteTable table = read(kExample);
  EXPECT_EQ(table.data(), (RouteData{7, 16, {"db0", "db1"}, {{16383, 0}, {65535, 1}}, {{0, 1023, 1, 3500}}}));
  EXPECT_THAT(table.text(), ::testing::EndsWith(kExample));
  std::mt19937_64 random(4);
  for (int i = 0; i < 100; ++i) {
    const RouteTable any(random_table(random));
    ASSERT_EQ(read(any.text()), any);
  }
}

// A writer that is stopped in the middle, a copy under way: a table that lacks its end must never be taken for one.
TEST_F(RouteFile, NoBeginningOfATableIsATable) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 3; ++i) {
    const RouteTable table(random_table(random, 4));
    const std::string text = i == 0 ? kExample : table.text();
    for (std::size_t size = 0; size + 1 < text.size(); ++size) {
      const Error error = error_of([&] { read(text.substr(0, size)); });
      ASSERT_EQ(error.status(), Status::config_file) << text.substr(0, size);
      ASSERT_THAT(error.message(), HasSubstr(path));
    }
    EXPECT_NO_THROW(read(text.substr(0, text.size() - 1))) << "only the last line end is missing";
  }
}

TEST_F(RouteFile, MistakesAreNamedWithTheirLine) {
  const auto changed = [&](const std::string& what, const std::string& into) {
    std::string text = kExample;
    text.replace(text.find(what), what.size(), into);
    return error_of([&] { read(text); });
  };
  const auto expect = [&](const std::string& what, const std::string& into, const std::string& message) {
    const Error error = changed(what, into);
    EXPECT_EQ(error.status(), Status::config_file);
    EXPECT_THAT(error.message(), AllOf(HasSubstr(path), HasSubstr(message)));
  };
  expect("version = 7\n", "", "has no 'version'");
  expect("version = 7", "version = \"7\"", "line 1: 'version' is not a whole number");
  expect("version = 7", "version = -7", "not a whole number");
  expect("bits = 16", "bits = 99", "bits 99 is out of range");
  expect("bits = 16", "bits = 99999999999", "bits 4294967295 is out of range");
  expect("shards = [\"db0\", \"db1\"]\n", "", "has no 'shards'");
  expect("[\"db0\", \"db1\"]", "\"db0\"", "is not a list of names");
  expect("[\"db0\", \"db1\"]", "[1, 2]", "not a text in quotes");
  expect("share = \"35%\"", "share = \"135%\"", "line 5: [[move]] has a share of '135%'");
  expect("share = \"35%\"", "share = 35", "line 8: 'share' is not a text");
  expect("share = \"35%\"", "", "has no 'share'");
  expect("nodes = \"0-1023\"", "nodes = \"0..1023\"", "nodes '0..1023'; write \"0-1023\"");
  expect("to = \"db1\"", "to = \"db11\"", "names the unknown shard 'db11'; 'shards' has db0, db1");
  expect("upto = 65535", "upto = 65534", "nodes 65535 have no shard");
  expect("upto = 16383", "upto = 65535", "each node has one owner");
  expect("upto = 16383", "until = 16383", "line 11: 'until' is not a key of [[range]]; known are upto, shard");
  expect("[[range]]", "[range]", "");
  EXPECT_EQ(
      error_of([&] {
        read(
            "version = 1\nbits = 1\nshards = [\"a\", \"b\"]\n[[range]]\nupto = 1\nshard = \"a\"\n[[move]]\nnodes = "
            "\"0\"\nto = \"b\"\nshare = \"1%\"\n");
      }).status(),
      Status::config_file);
}

// Bytes changed, taken out, doubled: a table, or an error that names the file. Nothing else.
TEST_F(RouteFile, WhateverIsInTheFileItIsATableOrAClearError) {
  std::mt19937_64 random(6);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string pieces[] = {"[[range]]", "[[move]]", "\"",  "=",    "\n",   "-1",    "99999999999999999999",
                                "1e9",       "[",        "]",   "{",    "}",    "'''",   "\\u0000",
                                "%",         "#",        "0x7", "true", "upto", "shard", ".",
                                ",",         "\xff"};
  int tables = 0, refused = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::string text = i % 2 == 0 ? kExample : RouteTable(random_table(random, 5)).text();
    for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(20));
          break;
        case 2:
          text.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        case 4:
          text[at] = static_cast<char>('0' + below(10));
          break;
      }
    }
    std::ofstream(path) << text;
    try {
      const RouteTable table = read_route_table(path);
      ++tables;
      ASSERT_EQ(read(table.text()), table);
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.status(), Status::config_file) << text;
      ASSERT_THAT(error.message(), HasSubstr(path));
    }
  }
  EXPECT_GT(tables, 30);
  EXPECT_GT(refused, 500);
}

TEST_F(RouteFile, IsReplacedOnlyBySomebodyWhoHasSeenIt) {
  write_route_table(path, RouteTable(two_shards(1)), 0);
  EXPECT_EQ(read_route_table(path).version(), 1u);
  EXPECT_ERROR(STALE, HasSubstr("there should be no file yet"), write_route_table(path, RouteTable(two_shards(2)), 0));
  write_route_table(path, RouteTable(two_shards(4)), 1);
  EXPECT_ERROR(STALE, AllOf(HasSubstr("version 1 was to be replaced"), HasSubstr("the file has version 4")),
               write_route_table(path, RouteTable(two_shards(5)), 1));
  EXPECT_ERROR(VALUE, HasSubstr("version 4 cannot replace version 4"),
               write_route_table(path, RouteTable(two_shards(4)), 4));
  EXPECT_EQ(read_route_table(path), RouteTable(two_shards(4)));
  std::filesystem::remove(path);
  EXPECT_ERROR(STALE, HasSubstr("the file is gone"), write_route_table(path, RouteTable(two_shards(5)), 4));
  std::ofstream(path) << "half";
  EXPECT_ERROR(CONFIG_FILE, HasSubstr(path), write_route_table(path, RouteTable(two_shards(5)), 4));
  EXPECT_EQ(content(), "half") << "a file that nobody understands is left alone";
}

TEST_F(RouteFile, KeepsItsModeAndTheLinkThatLeadsToIt) {
  const std::string link = folder.file("link.toml");
  write_route_table(path, RouteTable(two_shards(1)), 0);
  chmod(path.c_str(), 0640);
  std::filesystem::create_symlink(path, link);
  write_route_table(link, RouteTable(two_shards(2)), 1);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_route_table(path).version(), 2u);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) left.push_back(entry.path().filename());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("routes.toml", "routes.toml-lock", "link.toml"));
}

TEST_F(RouteFile, OfTwoProcessesThatReplaceOneVersionExactlyOneWins) {
  write_route_table(path, RouteTable(two_shards(1)), 0);
  constexpr std::uint64_t kRounds = 60;
  const auto operate = [&](std::uint32_t which) {
    return [=, this](int report) {
      std::string won;
      for (std::uint64_t version = 1; version <= kRounds; ++version) {
        if (!becomes_true([&] { return read_route_table(path).version() >= version; })) {
          won += "waited in vain for version " + std::to_string(version);
          break;
        }
        RouteData data = two_shards(version + 1);
        data.moves = {{which, which, 1, 100}};
        const Error error = error_of([&] { write_route_table(path, RouteTable(data), version); });
        won += error.status() == Status::ok ? 'w' : error.status() == Status::stale ? 'l' : '?';
      }
      write_all(report, won + "\n");
    };
  };
  Child a(operate(0)), b(operate(1));
  const std::string by_a = a.line(), by_b = b.line();
  ASSERT_EQ(by_a.size(), kRounds);
  ASSERT_EQ(by_b.size(), kRounds);
  for (std::size_t i = 0; i < kRounds; ++i) {
    EXPECT_TRUE((by_a[i] == 'w') != (by_b[i] == 'w')) << "round " << i << ": " << by_a[i] << by_b[i];
    EXPECT_TRUE(by_a[i] == 'l' || by_b[i] == 'l');
  }
  EXPECT_EQ(read_route_table(path).version(), kRounds + 1);
  EXPECT_EQ(a.wait(), 0);
  EXPECT_EQ(b.wait(), 0);
}

TEST_F(RouteFile, AReaderNeverSeesHalfOfWhatAWriterWrites) {
  write_route_table(path, RouteTable(two_shards(1)), 0);
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (std::uint64_t version = 1; version < 150; ++version)
      write_route_table(path, RouteTable(two_shards(version + 1)), version);
    over = true;
  });
  std::uint64_t latest = 0;
  do {
    const std::uint64_t version = read_route_table(path).version();
    ASSERT_GE(version, latest);
    latest = version;
  } while (!over);
  writer.join();
}

}  // namespace
}  // namespace idgen
