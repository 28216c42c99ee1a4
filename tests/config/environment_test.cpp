// Properties from the environment.
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "idgen/config.hpp"
#include "temp_folder.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Environment : public ::testing::Test {
 protected:
  ~Environment() override {
    for (const auto& [name, value] : set_) unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_[name] = value;
  }
  static Config loaded(const std::string& name) {
    Config config;
    config.load_environment(name);
    return config;
  }
  static std::string refusal(Status expected, const std::string& name) {
    Config config;
    config.set("worker", "7");
    const std::string message = vectors::error_of(expected, [&] { config.load_environment(name); });
    EXPECT_EQ(config.get("worker"), "7");
    EXPECT_EQ(config.get("name"), "idgen") << "nothing has changed";
    return message;
  }

  std::map<std::string, std::string> set_;
};

TEST_F(Environment, HasAVariableForEachProperty) {
  set("IDGEN_ORDERS_STORE_TIMEOUT", "250ms");
  set("IDGEN_ORDERS_SEGMENT_STEP", "77");
  set("IDGEN_ORDERS_STORE", "sqlite:here.db");
  set("IDGEN_EVENTS_WORKER", "3");
  const Config orders = loaded("orders");
  EXPECT_EQ(orders.duration_ms("store_timeout"), 250);
  EXPECT_EQ(orders.integer("segment.step"), 77u);
  EXPECT_EQ(orders.get("store"), "sqlite:here.db");
  EXPECT_EQ(orders.get("name"), "orders");
  EXPECT_FALSE(orders.is_set("worker")) << "another generator's";
}

TEST_F(Environment, SpellsNamesInCapitalsDigitsAndUnderscores) {
  set("IDGEN_EU_ORDERS_2_TAG", "t");
  EXPECT_EQ(loaded("eu-orders.2").get("tag"), "t");
}

// Else one variable would mean two things.
TEST_F(Environment, NoPropertyIsAnotherOneBehindALongerNameOfAGenerator) {
  std::vector<std::string> names;
  for (const Property& property : properties()) {
    std::string name = property.name;
    std::replace(name.begin(), name.end(), '.', '_');
    names.push_back(name);
  }
  for (const std::string& a : names) {
    for (const std::string& b : names) EXPECT_FALSE(a.ends_with("_" + b)) << a << ' ' << b;
  }
}

TEST_F(Environment, OverridesTheFileAndIsOverriddenByTheProgram) {
  const TempFolder folder;
  std::ofstream(folder.file("idgen.toml")) << "[orders]\nkind = \"segment\"\nsegment.step = 500\ntag = \"a\"\n";
  set("IDGEN_ORDERS_SEGMENT_STEP", "600");
  Config config;
  config.load(folder.file("idgen.toml"), "orders");
  EXPECT_EQ(config.integer("segment.step"), 600u);
  EXPECT_EQ(config.get("tag"), "a");
  config.set("segment.step", "700");
  EXPECT_EQ(config.integer("segment.step"), 700u);
}

TEST_F(Environment, AnEmptyVariableCountsAsNone) {
  set("IDGEN_ORDERS_WORKER", "");
  set("IDGEN_ORDERS_STORE_TIMEOUT", "");
  EXPECT_EQ(loaded("orders").duration_ms("store_timeout"), 5000);
}

TEST_F(Environment, AWrongValueNamesTheVariable) {
  set("IDGEN_ORDERS_STORE_TIMEOUT", "soon");
  EXPECT_THAT(refusal(Status::value, "orders"), AllOf(HasSubstr("environment variable IDGEN_ORDERS_STORE_TIMEOUT"),
                                                      HasSubstr("soon"), HasSubstr("allowed: ")));
}

TEST_F(Environment, AMisspelledPropertyIsRefused) {
  set("IDGEN_ORDERS_STORE_TIMEOT", "1s");
  EXPECT_THAT(
      refusal(Status::unknown_key, "orders"),
      AllOf(HasSubstr("IDGEN_ORDERS_STORE_TIMEOT:"), HasSubstr("IDGEN_ORDERS_STORE_TIMEOUT"), Not(HasSubstr("1s"))));
}

// Kubernetes gives each container the addresses of the services: of one named idgen-orders, these.
TEST_F(Environment, WhatIsNotForUsIsLeftAlone) {
  for (const char* name :
       {"IDGEN_ORDERS_SERVICE_HOST", "IDGEN_ORDERS_SERVICE_PORT", "IDGEN_ORDERS_PORT", "IDGEN_ORDERS_PORT_80_TCP",
        "IDGEN_ORDERS_PORT_80_TCP_PROTO", "IDGEN_ORDERS_PORT_80_TCP_PORT", "IDGEN_ORDERS_PORT_80_TCP_ADDR",
        "IDGEN_ORDERS_SERVICE_PORT_HTTP", "IDGEN_ORDERS_URL", "IDGEN_ORDERS_"})
    set(name, "x");
  set("IDGEN_ORDERS_EU_STORE", "memory");  // of a generator "orders_eu"
  set("IDGEN_ORDERS_EU_TAG", "t");
  const Config config = loaded("orders");
  EXPECT_FALSE(config.is_set("store"));
  EXPECT_FALSE(config.is_set("tag"));
}

TEST(Names, MayBeWrittenWithHyphens) {
  Config config;
  config.set("wait-max", "7s");
  config.set("segment.stock-max", "12345");
  EXPECT_EQ(config.get("wait_max"), "7s");
  EXPECT_EQ(config.get("wait-max"), "7s");
  EXPECT_EQ(config.integer("segment.stock_max"), 12345u);
  EXPECT_THROW(config.set("wait_-max", "7s"), Error);
  EXPECT_THROW(config.set("segment-step", "7"), Error) << "a dot is a dot";
}

}  // namespace
}  // namespace idgen
