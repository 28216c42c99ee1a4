// The core's answer to a row of bad_layouts.tsv, bad_texts.tsv or bad_patterns.tsv. Shared by the test that
// compares and the tool that records.
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "idgen/layout.hpp"
#include "idgen/pattern.hpp"
#include "idgen/standard.hpp"
#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "idgen/text_form.hpp"
#include "idgen/zone.hpp"

namespace idgen::vectors {

struct Outcome {
  std::string status;
  std::string message;
};

template <typename Call>
Outcome outcome_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {status_text(error.status()).name, error.message()};
  }
  return {"OK", ""};
}

inline Encoding encoding_named(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"decimal", "hex", "crockford", "base58", "base62"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Encoding>(i);
  }
  throw std::runtime_error("no encoding is called " + std::string(name));
}

// As idgen_layout_create does: an empty epoch is none.
inline Outcome answer_to_bad_layout(const std::vector<std::string>& row) {
  return outcome_of([&row] {
    std::optional<std::int64_t> epoch;
    if (!row.at(1).empty()) epoch = parse_instant(row.at(1));
    Layout::parse(row.at(0), epoch);
  });
}

// The encoding `standard` is of UUIDs, ULIDs and ObjectIds.
inline Outcome answer_to_bad_text(const std::vector<std::string>& row) {
  if (row.at(0) == "standard") return outcome_of([&row] { parse_standard(row.at(1)); });
  const Encoding encoding = encoding_named(row.at(0));
  return outcome_of([&row, encoding] { parse_id(row.at(1), encoding); });
}

// A pattern for the ids of a layout, or of any, and an id or a text that does not fit. Neither: the pattern itself is
// refused.
inline Outcome answer_to_bad_pattern(const std::vector<std::string>& row) {
  return outcome_of([&row] {
    const auto layout = row.at(1).empty() ? std::nullopt : std::optional(Layout::parse(row.at(1)));
    const TextForm form(row.at(0), open_zone("UTC"), layout);
    char text[TextPattern::kMostText];
    if (row.at(2) != "-") form.write({std::stoull(row.at(2)), 8}, text);
    if (row.at(3) != "-") form.read(row.at(3));
  });
}

}  // namespace idgen::vectors
