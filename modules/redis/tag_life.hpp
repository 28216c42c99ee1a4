// In which life of the server a tag was written, and what is said of it: for every row that numbers are drawn from.
//
// Redis may forget what it has acknowledged: after a failover, a restart from an older dump, an eviction. Every way to
// lose data changes the server's replication id (but not its run id). So each tag carries the id under which it was
// written. A script that finds another id grants nothing, and the tag has to be raised by hand. A hash beside the tags
// keeps the label and the names of all tags that were made: with store_create, a missing tag is made only if nothing
// says that it was forgotten. So uniqueness does not depend on the durability of Redis; only availability does. The
// price: a master also takes a new id when its first replica joins, and when it has had none for repl-backlog-ttl.
#pragma once

#include <string>

#include "connection.hpp"

namespace idgen::module {

// KEYS: the tag's row first, what is known of all tags last. Lua's numbers are doubles: counters that may pass 2^53
// stay in Redis (INCRBY is exact) and cross as text.
inline constexpr const char* kTagPrelude = R"(
local info = redis.call('INFO', 'replication')
local role = string.match(info, 'role:(%a+)')
local label = string.match(info, 'master_replid:(%x+)')
if role ~= 'master' then return {'role', role} end
local key = KEYS[1]
local function below(a, b) return #a < #b or (#a == #b and a < b) end
-- What is known of tags that are not there: a field for each that was made, and the label of the first one. A server
-- that knows neither is new, unless it took over from another one before the first tag had reached it: then it has that
-- one's id too.
local store = KEYS[#KEYS]
local function remember()
  redis.call('HSET', store, key, '1')
  redis.call('HSETNX', store, 'label', label)
end
local function is_forgotten(rewind)
  local known = redis.call('HMGET', store, key, 'label')
  if known[1] then return true end
  if rewind then return false end
  if known[2] then return known[2] ~= label end
  local before = string.match(info, 'master_replid2:(%x+)')
  return before and string.find(before, '[^0]') ~= nil
end
)";

// Worded unlike the other stores: here a missing tag may be one that was forgotten.
inline constexpr const char* kHowToMake =
    "If the server has forgotten it, make it and raise it above all ids in use (`idgen segment advance`). If it is "
    "new, make it with "
    "`idgen segment create`, or set store_create = true";

// row: {'unknown'}, {'forgotten'}, or {'label', where it stands, its label, the server's}.
[[noreturn]] inline void throw_life(const std::string& shown, const std::string& name_space, const std::string& tag,
                                    const Reply& row) {
  if (row[0] == "unknown") throw_tag_unknown(name_space, tag, shown, kHowToMake);
  if (row[0] == "forgotten") {
    throw Error(Status::tag_unknown,
                tag_name(name_space, tag) + " is not in the store " + shown +
                    ", but it was there before, or the server has restarted or failed over since and may have "
                    "forgotten it: so it is not made. Make it with `idgen segment create` and raise it above all ids "
                    "in use with `idgen segment advance`");
  }
  throw Error(
      Status::store_regressed,
      tag_name(name_space, tag) + " stands at " + row[1] + " in " + shown +
          ", but was written in another life of the server (" + row[2].substr(0, 8) + ", now " + row[3].substr(0, 8) +
          "): after a restart or failover it may have forgotten grants. Raise the tag above all ids in use with "
          "`idgen segment advance`");
}

// As the scripts are told.
inline std::string rewind_accepted(const Parameters& parameters) {
  return parameters.accepts_loss("rewind") ? "1" : "0";
}

// For describe(): what the server may forget, and what is done about it.
inline std::string describe_life(const std::string& shown, const Settings& settings, const Parameters& parameters) {
  std::string text = "store: " + shown +
                     " (Redis); each grant is one script, acknowledged by the master before its first id is issued\n"
                     "restart, failover, eviction of the server: it may have forgotten grants, so nothing more is "
                     "granted until the tag was raised above all ids in use (`idgen segment advance`)";
  text += parameters.accepts_loss("rewind")
              ? ". accept_loss = rewind: NOT HERE: it continues with what the server remembers, and ids may be issued "
                "twice\n"
          : settings.create ? "; no id is issued twice, unless the server comes back empty\n"
                            : "; no id is issued twice\n";
  if (settings.create) {
    std::string accepted;
    for (const char* const setting : {"appendonly", "appendfsync", "maxmemory-policy"}) {
      if (parameters.accepts_loss(setting)) accepted += (accepted.empty() ? "" : ", ") + std::string(setting);
    }
    text +=
        "server that comes back empty: store_create = true takes it for a new one; its tags begin at 0, and ids ARE "
        "ISSUED TWICE. ";
    text += accepted.empty()
                ? "Only FLUSHALL or the loss of its files does that\n"
                : "A restart or an eviction is enough for that, because of accept_loss = " + accepted + "\n";
  }
  return text;
}
inline constexpr const char* kDescribeReplicas =
    "a first replica that joins, or none for repl-backlog-ttl, counts as a failover: add replicas before tags\n"
    "a copy of the server's memory that goes on beside it (a cloned machine) is not noticed\n";

// Commands for redis-cli, which make a tag.
inline constexpr const char* kReplidNote = "# MASTER_REPLID: as INFO replication says it\n";

// In the form that redis-cli takes.
inline std::string cli_word(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  bool is_plain = !text.empty();
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7F || c == '"' || c == '\\') {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      is_plain = false;
    } else {
      quoted += c;
      is_plain = is_plain && c != '\'';
    }
  }
  return is_plain ? text : quoted + "\"";
}
// `fields`: with their values.
inline std::string cli_make(const std::string& row, std::initializer_list<const char*> fields) {
  std::string text;
  for (const char* const field : fields) text += "HSETNX " + row + " " + field + "\n";
  return text + "HSETNX " + row + " label MASTER_REPLID\n";
}
inline std::string cli_remember(const std::string& store, const std::string& key) {
  return "HSET " + store + " " + key + " 1\nHSETNX " + store + " label MASTER_REPLID\n";
}

// Each key with this prefix, once or more.
template <class Each>
void scan(RedisConnection& server, const std::string& shown, const std::string& pattern, Each&& each) {
  std::string cursor = "0";
  do {
    const Reply page = server.command({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"}, "SCAN");
    if (page.is_error()) throw Error(Status::store_permission, shown + ": " + page.text());
    cursor = page[0];
    for (const std::string& key : page.list(1)) each(key);
  } while (cursor != "0");
}

}  // namespace idgen::module
