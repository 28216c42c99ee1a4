// The ids of one generator, as its configuration says: by its layout, from its texts, with hidden ones revealed. Asks
// no store, but for the check values of the keys where ids are revealed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/handles.hpp"
#include "shared/json.hpp"

namespace idgen_tool {

// A layout with what is asked of it for every id.
struct OwnLayout {
  explicit OwnLayout(Layout layout);
  Layout layout;
  idgen_layout_info_t info;
  std::vector<idgen_field_t> fields;
};

// An id that was read.
struct OwnId {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  std::string hidden;                              // as it was given; "": it was not hidden
  std::string text;                                // by the generator's pattern; "": it has none, or the id no text
  std::string date;                                // of the text, as far as that has one; ""
  const OwnLayout* layout = nullptr;               // null: a serial, which has no bit fields
  idgen_parts_t parts = IDGEN_PARTS_INIT;          // by the layout
  std::optional<std::uint64_t> number_in_period;   // of a serial
  std::optional<std::uint64_t> number_of_segment;  // what the tag's counter was at; nothing for snowflakes
};

class OwnIds {
 public:
  // `are_hidden`: the ids that will be read are hidden ones. Throws Failure.
  OwnIds(const Config& config, bool are_hidden);

  // From a text of the pattern, in decimal, or in hexadecimal after 0x. Throws Failure.
  OwnId read(const std::string& word) const;
  // The tag that numbers come from; "" for snowflakes.
  const std::string& tag() const noexcept { return tag_; }

 private:
  idgen_wide_id_t id_of(const std::string& word) const;
  idgen_wide_id_t revealed(const idgen_wide_id_t& hidden) const;

  std::string kind_, tag_;
  std::optional<OwnLayout> narrow_, wide_;
  Pattern pattern_;
  Cipher cipher_;
};

// What a configuration adds to an id's fields, names and values: hidden, tag, id_text, date.
std::vector<std::pair<const char*, std::string>> own_texts(const OwnIds& own, const OwnId& id);
// The same as JSON, and `number` of a serial.
void add_own(JsonObject& object, const OwnIds& own, const OwnId& id);

}  // namespace idgen_tool
