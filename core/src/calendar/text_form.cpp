#include "idgen/text_form.hpp"

#include <utility>

#include "calendar/period.hpp"
#include "idgen/status.hpp"

namespace idgen {
namespace {

// What the date of two moments has in common, as far as it is written.
LocalTime cut(const LocalTime& when, TimeUnit finest) noexcept {
  LocalTime out;
  if (finest >= TimeUnit::year) out.year = when.year;
  if (finest >= TimeUnit::month) out.month = when.month;
  if (finest >= TimeUnit::day) out.day = when.day;
  if (finest >= TimeUnit::hour) out.hour = when.hour;
  if (finest >= TimeUnit::minute) out.minute = when.minute;
  if (finest >= TimeUnit::second) out.second = when.second;
  return out;
}

}  // namespace

LocalTime LatestPeriod::begin(std::uint64_t period, TimeUnit unit) const noexcept {
  const std::uint64_t known = known_.load(std::memory_order_relaxed);
  if (known >> 32 == period && known != 0) {
    const auto field = [&](unsigned shift, unsigned bits) {
      return static_cast<std::int32_t>(known >> shift & ((1u << bits) - 1));
    };
    return {.year = field(14, 14), .month = field(10, 4), .day = field(5, 5), .hour = field(0, 5)};
  }
  const LocalTime when = begin_of(period, unit);
  if (when.year > 9999) return when;  // refused by whoever asked
  const auto part = [](std::int32_t value) { return static_cast<std::uint64_t>(value); };
  known_.store(period << 32 | part(when.year) << 14 | part(when.month) << 10 | part(when.day) << 5 | part(when.hour),
               std::memory_order_relaxed);
  return when;
}

void TextForm::refuse(Status status, std::initializer_list<Part> why) const {
  throw Error(status, concat({"pattern ", quote(pattern_.text()), concat(why)}));
}

TextForm::TextForm(TextPattern pattern, std::shared_ptr<const Zone> zone, std::optional<Layout> layout, bool is_serial)
    : pattern_(std::move(pattern)), zone_(std::move(zone)), layout_(std::move(layout)), is_serial_(is_serial) {
  const TimeUnit finest = pattern_.finest();
  if (finest == TimeUnit::none) return;
  if (!is_serial_ && (!layout_ || !layout_->find(FieldKind::time))) {
    if (!layout_) {
      refuse(Status::unsupported, {" has a date, and an id says its time only by its layout; give it"});
    }
    refuse(Status::unsupported, {" has a date, and ids of layout '", layout_->text(), "' have no time"});
  }
  if (!is_serial_) return;
  if (finest > TimeUnit::hour) {
    refuse(Status::value,
           {": a serial counts from 1 in each hour, day, month or year; minutes and seconds cannot be in "
            "its pattern"});
  }
  if (!pattern_.is_complete()) {
    refuse(Status::value,
           {": its date comes again, and with it the numbers. Add the units above, up to the year, as in "
            "{yyyyMMdd}"});
  }
}

TextForm::TextForm(std::string_view pattern, std::shared_ptr<const Zone> zone, std::optional<Layout> layout)
    : TextForm(TextPattern::parse(pattern), std::move(zone), std::move(layout), false) {}

TextForm TextForm::of_serials(std::string_view pattern, std::shared_ptr<const Zone> zone) {
  return {TextPattern::parse(pattern), std::move(zone), {}, true};
}

TextForm TextForm::of(const Config& config) {
  const std::string& text = config.get("pattern");
  const std::string& kind = config.get("kind");
  std::shared_ptr<const Zone> zone = open_zone(config.get("zone"), config.get("module.path"), config.get("directory"));
  if (kind == "serial") {
    if (text.empty()) {
      throw Error(Status::value,
                  "kind = serial needs a pattern, such as \"SO{yyyyMMdd}{000000}\"; set the property "
                  "`pattern`");
    }
    return of_serials(text, std::move(zone));
  }
  const std::string& layout = config.get("layout");
  std::optional<Layout> known;
  if (kind == "snowflake" || !layout.empty()) {
    const std::string& epoch = config.get("epoch");
    known = Layout::parse(layout.empty() ? "default" : layout,
                          epoch.empty() ? std::nullopt : std::optional(parse_instant(epoch)));
  }
  return {text.empty() ? "{decimal}" : text, std::move(zone), std::move(known)};
}

LocalTime TextForm::time_of(const WideId& id) const {
  if (pattern_.finest() == TimeUnit::none) return {};
  constexpr std::int64_t kYear0 = -62'167'219'200'000, kYear10000 = 253'402'300'800'000, kDay = 86'400'000;
  const std::int64_t unix_ms = layout_->decode(id).unix_ms;
  const LocalTime when =
      unix_ms < kYear0 - kDay || unix_ms > kYear10000 + kDay ? LocalTime{.year = -1} : zone_->local_time(unix_ms);
  if (const Years years = years_of(pattern_); !years.hold(when.year)) {
    refuse(Status::value, {": it writes the years ", years.first, " to ", years.last, ", and this id is not of one"});
  }
  return when;
}

std::size_t TextForm::write(const WideId& id, char* out) const {
  if (!is_serial_) return pattern_.write(id.value, id.bytes, time_of(id), out);
  const TimeUnit unit = pattern_.finest();
  const auto value = static_cast<std::uint64_t>(id.value);
  if (id.bytes != 8) refuse(Status::value, {": a serial has 8 bytes, not 16"});
  if (unit == TimeUnit::none) return pattern_.write(value, 8, {}, out);
  const LocalTime when = latest_.begin(value >> kSerialBits, unit);
  if (!years_of_serials(pattern_).hold(when.year)) {
    refuse(Status::value, {": ", value, " is no serial of it; its year would be ", when.year});
  }
  return pattern_.write(value & kLastSerial, 8, when, out);
}

TextParts TextForm::read(std::string_view text) const {
  const TextPattern::Read found = pattern_.read(text);
  const TimeUnit finest = pattern_.finest();
  TextParts parts{.id = {found.number, found.id_bytes}, .number = found.number, .finest = finest, .when = found.when};
  const auto fail = [&](std::string_view why) {
    throw Error(Status::text, concat({quote(text), " does not fit the pattern ", quote(pattern_.text()), ": ", why}));
  };
  const bool has_wide_length = found.id_bytes == 16;
  if (layout_ && layout_->is_wide()) {
    parts.id.bytes = 16;
    if (!has_wide_length && pattern_.is_natural())
      fail("it has the length of an id of 8 bytes, and the layout's have 16");
  } else if (has_wide_length && (layout_ || is_serial_)) {
    fail("its number is that of an id of 16 bytes");
  }
  if (is_serial_) {
    if (found.number > (finest == TimeUnit::none ? (std::uint64_t{1} << 63) - 1 : kLastSerial))
      fail("no serial is so large");
    if (found.number == 0) fail("serials begin with 1");
    if (finest != TimeUnit::none) {
      if (found.when.year < 1970) fail("no serial is so old");
      parts.id.value = Id128{period_of(found.when, finest)} << kSerialBits | found.number;
    }
    return parts;
  }
  if (layout_) {
    LocalTime own;
    try {
      own = time_of(parts.id);
    } catch (const Error& error) {
      fail(error.message());
    }
    if (finest != TimeUnit::none) {
      const auto written = [&](const LocalTime& when) {
        char out[TextPattern::kMostText];
        return std::string(out, pattern_.write(parts.id.value, parts.id.bytes, when, out));
      };
      const std::string right = written(own);
      if (right != written(found.when))
        fail(concat({"its date is not that of the id, which is written ", quote(right)}));
    }
    parts.when = cut(own, finest);
  }
  return parts;
}

}  // namespace idgen
