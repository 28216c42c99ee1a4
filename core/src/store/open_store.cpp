// From a URL to a store: the table of schemes.
#include <algorithm>

#include "idgen/number_store.hpp"
#include "idgen/text.hpp"
#include "idgen/url.hpp"
#include "module/module_loader.hpp"
#include "store/driver_store.hpp"
#include "store/grant_rules.hpp"
#include "store/module_store.hpp"
#include "store/store_schemes.hpp"
#include "text/url_forms.hpp"

namespace idgen {

#ifndef IDGEN_WITH_SQLITE
std::shared_ptr<Store> open_sqlite_store(const std::string&, const StoreOptions&) {
  throw Error(Status::unsupported,
              "this build of idgen has no SQLite; build it with IDGEN_WITH_SQLITE=ON, or use store = \"memory\"");
}
std::string sqlite_store_identity(const std::string& rest, const StoreOptions&) { return "sqlite:" + rest; }
std::string sqlite_segment_statements(const std::string&, const std::string&) { return ""; }
#endif

constexpr StoreScheme kStoreSchemeTable[] = {
    {"sqlite", "sqlite:PATH", open_sqlite_store, sqlite_store_identity, "", "", "", "", true},
    {"memory", "memory or memory:NAME", open_memory_store, memory_store_identity},
    {"buffer", "buffer", open_buffer_store, buffer_store_identity},
    {"mysql", "mysql://USER@HOST/DATABASE", nullptr, nullptr, "mysql", "libmariadb3", "leaf,tinyid,cosid,key_producer",
     "uid_generator,cosid", true},
    {"mariadb", "mariadb://USER@HOST/DATABASE", nullptr, nullptr, "mysql", "libmariadb3",
     "leaf,tinyid,cosid,key_producer", "uid_generator,cosid", true},
    {"postgres", "postgres://USER@HOST/DATABASE", nullptr, nullptr, "postgres", "libpq5",
     "leaf,tinyid,cosid,key_producer", "uid_generator,cosid", true},
    {"redis", "redis://HOST", nullptr, nullptr, "redis", "libhiredis0.14 libssl3", "cosid,incr", "cosid"},
    {"etcd", "etcd://HOST", nullptr, nullptr, "etcd", "libcurl4"},
    {"zookeeper", "zookeeper://HOST", nullptr, nullptr, "zookeeper", "libzookeeper-mt2", "", "zookeeper"},
};

std::span<const StoreScheme> store_schemes() noexcept { return kStoreSchemeTable; }

struct NamedStore {
  const StoreScheme* scheme;
  std::string rest;
};

static std::string known_store_schemes() {
  std::string text;
  for (const StoreScheme& scheme : store_schemes()) {
    if (!text.empty()) text += ", ";
    text += scheme.usage;
  }
  return text;
}

static const StoreScheme* nearest_scheme(const std::string& word) {
  const StoreScheme* nearest = nullptr;
  std::size_t distance = 3;  // more than that is not a typing error
  for (const StoreScheme& scheme : store_schemes()) {
    const std::size_t d = edit_distance(scheme.name, word);
    if (d >= distance) continue;
    distance = d;
    nearest = &scheme;
  }
  return nearest;
}

// Throws Error{value}. A URL with a typo may hold a password anywhere. So the text is shown only if it can only be a
// word or a path.
[[noreturn]] static void throw_no_such_store(const std::string& url) {
  const std::string word = url.substr(0, url.find_first_of(":/@;,? "));
  const StoreScheme* const nearest = nearest_scheme(word);
  const bool is_server = nearest != nullptr && !nearest->module.empty();
  const std::size_t colon = url.find(':');
  const std::string rest = colon == std::string::npos ? "" : url.substr(colon + 1);
  bool is_shown = !may_hold_secret(url);
  if (is_server && url != word) is_shown = false;
  if (colon != std::string::npos && (nearest == nullptr || rest.find(':') != std::string::npos)) is_shown = false;

  std::string hint;
  if (is_shown && colon == std::string::npos && url.find_first_of("./") != std::string::npos) {
    hint = "; did you mean " + in_quotes("sqlite:" + url) + "?";
  } else if (nearest != nullptr) {
    const std::string behind = is_server ? "://..." : rest.empty() ? "" : is_shown ? ":" + rest : ":...";
    hint = "; did you mean " + in_quotes(std::string(nearest->name) + behind) + "?";
  }
  throw Error(Status::value, concat({"store = ", (is_shown ? in_quotes(url) : "(not shown, it may hold a password)"),
                                     ": no store of that kind; allowed: ", known_store_schemes(), hint}));
}

static NamedStore parse_store_name(const std::string& url) {
  if (url.find('\0') != std::string::npos) throw Error(Status::value, "a store URL cannot contain a NUL byte");
  std::string_view plain = url;
  const std::string name(plain_scheme(plain));
  const std::size_t colon = plain.find(':');
  const std::string rest(colon == std::string_view::npos ? "" : plain.substr(colon + 1));
  for (const StoreScheme& scheme : store_schemes()) {
    if (scheme.name != name) continue;
    const bool has_host = rest.find("://") != std::string::npos || (rest.starts_with("//") && !rest.starts_with("///"));
    if (scheme.module.empty() && has_host) {
      throw Error(Status::value, concat({"store = \"", name, ":...\" (the rest is not shown, it may hold a password): ",
                                         (name == "sqlite" ? "a file" : "that store"),
                                         " has no host; allowed: ", known_store_schemes()}));
    }
    if (!scheme.module.empty()) (void)StoreUrl::parse(url);  // an error in the URL is reported before a missing module
    return {&scheme, rest};
  }
  throw_no_such_store(url);
}

std::string plain_store(const std::string& url) {
  std::string_view text = url;
  const std::string_view name = plain_scheme(text);
  const std::size_t colon = text.find(':');
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon);
  for (const StoreScheme& scheme : store_schemes()) {
    // "rediss" says more than which store it is.
    if (scheme.name != name || text.starts_with("rediss:")) continue;
    const bool is_bare = rest == ":" && !scheme.usage.starts_with(concat({name, ":"}));
    return concat({name, is_bare ? "" : rest});
  }
  return url;
}

bool is_local_store(const std::string& url) {
  std::string_view text = url;
  const std::string_view name = plain_scheme(text);
  const auto schemes = store_schemes();
  return std::any_of(schemes.begin(), schemes.end(),
                     [&](const StoreScheme& scheme) { return scheme.name == name && scheme.module.empty(); });
}

static bool knows_schema(const StoreScheme& scheme, const std::string& schema) {
  return schema == "idgen" || ("," + std::string(scheme.schemas) + ",").find("," + schema + ",") != std::string::npos;
}

[[noreturn]] static void throw_schema_unknown(const std::string& store, const std::string& schema) {
  std::string knowing;
  for (const StoreScheme& scheme : store_schemes()) {
    if (knows_schema(scheme, schema)) knowing += (knowing.empty() ? "" : ", ") + std::string(scheme.name);
  }
  throw Error(
      Status::unsupported,
      concat({"segment.schema = ", in_quotes(schema), " with ", store,
              ": that store does not know it. The schema is known to: ", (knowing.empty() ? "no store" : knowing)}));
}

[[noreturn]] static void throw_no_grant_log(std::string_view store, const StoreOptions& options) {
  throw Error(Status::unsupported,
              concat({"segment.grant_log = ", std::to_string(options.grant_log), " with ", store,
                      " and segment.schema = ", options.schema,
                      ": no log of grants is kept there; sqlite, mysql, mariadb and postgres keep one, "
                      "with segment.schema = idgen. Set it to 0"}));
}

static void check_options(const StoreScheme& scheme, const StoreOptions& options) {
  if (!knows_schema(scheme, options.schema)) {
    throw_schema_unknown("a store " + std::string(scheme.usage), options.schema);
  }
  if (options.grant_log != 0 && (!scheme.has_grant_log || options.schema != "idgen"))
    throw_no_grant_log(scheme.usage, options);
}

void Store::configure(const StoreOptions& options) {
  constexpr const char* kHost = "a store of the program's own";
  if (options.schema != "idgen") throw_schema_unknown(kHost, options.schema);
  if (options.grant_log != 0) throw_no_grant_log(kHost, options);
}

[[noreturn]] static void throw_made_with_its_first_tag() {
  throw Error(Status::unsupported,
              "a store of this kind is made together with its first tag; use `idgen segment create`, or the statements "
              "that `idgen segment create --print` shows");
}

void Store::create() { throw_made_with_its_first_tag(); }

std::uint64_t NumberedColumn::highest_in_use() const {
  const std::uint64_t more = increment > 1 && issued > 0 ? increment - 1 : 0;
  return std::max(largest, issued + std::min(more, kLargestNumber - std::min(issued, kLargestNumber)));
}

NumberedColumn SegmentStore::segment_column(const std::string& table, const std::string&,
                                            const std::optional<std::string>&) {
  throw Error(Status::unsupported,
              concat({"the table ", in_quotes(table),
                      " cannot be read: only the stores mysql, mariadb and postgres have tables beside "
                      "their own. Find the largest id by hand, and use `idgen segment advance`"}));
}

LoggedGrant SegmentStore::segment_grant_of(const std::string&, const std::string&, std::uint64_t) {
  throw Error(Status::unsupported, "this store remembers no grants but the latest");
}

WindowStore& windows_of(Store& store) {
  if (WindowStore* const windows = store.windows()) return *windows;
  throw Error(Status::unsupported,
              "this store grants segments (kind = segment), and keeps no windows of workers (kind = snowflake); "
              "sqlite:PATH and the servers do");
}

bool has_leases(Store& store) {
  const WindowStore* const windows = store.windows();
  return windows != nullptr && windows->has_leases();
}

std::string Store::namespace_format(const std::string&, const std::string&) {
  throw Error(Status::unsupported,
              "this store keeps no check values of keys, which hidden ids need; sqlite:PATH, the servers, and stores "
              "of the host with rows of workers do");
}

static bool knows_numbers(std::string_view kinds, const std::string& kind) {
  return ("," + std::string(kinds) + ",").find("," + kind + ",") != std::string::npos;
}

[[noreturn]] static void throw_numbers_unknown(const std::string& kind) {
  std::string knowing;
  for (const StoreScheme& scheme : store_schemes()) {
    if (knows_numbers(scheme.numbers, kind)) knowing += (knowing.empty() ? "" : ", ") + std::string(scheme.usage);
  }
  throw Error(Status::unsupported, concat({"worker_source = ", kind,
                                           ": the store has no such rows. Set worker_url to the server that has them (",
                                           knowing, "); windows stay in `store`"}));
}

void check_numbers(const std::string& url, const std::string& kind) {
  if (!knows_numbers(parse_store_name(url).scheme->numbers, kind)) throw_numbers_unknown(kind);
}

NumberStore& numbers_of(Store& store, const std::string& kind) {
  if (NumberStore* const numbers = store.numbers()) return *numbers;
  throw_numbers_unknown(kind);
}

std::string segment_statements(const std::string& url, const StoreOptions& options, const std::string& name_space,
                               const std::string& tag) {
  const NamedStore parsed = parse_store_name(url);
  check_options(*parsed.scheme, options);
  if (!parsed.scheme->module.empty()) return module_segment_statements(*parsed.scheme, url, options, name_space, tag);
  if (parsed.scheme->name == "buffer") return buffer_segment_statements(options, name_space, tag);
  return parsed.scheme->name == "sqlite" ? sqlite_segment_statements(name_space, tag) : "";
}

static std::shared_ptr<Store> open_server_store(const StoreScheme& scheme, const std::string& url,
                                                const StoreOptions& options) {
  try {
    return open_module_store(scheme, url, options);
  } catch (const ModuleAbsent& absent) {
    const OpenDriverStore open = driver_store;
    const bool is_sql = scheme.module == "mysql" || scheme.module == "postgres";
    if (std::shared_ptr<Store> store =
            is_sql && open != nullptr ? open(scheme, url, options, absent.message()) : nullptr)
      return store;
    throw;
  }
}

std::shared_ptr<Store> open_store(const std::string& url, const StoreOptions& options) {
  if (options.timeout_ms < 1) {  // to some client libraries 0 means for ever
    throw Error(Status::value,
                concat({"store_timeout = ", std::to_string(options.timeout_ms), " ms: allowed are 1 ms and above"}));
  }
  const NamedStore parsed = parse_store_name(url);
  check_options(*parsed.scheme, options);
  if (!parsed.scheme->module.empty()) return open_server_store(*parsed.scheme, url, options);
  return parsed.scheme->open(parsed.rest, options);
}

void create_store(const std::string& url, const StoreOptions& options) { open_store(url, options)->create(); }

std::string store_identity(const std::string& url, const StoreOptions& options) {
  const NamedStore parsed = parse_store_name(url);
  if (!parsed.scheme->module.empty()) return StoreUrl::parse(url).identity();
  return parsed.scheme->identity(parsed.rest, options);
}

}  // namespace idgen
