// The module of time zones: names and rules of the system's tz database, read by Howard Hinnant's date library. It
// keeps no state of the process: neither TZ nor the C library's idea of a local time is looked at.
#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "guard.hpp"
#include "idgen/text.hpp"
#include "idgen/zone_module.h"

namespace {

using idgen::Error;
using idgen::Status;
using idgen::module::guard;

const date::tzdb& database() {
  try {
    return date::get_tzdb();
  } catch (const std::exception& error) {
    throw Error(Status::unsupported,
                std::string("the tz database cannot be read: ") + error.what() + ". Install it (Debian: tzdata)");
  }
}

// "GMT+8", "UTC+08:00": the offset behind the name, as it is written alone. The zone Etc/GMT-8 has the other sign.
std::string offset_in(std::string_view name) {
  const std::size_t sign = name.find_first_of("+-");
  const std::string_view before = name.substr(0, sign);
  if (sign == name.npos || (before != "GMT" && before != "UTC" && before != "UT" && before != "Z")) return "";
  std::string offset(name.substr(sign));
  if (offset.size() == 2 || offset.find(':') == 2) offset.insert(1, "0");
  if (offset.size() == 3) offset += ":00";
  for (std::size_t i = 1; i < offset.size(); ++i)
    if ((i == 3) != (offset[i] == ':') || (i != 3 && (offset[i] < '0' || offset[i] > '9'))) return "";
  return offset.size() == 6 ? offset : "";
}

std::string meant(const date::tzdb& known, std::string_view name) {
  if (const std::string offset = offset_in(name); !offset.empty()) return "did you mean '" + offset + "'?";
  std::string best;
  std::size_t least = name.size() / 3 + 1;
  for (const date::time_zone& zone : known.zones) {
    const std::size_t distance = idgen::edit_distance(name, zone.name());
    if (distance < least) {
      least = distance;
      best = zone.name();
    }
  }
  return best.empty() ? "allowed are names such as Europe/Berlin, offsets such as +08:00, and UTC"
                      : "did you mean '" + best + "'?";
}

const date::time_zone* locate(const char* name) {
  const date::tzdb& known = database();
  const auto found = std::ranges::find(known.zones, std::string_view(name), &date::time_zone::name);
  if (found != known.zones.end()) return &*found;
  throw Error(Status::value,
              "the tz database of this system has no zone " + idgen::in_quotes(name) + "; " + meant(known, name));
}

// The library reads the changes of the clocks that a file lists, and not the rule in its last line for all later ones:
// "CET-1CEST,M3.5.0,M10.5.0/3". Files that list none but the past (zic -b slim) would give the wrong hour.
bool has_rule(const std::string& zone) {
  for (const char* const folder : {"/usr/share/zoneinfo/", "/usr/lib/zoneinfo/", "/usr/share/lib/zoneinfo/"}) {
    std::ifstream file(folder + zone, std::ios::binary);
    if (!file) continue;
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::size_t end = bytes.find_last_not_of('\n');
    const std::size_t begin = end == bytes.npos ? bytes.npos : bytes.rfind('\n', end);
    return begin != bytes.npos && bytes.find(',', begin) <= end;
  }
  return false;
}

struct OpenZone {
  const date::time_zone* zone;
  bool has_rule;
};

std::int32_t at(void* ctx, std::int64_t unix_s, idgen_zone_span* span, idgen_module_error* err) {
  return guard(err, [&] {
    const auto& open = *static_cast<const OpenZone*>(ctx);
    // The years that a pattern can write. Beyond, the library's arithmetic would overflow.
    constexpr std::int64_t least = -62'167'219'200, most = 253'402'300'799;
    const date::sys_seconds moment{std::chrono::seconds{std::clamp(unix_s, least, most)}};
    const date::sys_info info = open.zone->get_info(moment);
    constexpr std::int64_t listed = 32'503'680'000;  // the year 3000: no file lists a change so late
    if (open.has_rule && info.end.time_since_epoch().count() > listed) {
      throw Error(Status::unsupported, "the tz database of this system lists no changes of the clocks of " +
                                           open.zone->name() + " from " +
                                           std::to_string(info.begin.time_since_epoch().count()) +
                                           " (Unix seconds) on; install one that does (Debian: tzdata; zic -b fat)");
    }
    span->from_s = info.begin.time_since_epoch().count();
    span->until_s = info.end.time_since_epoch().count();
    span->offset_s = info.offset.count();
  });
}

std::int32_t open(const char* zone, idgen_module_zone_t* out, idgen_module_error* err) {
  return guard(err, [&] {
    const date::time_zone* const found = locate(zone);
    found->get_info(date::sys_seconds{});  // reads its file now: later calls read nothing and wait for nobody
    *out = {.ctx = new OpenZone{found, has_rule(found->name())}, .at = &at, .close = [](void* ctx) {
              delete static_cast<OpenZone*>(ctx);
            }};
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const idgen_zone_module* idgen_module_zone() {
  static constexpr idgen_zone_module module = {
      .abi = IDGEN_ZONE_MODULE_ABI, .reserved = 0, .name = "zone", .open = &open};
  return &module;
}
