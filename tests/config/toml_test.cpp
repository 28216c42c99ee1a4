#include <unistd.h>

#include <fstream>

#include "idgen/config.hpp"
#include "temp_folder.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::HasSubstr;

class TomlTest : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = folder + "/idgen.toml";
    std::ofstream(path) << text;
    return path;
  }
  std::string message_of(Status expected, const std::string& path, const std::string& name = "orders") {
    return vectors::error_of(expected, [&] { Config().load(path, name); });
  }
  TempFolder temporary;
  const std::string& folder = temporary.path();
};

TEST_F(TomlTest, ATableSetsItsPropertiesItsNameAndItsFolder) {
  Config config;
  config.load(write("[orders]\nkind = \"segment\"\nsegment.step = 500\nstore_create = true\nsegment.prefetch = "
                    "0.25\nwindow = \"5s\"\n"),
              "orders");
  EXPECT_EQ(config.get("kind"), "segment");
  EXPECT_EQ(config.integer("segment.step"), 500u);
  EXPECT_TRUE(config.boolean("store_create"));
  EXPECT_DOUBLE_EQ(config.number("segment.prefetch"), 0.25);
  EXPECT_EQ(config.get("name"), "orders");
  EXPECT_EQ(config.get("directory"), folder);
}

TEST_F(TomlTest, AHeaderThatDoesNotBeginWithAKeyIsAnError) {
  for (const char* text : {"[.a]\n", "[%]\n", "[[,]]\n", "[=]\n"}) {
    EXPECT_THAT(message_of(Status::config_file, write(text)), HasSubstr("line 1"));
  }
}

TEST_F(TomlTest, AFileThatIsNestedTooDeeplyIsRefusedBeforeItUsesUpTheStack) {
  const auto many = [](const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  for (const std::string& text : {
           "[orders]\na" + many(".a", 100'000) + " = 1\n",
           "[orders]\n\"a\"" + many(" . 'a'", 100'000) + " = 1\n",
           "[orders" + many(".a", 100'000) + "]\n",
           "[orders]\na = " + many("[", 100'000),
           "[orders]\na = " + many("{ a = ", 100'000),
           "[orders]\na = " + many("{ a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = ", 20),
       }) {
    EXPECT_THAT(message_of(Status::config_file, write(text)), HasSubstr("line "));
  }
  EXPECT_THAT(message_of(Status::config_file, write("[orders]\n\n\na" + many(".a", 33) + " = 1\n")),
              HasSubstr("line 4: more than 32 levels of tables, lists and parts of a name; allowed are 32"));
  EXPECT_THAT(message_of(Status::config_file, "/dev/zero"), HasSubstr("more than 64 MiB"));
  // Dots elsewhere are no levels.
  const std::string dots = many(".", 100);
  Config config;
  config.load(write("[orders]  # " + dots + "\nmodule.path = \"" + dots + "\\\"" + dots + "\"\n[others]\na = '" + dots +
                    "'\nb = \"\"\"\n" + dots + "\n\"\"\"\nc = '''" + dots + "'''\nd = [" + many("1.5, ", 100) + "]\n"),
              "orders");
  EXPECT_EQ(config.get("module.path"), dots + "\"" + dots);
}

TEST_F(TomlTest, NestedTablesAndDottedKeysAreTheSame) {
  Config a, b;
  a.load(write("[orders]\nsegment.step = 500\n"), "orders");
  b.load(write("[orders]\n[orders.segment]\nstep = 500\n"), "orders");
  EXPECT_EQ(a.get("segment.step"), b.get("segment.step"));
}

TEST_F(TomlTest, AnInstantMayBeWrittenAsTomlKnowsIt) {
  Config config;
  config.load(write("[orders]\nepoch = 2025-01-01T00:00:00Z\n"), "orders");
  EXPECT_EQ(config.get("epoch"), "2025-01-01T00:00:00Z");
  config.load(write("[orders]\nepoch = 2025-01-01\n"), "orders");
  EXPECT_EQ(config.get("epoch"), "2025-01-01T00:00:00Z");
}

TEST_F(TomlTest, AMissingFileIsNamed) {
  EXPECT_EQ(message_of(Status::config_file, folder + "/none.toml"),
            folder + "/none.toml: the file cannot be read: No such file or directory");
  EXPECT_EQ(message_of(Status::config_file, folder), folder + ": the file cannot be read: Is a directory");
}

TEST_F(TomlTest, AMalformedFileNamesTheLine) {
  EXPECT_THAT(message_of(Status::config_file, write("[orders]\nkind = \n")), HasSubstr("line 2"));
}

TEST_F(TomlTest, AMistakeInOneTableLeavesTheOthersUsable) {
  const std::string path = write("[broken]\nworker = [1, 2]\n[orders]\nworker = 3\n");
  Config config;
  config.load(path, "orders");
  EXPECT_EQ(config.get("worker"), "3");
  EXPECT_EQ(read_toml(path).size(), 2u);
  EXPECT_THROW(config.load(path, "broken"), Error);
}

TEST_F(TomlTest, AFailedLoadChangesNothing) {
  Config config;
  config.set("worker", "7");
  EXPECT_THROW(config.load(write("[orders]\nworker = 3\nwindow = \"x\"\n"), "orders"), Error);
  EXPECT_EQ(config.get("worker"), "7");
  EXPECT_EQ(config.get("name"), "idgen");
}

}  // namespace
}  // namespace idgen
