#include "text/url_forms.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

// The tables are texts, because a table of texts costs the library twice as much.

// "theirs=ours", and a + where "+driver" may follow, as SQLAlchemy writes it.
constexpr std::string_view kSchemes =
    "postgresql+=postgres postgres+=postgres mysql+=mysql mariadb+=mariadb rediss=redis";

// "theirs:ours" keeps the value; "theirs:ours:A=a,B=b" translates it.
constexpr std::string_view kOfPostgres =
    "sslmode:tls:disable=off,allow=prefer,prefer=prefer,require=require,no-verify=require,"
    "verify-ca=verify-ca,verify-full=verify "
    "ssl:tls:true=verify,false=prefer "
    "sslrootcert:tls_ca";
constexpr std::string_view kOfMysql =
    "sslMode:tls:DISABLED=off,PREFERRED=prefer,REQUIRED=require,VERIFY_CA=verify-ca,VERIFY_IDENTITY=verify,"
    "disable=off,trust=require,verify-ca=verify-ca,verify-full=verify "
    "useSSL:tls:true=require,false=off "
    "requireSSL:tls:true=require,false=prefer "
    "verifyServerCertificate:tls:true=verify,false=prefer "
    "ssl_ca:tls_ca serverSslCert:tls_ca unix_socket:socket localSocket:socket";

// Settings of other programs' connections that mean nothing for idgen's own: their text and times, pools and prepared
// statements, and waits, for which store_timeout stands.
constexpr std::string_view kPassedOver =
    " ApplicationName TimeZone allowLoadLocalInfile allowMultiQueries allowPublicKeyRetrieval application_name "
    "autoReconnect "
    "autoReconnectForPools cachePrepStmts cacheResultSetMetadata cacheServerConfiguration characterEncoding "
    "characterSetResults charset client_encoding collation connectTimeout connect_timeout connectionAttributes "
    "connectionCollation connectionTimeZone connection_limit defaultFetchSize defaultRowFetchSize elideSetAutoCommits "
    "failOverReadOnly jdbcCompliantTruncation keepalives keepalives_count keepalives_idle keepalives_interval loc "
    "loginTimeout maintainTimeStats maxReconnects nullCatalogMeansCurrent nullDatabaseMeansCurrent parseTime pgbouncer "
    "pool_timeout preparedStatementCacheQueries prepStmtCacheSize prepStmtCacheSqlLimit prepareThreshold readTimeout "
    "reWriteBatchedInserts rewriteBatchedStatements serverTimezone socketTimeout statement_cache_size stringtype "
    "targetServerType target_session_attrs tcpKeepAlive timeout tinyInt1isBit transformedBitIsBoolean useAffectedRows "
    "useCompression useCursorFetch useInformationSchema useJDBCCompliantTimezoneShift useLegacyDatetimeCode "
    "useLocalSessionState useLocalTransactionState useServerPrepStmts useUnicode writeTimeout yearIsDateType "
    "zeroDateTimeBehavior ";

// Cuts the part before `end` from a text.
std::string_view cut(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

[[noreturn]] void refuse(const StoreUrl& url, std::string_view what) {
  throw Error(Status::value, concat({"store = \"", url.scheme, "://...\": ", what}));
}

// What a value means, by "A=a,B=b".
std::string translated(const StoreUrl& url, std::string_view key, const std::string& value, std::string_view values) {
  if (values.empty()) return value;
  std::string allowed;
  while (!values.empty()) {
    std::string_view meant = cut(values, ',');
    const std::string_view theirs = cut(meant, '=');
    if (std::ranges::equal(theirs, value, {}, lower, lower)) return std::string(meant);  // as Connector/J compares them
    allowed += concat({allowed.empty() ? "" : ", ", theirs});
  }
  refuse(url, concat({key, " = ", in_quotes(value), "; allowed: ", allowed}));
}

// Who and where, as libpq and JDBC may also say it.
bool is_place(StoreUrl& url, std::string_view key, const std::string& value, std::string& port) {
  const bool is_postgres = url.scheme == "postgres";
  if (key == "user" || key == "password") {
    std::string& place = key == "user" ? url.user : url.password;
    if (!place.empty()) refuse(url, concat({"a ", key, " is given twice, before the @ and as a parameter"}));
    place = value;
  } else if (is_postgres && key == "dbname") {
    url.path = value;
  } else if (is_postgres && key == "port") {
    port = value;
  } else if (is_postgres && key == "host") {
    url.hosts.clear();
    for (std::string_view rest = value; !rest.empty();) url.hosts.push_back({std::string(cut(rest, ',')), 0});
  } else {
    return false;
  }
  return true;
}

std::uint16_t port_of(const StoreUrl& url, const std::string& text) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0)
    refuse(url, "a port is not a number from 1 to 65535");
  return number;
}

}  // namespace

std::string_view plain_scheme(std::string_view& url) {
  constexpr std::string_view kJdbc = "jdbc:";
  if (url.starts_with(kJdbc)) url.remove_prefix(kJdbc.size());
  const std::string_view name = url.substr(0, url.find(':'));
  const std::string_view base = name.substr(0, name.find('+'));
  for (std::string_view rest = kSchemes; !rest.empty();) {
    std::string_view ours = cut(rest, ' ');
    std::string_view theirs = cut(ours, '=');
    const bool has_driver = theirs.ends_with('+');
    if (has_driver) theirs.remove_suffix(1);
    if ((has_driver ? base : name) == theirs) return ours;
  }
  return name;
}

void translate_parameters(StoreUrl& url) {
  const bool is_postgres = url.scheme == "postgres";
  if (!is_postgres && url.scheme != "mysql" && url.scheme != "mariadb") return;
  std::vector<std::pair<std::string, std::string>> kept;
  std::string tls, port;
  bool says_tls = false;
  for (auto& [key, value] : url.parameters) {
    if (kPassedOver.find(concat({" ", key, " "})) != std::string_view::npos || is_place(url, key, value, port))
      continue;
    std::string_view ours, values = is_postgres ? kOfPostgres : kOfMysql;
    while (!values.empty()) {
      std::string_view entry = cut(values, ' ');
      if (cut(entry, ':') != key) continue;
      ours = cut(entry, ':');
      value = translated(url, key, value, entry);
      break;
    }
    if (ours == "tls") {  // several may speak of it: the strictest holds
      if (tls.empty() || std::ranges::find(kTlsModes, value) > std::ranges::find(kTlsModes, tls)) tls = value;
      continue;
    }
    says_tls |= key == "tls";
    kept.emplace_back(ours.empty() ? std::move(key) : std::string(ours), std::move(value));
  }
  if (!tls.empty() && !says_tls) kept.emplace_back("tls", tls);
  url.parameters = std::move(kept);
  for (StoreHost& host : url.hosts)
    if (host.port == 0 && !port.empty()) host.port = port_of(url, port);
}

}  // namespace idgen
