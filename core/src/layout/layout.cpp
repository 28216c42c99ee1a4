// Layouts from text, and what follows from one: ids, fields, capacity, lifetime.
#include "idgen/layout.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();
constexpr double kYearMs = 31557600000.0;  // 365.25 days

constexpr unsigned kSignedBits = 63;  // the top bit of 64 stays clear
constexpr unsigned kUnsignedBits = 64;
constexpr unsigned kWideBits = 127;  // the top bit of 128 stays clear
constexpr unsigned kJavaScriptBits = 53;
constexpr std::int64_t kMaxTickMs = 86400000;  // a day; a longer tick is a mistaken unit

struct KindName {
  FieldKind kind;
  std::string_view name;
  std::uint64_t Parts::*member;  // null for segment, which alone may be wider than 64 bits
};
constexpr std::array<KindName, Layout::kMaxFields> kKinds = {{
    {FieldKind::time, "time", &Parts::time},
    {FieldKind::datacenter, "datacenter", &Parts::datacenter},
    {FieldKind::worker, "worker", &Parts::worker},
    {FieldKind::process, "process", &Parts::process},
    {FieldKind::shard, "shard", &Parts::shard},
    {FieldKind::sequence, "sequence", &Parts::sequence},
    {FieldKind::gene, "gene", &Parts::gene},
    {FieldKind::version, "version", &Parts::version},
    {FieldKind::segment, "segment", nullptr},
    {FieldKind::fixed, "fixed", &Parts::fixed},
}};
constexpr std::uint32_t kNodeKinds =
    static_cast<std::uint32_t>(FieldKind::datacenter) | static_cast<std::uint32_t>(FieldKind::worker) |
    static_cast<std::uint32_t>(FieldKind::process) | static_cast<std::uint32_t>(FieldKind::shard);

constexpr std::uint32_t bit_of(FieldKind kind) { return static_cast<std::uint32_t>(kind); }

const KindName& kind_name(FieldKind kind) {
  return *std::find_if(kKinds.begin(), kKinds.end(), [kind](const KindName& k) { return k.kind == kind; });
}

Id128 part_of(const Parts& parts, FieldKind kind) {
  const auto member = kind_name(kind).member;
  return member == nullptr ? parts.segment : Id128{parts.*member};
}

void set_part(Parts& parts, FieldKind kind, Id128 value) {
  const auto member = kind_name(kind).member;
  if (member == nullptr) {
    parts.segment = value;
  } else {
    parts.*member = static_cast<std::uint64_t>(value);
  }
}

// The largest value of this many bits, up to 128.
constexpr Id128 max_of(unsigned bits) { return bits >= 128 ? ~Id128{0} : (Id128{1} << bits) - 1; }

constexpr std::uint64_t power_saturated(unsigned bits) { return bits >= 64 ? kSaturated : std::uint64_t{1} << bits; }

std::string decimal(Id128 value) {
  std::string out;
  do {
    out += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string count_of(unsigned bits) { return std::to_string(bits) + (bits == 1 ? " bit" : " bits"); }

// A macro, so that it joins the literals around it.
#define EXAMPLE "'time:41ms worker:10 sequence:12'"

// ---------------------------------------------------------------------------------------------- reading

[[noreturn, gnu::cold]] void reject(std::string_view layout, const std::string& reason) {
  throw Error(Status::layout, concat({"layout ", in_quotes(layout), ": ", reason}));
}

// One parsed word of a layout.
struct FieldText {
  FieldKind kind;
  unsigned bits;
  std::int64_t tick_ms;                // of a time field
  std::optional<std::uint64_t> value;  // of a fixed field, if it has one
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Saturates: every caller has a maximum far below.
std::int64_t to_number(std::string_view digits) {
  std::int64_t value = 0;
  return std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{} ? value : kNever;
}

// "" and "ms", "s", "x10ms": the length of a tick.
std::int64_t read_tick(std::string_view layout, std::string_view word, std::string_view unit) {
  if (unit.empty() || unit == "ms") return 1;
  if (unit == "s") return 1000;
  if (unit.starts_with('x') && unit.ends_with("ms") && unit.size() > 3) {
    const std::string_view count = unit.substr(1, unit.size() - 3);
    if (is_number(count)) {
      const std::int64_t tick = to_number(count);
      if (tick >= 1 && tick <= kMaxTickMs) return tick;
      reject(layout, "the tick of " + in_quotes(word) + " is out of range; a tick is 1 to " +
                         std::to_string(kMaxTickMs) + " ms");
    }
  }
  reject(layout, in_quotes(word) +
                     " has no unit of time after its bits; write ms, s or a tick of that many ms such as x10ms: "
                     "'time:41ms', 'time:32s', 'time:39x10ms'");
}

// "" and "=5": what a fixed field holds.
std::optional<std::uint64_t> read_value(std::string_view layout, std::string_view word, std::string_view rest,
                                        unsigned bits) {
  if (rest.empty()) return std::nullopt;
  const std::string_view digits = rest.substr(1);
  if (!rest.starts_with('=') || !is_number(digits))
    reject(layout, concat({in_quotes(word), " has ", in_quotes(rest), " after its bits; write fixed:BITS=VALUE"}));
  std::uint64_t value = 0;
  const bool fits = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{};
  if (!fits || value > max_of(bits)) {
    reject(layout, concat({"the value of ", in_quotes(word), " is too large for ", count_of(bits), "; 0 to ",
                           decimal(max_of(bits)), " are allowed"}));
  }
  return value;
}

const Preset* find_preset(std::string_view name) {
  const auto all = presets();
  const auto found = std::find_if(all.begin(), all.end(), [name](const Preset& preset) { return preset.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// Ends a reason that names an unknown word.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view near = nearest(word, names);
  return near.empty() ? ". " : "; did you mean '" + std::string(near) + "'? ";
}

bool is_kind(std::string_view name) {
  return std::any_of(kKinds.begin(), kKinds.end(), [name](const KindName& known) { return known.name == name; });
}

FieldKind read_kind(std::string_view layout, std::string_view name) {
  std::array<std::string_view, kKinds.size()> names;
  std::string all;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].name == name) return kKinds[i].kind;
    names[i] = kKinds[i].name;
    all.append(i == 0 ? "" : ", ").append(names[i]);
  }
  // Only now: "datacenter" is a preset and a field.
  if (find_preset(name) != nullptr)
    reject(layout, "the preset " + in_quotes(name) + " stands alone; write it without other words");
  reject(layout, "no field is called " + in_quotes(name) + did_you_mean(name, names) + "Fields: " + all);
}

[[gnu::cold]] FieldText read_field(std::string_view layout, std::string_view word) {
  if (word == "unsigned") reject(layout, "'unsigned' is written once, before the first field");
  const std::size_t colon = word.find(':');
  const FieldKind kind = read_kind(layout, word.substr(0, colon));
  const std::string name(field_name(kind));
  const std::string_view size = colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1);
  const std::size_t digits = std::min(size.find_first_not_of("0123456789"), size.size());
  if (digits == 0) {
    reject(layout, in_quotes(word) + " has no number of bits; write " + name + ":BITS, such as " + name +
                       (kind == FieldKind::time ? ":41ms" : ":10"));
  }
  const unsigned most = kind == FieldKind::segment ? kWideBits : kSignedBits;
  const std::int64_t bits = to_number(size.substr(0, digits));
  if (bits == 0) reject(layout, name + " has 0 bits; leave it out or give it 1 to " + std::to_string(most));
  if (bits > most) {
    reject(layout, name + " has " + std::string(size.substr(0, std::min<std::size_t>(digits, 20))) +
                       (digits > 20 ? "..." : "") + " bits; 1 to " + std::to_string(most) + " are allowed");
  }
  const std::string_view unit = size.substr(digits);
  const auto width = static_cast<unsigned>(bits);
  if (kind == FieldKind::time) return {kind, width, read_tick(layout, word, unit), std::nullopt};
  if (kind == FieldKind::fixed) return {kind, width, 0, read_value(layout, word, unit, width)};
  if (!unit.empty()) {
    reject(layout, in_quotes(word) + " has " + in_quotes(unit) + " after its bits; " +
                       (unit.starts_with('=') ? "only fixed has a value" : "only time has a unit"));
  }
  return {kind, width, 0, std::nullopt};
}

// Words are separated by one or more spaces. Removes the first word from the text.
std::string_view take_word(std::string_view& text) {
  const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = std::min(text.find(' ', start), text.size());
  const std::string_view word = text.substr(start, end - start);
  text.remove_prefix(end);
  return word;
}

[[noreturn]] void reject_preset(std::string_view name) {
  std::array<std::string_view, 32> names;
  std::size_t count = 0;
  std::string all;
  for (const Preset& preset : presets()) {
    names[count++] = preset.name;
    all.append(all.empty() ? "" : ", ").append(preset.name);
  }
  reject(name, "no preset has this name" + did_you_mean(name, {names.data(), count}) + "Presets: " + all +
                   ". Or give the fields, such as " EXAMPLE);
}

void check_sum(std::string_view layout, unsigned bits, bool is_unsigned) {
  const std::string sum = "the fields have " + std::to_string(bits) + " bits together; ";
  if (is_unsigned && bits != kUnsignedBits) reject(layout, sum + "after 'unsigned' they must have exactly 64");
  if (is_unsigned || bits <= kSignedBits || bits == kWideBits) return;
  if (bits == kUnsignedBits) {
    reject(layout, sum + "take one away, so that the top bit stays clear, or write 'unsigned' first to use all 64");
  }
  reject(layout, sum + "at most 63 are allowed, 64 after 'unsigned', or exactly 127 for 128-bit ids");
}

// Limited to the years that have a text form, so that differences of times never overflow.
void check_epoch(std::optional<std::int64_t> epoch_unix_ms) {
  constexpr std::int64_t kFirst = -62167219200000;  // 0000-01-01T00:00:00.000Z
  constexpr std::int64_t kLast = 253402300799999;   // 9999-12-31T23:59:59.999Z
  if (!epoch_unix_ms || (*epoch_unix_ms >= kFirst && *epoch_unix_ms <= kLast)) return;
  throw Error(Status::value,
              concat({"the epoch ", std::to_string(*epoch_unix_ms), " ms is out of range; ", std::to_string(kFirst),
                      " to ", std::to_string(kLast), " are allowed, the years 0000 to 9999"}));
}

void require_narrow(const Layout& layout) {
  if (!layout.is_wide()) return;
  throw Error(Status::unsupported, concat({"the layout ", in_quotes(layout.text()), " has ", count_of(layout.bits()),
                                           "; a 64-bit id does not hold them"}));
}

}  // namespace

std::string_view field_name(FieldKind kind) noexcept {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "";
}

Layout Layout::parse(std::string_view text, std::optional<std::int64_t> epoch_unix_ms) {
  check_epoch(epoch_unix_ms);
  std::string_view rest = text;
  std::string_view word = take_word(rest);
  if (word.empty()) {
    throw Error(Status::layout,
                "the layout is empty; give a preset's name such as 'default', or fields such as " EXAMPLE);
  }
  if (rest.find_first_not_of(' ') == std::string_view::npos) {
    if (const Preset* preset = find_preset(word)) {
      return parse(preset->fields, epoch_unix_ms.value_or(preset->epoch_unix_ms));
    }
    if (word == "unsigned")
      reject(text, "no fields follow 'unsigned'; write 'unsigned time:42ms worker:10 sequence:12'");
    if (word.find(':') == std::string_view::npos && !is_kind(word)) reject_preset(word);
  }

  Layout layout;
  layout.epoch_ = 0;
  if (word == "unsigned") {
    layout.unsigned_ = true;
    word = take_word(rest);
  }
  unsigned bits = 0;
  for (; !word.empty(); word = take_word(rest)) {
    const FieldText field = read_field(text, word);
    if (layout.find(field.kind) != nullptr) {
      reject(text, std::string(field_name(field.kind)) + " occurs twice; each field may occur once");
    }
    layout.fields_[layout.count_++] = {field.kind, field.bits, 0};
    bits += field.bits;
    if (field.kind == FieldKind::fixed) layout.fixed_ = field.value;
    if (field.kind == FieldKind::time) {
      layout.tick_ = field.tick_ms;
      layout.epoch_ = epoch_unix_ms.value_or(kDefaultEpochUnixMs);
    }
  }
  check_sum(text, bits, layout.unsigned_);
  if (layout.find(FieldKind::sequence) == nullptr && layout.find(FieldKind::segment) == nullptr) {
    reject(text,
           "it has no sequence and no segment, so nothing distinguishes two ids of the same moment; add sequence:BITS "
           "(counts within a tick of time) or segment:BITS (counts for ever)");
  }
  for (Field& field : std::span(layout.fields_.data(), layout.count_)) field.shift = bits -= field.bits;
  return layout;
}

Layout Layout::plain_segment() { return parse("segment:63"); }

// ------------------------------------------------------------------------------------- what a layout says

const Field* Layout::find(FieldKind kind) const& noexcept {
  for (const Field& field : fields()) {
    if (field.kind == kind) return &field;
  }
  return nullptr;
}

std::uint32_t Layout::field_bits() const noexcept {
  std::uint32_t mask = 0;
  for (const Field& field : fields()) mask |= bit_of(field.kind);
  return mask;
}

unsigned Layout::bits() const noexcept { return count_ == 0 ? 0 : fields_[0].shift + fields_[0].bits; }

bool Layout::is_js_safe() const noexcept { return bits() <= kJavaScriptBits; }

std::string Layout::text() const {
  std::string out = unsigned_ ? "unsigned" : "";
  for (const Field& field : fields()) {
    if (!out.empty()) out += ' ';
    out.append(field_name(field.kind)).append(":").append(std::to_string(field.bits));
    if (field.kind == FieldKind::time) {
      out += tick_ == 1 ? "ms" : tick_ == 1000 ? "s" : "x" + std::to_string(tick_) + "ms";
    }
    if (field.kind == FieldKind::fixed && fixed_) out += "=" + std::to_string(*fixed_);
  }
  return out;
}

std::string_view Layout::preset() const noexcept {
  // Compared as layouts would allocate and may throw; a preset's own text is canonical, so texts are enough.
  try {
    const std::string own = text();
    for (const Preset& preset : presets()) {
      if (preset.fields == own && preset.epoch_unix_ms == epoch_) return preset.name;
    }
  } catch (...) {
  }
  return "";
}

std::string Layout::fingerprint() const {
  // Without a time field the epoch means nothing, so it need not match.
  return find(FieldKind::time) == nullptr ? text() : text() + " epoch:" + std::to_string(epoch_);
}

// ----------------------------------------------------------------------------------- lifetime and capacity

std::int64_t Layout::tick_start_unix_ms(std::uint64_t tick) const noexcept {
  const __int128 start = epoch_ + static_cast<__int128>(tick) * tick_;
  return start > kNever ? kNever : static_cast<std::int64_t>(start);
}

std::int64_t Layout::last_unix_ms() const noexcept {
  const Field* time = find(FieldKind::time);
  if (time == nullptr) return kNever;
  const __int128 end = epoch_ + (static_cast<__int128>(1) << time->bits) * tick_;
  return end > kNever ? kNever : static_cast<std::int64_t>(end - 1);
}

double Layout::years_left(std::int64_t now_unix_ms) const noexcept {
  return static_cast<double>(static_cast<__int128>(last_unix_ms()) - now_unix_ms) / kYearMs;
}

std::uint64_t Layout::ids_per_tick() const noexcept {
  const Field* counter = find(FieldKind::sequence);
  if (counter == nullptr) counter = find(FieldKind::segment);
  return counter == nullptr ? 0 : power_saturated(counter->bits);
}

double Layout::ids_per_second() const noexcept {
  return tick_ == 0 ? 0 : static_cast<double>(ids_per_tick()) * 1000.0 / static_cast<double>(tick_);
}

std::uint64_t Layout::workers() const noexcept {
  unsigned bits = 0;
  for (const Field& field : fields()) {
    if ((bit_of(field.kind) & kNodeKinds) != 0) bits += field.bits;
  }
  return power_saturated(bits);
}

// ------------------------------------------------------------------------------------------ ids and fields

GeneRule Layout::gene_rule() const noexcept {
  const Field* gene = find(FieldKind::gene);
  return gene != nullptr && gene->shift == 0 && find(FieldKind::time) != nullptr ? GeneRule::mod : GeneRule::hash;
}

std::uint64_t Layout::gene_of(std::string_view owner, std::optional<GeneRule> rule) const {
  const Field* gene = find(FieldKind::gene);
  if (gene == nullptr)
    throw Error(Status::unsupported, concat({"layout ", in_quotes(text()), " has no gene, so its ids have no owner"}));
  return idgen::gene_of(owner, rule.value_or(gene_rule()), gene->bits);
}

Id128 Layout::encode128(const Parts& parts) const {
  Id128 id = 0;
  for (const Field& field : fields()) {
    const Id128 part = part_of(parts, field.kind);
    if (part > max_of(field.bits)) {
      throw Error(Status::value,
                  concat({field_name(field.kind), " ", decimal(part), " is too large for its ", count_of(field.bits),
                          "; 0 to ", decimal(max_of(field.bits)), " fit the layout ", in_quotes(text())}));
    }
    id |= part << field.shift;
  }
  if (!fixed_) return id;
  if (parts.fixed != 0) require_fixed(parts.fixed);
  return id | Id128{*fixed_} << find(FieldKind::fixed)->shift;
}

Parts Layout::decode128(Id128 id) const {
  if (id > max_of(bits())) {
    throw Error(Status::value,
                concat({"id ", decimal(id), " has bits outside the layout ", in_quotes(text()), ", whose ids are 0 to ",
                        decimal(max_of(bits())), "; decode it with the layout that made it"}));
  }
  Parts parts;
  parts.fields = field_bits();
  for (const Field& field : fields()) set_part(parts, field.kind, (id >> field.shift) & max_of(field.bits));
  if (fixed_) require_fixed(parts.fixed);
  if (find(FieldKind::time) != nullptr) parts.unix_ms = tick_start_unix_ms(parts.time);
  return parts;
}

void Layout::require_fixed(std::uint64_t value) const {
  if (value == *fixed_) return;
  throw Error(Status::value, concat({"an id with fixed ", decimal(value), ", but those of layout ", in_quotes(text()),
                                     " have ", decimal(*fixed_), "; use the layout that made it"}));
}

std::uint64_t Layout::encode(const Parts& parts) const {
  require_narrow(*this);
  return static_cast<std::uint64_t>(encode128(parts));
}

void Layout::require_length(unsigned id_bytes) const {
  if (id_bytes == wide_bytes()) return;
  throw Error(Status::value,
              concat({"an id of ", std::to_string(id_bytes), " bytes, but those of layout ", in_quotes(text()),
                      " have ", std::to_string(wide_bytes()), "; use the layout that made it"}));
}

Parts Layout::decode(const WideId& id) const {
  require_length(id.bytes);
  return decode128(id.value);
}

Parts Layout::decode(std::uint64_t id) const {
  require_narrow(*this);
  return decode128(id);
}

}  // namespace idgen
