package dev.idgen;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * A method for each property, which {@link Generator.Builder} inherits.
 *
 * <p>Made by bindings/java/properties.py from the core's table of properties. Do not edit.
 */
abstract class PropertySetters {
  abstract Generator.Builder set(String key, String value);

  /**
   * Name of the generator in messages. Loading a configuration file sets it to the table's name.
   *
   * @param value {@code name}: 1 to 128 characters; default idgen
   * @return this
   */
  public Generator.Builder name(String value) { return set("name", value); }

  /**
   * snowflake: an id holds time, worker and sequence, and is drawn from a reserved window of the worker's time.
   * segment: consecutive numbers, drawn from ranges of a tag's counter in the store. business: such a number, and the
   * gene of the id's owner, which says in which shard it lives. serial: a number that starts over each hour, day, month
   * or year of the date in its pattern, for people; call next_text.
   *
   * @param value {@code kind}: snowflake | segment | business | serial; default snowflake
   * @return this
   */
  public Generator.Builder kind(String value) { return set("kind", value); }

  /**
   * How next_text writes ids (docs/text.md). Empty = in decimal.
   *
   * @param value {@code pattern}: literals, a date, one number, a check: ORD-{base62:11}-{check}
   * @return this
   */
  public Generator.Builder pattern(String value) { return set("pattern", value); }

  /**
   * Whose clocks show the date that is in the pattern. Names need the module libidgen_zone.so; the variable TZ is not
   * looked at.
   *
   * @param value {@code zone}: UTC, an offset such as +08:00, or a name such as Europe/Berlin; default UTC
   * @return this
   */
  public Generator.Builder zone(String value) { return set("zone", value); }

  /**
   * The set of ids that must not collide. All snowflake generators of a namespace share one layout and epoch; the store
   * refuses any other.
   *
   * @param value {@code namespace}: 1 to 128 characters; default default
   * @return this
   */
  public Generator.Builder namespace(String value) { return set("namespace", value); }

  /**
   * Where reservations are kept; docs/stores.md explains each URL. A relative path starts from {@code directory}.
   * memory protects within this process only: not across a restart, and not in a forked child. buffer: Redis in front
   * of a database, see buffer.redis.
   *
   * @param value {@code store}: sqlite:PATH | mysql://... | postgres://... | redis://... | etcd://... | zookeeper://...
   *     | buffer | memory; default sqlite:idgen.db
   * @return this
   */
  public Generator.Builder store(String value) { return set("store", value); }

  /**
   * With store = buffer: the Redis that hands out segments which the database granted ahead of need. It may forget
   * everything at any time: the numbers it held are lost, and none is issued twice.
   *
   * @param value {@code buffer.redis}: redis://...
   * @return this
   */
  public Generator.Builder bufferRedis(String value) { return set("buffer.redis", value); }

  /**
   * With store = buffer: the store that holds the tags and grants all numbers.
   *
   * @param value {@code buffer.database}: mysql://... | postgres://... | etcd://... | zookeeper://... | sqlite:PATH
   * @return this
   */
  public Generator.Builder bufferDatabase(String value) { return set("buffer.database", value); }

  /**
   * How long the numbers in Redis should last while the database is down, at the rate at which all processes draw.
   * Redis holds at least four segments.
   *
   * @param value {@code buffer.runway}: 0ms to 7d; default 30m
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder bufferRunway(Duration value) { return set("buffer.runway", Text.milliseconds(value)); }

  /**
   * The most numbers of a tag that Redis holds for buffer.runway: what is lost each time it forgets. The default lasts
   * for half an hour at 5500 ids per second.
   *
   * @param value {@code buffer.stock_max}: 1 to 1000000000000; default 10000000
   * @return this
   */
  public Generator.Builder bufferStockMax(long value) { return set("buffer.stock_max", String.valueOf(value)); }

  /**
   * After this many failures in a row, Redis or the database is left alone for buffer.pause.
   *
   * @param value {@code buffer.errors}: 1 to 1000; default 3
   * @return this
   */
  public Generator.Builder bufferErrors(long value) { return set("buffer.errors", String.valueOf(value)); }

  /**
   * How long a failing side is left alone. Then one request tries it again; if that fails, the pause starts over.
   *
   * @param value {@code buffer.pause}: 1ms to 1h; default 5s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder bufferPause(Duration value) { return set("buffer.pause", Text.milliseconds(value)); }

  /**
   * How long one Redis operation may take before the database is asked instead. For the database itself, store_timeout
   * applies.
   *
   * @param value {@code buffer.timeout}: 1ms to 10m; default 1s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder bufferTimeout(Duration value) { return set("buffer.timeout", Text.milliseconds(value)); }

  /**
   * Folder of the modules libidgen_NAME.so, which all stores but sqlite and memory need, and hidden ids. Where those of
   * mysql and postgres are absent, a driver of the program is used. Empty = idgen/modules next to this library; with a
   * jar or a Go program there is none. A module is loaded only if no user but root, this user and the owner of this
   * library can write it, its folder or the folders above.
   *
   * @param value {@code module.path}: a folder
   * @return this
   */
  public Generator.Builder modulePath(Path value) { return set("module.path", value.toString()); }

  /**
   * Folder of the modules libidgen_NAME.so, which all stores but sqlite and memory need, and hidden ids. Where those of
   * mysql and postgres are absent, a driver of the program is used. Empty = idgen/modules next to this library; with a
   * jar or a Go program there is none. A module is loaded only if no user but root, this user and the owner of this
   * library can write it, its folder or the folders above.
   *
   * @param value {@code module.path}: a folder
   * @return this
   */
  public Generator.Builder modulePath(String value) { return set("module.path", value); }

  /**
   * Create the store if it is missing, and a missing tag at 0. Off by default: a store that was lost and silently
   * created again would issue old numbers. If a SQLite store's lock file PATH-lock exists without the database, the
   * store is lost, not new: that is STORE_MISSING, even with true.
   *
   * @param value {@code store_create}: true | false; default false
   * @return this
   */
  public Generator.Builder storeCreate(boolean value) { return set("store_create", String.valueOf(value)); }

  /**
   * How long one store operation may take: waiting for another process's lock, connecting, reading, writing.
   *
   * @param value {@code store_timeout}: 1ms to 10m; default 5s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder storeTimeout(Duration value) { return set("store_timeout", Text.milliseconds(value)); }

  /**
   * Where relative paths start; empty = the working directory. Loading a configuration file sets it to the file's
   * folder.
   *
   * @param value {@code directory}: a folder
   * @return this
   */
  public Generator.Builder directory(Path value) { return set("directory", value.toString()); }

  /**
   * Where relative paths start; empty = the working directory. Loading a configuration file sets it to the file's
   * folder.
   *
   * @param value {@code directory}: a folder
   * @return this
   */
  public Generator.Builder directory(String value) { return set("directory", value); }

  /**
   * Bit fields of an id: a preset such as default, twitter, js53 or sonyflake, or "time:41ms worker:10 sequence:12";
   * with kind = business "gene:16 version:5 segment:42" or another such split. fixed:3=5 is a constant of all ids.
   * Empty = default, or business64. See docs/layouts.md.
   *
   * @param value {@code layout}: a preset or a layout in full
   * @return this
   */
  public Generator.Builder layout(String value) { return set("layout", value); }

  /**
   * What time 0 of the layout means. Empty = the preset's epoch, else 2025-01-01T00:00:00Z.
   *
   * @param value {@code epoch}: RFC 3339 or Unix ms
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder epoch(Instant value) { return set("epoch", Text.unixMs(value)); }

  /**
   * Refuse a layout whose time field runs out sooner than this. 0 allows any layout whose time has not run out yet.
   *
   * @param value {@code lifetime_min}: 0ms to 1000y; default 1y
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder lifetimeMin(Duration value) { return set("lifetime_min", Text.milliseconds(value)); }

  /**
   * Number of the datacenter, for layouts with that field.
   *
   * @param value {@code datacenter}: auto, or 0 to what the layout's field holds
   * @return this
   */
  public Generator.Builder datacenter(long value) { return set("datacenter", String.valueOf(value)); }

  /**
   * Number of this generator among all that run side by side in the namespace. Required if the layout has the field.
   * auto: leased from the store, so that no two processes on it have the same number and none has to be configured. A
   * number: its window in the store guards it, and a second live owner is refused. Another field of the node
   * (datacenter, process, shard) can be auto in its place.
   *
   * @param value {@code worker}: auto, or 0 to what the layout's field holds
   * @return this
   */
  public Generator.Builder worker(long value) { return set("worker", String.valueOf(value)); }

  /**
   * Number of the process, for layouts with that field (discord).
   *
   * @param value {@code process}: auto, or 0 to what the layout's field holds
   * @return this
   */
  public Generator.Builder process(long value) { return set("process", String.valueOf(value)); }

  /**
   * Number of the shard, for layouts with that field (instagram).
   *
   * @param value {@code shard}: auto, or 0 to what the layout's field holds
   * @return this
   */
  public Generator.Builder shard(long value) { return set("shard", String.valueOf(value)); }

  /**
   * Where the number comes from, of the field that is auto. store: leased by the rows of the store. ordinal: of a
   * StatefulSet's pod NAME-N, from the variable POD_NAME or worker_env, or from the host's name if {@code store} is a
   * server. env: from the variable worker_env. slot: the lowest that no running process of this host has locked in
   * worker_slots. uid_generator, cosid, zookeeper: by the rows of Baidu's uid-generator, CosId or Leaf (in ZooKeeper),
   * alongside whose processes idgen can then run; see worker_url. Whatever it is, its window in the store guards it.
   *
   * @param value {@code worker_source}: store | ordinal | env | slot | uid_generator | cosid | zookeeper; default store
   * @return this
   */
  public Generator.Builder workerSource(String value) { return set("worker_source", value); }

  /**
   * The server with the rows of uid_generator (a database), cosid (a database or Redis) or zookeeper. Empty = {@code
   * store}. Windows stay in {@code store}, which may be a local file.
   *
   * @param value {@code worker_url}: mysql://... | postgres://... | redis://... | zookeeper://...
   * @return this
   */
  public Generator.Builder workerUrl(String value) { return set("worker_url", value); }

  /**
   * The name of this process in those rows, before and after a restart. Required for zookeeper, where each address has
   * its number for good (Leaf's IP:PORT). Empty = the host's name and the process id, which is new at each start.
   *
   * @param value {@code worker_address}: HOST:PORT, 1 to 80 characters
   * @return this
   */
  public Generator.Builder workerAddress(String value) { return set("worker_address", value); }

  /**
   * With worker_source = zookeeper: where the number is kept, so that this process can start while ZooKeeper is down.
   * It may be Leaf's workerID.properties. A relative path starts from {@code directory}. Empty = nowhere.
   *
   * @param value {@code worker_cache}: a file
   * @return this
   */
  public Generator.Builder workerCache(Path value) { return set("worker_cache", value.toString()); }

  /**
   * With worker_source = zookeeper: where the number is kept, so that this process can start while ZooKeeper is down.
   * It may be Leaf's workerID.properties. A relative path starts from {@code directory}. Empty = nowhere.
   *
   * @param value {@code worker_cache}: a file
   * @return this
   */
  public Generator.Builder workerCache(String value) { return set("worker_cache", value); }

  /**
   * With worker_source = cosid: how long after its last report a process counts as dead and its number may be taken; as
   * CosId's cosid.machine.guarder.safe-guard-duration. At least twice window and max_ahead together. 0ms: never, as
   * with CosId's guarder disabled.
   *
   * @param value {@code worker_guard}: 0ms to 1d; default 5m
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder workerGuard(Duration value) { return set("worker_guard", Text.milliseconds(value)); }

  /**
   * With worker_source = zookeeper: how far the clock may be off the mean of the other processes' clocks when this one
   * starts, and ahead of ZooKeeper's whenever it reports.
   *
   * @param value {@code worker_clock_limit}: 1ms to 1d; default 10s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder workerClockLimit(Duration value) {
    return set("worker_clock_limit", Text.milliseconds(value));
  }

  /**
   * The variable that holds the number, for worker_source = env, or ordinal where the pod's index is given by a
   * variable (the label apps.kubernetes.io/pod-index).
   *
   * @param value {@code worker_env}: name of an environment variable
   * @return this
   */
  public Generator.Builder workerEnv(String value) { return set("worker_env", value); }

  /**
   * Where the slots are locked, for worker_source = slot: an existing folder that all processes of this host can write,
   * on a local disk or in memory. A relative path starts from {@code directory}.
   *
   * @param value {@code worker_slots}: a folder
   * @return this
   */
  public Generator.Builder workerSlots(Path value) { return set("worker_slots", value.toString()); }

  /**
   * Where the slots are locked, for worker_source = slot: an existing folder that all processes of this host can write,
   * on a local disk or in memory. A relative path starts from {@code directory}.
   *
   * @param value {@code worker_slots}: a folder
   * @return this
   */
  public Generator.Builder workerSlots(String value) { return set("worker_slots", value); }

  /**
   * With worker_source = store: lease numbers again that others had before, the least recently used first. Their
   * windows keep the ids apart. false: each number is used once, for fields that are wide enough.
   *
   * @param value {@code worker_recycle}: true | false; default true
   * @return this
   */
  public Generator.Builder workerRecycle(boolean value) { return set("worker_recycle", String.valueOf(value)); }

  /**
   * What a generator with a leased worker does when another process has it: after a pause of worker_lease or longer.
   * What it has reserved stays its own to the end. Then lease: it continues with another number. fail: calls return
   * WORKER_BUSY.
   *
   * @param value {@code on_worker_lost}: lease | fail; default lease
   * @return this
   */
  public Generator.Builder onWorkerLost(String value) { return set("on_worker_lost", value); }

  /**
   * How long a worker stays its owner's after the owner's last renewal, where workers are leased (mysql, postgres,
   * etcd). A living owner renews in the background, at least three times in that time. Uniqueness does not depend on
   * it: it decides how soon another process can take the number of a dead process. With zookeeper the session's timeout
   * decides that, which is store_timeout.
   *
   * @param value {@code worker_lease}: 1s to 1h; default 15s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder workerLease(Duration value) { return set("worker_lease", Text.milliseconds(value)); }

  /**
   * How long opening a generator waits for a worker that another process holds: in a rolling restart until that one has
   * stopped, after a crash until its lease has ended. Empty = worker_lease and one second where workers are leased, 0ms
   * with sqlite, where a lock proves that the owner lives.
   *
   * @param value {@code worker_wait}: 0ms to 1h
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder workerWait(Duration value) { return set("worker_wait", Text.milliseconds(value)); }

  /**
   * Where the sequence of a new tick starts. carry: continue from the last low bits (at most 10), so that id % 2^k
   * stays even at low rates. zero: at 0. random: at a random number below the same bound.
   *
   * @param value {@code sequence_start}: carry | zero | random; default carry
   * @return this
   */
  public Generator.Builder sequenceStart(String value) { return set("sequence_start", value); }

  /**
   * What to do when the sequence of the current tick is used up. wait: wait for the next tick. borrow: use the
   * following ticks, at most max_ahead ahead of the clock and never past what is reserved.
   *
   * @param value {@code on_overflow}: wait | borrow; default wait
   * @return this
   */
  public Generator.Builder onOverflow(String value) { return set("on_overflow", value); }

  /**
   * What to do when the clock is behind the ids already issued. wait: wait until it has caught up, or fail at once if
   * that takes longer than wait_max. continue: count on from the last id. fail: fail at once. Uniqueness does not
   * depend on this.
   *
   * @param value {@code on_clock_back}: wait | continue | fail; default wait
   * @return this
   */
  public Generator.Builder onClockBack(String value) { return set("on_clock_back", value); }

  /**
   * How far ahead a worker's time is reserved. The next window is requested halfway through this one, so a generator in
   * steady use does not notice a store outage of up to half a window; one that was idle for longer waits for the store
   * once. After a crash, ids start up to this far ahead of the clock.
   *
   * @param value {@code window}: 100ms to 1h; default 10s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder window(Duration value) { return set("window", Text.milliseconds(value)); }

  /**
   * How far the time in an id may be ahead of the clock after a crash or by borrowing. Beyond that, on_clock_back
   * decides. At least {@code window}.
   *
   * @param value {@code max_ahead}: 0ms to 1d; default 20s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder maxAhead(Duration value) { return set("max_ahead", Text.milliseconds(value)); }

  /**
   * How long ago the tick of an id may have ended, for kind = snowflake, where all ids of a tick are used up: a call
   * that waited for the next tick, and whose sleep ended ticks too late, uses their ids first instead of losing them.
   * 0ms, or less than a tick: it continues with the current tick. Without effect with on_overflow = borrow or order =
   * relaxed, or if ids have an owner.
   *
   * @param value {@code max_behind}: 0ms to 1s; default 10ms
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder maxBehind(Duration value) { return set("max_behind", Text.milliseconds(value)); }

  /**
   * Name of the counter in the store, for kind = segment. Empty = the generator's name.
   *
   * @param value {@code tag}: 1 to 128 characters
   * @return this
   */
  public Generator.Builder tag(String value) { return set("tag", value); }

  /**
   * Which table the numbers come from, for kind = segment. idgen: its own. leaf, tinyid, cosid: the table of that
   * generator (cosid also: its Redis keys), by its arithmetic, so that both can draw from one row at the same time
   * (docs/stores.md). For kind = serial also key_producer, its table, and incr, Redis keys that other programs raise by
   * INCR, one for each period.
   *
   * @param value {@code segment.schema}: idgen | leaf | tinyid | cosid | key_producer | incr; default idgen
   * @return this
   */
  public Generator.Builder segmentSchema(String value) { return set("segment.schema", value); }

  /**
   * How many numbers to reserve at once, unless the tag's row in the store says otherwise ({@code idgen segment
   * set-step}) or segment.runway needs more.
   *
   * @param value {@code segment.step}: 1 to 1000000000; default 10000
   * @return this
   */
  public Generator.Builder segmentStep(long value) { return set("segment.step", String.valueOf(value)); }

  /**
   * The share of a segment after which the next one is requested.
   *
   * @param value {@code segment.prefetch}: 0.01 to 1; default 0.1
   * @return this
   */
  public Generator.Builder segmentPrefetch(double value) { return set("segment.prefetch", String.valueOf(value)); }

  /**
   * How long the reserved numbers should last while the store is down, at the rate at which they are drawn. Segments
   * grow and shrink with the rate, at most by a factor of two each time, and never below segment.step. 0: every segment
   * is one step.
   *
   * @param value {@code segment.runway}: 0ms to 1d; default 10s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder segmentRunway(Duration value) { return set("segment.runway", Text.milliseconds(value)); }

  /**
   * The most numbers to hold for segment.runway: what a crash can lose. Two steps are always allowed.
   *
   * @param value {@code segment.stock_max}: 2 to 1000000000000; default 10000000
   * @return this
   */
  public Generator.Builder segmentStockMax(long value) { return set("segment.stock_max", String.valueOf(value)); }

  /**
   * Numbers reserved longer ago than this are no longer issued. They are given back to the store if no process has
   * drawn since; otherwise they are lost. So a process that rarely draws does not issue numbers far below those of
   * others. 0: no limit. With order = relaxed, the blocks of threads (at most 1024 numbers) do not age.
   *
   * @param value {@code segment.max_age}: 0ms to 365d; default 0ms
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder segmentMaxAge(Duration value) { return set("segment.max_age", Text.milliseconds(value)); }

  /**
   * How many of a tag's latest grants the store remembers: which numbers, to whom, when. {@code idgen explain} shows
   * which of them an id is from. For sqlite, mysql and postgres; servers need the table idgen_grant (docs/stores.md).
   * 0: none.
   *
   * @param value {@code segment.grant_log}: 0 to 1000000; default 0
   * @return this
   */
  public Generator.Builder segmentGrantLog(long value) { return set("segment.grant_log", String.valueOf(value)); }

  /**
   * Where this host remembers the highest numbers that it was granted of each tag, one file for each. A store that
   * grants less was restored from a backup: STORE_REGRESSED, even for a process that starts after that. All processes
   * of the host share it; it must outlast them. A relative path starts from {@code directory}. Empty = nowhere.
   *
   * @param value {@code witness}: a folder
   * @return this
   */
  public Generator.Builder witness(Path value) { return set("witness", value.toString()); }

  /**
   * Where this host remembers the highest numbers that it was granted of each tag, one file for each. A store that
   * grants less was restored from a backup: STORE_REGRESSED, even for a process that starts after that. All processes
   * of the host share it; it must outlast them. A relative path starts from {@code directory}. Empty = nowhere.
   *
   * @param value {@code witness}: a folder
   * @return this
   */
  public Generator.Builder witness(String value) { return set("witness", value); }

  /**
   * Issue only ids with id % segment.stride == segment.offset, for several masters that make ids side by side, each
   * from a separate store. With the schema tinyid the row decides: leave both alone.
   *
   * @param value {@code segment.stride}: 1 to 1000000; default 1
   * @return this
   */
  public Generator.Builder segmentStride(long value) { return set("segment.stride", String.valueOf(value)); }

  /**
   * The remainder of ids by segment.stride.
   *
   * @param value {@code segment.offset}: 0 to segment.stride - 1; default 0
   * @return this
   */
  public Generator.Builder segmentOffset(long value) { return set("segment.offset", String.valueOf(value)); }

  /**
   * How the gene comes from an id's owner. hash: the low bits of XXH64 ^ MurmurHash64A of its bytes; an integer is
   * hashed as its decimal text. mod: the low bits of the owner, an integer. auto: mod where time is above and the gene
   * is the lowest field (order), else hash.
   *
   * @param value {@code gene}: auto | hash | mod; default auto
   * @return this
   */
  public Generator.Builder gene(String value) { return set("gene", value); }

  /**
   * How many counters the virtual nodes (values of the gene) of kind = business share: each is for as many neighbouring
   * nodes, so that threads with different owners do not compete for one cache line. Ids of one node rise. Each holds a
   * block of at most 1024 numbers, which closing or a crash loses. Can be changed at any time.
   *
   * @param value {@code counters}: 1 to 4096; default 16
   * @return this
   */
  public Generator.Builder counters(long value) { return set("counters", String.valueOf(value)); }

  /**
   * What follows when the segment field of 8-byte ids (kind = business) is used up. fail: EXHAUSTED. widen: ids of 16
   * bytes with the layout business128, for calls that can return them; their length tells them apart.
   *
   * @param value {@code on_full}: fail | widen; default fail
   * @return this
   */
  public Generator.Builder onFull(String value) { return set("on_full", value); }

  /**
   * strict: every id of this generator is above all ids issued before it. relaxed: each thread draws from a block of
   * its own, so that threads do not compete for one cache line; ids are unique, but ordered only within a thread. After
   * the clock was set back, a thread first uses up its block (at most 1024 ids), whatever on_clock_back says.
   *
   * @param value {@code order}: strict | relaxed; default strict
   * @return this
   */
  public Generator.Builder order(String value) { return set("order", value); }

  /**
   * What a call in a forked child does. reacquire: take a separate reservation where that is possible (segments on a
   * durable store, workers that are auto). error: fail with FORKED. A fixed worker always gives FORKED, because the
   * parent owns it.
   *
   * @param value {@code on_fork}: reacquire | error; default reacquire
   * @return this
   */
  public Generator.Builder onFork(String value) { return set("on_fork", value); }

  /**
   * How hidden ids are made (docs/hidden-ids.md). ff1: format-preserving encryption, NIST SP 800-38G. chacha20 and
   * aes-ctr: XOR with a mask that is the same for all ids of a key version; one id that is known in both forms reveals
   * it.
   *
   * @param value {@code cipher.mode}: ff1 | chacha20 | aes-ctr; default ff1
   * @return this
   */
  public Generator.Builder cipherMode(String value) { return set("cipher.mode", value); }

  /**
   * Where the keys of hidden ids are: in a file that only this user can read (mode 0400 or 0600; {@code idgen key new}
   * makes one), or in an environment variable with the same lines. A relative path starts from {@code directory}.
   *
   * @param value {@code cipher.key}: file:PATH | env:VARIABLE
   * @return this
   */
  public Generator.Builder cipherKey(String value) { return set("cipher.key", value); }

  /**
   * The key version that hides ids; all versions reveal. Empty = the highest that is not retired. Set it while a new
   * version is handed to all processes, and raise it when all have it.
   *
   * @param value {@code cipher.version}: 1 to 16777215, and what the layout's version field holds
   * @return this
   */
  public Generator.Builder cipherVersion(long value) { return set("cipher.version", String.valueOf(value)); }

  /**
   * How long one call may wait for the clock or the store before it returns a retryable error.
   *
   * @param value {@code wait_max}: 0ms to 1h; default 5s
   * @return this
   * @throws IllegalArgumentException if it is not a whole number of milliseconds
   */
  public Generator.Builder waitMax(Duration value) { return set("wait_max", Text.milliseconds(value)); }
}
