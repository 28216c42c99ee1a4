#include "idgen/config.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "config/paths.hpp"
#include "temp_folder.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::HasSubstr;

std::string message_of(Status expected, const std::string& key, const std::string& value) {
  return vectors::error_of(expected, [&] { Config().set(key, value); });
}

// TOML cannot hold both `store = "..."` and `store.create = true` in one table.
TEST(Config, NoNameIsTheGroupOfAnother) {
  for (const Property& group : properties()) {
    for (const Property& property : properties()) {
      EXPECT_FALSE(std::string(property.name).starts_with(std::string(group.name) + ".")) << property.name;
    }
  }
}

TEST(Config, EveryPropertyIsExplained) {
  for (const Property& property : properties()) {
    EXPECT_GT(std::string(property.help).size(), 20u) << property.name;
    EXPECT_STRNE(property.range, "") << property.name;
    EXPECT_STRNE(property.since, "") << property.name;
    EXPECT_EQ(std::string(property.help).back(), '.') << property.name;
  }
}

TEST(Config, AnUnknownKeyIsShownInOneLine) {
  EXPECT_THAT(message_of(Status::unknown_key, "", "1"), HasSubstr("idgen properties"));
  EXPECT_THAT(message_of(Status::unknown_key, "a\nb", "1"), HasSubstr("a\\x0Ab"));
}

TEST(Config, AValueOfTheWrongTypeSaysSo) {
  EXPECT_THAT(message_of(Status::value, "worker", "seven"), HasSubstr("not an integer"));
  EXPECT_THAT(message_of(Status::value, "worker", "7 "), HasSubstr("not an integer"));
  EXPECT_THAT(message_of(Status::value, "worker", "7.5"), HasSubstr("not an integer"));
  EXPECT_THAT(message_of(Status::value, "window", "ten"), HasSubstr("window"));
  EXPECT_THAT(message_of(Status::value, "epoch", "yesterday"), HasSubstr("epoch"));
}

TEST(Config, AnEmptyValueUnsetsAPropertyWithoutDefault) {
  Config config;
  config.set("worker", "7");
  config.set("worker", "");
  EXPECT_FALSE(config.is_set("worker"));
}

TEST(Config, DurationsAreReadInMilliseconds) {
  Config config;
  EXPECT_EQ(config.duration_ms("window"), 10'000);
  config.set("window", "250ms");
  EXPECT_EQ(config.duration_ms("window"), 250);
  config.set("window", "3000");
  EXPECT_EQ(config.duration_ms("window"), 3'000);
}

TEST(Config, ARelativePathWhoseFolderIsGoneIsNotTakenForOneFromTheRoot) {
  const int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  {
    const TempFolder folder;
    ASSERT_EQ(chdir(folder.path().c_str()), 0);
  }
  Config config;
  config.set("witness", "seen");
  EXPECT_EQ(path_of(config.with_absolute_directory(), "witness"), "seen");
  config.set("directory", "/srv/shop");
  EXPECT_EQ(path_of(config, "witness"), "/srv/shop/seen");
  ASSERT_EQ(fchdir(before), 0);
  close(before);
}

TEST(Config, TwoConfigurationsAreEqualIfTheyMeanTheSame) {
  Config a, b;
  a.set("worker", "7");
  EXPECT_FALSE(a == b);
  b.set("worker", "7");
  b.set("kind", "snowflake");  // the default, set explicitly
  EXPECT_TRUE(a == b);
}

}  // namespace
}  // namespace idgen
