// The table of properties. docs/configuration.md is made from it: after a change, `make docs`.
#include "idgen/config.hpp"

namespace idgen {
namespace {

using enum PropertyType;

constexpr double kYearMs = 365.25 * 24 * 3600 * 1000;
constexpr const char* kSince = "0.1";

constexpr Property kProperties[] = {
    {"name", text, "idgen", "1 to 128 characters", "",
     "Name of the generator in messages. Loading a configuration file sets it to the table's name.", kSince, 1, 128},
    {"kind", choice, "snowflake", "snowflake | segment", "",
     "snowflake: time, worker and sequence in one id, drawn from a reserved window of the worker's time. segment: "
     "consecutive numbers, drawn "
     "from ranges of a tag's counter in the store.",
     kSince},
    {"namespace", text, "default", "1 to 128 characters", "",
     "The set of ids that must not collide. All snowflake generators of a namespace share one layout and epoch; the "
     "store refuses others.",
     kSince, 1, 128},
    {"store", text, "sqlite:idgen.db",
     "sqlite:PATH | mysql://... | postgres://... | redis://... | etcd://... | zookeeper://... | buffer | memory", "",
     "Where reservations are made durable; docs/stores.md has the form of each URL. A relative path starts from "
     "`directory`. memory protects within this "
     "process only: not against a "
     "restart, and not in a forked child. buffer: Redis in front of a database, see buffer.redis.",
     kSince, 1, 4096},
    {"buffer.redis", text, "", "redis://...", "",
     "With store = buffer: the Redis that hands out segments which the database has granted ahead of need. It may "
     "forget everything at any time: numbers are lost then, and none is issued twice.",
     kSince, 0, 4096},
    {"buffer.database", text, "", "mysql://... | postgres://... | etcd://... | zookeeper://... | sqlite:PATH", "",
     "With store = buffer: the store in which the tags live, and which alone makes numbers.", kSince, 0, 4096},
    {"buffer.runway", duration, "30m", "0ms to 7d", "ms",
     "How long the numbers in Redis are to last, at the rate at which all processes take them, when the database goes "
     "away. At least four segments are held there.",
     kSince, 0, 7 * 86'400'000.0},
    {"buffer.stock_max", integer, "100000000", "1 to 1000000000000", "numbers",
     "How many numbers of a tag Redis holds at most: what is lost when it forgets.", kSince, 1, 1e12},
    {"buffer.errors", integer, "3", "1 to 1000", "",
     "After so many failures in a row Redis, or the database, is not asked for buffer.pause.", kSince, 1, 1000},
    {"buffer.pause", duration, "5s", "1ms to 1h", "ms",
     "How long a failing side is left alone. After that one request tries it; if that fails too, the pause begins "
     "anew.",
     kSince, 1, 3'600'000},
    {"buffer.timeout", duration, "1s", "1ms to 10m", "ms",
     "How long one operation in Redis may take before the database is asked in its place. For the database "
     "store_timeout holds.",
     kSince, 1, 600'000},
    {"backend.path", text, "", "a folder", "",
     "Folder of the modules libidgen_NAME.so, which stores other than sqlite and memory need. Empty = idgen/backends "
     "beside this library; with a jar or a Go program there is none. A module is loaded only if it, its folder and "
     "those above can be written by nobody but root, this user and the owner of this library.",
     kSince, 0, 4096},
    {"store_create", boolean, "false", "true | false", "",
     "Make the store if it is missing, and a missing tag at 0. Off by default, because a store that was lost and "
     "silently begun anew would issue old numbers again. A SQLite store is lost, never new, if its lock file "
     "PATH-lock exists without the database: that is STORE_MISSING, even with true.",
     kSince},
    {"store_timeout", duration, "5s", "1ms to 10m", "ms",
     "How long one store operation may take: waiting for another process's lock, connecting, reading, writing.", kSince,
     1, 600'000},
    {"directory", text, "", "a folder", "",
     "Where relative paths start; empty = the working directory. Loading a configuration file sets it to the file's "
     "folder.",
     kSince, 0, 4096},
    {"layout", text, "", "a preset or a layout in full", "",
     "Bit fields of a snowflake id: a preset such as default, twitter, js53, sonyflake, or \"time:41ms worker:10 "
     "sequence:12\". Empty = default. "
     "See docs/layouts.md.",
     kSince, 0, 512},
    {"epoch", instant, "", "RFC 3339 or Unix ms", "",
     "What time 0 of the layout means. Empty = the preset's epoch, else 2025-01-01T00:00:00Z.", kSince},
    {"lifetime_min", duration, "1y", "0ms to 1000y", "ms",
     "Refuse a layout whose time field ends sooner than this from now. 0 allows any layout whose time is not over yet.",
     kSince, 0, 1000 * kYearMs},
    {"datacenter", integer, "", "0 to what the layout's field holds", "",
     "Number of the datacenter, for layouts with that field.", kSince, 0, 9.2e18},
    {"worker", integer, "", "0 to what the layout's field holds", "",
     "Number of this generator among all that run side by side in the namespace. Needed if the layout has the field. "
     "Its window in the store "
     "guards it: a second live owner is refused.",
     kSince, 0, 9.2e18},
    {"process", integer, "", "0 to what the layout's field holds", "",
     "Number of the process, for layouts with that field (discord).", kSince, 0, 9.2e18},
    {"shard", integer, "", "0 to what the layout's field holds", "",
     "Number of the shard, for layouts with that field (instagram).", kSince, 0, 9.2e18},
    {"sequence_start", choice, "carry", "carry | zero | random", "",
     "Where the sequence of a new tick begins. carry: goes on from the last low bits (at most 10), so that id % 2^k "
     "stays even at low rates. zero: "
     "at 0. random: at a random number below the same bound.",
     kSince},
    {"on_overflow", choice, "wait", "wait | borrow", "",
     "When the sequence of the current tick is used up. wait: until the next tick. borrow: go on in the next ticks, at "
     "most max_ahead ahead of the "
     "clock and never past what is reserved.",
     kSince},
    {"on_clock_back", choice, "wait", "wait | continue | fail", "",
     "When the clock is behind the ids already issued. wait: until it has caught up, an error at once if that takes "
     "longer than wait_max. "
     "continue: go on from the last id. fail: an error at once. Uniqueness does not depend on it.",
     kSince},
    {"window", duration, "10s", "100ms to 1h", "ms",
     "How far ahead a worker's time is reserved. The next window is asked for in the middle of this one: a generator "
     "in steady use does not "
     "notice a store outage of up to half of it; one that was idle for longer waits for the store once. After a crash "
     "ids begin up to this much "
     "ahead of the clock.",
     kSince, 100, 3'600'000},
    {"max_ahead", duration, "20s", "0ms to 1d", "ms",
     "How far the time in an id may be ahead of the clock after a crash or by borrowing. Beyond it on_clock_back "
     "decides. At least `window`.",
     kSince, 0, 86'400'000},
    {"tag", text, "", "1 to 128 characters", "",
     "Name of the counter in the store, for kind = segment. Empty = the generator's name.", kSince, 0, 128},
    {"segment.schema", choice, "idgen", "idgen | leaf | tinyid | cosid", "",
     "Whose rows the numbers are drawn from, for kind = segment. idgen: its own table. leaf, tinyid, cosid: the table "
     "(cosid also: the Redis keys) of that generator, by its arithmetic, so that both may draw from one row at the "
     "same "
     "time (docs/stores.md).",
     kSince},
    {"segment.step", integer, "10000", "1 to 1000000000", "numbers",
     "How many numbers to reserve at once, if the tag's row in the store does not say (`idgen segment set-step`), and "
     "if they last for segment.runway.",
     kSince, 1, 1e9},
    {"segment.prefetch", number, "0.1", "0.01 to 1", "share",
     "Share of a segment after which the next one is asked for.", kSince, 0.01, 1},
    {"segment.runway", duration, "10s", "0ms to 1d", "ms",
     "How long the numbers that are reserved are to last, at the rate at which they are drawn, when the store goes "
     "away. Segments grow and shrink with the rate, at most by half or double from one to the next, and never below "
     "segment.step. 0: every segment is one step.",
     kSince, 0, 86'400'000},
    {"segment.stock_max", integer, "10000000", "2 to 1000000000000", "numbers",
     "How many numbers to hold at most for the sake of segment.runway: what a crash can lose. Two steps are held in "
     "any case.",
     kSince, 2, 1e12},
    {"segment.max_age", duration, "0ms", "0ms to 365d", "ms",
     "Numbers that were reserved longer ago are not issued any more, but given back to the store if nobody has drawn "
     "since, else lost: so that a process which draws rarely does not issue numbers far below those of others. 0: "
     "without limit. With order = relaxed the blocks of threads (at most 1024 numbers) do not age.",
     kSince, 0, 365 * 86'400'000.0},
    {"segment.stride", integer, "1", "1 to 1000000", "",
     "Issue only ids with id % segment.stride == segment.offset, for ids that several masters make side by side, each "
     "from a store of its own. With the schema tinyid the row says it: leave both alone.",
     kSince, 1, 1e6},
    {"segment.offset", integer, "0", "0 to segment.stride - 1", "", "The remainder of ids by segment.stride.", kSince,
     0, 1e6 - 1},
    {"order", choice, "strict", "strict | relaxed", "",
     "strict: every id of this generator is above all that were issued before it. relaxed: threads draw from blocks of "
     "their own, so that they do "
     "not fight for one cache line; ids are unique, and ordered within a thread only. After the clock was set back a "
     "thread first uses up its block "
     "(at most 1024 ids), whatever on_clock_back says.",
     kSince},
    {"on_fork", choice, "reacquire", "reacquire | error", "",
     "What a call in a forked child does. reacquire: draw a reservation of its own, where that is possible (segments "
     "on a durable store). error: "
     "FORKED. A fixed worker always gives FORKED: the parent owns it.",
     kSince},
    {"wait_max", duration, "5s", "0ms to 1h", "ms",
     "How long one call may wait, for the clock or for the store, before it returns a retryable error.", kSince, 0,
     3'600'000},
};

}  // namespace

std::span<const Property> properties() noexcept { return kProperties; }

const char* property_type_name(PropertyType type) noexcept {
  switch (type) {
    case integer:
      return "integer";
    case number:
      return "number";
    case boolean:
      return "boolean";
    case duration:
      return "duration";
    case instant:
      return "instant";
    case text:
      return "text";
    case choice:
      return "choice";
  }
  return "";
}

}  // namespace idgen
