// URLs of stores over a network.
#include "idgen/url.hpp"

#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

std::string refusal(const std::string& text) {
  return vectors::error_of(Status::value, [&] { (void)StoreUrl::parse(text); });
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

// ---- as other programs write them

using Parameters = std::vector<std::pair<std::string, std::string>>;

TEST(UrlsOfOthers, SchemesWithDriversAndOfJdbcNameTheSameStore) {
  for (const char* text :
       {"postgresql://app:pw@db/ids", "postgres+asyncpg://app:pw@db/ids", "postgresql+psycopg2://app:pw@db/ids",
        "jdbc:postgresql://db/ids?user=app&password=pw", "postgresql://db?dbname=ids&user=app&password=pw"}) {
    const StoreUrl url = StoreUrl::parse(text);
    EXPECT_EQ(url.identity(), StoreUrl::parse("postgres://app:pw@db/ids").identity()) << text;
    EXPECT_EQ(url.user + ":" + url.password, "app:pw") << text;
    EXPECT_TRUE(url.parameters.empty()) << text;
    EXPECT_EQ(url.shown(), "postgres://app@db/ids") << text;
  }
  EXPECT_EQ(StoreUrl::parse("mysql+pymysql://a@h/d").scheme, "mysql");
  EXPECT_EQ(StoreUrl::parse("mariadb://h/d").identity(), StoreUrl::parse("mysql://h/d").identity());
  EXPECT_EQ(StoreUrl::parse("jdbc:mariadb://h:3307/d?user=a").scheme, "mariadb");
  EXPECT_EQ(StoreUrl::parse("jdbc:mysql://h/d").scheme, "mysql");
}

TEST(UrlsOfOthers, WhatTheySayOfTlsIsMeant) {
  const auto tls = [](const std::string& text) {
    std::string found = "none";
    for (const auto& [key, value] : StoreUrl::parse(text).parameters) {
      EXPECT_EQ(key, "tls");
      found = value;
    }
    return found;
  };
  EXPECT_EQ(tls("postgres://h/d?sslmode=disable"), "off");
  EXPECT_EQ(tls("postgres://h/d?sslmode=allow"), "prefer");
  EXPECT_EQ(tls("postgres://h/d?sslmode=require"), "require");
  EXPECT_EQ(tls("postgres://h/d?sslmode=verify-ca"), "verify-ca");
  EXPECT_EQ(tls("postgres://h/d?sslmode=verify-full"), "verify");
  EXPECT_EQ(tls("jdbc:postgresql://h/d?ssl=true"), "verify");
  EXPECT_EQ(tls("jdbc:mysql://h/d?useSSL=false"), "off");
  EXPECT_EQ(tls("jdbc:mysql://h/d?useSSL=true&verifyServerCertificate=true&requireSSL=true"), "verify");
  EXPECT_EQ(tls("jdbc:mysql://h/d?sslMode=VERIFY_CA"), "verify-ca");
  EXPECT_EQ(tls("jdbc:mysql://h/d?sslMode=VERIFY_IDENTITY"), "verify");
  EXPECT_EQ(tls("jdbc:mysql://h/d?sslMode=VERIFY_CA&verifyServerCertificate=true"), "verify") << "the strictest";
  EXPECT_EQ(tls("jdbc:mysql://h/d?verifyServerCertificate=true&sslMode=VERIFY_CA"), "verify");
  EXPECT_EQ(tls("jdbc:mysql://h/d?sslMode=VERIFY_CA&requireSSL=true"), "verify-ca");
  EXPECT_EQ(tls("jdbc:mysql://h/d?sslMode=disabled"), "off");
  EXPECT_EQ(tls("jdbc:mysql://h/d?useSSL=FALSE"), "off");
  EXPECT_EQ(tls("postgresql://h/d?sslmode=no-verify"), "require");
  EXPECT_EQ(tls("jdbc:mariadb://h/d?sslMode=trust"), "require");
  EXPECT_EQ(tls("mysql://h/d?tls=off&useSSL=true"), "off") << "idgen's own word stands";
  EXPECT_EQ(tls("rediss://h"), "verify");
  EXPECT_EQ(tls("rediss://h?tls=verify-ca"), "verify-ca");
  for (const char* const weaker : {"off", "require"})
    EXPECT_EQ(tls("rediss://h?tls=" + std::string(weaker)), "verify") << weaker;
  EXPECT_EQ(tls("redis://h"), "none");
}

TEST(UrlsOfOthers, SocketsAreFound) {
  const StoreUrl libpq = StoreUrl::parse("postgresql://app@/ids?host=/var/run/postgresql&port=5433");
  ASSERT_EQ(libpq.hosts.size(), 1u);
  EXPECT_EQ(libpq.hosts[0].name, "/var/run/postgresql");
  EXPECT_EQ(libpq.hosts[0].port, 5433);
  EXPECT_EQ(libpq.path, "ids");
  EXPECT_EQ(StoreUrl::parse("postgresql:///ids?host=a,b").hosts.size(), 2u);
  EXPECT_EQ(StoreUrl::parse("mysql+pymysql://app@/ids?unix_socket=/run/my.sock").parameters,
            (Parameters{{"socket", "/run/my.sock"}}));
  EXPECT_EQ(StoreUrl::parse("jdbc:mariadb://h/ids?localSocket=/run/my.sock").parameters,
            (Parameters{{"socket", "/run/my.sock"}}));
}

TEST(UrlsOfOthers, SettingsThatMeanNothingHereArePassedOverAndOthersAreKeptToBeRefused) {
  EXPECT_EQ(StoreUrl::parse("jdbc:mysql://h/d?useUnicode=true&characterEncoding=utf8&serverTimezone=UTC"
                            "&rewriteBatchedStatements=true&characterSetResults=utf8&tinyInt1isBit=false"
                            "&useJDBCCompliantTimezoneShift=true&nullCatalogMeansCurrent=true&currentSchema=x")
                .parameters,
            (Parameters{{"currentSchema", "x"}}));
  EXPECT_EQ(StoreUrl::parse("postgres://h/d?pgbouncer=true&connection_limit=5&options=-csearch_path%3Dx").parameters,
            (Parameters{{"options", "-csearch_path=x"}}));
  EXPECT_EQ(StoreUrl::parse("redis://h?charset=x&user=y").parameters, (Parameters{{"charset", "x"}, {"user", "y"}}))
      << "of databases only";
}

TEST(UrlsOfOthers, BadOnesAreRefusedWithoutShowingWhatMayBeSecret) {
  EXPECT_THAT(refusal("postgresql:///ids"), ::testing::HasSubstr("a host is missing"));
  EXPECT_THAT(refusal("jdbc:postgresql:ids"), ::testing::HasSubstr("it lacks ://"));
  EXPECT_THAT(refusal("postgres://h/d?sslmode=sure"),
              ::testing::AllOf(::testing::HasSubstr("sslmode = 'sure'"), ::testing::HasSubstr("verify-full")));
  EXPECT_THAT(refusal("mysql://app:s3cret@h/d?password=other"), ::testing::HasSubstr("a password is given twice"));
  EXPECT_THAT(refusal("postgres://h/d?user=a&user=b"), ::testing::HasSubstr("a user is given twice"));
  EXPECT_THAT(refusal("postgres://h/d?port=x"), ::testing::HasSubstr("1 to 65535"));
  EXPECT_THAT(refusal("postgres://h/d?host=a%20b"), ::testing::HasSubstr("neither a name"));
  EXPECT_THAT(refusal("jdbc:mysql://h/d?password=s3cret&useSSL=maybe"), ::testing::Not(::testing::HasSubstr("s3cret")));
}

}  // namespace
}  // namespace idgen
