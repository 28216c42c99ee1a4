#include "ids/own_ids.hpp"

#include <algorithm>
#include <utility>

#include "shared/decoded.hpp"
#include "shared/id_input.hpp"
#include "shared/layout_fields.hpp"
#include "store/segment.hpp"

namespace idgen_tool {

OwnLayout::OwnLayout(Layout made) : layout(std::move(made)), info(info_of(layout)), fields(fields_of(layout, info)) {}

OwnIds::OwnIds(const Config& config, bool are_hidden)
    : kind_(value(config, "kind")), tag_(kind_ == "snowflake" ? "" : tag_of(config)) {
  if (kind_ != "serial") {
    std::string layout = value(config, "layout");
    if (kind_ == "segment") layout = "segment:63";
    if (layout.empty()) layout = kind_ == "business" ? "business64" : "default";
    OwnLayout own(make_layout(layout, value(config, "epoch")));
    (own.info.bits > 64 ? wide_ : narrow_) = std::move(own);
    if (value(config, "on_full") == "widen" && !wide_) wide_.emplace(make_layout("business128"));
  }
  if (!value(config, "pattern").empty()) pattern_ = pattern_of(config);
  if (!are_hidden) return;
  if (value(config, "cipher.key").empty())
    throw UsageError("--hidden needs the keys: set cipher.key in the configuration, as the service does");
  ErrorSlot error;
  idgen_cipher_t* cipher = nullptr;
  check(idgen_cipher_create(config.get(), &cipher, error), error);
  cipher_.reset(cipher);
}

idgen_wide_id_t OwnIds::id_of(const std::string& word) const {
  const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
  const bool is_number = is_hex || std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  if (pattern_) {
    try {
      return read_by(pattern_, word).id;
    } catch (const Failure&) {
      if (!is_number) throw;
    }
  }
  // The length tells the two apart: those of 16 bytes have all their digits.
  const bool is_wide = wide_ && (!narrow_ || (is_hex ? word.size() > 18 : word.size() > 20));
  return parse_id(word, is_wide ? 16 : 8);
}

idgen_wide_id_t OwnIds::revealed(const idgen_wide_id_t& hidden) const {
  ErrorSlot error;
  idgen_wide_id_t id = hidden;
  check(idgen_cipher_reveal_wide_ids(cipher_.get(), &hidden, &id, 1, error), error);
  return id;
}

OwnId OwnIds::read(const std::string& word) const {
  OwnId out;
  out.id = id_of(word);
  if (cipher_) {
    out.hidden = decimal(out.id);
    out.id = revealed(out.id);
  }
  if (pattern_) {
    try {
      out.text = written(pattern_, out.id);
      const idgen_text_parts_t parts = read_by(pattern_, out.text);
      out.date = date_of(parts);
      if (kind_ == "serial") out.number_in_period = number_of(parts.number);
    } catch (const Failure&) {
      // It was given as a number, and the pattern has no text for it.
    }
  }
  if (kind_ == "serial") {
    out.number_of_segment = number_of(out.id);
    return out;
  }
  out.layout = out.id.size == 16 ? &*wide_ : narrow_ ? &*narrow_ : nullptr;
  if (out.layout == nullptr)
    throw Failure(IDGEN_E_VALUE, "'" + word + "' is an id of 8 bytes, and those of this layout have 16");
  out.parts = decode(out.layout->layout, out.id);
  if (kind_ != "snowflake" && out.parts.segment_high == 0) out.number_of_segment = out.parts.segment;
  return out;
}

std::vector<std::pair<const char*, std::string>> own_texts(const OwnIds& own, const OwnId& id) {
  std::vector<std::pair<const char*, std::string>> out;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.emplace_back(name, value);
  };
  add("hidden", id.hidden);
  add("tag", own.tag());
  add("id_text", id.text);
  add("date", id.date);
  return out;
}

void add_own(JsonObject& object, const OwnIds& own, const OwnId& id) {
  for (const auto& [name, value] : own_texts(own, id)) object.text(name, value);
  if (id.number_in_period) object.number("number", *id.number_in_period);
}

}  // namespace idgen_tool
