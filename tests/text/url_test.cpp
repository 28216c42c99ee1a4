// URLs of stores over a network.
#include "idgen/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idgen/status.hpp"

namespace idgen {
namespace {

std::string refusal(const std::string& text) {
  try {
    (void)StoreUrl::parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::value);
    return error.message();
  }
  return "";
}

TEST(StoreUrl, HasAllItsParts) {
  const StoreUrl url = StoreUrl::parse("postgres://app:pw@db.example:6432/ids?tls=verify&tls_ca=/etc/ca.pem");
  EXPECT_EQ(url.scheme, "postgres");
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "pw");
  ASSERT_EQ(url.hosts.size(), 1u);
  EXPECT_EQ(url.hosts[0].name, "db.example");
  EXPECT_EQ(url.hosts[0].port, 6432);
  EXPECT_EQ(url.path, "ids");
  ASSERT_EQ(url.parameters.size(), 2u);
  EXPECT_EQ(url.parameters[0], (std::pair<std::string, std::string>("tls", "verify")));
  EXPECT_EQ(url.parameters[1].second, "/etc/ca.pem");
}

TEST(StoreUrl, NeedsAHostAndNothingElse) {
  const StoreUrl url = StoreUrl::parse("redis://h");
  EXPECT_EQ(url.hosts[0].name, "h");
  EXPECT_EQ(url.hosts[0].port, 0);
  EXPECT_EQ(url.user + url.password + url.path, "");
  EXPECT_TRUE(url.parameters.empty());
}

TEST(StoreUrl, MayNameSeveralHostsAndIPv6Addresses) {
  const StoreUrl url = StoreUrl::parse("etcd://a:1,[::1]:2,[fe80::1%25eth0],b");
  ASSERT_EQ(url.hosts.size(), 4u);
  EXPECT_EQ(url.hosts[1].name, "::1");
  EXPECT_EQ(url.hosts[1].port, 2);
  EXPECT_EQ(url.hosts[2].port, 0);
  EXPECT_EQ(url.hosts[3].name, "b");
}

TEST(StoreUrl, DecodesSpecialCharacters) {
  const StoreUrl url = StoreUrl::parse("mysql://a%40b:p%3Aw%2F%25%c3%bc@%2Frun%2Fs/i%20d?a=%26&b=");
  EXPECT_EQ(url.user, "a@b");
  EXPECT_EQ(url.password, "p:w/%ü");
  EXPECT_EQ(url.hosts[0].name, "/run/s");
  EXPECT_EQ(url.path, "i d");
  EXPECT_EQ(url.parameters[0].second, "&");
  EXPECT_EQ(url.parameters[1].second, "");
}

TEST(StoreUrl, TheLastAtSignEndsThePassword) {
  const StoreUrl url = StoreUrl::parse("mysql://a:b@c@h/d");
  EXPECT_EQ(url.password, "b@c");
  EXPECT_EQ(url.hosts[0].name, "h");
}

TEST(StoreUrl, IsShownWithoutSecrets) {
  const StoreUrl url = StoreUrl::parse("mysql://app:s3cret@h:1,[::1]/ids?x=s3cret");
  EXPECT_EQ(url.shown(), "mysql://app@h:1,[::1]/ids");
  EXPECT_EQ(url.identity(), "mysql://h:1,[::1]/ids");
}

TEST(StoreUrl, IsShownInOneLineAndUpToWhereAPasswordMayBegin) {
  EXPECT_EQ(StoreUrl::parse("mysql://app%3As3cret@h").shown(), "mysql://app...@h");
  EXPECT_EQ(StoreUrl::parse("mysql://h/ids%3As3cret").shown(), "mysql://h/ids...");
  EXPECT_EQ(StoreUrl::parse("mysql://a%0Ab@h/i%1Bd%20%25").shown(), "mysql://a%0Ab@h/i%1Bd%20%25");
}

TEST(StoreUrl, AMistakeIsNamedAndNoPartThatMayBeSecret) {
  for (const char* text : {"mysql:s3cret",          "mysql:/s3cret@h",         "mysql://",
                           "mysql://s3cret@",       "mysql://s3cret:1@h:0",    "mysql://s3cret@h:65536",
                           "mysql://s3cret@h:x",    "mysql://s3cret@h:",       "mysql://s3cret%2@h",
                           "mysql://s3cret%zz@h",   "mysql://s3cret%00@h",     "mysql://s3cret@[::1",
                           "mysql://s3cret@[::1]x", "mysql://s3cret@a,,b",     "mysql://s3cret@a%0Ab",
                           "mysql://s3cret%40h",    "mysql://app@s3cret%40h",  "mysql://s3cret@h?x",
                           "mysql://s3cret@h?=x",   "mysql://app:12/s3cret@h", "mysql://app:12?s3cret@h"}) {
    const std::string message = refusal(text);
    EXPECT_THAT(message, testing::StartsWith("store = \"mysql://...\": ")) << text;
    EXPECT_THAT(message, testing::HasSubstr("allowed: mysql://")) << text;
    EXPECT_THAT(message, testing::Not(testing::HasSubstr("s3cret"))) << text;
  }
}

}  // namespace
}  // namespace idgen
