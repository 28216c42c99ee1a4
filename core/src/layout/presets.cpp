// Known layouts: those of other systems, so that their ids can be made and decoded, and ours. Table and sources:
// docs/layouts.md.
#include <array>

#include "idgen/layout.hpp"

namespace idgen {
namespace {

constexpr std::array<Preset, 14> kPresets = {{
    {"default", "time:41ms worker:10 sequence:12", Layout::kDefaultEpochUnixMs},
    {"twitter", "time:41ms datacenter:5 worker:5 sequence:12", 1288834974657},
    {"leaf", "time:41ms worker:10 sequence:12", 1288834974657},
    {"cosid", "time:41ms worker:10 sequence:12", 1577203200000},
    {"datacenter", "time:41ms datacenter:5 worker:5 sequence:12", 1420041600000},
    {"js53", "time:32s worker:8 sequence:12", Layout::kDefaultEpochUnixMs},
    {"order", "time:41ms worker:6 sequence:12 gene:4", Layout::kDefaultEpochUnixMs},
    {"uid-generator", "time:28s worker:22 sequence:13", 1463673600000},
    {"sonyflake", "time:39x10ms sequence:8 worker:16", 1409529600000},
    {"discord", "unsigned time:42ms worker:5 process:5 sequence:12", 1420070400000},
    // 41 + 13 + 10 bits fill all 64: ids reach the top bit in 2046.
    {"instagram", "unsigned time:41ms shard:13 sequence:10", 1314220021721},
    {"mastodon", "unsigned time:48ms sequence:16", 0},
    {"business64", "gene:16 version:5 segment:42", 0},
    {"business128", "gene:23 version:20 segment:84", 0},
}};

}  // namespace

std::span<const Preset> presets() noexcept { return kPresets; }

}  // namespace idgen
