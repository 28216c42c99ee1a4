// What an audit found, for the report, for JSON and for the picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit_cause.hpp"
#include "audit_flow.hpp"
#include "audit_input.hpp"
#include "audit_shards.hpp"
#include "audit_sorted.hpp"
#include "audit_space.hpp"

namespace idgen_tool {

struct DumpSummary {
  std::string name;
  std::string format;  // "csv, column 2 'order_id'"
  bool has_lines = true;
  std::uint64_t ids = 0;
};

// Incidents with one cause.
struct Finding {
  Incident incident;
  Verdict verdict;
  std::uint64_t workers = 1;          // above 1: incident.node is only one of them
  std::uint64_t example = 0;          // an id
  std::vector<std::string> places{};  // of its copies
  struct Mark {
    std::uint64_t ordinal;  // of a copy
    std::uint64_t key;
  };
  std::vector<Mark> marks{};  // copies of some of the ids
};

struct ShardCounts {
  std::string title;  // "id mod 16", "routes.toml"
  std::vector<std::string> names;
  std::vector<std::uint64_t> counts;
  Evenness evenness;
};

struct AuditResult {
  const IdSpace& space;
  const Flow& flow;
  const SortedPass* sorted = nullptr;
  std::vector<DumpSummary> dumps{};
  BrokenRows broken{};
  std::vector<Finding> findings{};  // the most duplicates first
  std::optional<ShardCounts> shards{};
  double seconds = 0;

  std::string worker(std::uint64_t node) const;
  std::string place(std::size_t dump, std::uint64_t row) const;  // "line 12 of a.csv"
};

}  // namespace idgen_tool
