// Generators for tests: a configuration that begins afresh, and failures that a test tells. Nothing of it is on the
// path of other generators.
#include "idgen/testing.h"

#include <algorithm>
#include <array>

#include "border.hpp"
#include "idgen/handle.hpp"
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"
#include "idgen/time_units.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace idgen::capi {

void require_scripted(const idgen_generator* generator, const char* what) {
  if (!generator || !generator->is_scripted()) refuse_handle(!generator, what);
}

void Told::take(idgen_generator& generator) {
  Script& script = generator.script;
  {
    const MutexLock lock(script.mutex);
    part_ = script.told;
    if (part_.failure == Status::ok || may <= part_.ids) {
      part_.failure = Status::ok;
      part_.ids = may;
      script.told.ids -= may;  // counts only if there is a failure
    } else {
      script.told.ids = 0;
      if (script.calls > 0 && --script.calls == 0) script.told.failure = Status::ok;
    }
  }
  may = part_.ids;
  script_ = &script;
  if (may == 0) fail();
}

// Unless something else was told since.
void Told::put_back() noexcept {
  const MutexLock lock(script_->mutex);
  if (part_.telling == script_->told.telling) script_->told.ids += part_.ids - done_;
}

void Told::fail() const {
  if (part_.failure != Status::ok) throw Error(part_.failure, status_text(part_.failure).message, 0, part_.cause);
}

Status told_by_script(idgen_generator& generator, std::uint64_t want) {
  const MutexLock lock(generator.script.mutex);
  const Script::Part told = generator.script.told;
  return want <= told.ids ? Status::ok : told.failure;
}

void begin_script(idgen_generator& generator, std::int64_t sequence) {
  std::array<std::uint64_t, 256> dropped;
  for (auto left = static_cast<std::uint64_t>(sequence); left > 0;) {
    std::size_t count = 0;
    generator.value.fill(std::span(dropped).first(std::min<std::uint64_t>(left, dropped.size())), count);
    left -= count;
  }
  generator.make_scripted();
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

void tell(idgen_t* generator, std::uint64_t ids, std::uint64_t calls, Status failure, std::uint64_t cause) {
  Handle& handle = open_handle(generator, "generator");
  if (!generator->is_scripted())
    throw Error(Status::unsupported, handle.summary() + ": it is not for tests; make one by idgen_test_begin");
  Script& script = generator->script;
  const MutexLock lock(script.mutex);
  script.told = {ids, failure, cause, script.told.telling + 1};
  script.calls = calls;
}

// Throws Error{argument}.
Status checked(const char* what, std::int64_t n, std::int64_t least, idgen_status_t status) {
  if (n < least) throw Error(Status::argument, concat({what, " is ", n, "; allowed: ", least, " and above"}));
  const auto failure = static_cast<Status>(status);
  if (failure == Status::ok || std::string_view(status_text(failure).name) == "UNKNOWN")
    throw Error(Status::argument, concat({status, " is no status that a call can fail with"}));
  return failure;
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
  return guard(err, [&] {
    const Status failure = checked("the number of calls that fail", calls, 1, status);
    tell(generator, 0, static_cast<std::uint64_t>(calls), failure, cause);
  });
}

idgen_status_t idgen_test_fail_after(idgen_t* generator, int64_t ids, idgen_status_t status, uint64_t cause,
                                     idgen_error_t* err) {
  return guard(err, [&] {
    const Status failure = checked("the number of ids before a failure", ids, 0, status);
    tell(generator, static_cast<std::uint64_t>(ids), 0, failure, cause);
  });
}

idgen_status_t idgen_test_recover(idgen_t* generator, idgen_error_t* err) {
  return guard(err, [&] { tell(generator, 0, 0, Status::ok, 0); });
}

}  // extern "C"
