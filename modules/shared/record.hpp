// A tag in stores that keep one value per key, which is replaced if it is still what was read:
// {"max_id":3000,"grants":3,"updated_unix_ms":1767225600000, "step":0,"rate":250,"holder":"process 4711 on db-3"}.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "module.hpp"
#include "sql.hpp"
#include "with_windows.hpp"

namespace idgen::module {

inline std::string record_of(const SegmentInfo& info) {
  return "{\"max_id\":" + std::to_string(info.max_id) + ",\"grants\":" + std::to_string(info.grants) +
         ",\"updated_unix_ms\":" + std::to_string(info.updated_unix_ms) + ",\"step\":" + std::to_string(info.step) +
         ",\"rate\":" + std::to_string(info.rate) +
         ",\"holder\":" + nlohmann::json(info.holder).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "}";
}

// Throws Error{store_damaged}.
inline SegmentInfo parse_record(const std::string& shown, const std::string& name_space, const std::string& tag,
                                const std::string& text) {
  const auto record = nlohmann::json::parse(text, nullptr, false);
  const auto number = [&](const char* key) -> std::uint64_t {
    const auto found = record.is_object() ? record.find(key) : record.end();
    if (!record.is_object() || found == record.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() > kLargestNumber) {
      throw Error(Status::store_damaged,
                  shown + ": " + tag_name(name_space, tag) + " holds " + in_quotes(text) + ", in which \"" + key +
                      "\" is not a number from 0 to 2^63 - 1. Set it right by hand, above the highest "
                      "id in use");
    }
    return found->get<std::uint64_t>();
  };
  SegmentInfo info;
  info.name_space = name_space;
  info.tag = tag;
  info.max_id = number("max_id");
  info.grants = number("grants");
  info.updated_unix_ms = static_cast<std::int64_t>(number("updated_unix_ms"));
  info.step = record.contains("step") ? number("step") : 0;
  info.rate = record.contains("rate") ? number("rate") : 0;
  if (const auto holder = record.find("holder"); holder != record.end() && holder->is_string())
    info.holder = holder->get<std::string>();
  return info;
}

// A name as one part of a path. %XX for everything but letters, digits, '-', '_' and '.'; "" is "%".
inline std::string path_part(const std::string& name) {
  constexpr char kHex[] = "0123456789ABCDEF";
  if (name.empty()) return "%";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
                       c == '_' || (c == '.' && name != "." && name != "..");
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

// Empty for what path_part() does not write: somebody else's key.
inline std::optional<std::string> name_of_path_part(const std::string& part) {
  const auto digit = [&](std::size_t i) -> int {
    const char c = i < part.size() ? part[i] : ' ';
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string name;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      name += part[i];
    } else if (digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      name += static_cast<char>(digit(i + 1) << 4 | digit(i + 2));
      i += 2;
    }
  }
  return path_part(name) == part ? std::optional(name) : std::nullopt;
}

// Segments in these stores. Server has: read(name_space, tag) -> optional<Held>, replace(name_space, tag, Held, text)
// -> bool, insert(name_space, tag, text) -> bool, where Held has the text and anything else that the server compares.
//
// It remembers what was written last, so that a grant costs one round trip as long as nobody else draws from the tag.
template <class Server>
class Records {
 public:
  using Held = typename Server::Held;

  Records(std::string shown, bool create) : shown_(std::move(shown)), create_(create) {}

  SegmentGrant take(Server& server, const std::string& name_space, const std::string& tag,
                    const SegmentRequest& request) {
    advance_by(name_space, tag, 0, grant_size(0, request));
    SegmentGrant grant;
    change(server, name_space, tag, create_, [&](SegmentInfo& info) {
      grant = take_grant(info, request);
      return true;
    });
    return grant;
  }
  void give_back(Server& server, const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) {
    check_segment_return(last, unused);
    if (unused == 0) return;
    // A failed write may have been done and then sent again below us (libcurl). Then the counter may be at `last`
    // again, after somebody else's grant.
    std::optional<std::uint64_t> grants;
    change(server, name_space, tag, false, [&](SegmentInfo& info) {
      if (info.max_id != last || info.grants != grants.value_or(info.grants)) return false;
      grants = info.grants;
      info.max_id = last - unused;
      return true;
    });
  }
  void create(Server& server, const std::string& name_space, const std::string& tag, std::uint64_t above) {
    if (server.insert(name_space, tag, record_of(new_segment(name_space, tag, above)))) return;
    throw_tag_exists(name_space, tag, show(server, name_space, tag).max_id);
  }
  SegmentInfo show(Server& server, const std::string& name_space, const std::string& tag) {
    const std::optional<Held> found = server.read(name_space, tag);
    if (!found) throw_tag_unknown(name_space, tag, shown_, kHowToCreate);
    return parse_record(shown_, name_space, tag, found->text);
  }
  SegmentInfo advance(Server& server, const std::string& name_space, const std::string& tag, std::uint64_t target) {
    check_advance(target);
    return change(server, name_space, tag, false, [&](SegmentInfo& info) {
      info.max_id = advanced(name_space, tag, info.max_id, target);
      ++info.grants;
      return true;
    });
  }
  SegmentInfo set_step(Server& server, const std::string& name_space, const std::string& tag, std::uint64_t step) {
    check_step(step);
    return change(server, name_space, tag, false, [&](SegmentInfo& info) {
      info.step = step;
      return true;
    });
  }

 private:
  // Reads, changes and writes, and repeats that if somebody has written in between. After a failure nothing is
  // remembered.
  template <class Change>
  SegmentInfo change(Server& server, const std::string& name_space, const std::string& tag, bool create,
                     Change&& change) {
    const std::pair<std::string, std::string> key{name_space, tag};
    std::optional<Held> held;
    if (const auto known = last_.find(key); known != last_.end()) {
      held = known->second;
      last_.erase(known);
    }
    for (;;) {
      if (!held) held = server.read(name_space, tag);
      if (!held) {
        if (!create) throw_tag_unknown(name_space, tag, shown_, kHowToCreate);
        server.insert(name_space, tag, record_of(new_segment(name_space, tag)));
        continue;
      }
      SegmentInfo info = parse_record(shown_, name_space, tag, held->text);
      if (!change(info)) return info;
      info.updated_unix_ms = store_clock_unix_ms();
      const std::string text = record_of(info);
      if (server.replace(name_space, tag, *held, text)) {  // *held is then what was written
        last_[key] = std::move(*held);
        return info;
      }
      held.reset();
    }
  }

  const std::string shown_;
  const bool create_;
  std::map<std::pair<std::string, std::string>, Held> last_;
};

// A store of records. Server, a connection, also has: kParameters, kDescription, records(), list(row), and what
// WorkerRows needs.
template <class Server>
class RecordStore : public WithWindows<ConnectedStore<Server>, Server> {
 public:
  explicit RecordStore(const Settings& settings)
      : WithWindows<ConnectedStore<Server>, Server>(settings, Server::kParameters) {
    this->use([](Server&) {});
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    const Parameters parameters(settings.url, Server::kParameters);
    return Server::create_command(parameters, name_space, tag) + " '" + record_of(new_segment(name_space, tag)) + "'\n";
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    return this->use([&](Server& server) { return server.records().take(server, name_space, tag, request); });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    this->use([&](Server& server) { server.records().give_back(server, name_space, tag, last, unused); });
  }
  void create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    this->use([&](Server& server) { server.records().create(server, name_space, tag, above); });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return this->use([&](Server& server) { return server.records().show(server, name_space, tag); });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    return this->use([&](Server& server) { return server.records().advance(server, name_space, tag, target); });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    return this->use([&](Server& server) { return server.records().set_step(server, name_space, tag, step); });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) override {
    this->use([&](Server& server) {
      server.list([&](const std::string& name_space, const std::string& tag, const std::string& text) {
        row(row_or_damage([&] { return parse_record(this->shown_, name_space, tag, text); }));
      });
    });
  }
  std::string describe() override { return "store: " + this->shown_ + Server::kDescription + kWorkersSentence; }
};

}  // namespace idgen::module
