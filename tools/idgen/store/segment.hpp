// What the subcommands of `idgen segment` share: their arguments, and what a configuration says about a tag.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shared/command.hpp"
#include "shared/failure.hpp"
#include "shared/settings.hpp"

namespace idgen_tool {

// Skipped numbers are lost for good: skipping more than this needs --force.
inline constexpr std::uint64_t kLargestLeap = 1'000'000'000;
inline constexpr std::uint64_t kLargestNumber = INT64_MAX;
inline constexpr std::uint64_t kNoTarget = UINT64_MAX;

struct SegmentArguments {
  Settings settings;
  std::uint64_t to = 0;
  std::uint64_t above_number = 0;
  std::string above;  // a serial
  std::string to_store;
  bool json = false;
  bool only_print = false;
  bool if_missing = false;
  bool all = false;
  bool force = false;
  bool resumes = false;
  struct {
    std::string schema, name_space, tag, table, column, store;
    std::string sequence;
    std::uint64_t hilo = 0;  // ids of a block; 0: not said
    std::uint64_t margin = 0;
  } from;
};

using SegmentAction = int (*)(const SegmentArguments&);

// The command with its function, and with the options that name a tag before its own.
Command segment_action(Command command, SegmentAction action, const std::shared_ptr<SegmentArguments>& arguments);

// The tag in effect: by default the generator's name.
std::string tag_of(const Config& config);
// The configuration of one tag. Throws UsageError if none is named.
Config configuration(const SegmentArguments& arguments);
// "tag 'orders' in namespace 'default'"
std::string shown_tag(const Config& config);

std::string store_shown(const Config& config);

// Where a tag begins, or goes on, above a number.
struct Placed {
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  bool is_new = false;
};
// Makes the tag above `above`, in one step, or lifts it, by one at least, so that nobody gives numbers below back.
// Making is tried first in any case: a store that may have forgotten grants refuses it, and would take `advance` for an
// operator's word that it is above all ids in use.
Placed placed_above(const Config& config, std::uint64_t above);

}  // namespace idgen_tool
