// A table of routes from its file.
#include <algorithm>
#include <functional>
#include <map>

#include "config/toml.hpp"
#include "idgen/router.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

// What a table of routes consists of. Every message begins with the file and the line.
class RouteReader {
 public:
  explicit RouteReader(const std::string& path) : path_(path), file_(parse_toml(path)) {}

  RouteTable read() {
    check_keys(file_, "the file", {"version", "bits", "shards", "move", "range"});
    data_.version = integer(file_, "version", "the file");
    data_.bits = small(file_, "bits", "the file");
    read_shards();
    for_each("move", [this](const TomlValue& entry, const std::string& where) { read_move(entry, where); });
    for_each("range", [this](const TomlValue& entry, const std::string& where) { read_range(entry, where); });
    // Then whatever is cut off at the end of the file, a range is missing, and the ring has a gap.
    if (last_move_ > first_range_) {
      fail(
          "a [[move]] stands below a [[range]]; write all moves above all ranges, so that half a file is never taken "
          "for a whole one");
    }
    try {
      return RouteTable(std::move(data_));
    } catch (const Error& error) {
      fail(error.message());
    }
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(Status::config_file, concat({path_, ": ", reason}));
  }

  void check_keys(const TomlValue& table, const std::string& where,
                  std::initializer_list<std::string_view> known) const {
    for (const TomlValue& value : table.values) {
      if (std::find(known.begin(), known.end(), value.name) != known.end()) continue;
      std::string all;
      for (const std::string_view name : known) all.append(all.empty() ? "" : ", ").append(name);
      fail("line " + std::to_string(value.line) + ": " + in_quotes(value.name) + " is not a key of " + where +
           "; known are " + all);
    }
  }

  const TomlValue& required(const TomlValue& table, std::string_view key, const std::string& where) const {
    const TomlValue* const value = table.find(key);
    if (value == nullptr) fail(where + " has no '" + std::string(key) + "'; it is required");
    return *value;
  }

  std::uint64_t integer(const TomlValue& table, std::string_view key, const std::string& where) const {
    const TomlValue& value = required(table, key, where);
    if (value.kind != TomlValue::Kind::integer || value.integer < 0) {
      fail("line " + std::to_string(value.line) + ": '" + std::string(key) + "' is not a whole number of 0 or more");
    }
    return static_cast<std::uint64_t>(value.integer);
  }

  std::uint32_t small(const TomlValue& table, std::string_view key, const std::string& where) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(integer(table, key, where), 0xffff'ffff));
  }

  const std::string& text(const TomlValue& table, std::string_view key, const std::string& where) const {
    const TomlValue& value = required(table, key, where);
    if (value.kind == TomlValue::Kind::text) return *value.text;
    fail("line " + std::to_string(value.line) + ": '" + std::string(key) + "' is not a text in quotes");
  }

  void read_shards() {
    const TomlValue* const names = file_.find("shards");
    if (names == nullptr) fail("the file has no 'shards'; it is required, a list of all shards' names");
    if (names->kind != TomlValue::Kind::list) fail("'shards' is not a list of names, such as [\"db0\", \"db1\"]");
    for (const TomlValue& name : names->values) {
      if (name.kind != TomlValue::Kind::text) fail("'shards' has an entry that is not a text in quotes");
      number_of_.emplace(*name.text, static_cast<std::uint32_t>(data_.shards.size()));
      data_.shards.push_back(*name.text);
    }
  }

  std::uint32_t shard(const std::string& name, const std::string& where) const {
    if (const auto found = number_of_.find(name); found != number_of_.end()) return found->second;
    std::string known;
    for (std::size_t i = 0; i < data_.shards.size() && i < 10; ++i) {
      known.append(i == 0 ? "" : ", ").append(data_.shards[i]);
    }
    if (data_.shards.size() > 10) known += ", ...";
    fail(where + " names the unknown shard " + in_quotes(name) + "; 'shards' has " + known);
  }

  void for_each(std::string_view key, const std::function<void(const TomlValue&, const std::string&)>& read) {
    const TomlValue* const entries = file_.find(key);
    if (entries == nullptr) return;
    const std::string name = "[[" + std::string(key) + "]]";
    if (entries->kind != TomlValue::Kind::list) {
      fail("'" + std::string(key) + "' is not a list of tables; write each under " + name);
    }
    for (const TomlValue& entry : entries->values) {
      const std::string where = "line " + std::to_string(entry.line) + ": " + name;
      if (entry.kind != TomlValue::Kind::table) fail(where + " is not a table");
      read(entry, where);
    }
  }

  void read_move(const TomlValue& entry, const std::string& where) {
    check_keys(entry, "[[move]]", {"nodes", "to", "share"});
    const auto nodes = parse_nodes(text(entry, "nodes", where));
    if (!nodes) fail(where + " has nodes " + in_quotes(text(entry, "nodes", where)) + "; write \"0-1023\" or \"7\"");
    const auto share = parse_share(text(entry, "share", where));
    if (!share) {
      fail(where + " has a share of " + in_quotes(text(entry, "share", where)) +
           "; write a percentage from \"0%\" to \"100%\" with at most two decimals, such as \"35%\" or \"0.25%\"");
    }
    constexpr std::uint64_t kMost = 0xffff'ffff;
    data_.moves.push_back({static_cast<std::uint32_t>(std::min(nodes->first, kMost)),
                           static_cast<std::uint32_t>(std::min(nodes->second, kMost)),
                           shard(text(entry, "to", where), where), *share});
    last_move_ = std::max(last_move_, entry.line);
  }

  void read_range(const TomlValue& entry, const std::string& where) {
    check_keys(entry, "[[range]]", {"upto", "shard"});
    data_.ranges.push_back({small(entry, "upto", where), shard(text(entry, "shard", where), where)});
    first_range_ = std::min(first_range_, entry.line);
  }

  const std::string& path_;
  const TomlValue file_;
  RouteData data_;
  std::map<std::string, std::uint32_t, std::less<>> number_of_;
  std::uint32_t last_move_ = 0;
  std::uint32_t first_range_ = ~std::uint32_t{0};
};

}  // namespace

RouteTable read_route_table(const std::string& path) { return RouteReader(path).read(); }

}  // namespace idgen
