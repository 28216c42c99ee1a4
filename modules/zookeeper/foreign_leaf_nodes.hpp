// The nodes of Leaf's snowflake processes: /snowflake/NAME/forever/IP:PORT-0000000007, persistent and sequential, the
// sequence being the number. Each holds what its process reported last: {"ip":"...","port":"...","timestamp":...}.
#pragma once

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "number_request.hpp"
#include "store/grant_rules.hpp"

namespace idgen::module {

inline constexpr const char* kLeafRoot = "/snowflake";

struct LeafNode {
  std::string address;
  std::uint64_t number = 0;
};

// Leaf splits at the first hyphen, so no address has one.
inline std::optional<LeafNode> leaf_node_of(const std::string& name) {
  const std::size_t hyphen = name.find('-');
  if (hyphen == std::string::npos) return std::nullopt;
  LeafNode node{name.substr(0, hyphen), 0};
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + hyphen + 1, end, node.number);
  return error == std::errc{} && rest == end ? std::optional(node) : std::nullopt;
}

inline std::string leaf_path(const NumberRequest& request, std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 10) digits.insert(0, 10 - digits.size(), '0');
  return kLeafRoot + ("/" + request.name_space) + "/forever/" + request.address + "-" + digits;
}

// As Leaf writes it, with no other member: it refuses those.
inline std::string leaf_report(const NumberRequest& request) {
  const AddressParts parts = parts_of_address(request.address);
  const auto text = [](const std::string& part) {
    return nlohmann::json(part).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  return "{\"ip\":" + text(parts.host) + ",\"port\":" + text(parts.port) +
         ",\"timestamp\":" + number_text(request.now_ms) + "}";
}

// Empty if it is none.
inline std::optional<std::int64_t> leaf_report_of(const std::string& text) {
  const auto report = nlohmann::json::parse(text, nullptr, false);
  if (!report.is_object()) return std::nullopt;
  const auto found = report.find("timestamp");
  if (found == report.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > kLargestNumber)
    return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace idgen::module
