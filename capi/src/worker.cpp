#include "idgen/worker.hpp"

#include <limits>

#include "border.hpp"
#include "idgen/admin.h"
#include "idgen/text.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

idgen_worker_info_t worker_info_of(const WorkerInfo& worker) {
  idgen_worker_info_t info{sizeof info,
                           worker.is_live,
                           worker.worker,
                           worker.fence,
                           worker.hw_ms,
                           worker.ahead_ms,
                           worker.clock_ahead_ms.value_or(std::numeric_limits<std::int64_t>::min()),
                           ""};
  copy_text(worker.holder, info.holder, sizeof info.holder);
  return info;
}

}  // namespace

extern "C" {

idgen_status_t idgen_worker_show(const idgen_config_t* config, idgen_worker_info_t* out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& found = open_handle(config, "config");
    check_struct(out, "out");
    write_struct(out, worker_info_of(show_worker(found)), "out");
  });
}

idgen_status_t idgen_worker_list(const idgen_config_t* config, idgen_worker_fn each, void* ctx, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    if (!each) throw Error(Status::argument, "each is NULL; pass a function that is called for every worker");
    for (const WorkerInfo& worker : list_workers(open_handle(config, "config"))) {
      const idgen_worker_info_t info = worker_info_of(worker);
      each(ctx, &info);
    }
  });
}

idgen_status_t idgen_worker_plan_repair(const idgen_config_t* config, uint64_t highest_id, idgen_worker_info_t* out,
                                        idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& found = open_handle(config, "config");
    check_struct(out, "out");
    write_struct(out, worker_info_of(plan_worker_repair(found, highest_id)), "out");
  });
}

idgen_status_t idgen_worker_repair(const idgen_config_t* config, uint64_t highest_id, idgen_worker_info_t* out,
                                   idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& found = open_handle(config, "config");
    if (out) check_struct(out, "out");
    const WorkerInfo info = repair_worker(found, highest_id);
    if (out) write_struct(out, worker_info_of(info), "out");
  });
}

idgen_status_t idgen_worker_release(const idgen_config_t* config, int32_t even_if_live, idgen_worker_info_t* out,
                                    idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& found = open_handle(config, "config");
    if (out) check_struct(out, "out");
    const WorkerInfo info = release_worker(found, even_if_live != 0);
    if (out) write_struct(out, worker_info_of(info), "out");
  });
}

}  // extern "C"
