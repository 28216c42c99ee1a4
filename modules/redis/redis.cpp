// Segments in Redis: one Lua script per grant, on one hash per tag; with segment.schema = cosid on the string that
// CosId counts in, and a label beside it. What Redis may forget: tag_life.hpp. Windows of workers: worker_scripts.hpp.
// Serials from one key a day: foreign_period_keys.hpp.
#include <map>
#include <optional>

#include "connection.hpp"
#include "foreign_period_keys.hpp"
#include "queue_scripts.hpp"
#include "segment_scripts.hpp"
#include "tag_life.hpp"

namespace idgen::module {
namespace {

// idgen:NAMESPACE:TAG, where a colon or percent sign of the namespace is written as %XX.
constexpr std::string_view kKeyPrefix = "idgen:";
// For queues, which are not tags.
constexpr std::string_view kQueuePrefix = "idgen-buffer:";

std::string key_of(const std::string& name_space, const std::string& tag, std::string_view prefix = kKeyPrefix) {
  std::string key(prefix);
  for (const char c : name_space) {
    if (c == ':') {
      key += "%3A";
    } else if (c == '%') {
      key += "%25";
    } else {
      key += c;
    }
  }
  return key + ":" + tag;
}

// The tag's key, and the key of what is known of all tags, which has only one colon and so is no tag's.
Arguments own_keys(const std::string& name_space, const std::string& tag) {
  return {key_of(name_space, tag), "idgen:store"};
}

// CosId's key, ours beside it, and the key of what is known of all of them.
constexpr std::string_view kCosidPrefix = "cosid:{", kCosidSuffix = "}.adder";

Arguments cosid_keys(const std::string& name_space, const std::string& tag) {
  const std::string name = name_space + "." + tag;
  return {std::string(kCosidPrefix) + name + std::string(kCosidSuffix), "idgen.label:{" + name + "}",
          "idgen.label:store"};
}

class RedisStore final
    : public WithNumbers<WithWindows<ConnectedStore<RedisConnection>, RedisConnection>, RedisConnection>,
      public QueueStore {
 public:
  using Serials = PeriodKeys;

  explicit RedisStore(const Settings& settings)
      : WithNumbers(settings, kParameters), is_cosid_(settings.schema == "cosid") {
    if (!is_cosid_) check_schema(settings);
    use([](RedisConnection&) {});
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    if (settings.schema == PeriodKeys::kSchema) return PeriodKeys::statements(settings, name_space, tag);
    const bool is_cosid = settings.schema == "cosid";
    if (!is_cosid) check_schema(settings);
    Arguments keys = is_cosid ? cosid_keys(name_space, tag) : own_keys(name_space, tag);
    for (std::string& key : keys) key = cli_word(key);
    const std::string made = is_cosid ? "SETNX " + keys[0] + " 0\nSETNX " + keys[1] + " MASTER_REPLID\n"
                                      : cli_make(keys[0], {"max_id 0", "grants 0"});
    return kReplidNote + made + cli_remember(keys.back(), keys[0]);
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    advance_by(name_space, tag, request.above, grant_size(0, request));
    return use([&](RedisConnection& server) {
      const Reply row =
          checked(name_space, tag,
                  row_script(server, kTake, name_space, tag,
                             {std::to_string(request.step), std::to_string(request.wanted), now(),
                              settings_.create ? "1" : "0", rewind_accepted(parameters_), std::to_string(request.rate),
                              request.holder, std::to_string(request.above)}));
      const std::uint64_t count = number(row[7]);
      return SegmentGrant{.first = number(row[1]) - count + 1, .count = count};
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](RedisConnection& server) {
      checked(
          name_space, tag,
          row_script(server, kGiveBack, name_space, tag, {std::to_string(last), "-" + std::to_string(unused), now()}));
    });
  }
  void create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    check_advance(above);
    use([&](RedisConnection& server) {
      Reply row =
          row_script(server, kCreate, name_space, tag, {now(), std::to_string(above), rewind_accepted(parameters_)});
      if (row[0] == "exists") throw_tag_exists(name_space, tag, number(row[1]));
      (void)checked(name_space, tag, std::move(row));
    });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return use([&](RedisConnection& server) {
      return info_of(name_space, tag, checked(name_space, tag, row_script(server, kShow, name_space, tag, {})));
    });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    check_advance(target);
    return use([&](RedisConnection& server) {
      return info_of(
          name_space, tag,
          checked(name_space, tag, row_script(server, kAdvance, name_space, tag, {std::to_string(target), now()})));
    });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    if (is_cosid_) {
      throw Error(Status::unsupported,
                  "CosId keeps no step in Redis: with segment.schema = cosid each generator uses its own segment.step");
    }
    return use([&](RedisConnection& server) {
      return info_of(
          name_space, tag,
          checked(name_space, tag, row_script(server, kSetStep, name_space, tag, {std::to_string(step), now()})));
    });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) override {
    use([&](RedisConnection& server) {
      std::map<std::pair<std::string, std::string>, SegmentInfo> rows;
      scan(server, shown_, is_cosid_ ? "cosid:{*}.adder" : std::string(kKeyPrefix) + "*", [&](const std::string& key) {
        const std::optional<std::pair<std::string, std::string>> names =
            is_cosid_ ? names_of_cosid(key) : names_of(key);
        if (!names) return;
        Reply found = row_script(server, kShow, names->first, names->second, {});
        if (found[0] != "ok" && found[0] != "refused") return;
        rows[*names] = row_or_damage([&] {
          return info_of(names->first, names->second, checked(names->first, names->second, std::move(found)));
        });
      });
      for (const auto& [names, info] : rows) row(info);
    });
  }
  QueuePart queue_take(const std::string& name_space, const std::string& tag, const QueueRequest& request) override {
    return use([&](RedisConnection& server) {
      const Reply part =
          queue_script(server, kQueueTake, name_space, tag,
                       {std::to_string(request.count), std::to_string(request.above), std::to_string(request.least),
                        std::to_string(request.rate), std::to_string(request.runway_ms),
                        std::to_string(request.stock_max), settings_.queue_of});
      return QueuePart{.label = part[1],
                       .witness = number(part[2]),
                       .first = number(part[3]),
                       .count = number(part[4]),
                       .stock = number(part[5]),
                       .wanted = number(part[6]),
                       .stopped = part[8] == "1",
                       .load = part[7] == "1"};
    });
  }
  bool queue_load(const std::string& name_space, const std::string& tag, const std::string& label, std::uint64_t first,
                  std::uint64_t count, std::uint64_t stock_max) override {
    return use([&](RedisConnection& server) {
      const Reply done = queue_script(
          server, kQueueLoad, name_space, tag,
          {label, std::to_string(first), std::to_string(count), std::to_string(stock_max), settings_.queue_of});
      return done[1] == "1";
    });
  }
  void queue_reset(const std::string& name_space, const std::string& tag, std::uint64_t witness,
                   bool stopped) override {
    use([&](RedisConnection& server) {
      queue_script(server, kQueueReset, name_space, tag, {std::to_string(witness), stopped ? "1" : "0"});
    });
  }
  std::string describe() override {
    if (settings_.queue) return shown_;
    return describe_life(shown_, settings_, parameters_) +
           "worker: its windows end at most 15 s ahead of the server's clock. After a restart, a failover or a loss of "
           "all data the next ones begin 17 s ahead of it, above everything that can have been forgotten; the first "
           "window of a new server too. Two masters that both take writes (a partition without min-replicas-to-write), "
           "or clocks of two servers that are more than 2 s apart, are not covered: ids may then be issued twice\n" +
           kDescribeReplicas +
           (is_cosid_
                ? "schema: cosid; CosId draws from the same key and does not notice when the server has forgotten "
                  "grants: it continues where idgen stops\n"
                : "");
  }

 private:
  static void check_schema(const Settings& settings) {
    if (settings.schema == "idgen") return;
    throw Error(
        Status::unsupported,
        "segment.schema = " + in_quotes(settings.schema) +
            ": in Redis idgen knows its own tags, CosId's (\"cosid\"), and keys that others raise by INCR (\"incr\")");
  }
  Arguments keys_of(const std::string& name_space, const std::string& tag) const {
    return is_cosid_ ? cosid_keys(name_space, tag) : own_keys(name_space, tag);
  }
  Reply row_script(RedisConnection& server, const char* body, const std::string& name_space, const std::string& tag,
                   const Arguments& arguments) const {
    return server.script(prelude_, body, keys_of(name_space, tag), arguments);
  }
  static Reply queue_script(RedisConnection& server, const char* body, const std::string& name_space,
                            const std::string& tag, const Arguments& arguments) {
    return server.script(kQueuePrelude, body, {key_of(name_space, tag, kQueuePrefix)}, arguments);
  }
  static std::string now() { return std::to_string(store_clock_unix_ms()); }
  std::uint64_t number(const std::string& text) const { return stored_number(shown_, text.c_str()); }

  // Throws the error that a script reports.
  Reply checked(const std::string& name_space, const std::string& tag, Reply row) const {
    const std::string outcome = row[0];
    if (outcome == "ok") return row;
    if (outcome == "refused") {
      if (const std::uint64_t count = number(row[3]))
        advance_by(name_space, tag, number(row[1]), count);  // throws that it is exhausted
      throw Error(Status::store_damaged,
                  shown_ + ": " + tag_name(name_space, tag) + " holds " + in_quotes(row[1]) + ": " + row[2]);
    }
    if (outcome == "label" && row[2] == "none" && is_cosid_) {
      throw Error(
          Status::store_regressed,
          "the key " + keys_of(name_space, tag)[0] + " of " + shown_ + " stands at " + row[1] +
              " and was not labelled by idgen: CosId has made it, or the server has forgotten the label. Take it "
              "over with `idgen segment advance --to N`, N at or above all ids in use");
    }
    throw_life(shown_, name_space, tag, row);
  }

  SegmentInfo info_of(const std::string& name_space, const std::string& tag, const Reply& row) const {
    const auto field = [&](std::size_t at, const char* name) {
      return stored_number(shown_ + ": " + tag_name(name_space, tag) + ": " + name, row[at].c_str());
    };
    SegmentInfo info;
    info.name_space = name_space;
    info.tag = tag;
    info.max_id = field(1, "max_id");
    info.grants = field(2, "grants");
    info.updated_unix_ms = static_cast<std::int64_t>(field(3, "updated_unix_ms"));
    info.step = field(4, "step");
    info.rate = field(5, "rate");
    info.holder = row[6];
    return info;
  }

  // At the last dot. A name without a dot is not in a namespace of idgen's.
  static std::optional<std::pair<std::string, std::string>> names_of_cosid(const std::string& key) {
    const std::string name = key.substr(kCosidPrefix.size(), key.size() - kCosidPrefix.size() - kCosidSuffix.size());
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    return std::pair{name.substr(0, dot), name.substr(dot + 1)};
  }
  static std::optional<std::pair<std::string, std::string>> names_of(const std::string& key) {
    const std::size_t colon = key.find(':', kKeyPrefix.size());
    if (colon == std::string::npos) return std::nullopt;
    std::string name_space = key.substr(kKeyPrefix.size(), colon - kKeyPrefix.size());
    for (std::size_t i = 0; (i = name_space.find('%', i)) != std::string::npos; ++i)
      name_space.replace(i, 3, name_space.compare(i, 3, "%3A") == 0 ? ":" : "%");
    return std::pair{name_space, key.substr(colon + 1)};
  }

  const bool is_cosid_;
  const std::string prelude_ = std::string(kTagPrelude) + kRefusal + (is_cosid_ ? kCosidRow : kOwnRow);
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_redis() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::RedisStore>("redis");
  return &module;
}
