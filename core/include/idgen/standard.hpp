// Ids in published forms: UUID (RFC 9562), ULID (github.com/ulid/spec), ObjectId (MongoDB's, the BSON specification).
// Nobody has to lend a worker to make them: random bits take its place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "idgen/runtime.hpp"

namespace idgen {

// The values are IDGEN_STANDARD_* of standard.h.
enum class Standard : std::int32_t { uuid = 0, uuid4 = 1, uuid7 = 2, ulid = 3, object_id = 4 };

constexpr std::size_t standard_bytes(Standard standard) noexcept { return standard == Standard::object_id ? 12 : 16; }

// `count` ids of this process, one after the other in `out`, where each takes standard_bytes(). Those that hold a time
// rise, whatever thread makes them (see claim.hpp for clocks that do not). A child process has random numbers of its
// own. Throws Error{argument} for uuid, which is any version, Error{unsupported} if the kernel cannot tell children.
void make_standard(Standard standard, std::uint8_t* out, std::size_t count) IDGEN_RUNS_HOST_CODE;

// What reset() calls: the numbers of this process are those of its copies, too.
void forget_standard_randomness() noexcept;

using StandardId = std::array<std::uint8_t, 16>;  // an ObjectId is in the first 12

struct StandardParts {
  Standard standard{};
  unsigned version = 0;                 // of a UUID: 0 to 15
  bool is_rfc = true;                   // false: a UUID of another variant, whose version says nothing
  std::optional<std::int64_t> unix_ms;  // of UUIDs of versions 1, 6 and 7, ULIDs and ObjectIds
  std::uint64_t process = 0;            // of an ObjectId: 40 bits, the same in all ids of a process
  std::uint64_t counter = 0;            // of an ObjectId: 24 bits
};

// UUIDs are told apart by their version, so `standard` may be any of them.
StandardParts decode_standard(Standard standard, const StandardId& id) noexcept;

constexpr std::size_t kMostStandardText = 36;
// 36 characters with hyphens in lower case, 26 of Crockford's alphabet, 24 hex digits in lower case. Writes them,
// without a NUL, and returns how many.
std::size_t format_standard(Standard standard, const StandardId& id, char* out) noexcept;
// Upper case is read, too, and 32 hex digits for a UUID. Throws Error{text}, naming the position.
// The length tells which it is; a UUID is uuid4, uuid7, or uuid for all other versions.
struct ParsedStandard {
  Standard standard{};
  StandardId id{};
};
ParsedStandard parse_standard(std::string_view text);

}  // namespace idgen
