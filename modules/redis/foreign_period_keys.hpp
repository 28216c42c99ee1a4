// Serials from one key for each day, month or year, which other programs may count in as well, by INCR, and which
// expires: segment.schema = incr. The key of a period is TAG:DATE, such as orders:20261121.
//
// A key that has expired would begin again. So a row beside the keys remembers the latest period and how far it had
// come: nothing is granted in a period before it, and nothing in it if its key has gone or stands below. What the
// server itself forgets: tag_life.hpp.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "connection.hpp"
#include "serial_text.hpp"
#include "tag_life.hpp"

namespace idgen::module {

// The row: date (of the latest period; '' until there is one), number (the highest in it that idgen knows of), label,
// step, grants, updated_unix_ms, rate, holder. Numbers are below 2^40, so Lua's doubles hold them.
// ARGV[1]: the tag. A script that fails halfway has raised the key and not the row, which is a gap.
inline constexpr const char* kPeriodRow = R"(
local row = redis.call('HMGET', key, 'date', 'number', 'label', 'step')
local date, floor = row[1], row[2]
local function text(number) return string.format('%.0f', number) end
local function is_number(found)
  return string.find(found, '^%d+$') and #found <= 13 and text(tonumber(found)) == found
    and tonumber(found) < 1099511627776
end
local function counter_of(day) return ARGV[1] .. ':' .. day end
-- What the key of a period says, false if it is not there; and whether it is a number of a serial.
local function counted(day)
  if day == '' then return false, true end
  local found = redis.pcall('GET', counter_of(day))
  if type(found) == 'table' then
    if not string.find(found.err, 'WRONGTYPE') then redis.call('GET', counter_of(day)) end -- throws it
    return '(no text)', false
  end
  return found, not found or is_number(found)
end
-- The key of a period as other programs may write it, with the date's parts apart; nil if none is there.
local function counted_elsewhere(day)
  for _, year in ipairs({string.sub(day, 1, 4), string.sub(day, 3, 4)}) do
    local parts = {year}
    for i = 5, #day, 2 do table.insert(parts, string.sub(day, i, i + 1)) end
    for _, gap in ipairs({'', ':', '-', '/', '.', '_', ' '}) do
      for _, joint in ipairs({':', '-', '/', '.', '_', ''}) do
        local name = ARGV[1] .. joint .. table.concat(parts, gap)
        if name ~= counter_of(day) and redis.pcall('EXISTS', name) == 1 then return name end
      end
    end
  end
end
local function no_counter(day, found)
  return {'refused', 'the key ' .. counter_of(day) .. ' holds "' .. string.sub(found, 1, 40)
    .. '", which is no number below 2^40. Set it at or above all numbers in use'}
end
local function no_row(field, found)
  return {'refused', 'the field ' .. field .. ' of the key ' .. key .. ' holds "' .. string.sub(found or '', 1, 40)
    .. '". Set it right, the date as in the names of the keys and the number at or above all in use'}
end
if date and not string.find(date, '^%d*$') then return no_row('date', date) end
if date and not (floor and is_number(floor)) then return no_row('number', floor) end
local function make()
  date, floor = '', '0'
  redis.call('HSET', key, 'date', date, 'number', floor, 'grants', '0', 'label', label)
  remember()
end
local function relabel() redis.call('HSET', key, 'label', label) remember() end
-- Raises the key of a period from what it says, and lets it live for `seconds` more at least, or as long after its
-- beginning, if that is still to come. One without an end is somebody else's wish.
local function raise(day, from, to, seconds, begin)
  local name = counter_of(day)
  local life = tonumber(seconds) + math.max(0, tonumber(begin) - tonumber(redis.call('TIME')[1]))
  local left = redis.call('TTL', name)
  redis.call('INCRBY', name, text(tonumber(to) - tonumber(from or '0')))
  if not from or (left >= 0 and left < life) then redis.call('EXPIRE', name, text(life)) end
  date, floor = day, to
  redis.call('HSET', key, 'date', day, 'number', to)
end
local function stamp(now) redis.call('HSET', key, 'updated_unix_ms', now) end
local function granted(now)
  redis.call('HSET', key, 'grants', text((tonumber(redis.call('HGET', key, 'grants')) or 0) + 1))
  stamp(now)
end
local function answer()
  local r = redis.call('HMGET', key, 'date', 'number', 'grants', 'updated_unix_ms', 'step', 'rate', 'holder')
  local found, is_good = counted(r[1])
  if found and is_good and below(r[2], found) then r[2] = found end
  return {'ok', r[1], r[2], r[3] or '0', r[4] or '0', r[5] or '0', r[6] or '0', r[7] or ''}
end
)";

// ARGV: tag, date, above (in the period of that date), step, wanted, the last number that the pattern holds, how long
// the key lives on, now, whether to make the row, whether a rewind is accepted, rate, holder, when the period of that
// date begins (Unix s). Answers 'ok', the date, the number up to which is granted, and how many.
inline constexpr const char* kPeriodTake = R"(
local asked, above, last = ARGV[2], ARGV[3], tonumber(ARGV[6])
if not date then
  if ARGV[9] ~= '1' then return {'unknown'} end
  if is_forgotten(ARGV[10] == '1') then return {'forgotten'} end
  make()
elseif row[3] ~= label then
  if ARGV[10] ~= '1' then return {'label', 'number ' .. floor .. ' of ' .. date, row[3] or 'none', label} end
  relabel()
end
if date ~= '' and #date ~= #asked then return {'unit', date} end
local begins = date < asked
local day = begins and asked or date
local stands, is_good = counted(day)
if not is_good then return no_counter(day, stands) end
if not begins and not stands then return {'gone', day, floor} end
if not begins and below(stands, floor) then return {'lowered', day, floor, stands} end
local other = date == '' and not stands and counted_elsewhere(day)
if other then return {'elsewhere', day, other} end
local from = stands or '0'
if day == asked and below(from, above) then from = above end
local step = ARGV[4]
if row[4] and row[4] ~= '0' then
  if not is_number(row[4]) then return no_row('step', row[4]) end
  step = row[4]
end
local left = last - tonumber(from)
if left < 1 then return {'full', day, from} end
local count = math.min(math.max(tonumber(step), tonumber(ARGV[5]), 1), left)
local to = text(tonumber(from) + count)
granted(ARGV[8])
redis.call('HSET', key, 'rate', ARGV[11], 'holder', ARGV[12])
raise(day, stands, to, ARGV[7], ARGV[13])
return {'ok', day, to, text(count)}
)";
// ARGV: tag, date, last, unused, now. Not if the key stands there and the row above: it was lowered, which take is to
// notice.
inline constexpr const char* kPeriodGiveBack = R"(
if not date then return {'unknown'} end
if row[3] == label and date == ARGV[2] and floor == ARGV[3] and counted(date) == ARGV[3] then
  local to = text(tonumber(ARGV[3]) - tonumber(ARGV[4]))
  redis.call('HSET', key, 'number', to)
  redis.call('INCRBY', counter_of(date), '-' .. ARGV[4])
  stamp(ARGV[5])
end
return {'ok'}
)";
// ARGV: tag, step, now.
inline constexpr const char* kPeriodSetStep = R"(
if not date then return {'unknown'} end
redis.call('HSET', key, 'step', ARGV[2])
stamp(ARGV[3])
return answer()
)";
// ARGV: tag, now, whether a rewind is accepted. As kCreate.
inline constexpr const char* kPeriodCreate = R"(
if date and row[3] ~= label and ARGV[3] ~= '1' then
  return {'label', 'number ' .. floor .. ' of ' .. date, row[3] or 'none', label}
end
if date then return {'exists', answer()} end
make()
stamp(ARGV[2])
return answer()
)";
// ARGV: tag.
inline constexpr const char* kPeriodShow = R"(
if not date then return {'unknown'} end
return answer()
)";
// ARGV: tag, date and number of the target, now, how long the key lives on, when the period of that date begins (Unix
// s). Where numbers may have been granted, the next one at least is passed: in the latest period, or in a key that
// stands. From now on the row belongs to this life of the server.
inline constexpr const char* kPeriodAdvance = R"(
if not date then return {'unknown'} end
local target, number = ARGV[2], ARGV[3]
if date ~= '' and #date ~= #target then return {'unit', date} end
local begins = date < target
local day = begins and target or date
local stands, is_good = counted(day)
if not is_good then return no_counter(day, stands) end
local to = begins and '0' or floor
if stands and below(to, stands) then to = stands end
if day == target and below(to, number) then
  to = number
elseif stands or not begins then
  if tonumber(to) >= 1099511627775 then return {'full', day, to} end
  to = text(tonumber(to) + 1)
end
raise(day, stands, to, ARGV[5], ARGV[6])
relabel()
granted(ARGV[4])
return answer()
)";

class PeriodKeys final : public WithWindows<ConnectedStore<RedisConnection>, RedisConnection> {
 public:
  static constexpr std::string_view kSchema = "incr";

  explicit PeriodKeys(const Settings& settings) : WithWindows(settings, kParameters) {
    if (!settings_.pattern.empty()) text_.emplace(text_of(settings_));
    use([](RedisConnection&) {});
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    (void)text_of(settings);
    const std::string row = cli_word(keys_of(name_space, tag)[0]);
    return kReplidNote + cli_make(row, {"date \"\"", "number 0", "grants 0"}) + cli_remember(std::string(kStore), row);
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    const TimeUnit unit = text().pattern().finest();
    return use([&](RedisConnection& server) {
      const Reply reply = script(
          server, kPeriodTake, name_space, tag,
          {date_of(request.above, unit), std::to_string(request.above & kLastSerial),
           std::to_string(std::min(request.step, kLastSerial)), std::to_string(std::min(request.wanted, kLastSerial)),
           std::to_string(text().last_number()), lifetime_of(unit), now(), settings_.create ? "1" : "0",
           rewind_accepted(parameters_), std::to_string(request.rate), request.holder, begin_of(request.above, unit)});
      const std::uint64_t count = number(reply[3]);
      return SegmentGrant{.first = id_of(tag, reply[1], number(reply[2])) - count + 1, .count = count};
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](RedisConnection& server) {
      script(server, kPeriodGiveBack, name_space, tag,
             {date_of(last, text().pattern().finest()), std::to_string(last & kLastSerial), std::to_string(unused),
              now()});
    });
  }
  void create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    refuse_above(above);
    use([&](RedisConnection& server) {
      if (script(server, kPeriodCreate, name_space, tag, {now(), rewind_accepted(parameters_)})[0] == "exists")
        throw_tag_exists(name_space, tag, shown(server, name_space, tag).max_id);
    });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return use([&](RedisConnection& server) { return shown(server, name_space, tag); });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    check_advance(target);
    if (target >> kSerialBits == 0) {
      throw Error(Status::value, std::to_string(target) + " is in no period; name the serial, with --above");
    }
    const TimeUnit unit = text().pattern().finest();
    return use([&](RedisConnection& server) {
      (void)shown(server, name_space, tag);  // throws if the row cannot be right, and it stays as it is
      return info_of(name_space, tag,
                     script(server, kPeriodAdvance, name_space, tag,
                            {date_of(target, unit), std::to_string(target & kLastSerial), now(), lifetime_of(unit),
                             begin_of(target, unit)}));
    });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    return use([&](RedisConnection& server) {
      return info_of(name_space, tag, script(server, kPeriodSetStep, name_space, tag, {std::to_string(step), now()}));
    });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) override {
    use([&](RedisConnection& server) {
      std::map<std::string, SegmentInfo> rows;
      scan(server, shown_, std::string(kRowPrefix) + "*", [&](const std::string& key) {
        const std::string tag = key.substr(kRowPrefix.size());
        try {
          rows[tag] = row_or_damage([&] { return shown(server, "default", tag); });
        } catch (const Error& error) {
          if (error.status() != Status::tag_unknown) throw;
        }
      });
      for (const auto& [tag, info] : rows) row(info);
    });
  }
  std::string describe() override {
    return describe_life(shown_, settings_, parameters_) + kDescribeReplicas +
           "schema: incr; the key TAG:DATE counts, which other programs raise by INCR. idgen lets it live for three "
           "periods and a day after each grant, and refuses a key that has gone or was lowered in the latest period. A "
           "program that counts in a key after it has expired begins it again\n";
  }

 private:
  static constexpr std::string_view kStore = "idgen.serial";       // what is known of all rows
  static constexpr std::string_view kRowPrefix = "idgen.serial:";  // TAG

  // Throws Error{value}.
  static Arguments keys_of(const std::string& name_space, const std::string& tag) {
    if (name_space != "default") {
      throw Error(Status::value, concat({"namespace = ", quote(name_space),
                                         " with segment.schema = incr: its keys have no namespace. Leave namespace at "
                                         "\"default\", and use different tags"}));
    }
    return {std::string(kRowPrefix) + tag, std::string(kStore)};
  }
  static std::string now() { return std::to_string(store_clock_unix_ms()); }
  std::uint64_t number(const std::string& text) const { return stored_number(shown_, text.c_str()); }

  // The period of an id, all units from the year on.
  static std::string date_of(std::uint64_t id, TimeUnit unit) {
    const LocalTime when = idgen::begin_of(id >> kSerialBits, unit);
    char out[48];
    std::snprintf(out, sizeof out, "%04d%02d%02d%02d", when.year, when.month, when.day, when.hour);
    return std::string(out).substr(0, length_of(unit));
  }
  static std::size_t length_of(TimeUnit unit) noexcept {
    return unit == TimeUnit::year ? 4 : unit == TimeUnit::month ? 6 : unit == TimeUnit::day ? 8 : 10;
  }
  // Unix seconds, as if all zones were UTC's.
  static std::string begin_of(std::uint64_t id, TimeUnit unit) {
    const LocalTime when = idgen::begin_of(id >> kSerialBits, unit);
    return std::to_string(days_of(when) * 86'400 + when.hour * 3600);
  }
  // In seconds: three periods, so that whoever is a period behind still finds the key; and a day, for zones.
  static std::string lifetime_of(TimeUnit unit) {
    constexpr std::int64_t kDay = 86'400;
    return std::to_string(kDay + 3 * (unit == TimeUnit::year    ? 366 * kDay
                                      : unit == TimeUnit::month ? 31 * kDay
                                      : unit == TimeUnit::day   ? kDay
                                                                : 3600));
  }
  // 0 while there is no period. Throws Error{store_damaged} for a date that is none.
  std::uint64_t id_of(const std::string& tag, const std::string& date, std::uint64_t number) const {
    if (date.empty()) return 0;
    const auto part = [&](std::size_t begin, std::size_t size) {
      return begin < date.size() ? static_cast<std::int32_t>(this->number(date.substr(begin, size))) : 0;
    };
    for (const TimeUnit unit : {TimeUnit::year, TimeUnit::month, TimeUnit::day, TimeUnit::hour}) {
      if (date.size() != length_of(unit)) continue;
      LocalTime when;
      when.year = part(0, 4);
      when.month = std::max(part(4, 2), 1);
      when.day = std::max(part(6, 2), 1);
      when.hour = part(8, 2);
      if (when.year < 1970) break;
      const std::uint64_t id = period_of(when, unit) << kSerialBits | number;
      if (date_of(id, unit) == date) return id;
    }
    throw Error(Status::store_damaged,
                concat({shown_, ": the row of tag ", quote(tag), " says the date ", quote(date), ", which is none"}));
  }

  // Throws Error{value}.
  static SerialText text_of(const Settings& settings) {
    if (settings.pattern.empty()) throw_no_pattern();
    SerialText text(settings.pattern);
    if (text.has_date()) return text;
    throw Error(Status::value, concat({"pattern ", quote(settings.pattern),
                                       " with segment.schema = incr: it has a key for each period, and this pattern "
                                       "has no date. Give it one, or use segment.schema = idgen"}));
  }
  [[noreturn]] static void throw_no_pattern() {
    throw Error(Status::value,
                "segment.schema = incr has serials: set kind = serial, and a pattern with a date, such as "
                "\"SO{yyyyMMdd}{000000}\"");
  }
  const SerialText& text() const {
    if (!text_) throw_no_pattern();
    return *text_;
  }
  // Throws the error that a script reports.
  Reply script(RedisConnection& server, const char* body, const std::string& name_space, const std::string& tag,
               const Arguments& arguments) const {
    Arguments all = {tag};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Reply reply = server.script(prelude_, body, keys_of(name_space, tag), all);
    const std::string outcome = reply[0];
    if (outcome == "ok" || outcome == "exists") return reply;
    if (outcome == "unknown") {
      throw Error(Status::tag_unknown, concat({tag_name(name_space, tag), " is not in the store ", shown_, ". ",
                                               kHowToMake, ": it begins above the number in its period's key"}));
    }
    if (outcome == "forgotten" || outcome == "label") throw_life(shown_, name_space, tag, reply);
    if (outcome == "refused")
      throw Error(Status::store_damaged, concat({shown_, ": tag ", quote(tag), ": ", reply[1]}));
    if (outcome == "unit") {
      throw Error(Status::format_mismatch,
                  concat({"tag ", quote(tag), " has come to the period ", reply[1], ", and the pattern ",
                          quote(text().pattern().text()),
                          " has longer or shorter ones; take another tag for another pattern"}));
    }
    (void)id_of(tag, reply[1], 0);  // throws if it is no date
    const std::string key = tag + ":" + reply[1];
    if (outcome == "full") {
      throw Error(Status::exhausted,
                  concat({"tag ", quote(tag), ": the key ", quote(key), " stands at ", reply[2],
                          ", the last number that the pattern holds, or above. It goes on with the next period. Give "
                          "the number more digits, or let it widen with a '+' behind its width"}));
    }
    if (outcome == "elsewhere") {
      throw Error(Status::format_mismatch,
                  concat({shown_, ": tag ", quote(tag), " counts in the key ", quote(key), ", which is not there, and ",
                          quote(reply[2]),
                          " is. If programs count there, their numbers would come again: let them count in the first "
                          "one. If none does, delete that key, or raise the tag above all serials in use with `idgen "
                          "segment advance --above`"}));
    }
    const bool has_gone = outcome == "gone";  // or "lowered"
    throw Error(Status::store_regressed,
                concat({shown_, ": the key ", quote(key), has_gone ? " has gone" : " stands at ",
                        has_gone ? "" : reply[3], ", and stood at ", reply[2],
                        ": it has expired, was deleted or was set. Raise the tag above all serials in use with "
                        "`idgen segment advance --above`"}));
  }
  SegmentInfo shown(RedisConnection& server, const std::string& name_space, const std::string& tag) const {
    return info_of(name_space, tag, script(server, kPeriodShow, name_space, tag, {}));
  }
  SegmentInfo info_of(const std::string& name_space, const std::string& tag, const Reply& row) const {
    SegmentInfo info;
    info.name_space = name_space;
    info.tag = tag;
    info.max_id = id_of(tag, row[1], number(row[2]));
    info.grants = number(row[3]);
    info.updated_unix_ms = static_cast<std::int64_t>(number(row[4]));
    info.step = number(row[5]);
    info.rate = number(row[6]);
    info.holder = row[7];
    return info;
  }

  std::optional<SerialText> text_;
  const std::string prelude_ = std::string(kTagPrelude) + kPeriodRow;
};

}  // namespace idgen::module
