// What is called a few times in a generator's life.
#include <vector>

#include "border.hpp"
#include "idgen/admin.h"
#include "idgen/handle.hpp"
#include "idgen/text.hpp"

using namespace idgen;
using namespace idgen::capi;

extern "C" {

idgen_status_t idgen_create(const idgen_config_t* config, idgen_t** out, idgen_error_t* err) {
  return idgen_create_wait(config, out, nullptr, nullptr, err);
}

idgen_status_t idgen_create_wait(const idgen_config_t* config, idgen_t** out, idgen_cancelled_fn cancelled, void* ctx,
                                 idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    auto made = std::make_unique<idgen_generator>(open_handle(config, "config"), to_cancelled(cancelled, ctx));
    if (config->test_sequence >= 0) begin_script(*made, config->test_sequence);
    *out = made.release();
  });
}

idgen_status_t idgen_open(const char* toml_path, const char* name, idgen_t** out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    Config config;
    config.load(require(toml_path, "toml_path"), require(name, "name"));
    *out = new idgen_generator(config);
  });
}

idgen_status_t idgen_close(idgen_t* generator, idgen_error_t* err) {
  return idgen_close_wait(generator, nullptr, nullptr, err);
}

idgen_status_t idgen_close_wait(idgen_t* generator, idgen_cancelled_fn cancelled, void* ctx, idgen_error_t* err) {
  return guard_waiting(err, [&] { open_handle(generator, "generator").close(to_cancelled(cancelled, ctx)); });
}

void idgen_destroy(idgen_t* generator) {
  const NotCancellable here;
  if (generator && generator->is_one()) delete generator;
}

idgen_status_t idgen_stats(const idgen_t* generator, idgen_stats_t* out, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    const Stats stats = open_handle(generator, "generator").stats();
    idgen_stats_t result{};
    result.handles = static_cast<std::uint32_t>(stats.handles);
    result.granted = stats.granted;
    result.remaining = stats.remaining;
    result.refills = stats.refills;
    result.refill_failures = stats.refill_failures;
    result.refill_ns_max = stats.refill_ns_max;
    result.waits = stats.waits;
    result.wait_ns = stats.wait_ns;
    result.store_waits = stats.store_waits;
    result.clock_back_events = stats.clock_back_events;
    result.forks = stats.forks;
    result.lead_ms = static_cast<std::int64_t>(stats.lead_ms);
    result.issued = stats.issued;
    result.rate = stats.rate;
    result.stock_seconds = stats.stock_seconds;
    result.breaker_redis = static_cast<std::uint32_t>(stats.breaker_redis);
    result.breaker_database = static_cast<std::uint32_t>(stats.breaker_database);
    result.buffer_stock = stats.buffer_stock;
    result.stopped = static_cast<idgen_status_t>(stats.stopped);
    result.last_failure = static_cast<idgen_status_t>(stats.last_failure);
    result.last_failure_unix_ms = static_cast<std::int64_t>(stats.last_failure_unix_ms);
    result.redis_failures = stats.redis_failures;
    result.database_failures = stats.database_failures;
    result.layout_left = stats.layout_left;
    result.tag_left = stats.tag_left;
    copy_text(stats.last_error, result.last_error, sizeof result.last_error);
    result.issued_ids = stats.issued_ids;
    write_struct(out, result, "out");
  });
}

idgen_status_t idgen_metrics(const idgen_t* const* generators, size_t count, char* buffer, size_t* size,
                             idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    require(size, "size");
    if (count > 0) require(generators, "generators");
    std::vector<const Handle*> handles;
    for (std::size_t i = 0; i < count; ++i) handles.push_back(&open_handle(generators[i], "generator"));
    write_text(Handle::metrics(handles), buffer, size);
  });
}

idgen_status_t idgen_config_describe(const idgen_config_t* config, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] { write_text(describe_generator(open_handle(config, "config")), buffer, size); });
}

idgen_status_t idgen_summary(const idgen_t* generator, char* buffer, size_t* size, idgen_error_t* err) {
  return guard(err, [&] { write_text(open_handle(generator, "generator").summary(), buffer, size); });
}

idgen_status_t idgen_describe(const idgen_t* generator, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] { write_text(open_handle(generator, "generator").describe(), buffer, size); });
}

}  // extern "C"
