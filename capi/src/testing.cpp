// Generators for tests: a configuration that begins afresh, and failures that a test tells. Nothing of it is on the
// path of other generators.
#include "idgen/testing.h"

#include <algorithm>
#include <array>
#include <memory>

#include "border.hpp"
#include "idgen/handle.hpp"
#include "idgen/mutex.hpp"
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"
#include "idgen/time_units.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace idgen::capi {

// What a test has told a generator to do.
class Script {
 public:
  struct Part {
    std::uint64_t ids;  // that a call may draw
    Status failure;     // of the call, after these; ok: none
    std::uint64_t cause;
    std::uint64_t telling;
  };

  void tell(std::uint64_t ids_before, std::uint64_t calls, Status failure, std::uint64_t cause) {
    const MutexLock lock(mutex_);
    told_ = {ids_before, failure, cause, told_.telling + 1};
    calls_ = calls;
  }
  Part take(std::uint64_t want) {
    const MutexLock lock(mutex_);
    if (told_.failure == Status::ok) return {want, Status::ok, 0, told_.telling};
    if (want <= told_.ids) {
      told_.ids -= want;
      return {want, Status::ok, 0, told_.telling};
    }
    const Part part = told_;
    told_.ids = 0;
    if (calls_ > 0 && --calls_ == 0) told_.failure = Status::ok;
    return part;
  }
  // Of a part, what was not drawn, unless something else was told since.
  void put_back(const Part& part, std::uint64_t ids) {
    const MutexLock lock(mutex_);
    if (part.telling == told_.telling) told_.ids += ids;
  }
  Status look(std::uint64_t want) {
    const MutexLock lock(mutex_);
    return want <= told_.ids ? Status::ok : told_.failure;
  }

 private:
  Mutex mutex_;
  Part told_ IDGEN_GUARDED_BY(mutex_){0, Status::ok, 0, 0};
  std::uint64_t calls_ IDGEN_GUARDED_BY(mutex_) = 0;  // that fail; 0: all
};

void require_scripted(const idgen_generator* generator, const char* what) {
  if (!generator || !generator->is_scripted()) refuse_handle(!generator, what);
}

void draw_by_script(idgen_generator& generator, std::uint64_t want, const std::size_t& done, DrawFunction draw,
                    void* context, bool is_partial_enough) {
  Script& script = *generator.script;
  const Script::Part part = script.take(want);
  struct PutBack {
    Script& script;
    const Script::Part& part;
    const std::size_t& done;
    ~PutBack() { script.put_back(part, part.ids - done); }
  };
  if (part.ids > 0 || part.failure == Status::ok) {
    const PutBack rest{script, part, done};
    draw(context, part.ids);
    if (is_partial_enough) return;
  }
  if (part.failure != Status::ok) throw Error(part.failure, status_text(part.failure).message, 0, part.cause);
}

Status status_by_script(idgen_generator& generator, std::uint64_t want) { return generator.script->look(want); }

void begin_script(idgen_generator& generator, std::int64_t sequence) {
  std::array<std::uint64_t, 256> dropped;
  for (auto left = static_cast<std::uint64_t>(sequence); left > 0;) {
    std::size_t count = 0;
    generator.value.fill(std::span(dropped).first(std::min<std::uint64_t>(left, dropped.size())), count);
    left -= count;
  }
  generator.make_scripted(std::make_shared<Script>());
}

}  // namespace idgen::capi

namespace {

constexpr std::int64_t kFirstUnixMs = 1767225600000;        // 2026-01-01
constexpr std::int64_t kLastStart = std::int64_t{1} << 62;  // so that a step fits behind it
constexpr std::pair<const char*, const char*> kOfOneProcess[] = {
    // what a table may have that is for other stores
    {"worker_source", "store"},  {"worker_url", ""},         {"worker_cache", ""},
    {"segment.schema", "idgen"}, {"segment.grant_log", "0"}, {"witness", ""},
};

// n: of calls or ids. Throws Error{argument}.
void tell(idgen_t* generator, const char* of_what, std::int64_t n, std::int64_t least, idgen_status_t status,
          std::uint64_t cause) {
  Handle& handle = open_handle(generator, "generator");
  if (n < least) throw Error(Status::argument, concat({of_what, " is ", n, "; allowed: ", least, " and above"}));
  const auto failure = static_cast<Status>(status);
  const auto known = status_texts();
  if (failure == Status::ok ||
      (failure < Status::host &&
       std::none_of(known.begin(), known.end(), [&](const StatusText& one) { return one.status == failure; }))) {
    throw Error(Status::argument,
                concat({static_cast<std::int64_t>(status), " is no status that a call can fail with"}));
  }
  if (!generator->is_scripted())
    throw Error(Status::unsupported, handle.summary() + ": it is not for tests; make one by idgen_test_begin");
  const auto count = static_cast<std::uint64_t>(n);
  generator->script->tell(least == 0 ? count : 0, least == 0 ? 0 : count, failure, cause);
}

}  // namespace

extern "C" {

idgen_status_t idgen_test_begin(idgen_config_t* config, int64_t start, int64_t sequence, uint64_t* first_unix_ms,
                                idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    require(first_unix_ms, "first_unix_ms");
    const bool has_start = start != IDGEN_TEST_UNSET;
    if (has_start && (start < 1 || start > kLastStart))
      throw Error(Status::argument, concat({"start is ", start, "; allowed: 1 to ", kLastStart}));
    std::int64_t first_ms = kFirstUnixMs;
    if (target.get("kind") == "snowflake") {
      if (has_start) {
        throw Error(Status::argument, "start is for numbers; where a snowflake starts is told by at and sequence");
      }
      const Layout layout = snowflake_layout(target);
      if (sequence < 0 || static_cast<std::uint64_t>(sequence) >= layout.ids_per_tick()) {
        throw Error(Status::argument, concat({"sequence is ", sequence, "; allowed: 0 to ", layout.ids_per_tick() - 1,
                                              ", with the layout ", layout.text()}));
      }
      // No clock stands before the epoch. One that is still to come is for idgen_create to refuse.
      const std::int64_t epoch_ms = layout.epoch_unix_ms();
      if (epoch_ms > first_ms && epoch_ms <= system_runtime().wall_ns() / kNsPerMs) first_ms = epoch_ms;
    } else if (sequence != 0) {
      throw Error(Status::argument, "sequence is for snowflakes; where numbers start is told by start");
    }
    for (const auto& [key, value] : kOfOneProcess) target.set(key, value);
    if (sequence != 0) target.set("sequence_start", "carry");  // a random one could not be told
    target.store = own_memory_store(has_start ? static_cast<std::uint64_t>(start) - 1 : 0);
    config->test_sequence = sequence;
    *first_unix_ms = static_cast<std::uint64_t>(first_ms);
  });
}

idgen_status_t idgen_test_fail_next(idgen_t* generator, int64_t calls, idgen_status_t status, uint64_t cause,
                                    idgen_error_t* err) {
  return guard(err, [&] { tell(generator, "the number of calls that fail", calls, 1, status, cause); });
}

idgen_status_t idgen_test_fail_after(idgen_t* generator, int64_t ids, idgen_status_t status, uint64_t cause,
                                     idgen_error_t* err) {
  return guard(err, [&] { tell(generator, "the number of ids before a failure", ids, 0, status, cause); });
}

idgen_status_t idgen_test_recover(idgen_t* generator, idgen_error_t* err) {
  return guard(err, [&] {
    Handle& handle = open_handle(generator, "generator");
    if (!generator->is_scripted())
      throw Error(Status::unsupported, handle.summary() + ": it is not for tests; make one by idgen_test_begin");
    generator->script->tell(0, 0, Status::ok, 0);
  });
}

}  // extern "C"
