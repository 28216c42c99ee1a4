// The table of properties. docs/configuration.md is generated from it; tests/consistency fails if that is stale.
#include "idgen/config.hpp"

namespace idgen {
namespace {

using enum PropertyType;

constexpr double kYearMs = 365.25 * 24 * 3600 * 1000;
constexpr const char* kSince = "0.1";

constexpr Property kProperties[] = {
    {"name", text, "idgen", "1 to 128 characters", "",
     "Name of the generator in messages. Loading a configuration file sets it to the table's name.", kSince, 1, 128},
    {"kind", choice, "snowflake", "snowflake | segment | business | serial", "",
     "snowflake: an id holds time, worker and sequence, and is drawn from a reserved window of the worker's time. "
     "segment: consecutive numbers, drawn from ranges of a tag's counter in the store. business: such a number, and "
     "the gene of the id's owner, which says in which shard it lives. serial: a number that starts over each hour, "
     "day, month or year of the date in its pattern, for people; call next_text.",
     kSince},
    {"pattern", text, "", "literals, a date, one number, a check: ORD-{base62:11}-{check}", "",
     "How next_text writes ids (docs/text.md). Empty = in decimal.", kSince, 0, 128},
    {"zone", text, "UTC", "UTC, an offset such as +08:00, or a name such as Europe/Berlin", "",
     "Whose clocks show the date that is in the pattern. Names need the module libidgen_zone.so; the variable TZ is "
     "not looked at.",
     kSince, 0, 64},
    {"namespace", text, "default", "1 to 128 characters", "",
     "The set of ids that must not collide. All snowflake generators of a namespace share one layout and epoch; the "
     "store refuses any other.",
     kSince, 1, 128},
    {"store", text, "sqlite:idgen.db",
     "sqlite:PATH | mysql://... | postgres://... | redis://... | etcd://... | zookeeper://... | buffer | memory", "",
     "Where reservations are kept; docs/stores.md explains each URL. A relative path starts from `directory`. memory "
     "protects within this process only: not across a restart, and not in a forked child. buffer: Redis in front of a "
     "database, see buffer.redis.",
     kSince, 1, 4096},
    {"buffer.redis", text, "", "redis://...", "",
     "With store = buffer: the Redis that hands out segments which the database granted ahead of need. It may forget "
     "everything at any time: the numbers it held are lost, and none is issued twice.",
     kSince, 0, 4096},
    {"buffer.database", text, "", "mysql://... | postgres://... | etcd://... | zookeeper://... | sqlite:PATH", "",
     "With store = buffer: the store that holds the tags and grants all numbers.", kSince, 0, 4096},
    {"buffer.runway", duration, "30m", "0ms to 7d", "ms",
     "How long the numbers in Redis should last while the database is down, at the rate at which all processes draw. "
     "Redis holds at least four segments.",
     kSince, 0, 7 * 86'400'000.0},
    {"buffer.stock_max", integer, "10000000", "1 to 1000000000000", "numbers",
     "The most numbers of a tag that Redis holds for buffer.runway: what is lost each time it forgets. The default "
     "lasts for half an hour at 5500 ids per second.",
     kSince, 1, 1e12},
    {"buffer.errors", integer, "3", "1 to 1000", "",
     "After this many failures in a row, Redis or the database is left alone for buffer.pause.", kSince, 1, 1000},
    {"buffer.pause", duration, "5s", "1ms to 1h", "ms",
     "How long a failing side is left alone. Then one request tries it again; if that fails, the pause starts over.",
     kSince, 1, 3'600'000},
    {"buffer.timeout", duration, "1s", "1ms to 10m", "ms",
     "How long one Redis operation may take before the database is asked instead. For the database itself, "
     "store_timeout applies.",
     kSince, 1, 600'000},
    {"module.path", text, "", "a folder", "",
     "Folder of the modules libidgen_NAME.so, which all stores but sqlite and memory need, and hidden ids. Where those "
     "of mysql and postgres are absent, a driver of the program is used. Empty = idgen/modules next to this library; "
     "with a jar or a Go program there is none. A module is loaded only if no user but root, this user and the owner "
     "of this library can write it, its folder or the folders above.",
     kSince, 0, 4096},
    {"store_create", boolean, "false", "true | false", "",
     "Create the store if it is missing, and a missing tag at 0. Off by default: a store that was lost and silently "
     "created again would issue old numbers. If a SQLite store's lock file PATH-lock exists without the database, the "
     "store is lost, not new: that is STORE_MISSING, even with true.",
     kSince},
    {"store_timeout", duration, "5s", "1ms to 10m", "ms",
     "How long one store operation may take: waiting for another process's lock, connecting, reading, writing.", kSince,
     1, 600'000},
    {"directory", text, "", "a folder", "",
     "Where relative paths start; empty = the working directory. Loading a configuration file sets it to the file's "
     "folder.",
     kSince, 0, 4096},
    {"layout", text, "", "a preset or a layout in full", "",
     "Bit fields of an id: a preset such as default, twitter, js53 or sonyflake, or \"time:41ms worker:10 "
     "sequence:12\"; with kind = business \"gene:16 version:5 segment:42\" or another such split. fixed:3=5 is a "
     "constant of all ids. Empty = default, or business64. See docs/layouts.md.",
     kSince, 0, 512},
    {"epoch", instant, "", "RFC 3339 or Unix ms", "",
     "What time 0 of the layout means. Empty = the preset's epoch, else 2025-01-01T00:00:00Z.", kSince},
    {"lifetime_min", duration, "1y", "0ms to 1000y", "ms",
     "Refuse a layout whose time field runs out sooner than this. 0 allows any layout whose time has not run out yet.",
     kSince, 0, 1000 * kYearMs},
    {"datacenter", integer, "", "auto, or 0 to what the layout's field holds", "",
     "Number of the datacenter, for layouts with that field.", kSince, 0, 9.2e18},
    {"worker", integer, "", "auto, or 0 to what the layout's field holds", "",
     "Number of this generator among all that run side by side in the namespace. Required if the layout has the field. "
     "auto: leased from the store, so that no two processes on it have the same number and none has to be configured. "
     "A number: its window in the store guards it, and a second live owner is refused. Another field of the node "
     "(datacenter, process, shard) can be auto in its place.",
     kSince, 0, 9.2e18},
    {"process", integer, "", "auto, or 0 to what the layout's field holds", "",
     "Number of the process, for layouts with that field (discord).", kSince, 0, 9.2e18},
    {"shard", integer, "", "auto, or 0 to what the layout's field holds", "",
     "Number of the shard, for layouts with that field (instagram).", kSince, 0, 9.2e18},
    {"worker_source", choice, "store", "store | ordinal | env | slot | uid_generator | cosid | zookeeper", "",
     "Where the number comes from, of the field that is auto. store: leased by the rows of the store. ordinal: of a "
     "StatefulSet's pod NAME-N, from the variable POD_NAME or worker_env, or from the host's name if `store` is a "
     "server. env: from the variable worker_env. slot: the lowest that no running process of this host has locked in "
     "worker_slots. uid_generator, cosid, zookeeper: by the rows of Baidu's uid-generator, CosId or Leaf (in "
     "ZooKeeper), alongside whose processes idgen can then run; see worker_url. Whatever it is, its window in the "
     "store guards it.",
     kSince},
    {"worker_url", text, "", "mysql://... | postgres://... | redis://... | zookeeper://...", "",
     "The server with the rows of uid_generator (a database), cosid (a database or Redis) or zookeeper. Empty = "
     "`store`. Windows stay in `store`, which may be a local file.",
     kSince, 0, 4096},
    {"worker_address", text, "", "HOST:PORT, 1 to 80 characters", "",
     "The name of this process in those rows, before and after a restart. Required for zookeeper, where each address "
     "has its number for good (Leaf's IP:PORT). Empty = the host's name and the process id, which is new at each "
     "start.",
     kSince, 0, 80},
    {"worker_cache", text, "", "a file", "",
     "With worker_source = zookeeper: where the number is kept, so that this process can start while ZooKeeper is "
     "down. It may be Leaf's workerID.properties. A relative path starts from `directory`. Empty = nowhere.",
     kSince, 0, 4096},
    {"worker_guard", duration, "5m", "0ms to 1d", "ms",
     "With worker_source = cosid: how long after its last report a process counts as dead and its number may be "
     "taken; as CosId's cosid.machine.guarder.safe-guard-duration. At least twice window and max_ahead together. "
     "0ms: never, as with CosId's guarder disabled.",
     kSince, 0, 86'400'000},
    {"worker_clock_limit", duration, "10s", "1ms to 1d", "ms",
     "With worker_source = zookeeper: how far the clock may be off the mean of the other processes' clocks when this "
     "one starts, and ahead of ZooKeeper's whenever it reports.",
     kSince, 1, 86'400'000},
    {"worker_env", text, "", "name of an environment variable", "",
     "The variable that holds the number, for worker_source = env, or ordinal where the pod's index is given by a "
     "variable (the label apps.kubernetes.io/pod-index).",
     kSince, 0, 128},
    {"worker_slots", text, "", "a folder", "",
     "Where the slots are locked, for worker_source = slot: an existing folder that all processes of this host can "
     "write, on a local disk or in memory. A relative path starts from `directory`.",
     kSince, 0, 4096},
    {"worker_recycle", boolean, "true", "true | false", "",
     "With worker_source = store: lease numbers again that others had before, the least recently used first. Their "
     "windows keep the ids apart. false: each number is used once, for fields that are wide enough.",
     kSince},
    {"on_worker_lost", choice, "lease", "lease | fail", "",
     "What a generator with a leased worker does when another process has it: after a pause of worker_lease or longer. "
     "What it has reserved stays its own to the end. Then lease: it continues with another number. fail: calls return "
     "WORKER_BUSY.",
     kSince},
    {"worker_lease", duration, "15s", "1s to 1h", "ms",
     "How long a worker stays its owner's after the owner's last renewal, where workers are leased (mysql, postgres, "
     "etcd). A living owner renews in the background, at least three times in that time. Uniqueness does not depend on "
     "it: it decides how soon another process can take the number of a dead process. With zookeeper the session's "
     "timeout decides that, which is store_timeout.",
     kSince, 1000, 3'600'000},
    {"worker_wait", duration, "", "0ms to 1h", "ms",
     "How long opening a generator waits for a worker that another process holds: in a rolling restart until that one "
     "has stopped, after a crash until its lease has ended. Empty = worker_lease and one second where workers are "
     "leased, 0ms with sqlite, where a lock proves that the owner lives.",
     kSince, 0, 3'600'000},
    {"sequence_start", choice, "carry", "carry | zero | random", "",
     "Where the sequence of a new tick starts. carry: continue from the last low bits (at most 10), so that id % 2^k "
     "stays even at low rates. zero: at 0. random: at a random number below the same bound.",
     kSince},
    {"on_overflow", choice, "wait", "wait | borrow", "",
     "What to do when the sequence of the current tick is used up. wait: wait for the next tick. borrow: use the "
     "following ticks, at most max_ahead ahead of the clock and never past what is reserved.",
     kSince},
    {"on_clock_back", choice, "wait", "wait | continue | fail", "",
     "What to do when the clock is behind the ids already issued. wait: wait until it has caught up, or fail at once "
     "if that takes longer than wait_max. continue: count on from the last id. fail: fail at once. Uniqueness does not "
     "depend on this.",
     kSince},
    {"window", duration, "10s", "100ms to 1h", "ms",
     "How far ahead a worker's time is reserved. The next window is requested halfway through this one, so a generator "
     "in steady use does not notice a store outage of up to half a window; one that was idle for longer waits for the "
     "store once. After a crash, ids start up to this far ahead of the clock.",
     kSince, 100, 3'600'000},
    {"max_ahead", duration, "20s", "0ms to 1d", "ms",
     "How far the time in an id may be ahead of the clock after a crash or by borrowing. Beyond that, on_clock_back "
     "decides. At least `window`.",
     kSince, 0, 86'400'000},
    {"max_behind", duration, "10ms", "0ms to 1s", "ms",
     "How long ago the tick of an id may have ended, for kind = snowflake, where all ids of a tick are used up: a call "
     "that waited for the next tick, and whose sleep ended ticks too late, uses their ids first instead of losing "
     "them. 0ms, or less than a tick: it continues with the current tick. Without effect with on_overflow = borrow or "
     "order = relaxed, or if ids have an owner.",
     kSince, 0, 1'000},
    {"tag", text, "", "1 to 128 characters", "",
     "Name of the counter in the store, for kind = segment. Empty = the generator's name.", kSince, 0, 128},
    {"segment.schema", choice, "idgen", "idgen | leaf | tinyid | cosid | key_producer | incr", "",
     "Which table the numbers come from, for kind = segment. idgen: its own. leaf, tinyid, cosid: the table of that "
     "generator (cosid also: its Redis keys), by its arithmetic, so that both can draw from one row at the same time "
     "(docs/stores.md). For kind = serial also key_producer, its table, and incr, Redis keys that other programs raise "
     "by INCR, one for each period.",
     kSince},
    {"segment.step", integer, "10000", "1 to 1000000000", "numbers",
     "How many numbers to reserve at once, unless the tag's row in the store says otherwise (`idgen segment set-step`) "
     "or segment.runway needs more.",
     kSince, 1, 1e9},
    {"segment.prefetch", number, "0.1", "0.01 to 1", "share",
     "The share of a segment after which the next one is requested.", kSince, 0.01, 1},
    {"segment.runway", duration, "10s", "0ms to 1d", "ms",
     "How long the reserved numbers should last while the store is down, at the rate at which they are drawn. Segments "
     "grow and shrink with the rate, at most by a factor of two each time, and never below segment.step. 0: every "
     "segment is one step.",
     kSince, 0, 86'400'000},
    {"segment.stock_max", integer, "10000000", "2 to 1000000000000", "numbers",
     "The most numbers to hold for segment.runway: what a crash can lose. Two steps are always allowed.", kSince, 2,
     1e12},
    {"segment.max_age", duration, "0ms", "0ms to 365d", "ms",
     "Numbers reserved longer ago than this are no longer issued. They are given back to the store if no process has "
     "drawn since; otherwise they are lost. So a process that rarely draws does not issue numbers far below those of "
     "others. 0: no limit. With order = relaxed, the blocks of threads (at most 1024 numbers) do not age.",
     kSince, 0, 365 * 86'400'000.0},
    {"segment.grant_log", integer, "0", "0 to 1000000", "grants",
     "How many of a tag's latest grants the store remembers: which numbers, to whom, when. `idgen explain` shows which "
     "of them an id is from. For sqlite, mysql and postgres; servers need the table idgen_grant (docs/stores.md). 0: "
     "none.",
     kSince, 0, 1e6},
    {"witness", text, "", "a folder", "",
     "Where this host remembers the highest numbers that it was granted of each tag, one file for each. A store that "
     "grants less was restored from a backup: STORE_REGRESSED, even for a process that starts after that. All "
     "processes of the host share it; it must outlast them. A relative path starts from `directory`. Empty = nowhere.",
     kSince, 0, 4096},
    {"segment.stride", integer, "1", "1 to 1000000", "",
     "Issue only ids with id % segment.stride == segment.offset, for several masters that make ids side by side, each "
     "from a separate store. With the schema tinyid the row decides: leave both alone.",
     kSince, 1, 1e6},
    {"segment.offset", integer, "0", "0 to segment.stride - 1", "", "The remainder of ids by segment.stride.", kSince,
     0, 1e6 - 1},
    {"gene", choice, "auto", "auto | hash | mod", "",
     "How the gene comes from an id's owner. hash: the low bits of XXH64 ^ MurmurHash64A of its bytes; an integer is "
     "hashed as its decimal text. mod: the low bits of the owner, an integer. auto: mod where time is above and the "
     "gene is the lowest field (order), else hash.",
     kSince},
    {"counters", integer, "16", "1 to 4096", "",
     "How many counters the virtual nodes (values of the gene) of kind = business share: each is for as many "
     "neighbouring nodes, so that threads with different owners do not compete for one cache line. Ids of one node "
     "rise. Each holds a block of at most 1024 numbers, which closing or a crash loses. Can be changed at any time.",
     kSince, 1, 4096},
    {"on_full", choice, "fail", "fail | widen", "",
     "What follows when the segment field of 8-byte ids (kind = business) is used up. fail: EXHAUSTED. widen: ids of "
     "16 bytes with the layout business128, for calls that can return them; their length tells them apart.",
     kSince},
    {"order", choice, "strict", "strict | relaxed", "",
     "strict: every id of this generator is above all ids issued before it. relaxed: each thread draws from a block of "
     "its own, so that threads do not compete for one cache line; ids are unique, but ordered only within a thread. "
     "After the clock was set back, a thread first uses up its block (at most 1024 ids), whatever on_clock_back says.",
     kSince},
    {"on_fork", choice, "reacquire", "reacquire | error", "",
     "What a call in a forked child does. reacquire: take a separate reservation where that is possible (segments on "
     "a durable store, workers that are auto). error: fail with FORKED. A fixed worker always gives FORKED, because "
     "the parent owns it.",
     kSince},
    {"cipher.mode", choice, "ff1", "ff1 | chacha20 | aes-ctr", "",
     "How hidden ids are made (docs/hidden-ids.md). ff1: format-preserving encryption, NIST SP 800-38G. chacha20 and "
     "aes-ctr: XOR with a mask that is the same for all ids of a key version; one id that is known in both forms "
     "reveals it.",
     kSince},
    {"cipher.key", text, "", "file:PATH | env:VARIABLE", "",
     "Where the keys of hidden ids are: in a file that only this user can read (mode 0400 or 0600; `idgen key new` "
     "makes one), or in an environment variable with the same lines. A relative path starts from `directory`.",
     kSince, 0, 4096},
    {"cipher.version", integer, "", "1 to 16777215, and what the layout's version field holds", "",
     "The key version that hides ids; all versions reveal. Empty = the highest that is not retired. Set it while a new "
     "version is handed to all processes, and raise it when all have it.",
     kSince, 1, 16777215},
    {"wait_max", duration, "5s", "0ms to 1h", "ms",
     "How long one call may wait for the clock or the store before it returns a retryable error.", kSince, 0,
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
