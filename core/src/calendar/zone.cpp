#include "idgen/zone.hpp"

#include <chrono>
#include <limits>
#include <utility>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "idgen/zone_module.h"
#include "module/module_loader.hpp"

namespace idgen {
namespace {

class FixedZone final : public Zone {
 public:
  explicit FixedZone(std::int64_t offset_s) : offset_s_(offset_s) {}
  ZoneSpan at(std::int64_t) const override {
    using Limits = std::numeric_limits<std::int64_t>;
    return {Limits::min(), Limits::max(), offset_s_};
  }

 private:
  const std::int64_t offset_s_;
};

class ModuleZone final : public Zone {
 public:
  explicit ModuleZone(const idgen_module_zone_t& zone) : zone_(zone) {}
  ModuleZone(const ModuleZone&) = delete;
  ModuleZone& operator=(const ModuleZone&) = delete;
  ~ModuleZone() override { zone_.close(zone_.ctx); }

  static void check(std::int32_t status, const idgen_module_error& err) {
    if (status != 0) throw Error(static_cast<Status>(status), err.message, err.retry_after_ns);
  }
  ZoneSpan at(std::int64_t unix_s) const override {
    idgen_zone_span span{};
    idgen_module_error err{};
    check(zone_.at(zone_.ctx, unix_s, &span, &err), err);
    return {span.from_s, span.until_s, span.offset_s};
  }

 private:
  const idgen_module_zone_t zone_;
};

// Seconds of "+08:00" and "-03:30". False: the name is none of an offset.
bool find_offset(const std::string& name, std::int64_t& offset_s) {
  if (name.empty() || (name[0] != '+' && name[0] != '-')) return false;
  const auto digit = [&](std::size_t i) { return name[i] >= '0' && name[i] <= '9' ? name[i] - '0' : 100; };
  const bool has_form = name.size() == 6 && name[3] == ':';
  const int hours = has_form ? digit(1) * 10 + digit(2) : 100, minutes = has_form ? digit(4) * 10 + digit(5) : 100;
  if (hours > 14 || minutes > 59) {
    throw Error(Status::value, concat({"zone = ", quote(name),
                                       "; allowed are offsets from -14:59 to +14:59, written like "
                                       "+08:00, names such as Europe/Berlin, and UTC"}));
  }
  offset_s = (name[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  return true;
}

}  // namespace

LocalTime Zone::local_time(std::int64_t unix_ms) const {
  using namespace std::chrono;
  const auto unix_time = floor<seconds>(sys_time<milliseconds>(milliseconds(unix_ms)));
  const std::int64_t unix_s = unix_time.time_since_epoch().count();
  const sys_seconds local{seconds{unix_s + at(unix_s).offset_s}};
  const auto day = floor<days>(local);
  const year_month_day date{day};
  const hh_mm_ss<seconds> time{local - day};
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<std::int32_t>(static_cast<unsigned>(date.month())),
          .day = static_cast<std::int32_t>(static_cast<unsigned>(date.day())),
          .hour = static_cast<std::int32_t>(time.hours().count()),
          .minute = static_cast<std::int32_t>(time.minutes().count()),
          .second = static_cast<std::int32_t>(time.seconds().count())};
}

std::shared_ptr<const Zone> open_zone(const std::string& name, const std::string& module_path,
                                      const std::string& directory) {
  std::int64_t offset_s = 0;
  if (name.empty() || name == "UTC" || find_offset(name, offset_s)) return std::make_shared<FixedZone>(offset_s);
  const ModuleName needed{.what = "zone = " + in_quotes(name),
                          .name = "zone",
                          .package = "libdate-tz3 tzdata",
                          .abi = IDGEN_ZONE_MODULE_ABI};
  const auto* const module = static_cast<const idgen_zone_module*>(load_module(needed, module_path, directory));
  idgen_module_zone_t zone{};
  idgen_module_error err{};
  ModuleZone::check(module->open(name.c_str(), &zone, &err), err);
  try {
    return std::make_shared<ModuleZone>(zone);
  } catch (...) {
    zone.close(zone.ctx);
    throw;
  }
}

}  // namespace idgen
