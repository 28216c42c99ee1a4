// Layouts: which bits of an id mean what.
//
// A layout is a list of fields from the most significant bit down, an epoch and a tick. Everything here is pure: values
// in, values out, no clock. Format: docs/layouts.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "idgen/gene.hpp"
#include "idgen/wide_id.hpp"

namespace idgen {

// The values are the IDGEN_FIELD_* bits of idgen.h.
enum class FieldKind : std::uint32_t {
  time = 1,
  datacenter = 2,
  worker = 4,
  process = 8,
  shard = 16,
  sequence = 32,
  gene = 64,
  version = 128,
  segment = 256,
  fixed = 512,
};

std::string_view field_name(FieldKind kind) noexcept;

struct Field {
  FieldKind kind;
  unsigned bits;
  unsigned shift;  // of the lowest bit
};

// The values of an id's fields. A member whose field the layout lacks is 0.
struct Parts {
  std::uint32_t fields = 0;  // FieldKind bits
  std::int64_t unix_ms = 0;  // start of the tick; set by decode only
  std::uint64_t time = 0;    // ticks since the epoch
  std::uint64_t datacenter = 0;
  std::uint64_t worker = 0;
  std::uint64_t process = 0;
  std::uint64_t shard = 0;
  std::uint64_t sequence = 0;
  std::uint64_t gene = 0;
  std::uint64_t version = 0;
  Id128 segment = 0;
  std::uint64_t fixed = 0;
};

struct Preset {
  std::string_view name;
  std::string_view fields;  // text form, "unsigned " first where the top bit belongs to a field
  std::int64_t epoch_unix_ms;
};

// Known layouts, in the order of docs/layouts.md.
std::span<const Preset> presets() noexcept;

inline constexpr std::string_view kWideLayout = "business128";  // that ids of 8 bytes are widened to

class Layout {
 public:
  static constexpr std::size_t kMaxFields = 10;
  static constexpr std::int64_t kDefaultEpochUnixMs = 1735689600000;  // 2025-01-01T00:00:00Z

  // A preset's name or a layout in full: "time:41ms worker:10 sequence:12". Each kind at most once. Units of time: ms
  // (default), s, or a number of ms before "ms": "time:39x10ms" reads 39 bits of 10 ms. "fixed:3=5": these bits are 5
  // in all ids. Without an epoch: the preset's, else kDefaultEpochUnixMs; 0 for a layout without time. Throws
  // Error{layout} with the reason; Error{value} for an epoch outside the years 0000 to 9999.
  static Layout parse(std::string_view text, std::optional<std::int64_t> epoch_unix_ms = std::nullopt);

  // A plain 63-bit segment: what a segment generator without a layout has.
  static Layout plain_segment();

  // Of this layout: not to be asked of one that ends with the expression.
  std::span<const Field> fields() const& noexcept { return {fields_.data(), count_}; }
  std::span<const Field> fields() const&& = delete;
  const Field* find(FieldKind kind) const& noexcept;  // null if it has none
  const Field* find(FieldKind kind) const&& = delete;
  // What the field `fixed` of all ids holds, in its place; 0 if the layout does not say.
  std::uint64_t fixed_bits() const noexcept { return fixed_ ? *fixed_ << find(FieldKind::fixed)->shift : 0; }
  std::uint32_t field_bits() const noexcept;  // FieldKind values or-ed together

  unsigned bits() const noexcept;  // of all fields together
  bool is_unsigned() const noexcept { return unsigned_; }
  bool is_wide() const noexcept { return bits() > 64; }
  bool is_js_safe() const noexcept;  // bits() <= 53
  std::int64_t epoch_unix_ms() const noexcept { return epoch_; }
  std::int64_t tick_ms() const noexcept { return tick_; }  // 0 without a time field

  std::string text() const;                  // canonical; parse(text(), epoch_unix_ms()) is the same layout
  std::string_view preset() const noexcept;  // name, "" if none has these fields and this epoch
  // Fields, tick and epoch in one line: what all users of a namespace must agree on.
  std::string fingerprint() const;

  // The first ms of a tick; saturates at INT64_MAX.
  std::int64_t tick_start_unix_ms(std::uint64_t tick) const noexcept;
  std::int64_t last_unix_ms() const noexcept;  // the last ms of the last tick; INT64_MAX if beyond, or without time
  double years_left(std::int64_t now_unix_ms) const noexcept;
  std::uint64_t ids_per_tick() const noexcept;  // 2^sequence bits; 2^segment bits (saturated) without a sequence
  double ids_per_second() const noexcept;       // 0 without a time field
  std::uint64_t workers()
      const noexcept;  // product over the node fields (datacenter, worker, process, shard), saturated

  // `fixed` may be 0 where the layout says what it holds. Throws Error{value} if a part is too large for its field or
  // another than the layout says, Error{unsupported} if 64 bits do not hold the layout.
  std::uint64_t encode(const Parts& parts) const;
  Id128 encode128(const Parts& parts) const;
  // In 8 bytes if they hold the layout, else in 16.
  WideId encode_wide(const Parts& parts) const { return {encode128(parts), wide_bytes()}; }
  unsigned wide_bytes() const noexcept { return is_wide() ? 16 : 8; }
  // Throws Error{value} if bits outside the layout are set, or `fixed` is another than the layout says.
  Parts decode(std::uint64_t id) const;
  Parts decode128(Id128 id) const;
  // Throws Error{value} for an id of another length, too.
  Parts decode(const WideId& id) const;
  // Throws Error{value} unless ids have this many bytes.
  void require_length(unsigned id_bytes) const;

  // The rule for the gene if none is given: mod if time is above and the gene is the lowest field, else hash.
  GeneRule gene_rule() const noexcept;
  // Throws Error{unsupported} without a gene field, and what owner_number() throws.
  std::uint64_t gene_of(std::string_view owner, std::optional<GeneRule> rule = std::nullopt) const;

  bool operator==(const Layout&) const = default;

 private:
  void require_fixed(std::uint64_t value) const;

  std::array<Field, kMaxFields> fields_{};
  std::size_t count_ = 0;
  bool unsigned_ = false;
  std::int64_t tick_ = 0;
  std::int64_t epoch_ = kDefaultEpochUnixMs;
  std::optional<std::uint64_t> fixed_;
};

inline bool operator==(const Field& a, const Field& b) noexcept {
  return a.kind == b.kind && a.bits == b.bits && a.shift == b.shift;
}

}  // namespace idgen
