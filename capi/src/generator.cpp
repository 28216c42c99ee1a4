// What is called a few times in a generator's life.
#include <vector>

#include "border.hpp"
#include "idgen/handle.hpp"

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
    *out = new idgen_generator(open_handle(config, "config"), to_cancelled(cancelled, ctx));
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
  if (generator && generator->is_intact()) delete generator;
}

idgen_status_t idgen_stats(const idgen_t* generator, idgen_stats_t* out, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    const Stats stats = open_handle(generator, "generator").stats();
    const BufferStats buffer = stats.buffer.value_or(BufferStats{});
    write_struct(out,
                 idgen_stats_t{0, stats.handles, stats.granted, stats.remaining, stats.refills, stats.refill_failures,
                               stats.refill_ns_max, stats.waits, stats.wait_ns, stats.store_waits,
                               stats.clock_back_events, stats.forks, stats.lead_ms, stats.issued, stats.rate,
                               stats.stock_seconds, static_cast<std::uint32_t>(buffer.redis),
                               static_cast<std::uint32_t>(buffer.database), buffer.stock},
                 "out");
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

idgen_status_t idgen_describe(const idgen_t* generator, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] { write_text(open_handle(generator, "generator").describe(), buffer, size); });
}

}  // extern "C"
