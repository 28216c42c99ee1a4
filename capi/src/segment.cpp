#include "border.hpp"
#include "idgen/admin.h"
#include "idgen/concat.hpp"
#include "idgen/store.hpp"
#include "idgen/text.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

const std::string& tag_name(const Config& config) { return config.get(config.get("tag").empty() ? "name" : "tag"); }

struct Tag {
  std::shared_ptr<Store> store;
  const std::string& name_space;
  const std::string& name;
};

Tag tag_of(const idgen_config_t* handle, bool create) {
  const Config& config = open_handle(handle, "config");
  std::shared_ptr<Store> store = config.store;
  StoreOptions options = config.store_options();
  if (store) {
    store->configure(options);
  } else {
    options.create = create;
    store = open_store(config.get("store"), options);
  }
  return {store, config.get("namespace"), tag_name(config)};
}

idgen_segment_info_t info_of(const SegmentInfo& row) {
  idgen_segment_info_t info{sizeof info, 0, row.max_id, row.grants, row.updated_unix_ms, row.step, row.rate, ""};
  copy_text(row.holder, info.holder, sizeof info.holder);
  return info;
}

}  // namespace

extern "C" {

idgen_status_t idgen_store_create(const idgen_config_t* config, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& settings = open_handle(config, "config");
    StoreOptions options = settings.store_options();
    if (settings.store) {
      settings.store->configure(options);
      return settings.store->create();
    }
    options.create = true;
    create_store(settings.get("store"), options);
  });
}

idgen_status_t idgen_segment_create(const idgen_config_t* config, idgen_error_t* err) {
  return idgen_segment_create_above(config, 0, err);
}

idgen_status_t idgen_segment_create_above(const idgen_config_t* config, uint64_t above, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Tag tag = tag_of(config, true);
    tag.store->segment_create(tag.name_space, tag.name, above);
  });
}

idgen_status_t idgen_segment_show(const idgen_config_t* config, idgen_segment_info_t* out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Tag tag = tag_of(config, false);
    check_struct(out, "out");
    write_struct(out, info_of(tag.store->segment_show(tag.name_space, tag.name)), "out");
  });
}

idgen_status_t idgen_segment_advance(const idgen_config_t* config, uint64_t to, idgen_segment_info_t* out,
                                     idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Tag tag = tag_of(config, false);
    if (out) check_struct(out, "out");
    const SegmentInfo info = tag.store->segment_advance(tag.name_space, tag.name, to);
    if (out) write_struct(out, info_of(info), "out");
  });
}

idgen_status_t idgen_segment_retire(const idgen_config_t* config, idgen_segment_info_t* out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Tag tag = tag_of(config, false);
    check_struct(out, "out");
    const std::string& schema = config->value.get("segment.schema");
    if (schema == "key_producer" || schema == "incr") {
      throw Error(Status::unsupported,
                  concat({"segment.schema = ", schema, ": its rows begin anew in each period, and cannot be retired"}));
    }
    if (config->value.get("store") == "buffer") {
      throw Error(Status::unsupported,
                  "store = buffer: retire the tag in the store of buffer.database, which grants all its numbers. Those "
                  "that Redis holds were granted before");
    }
    const std::chrono::milliseconds wait_max(config->value.duration_ms("wait_max"));
    write_struct(out, info_of(retire_segment(*tag.store, tag.name_space, tag.name, wait_max)), "out");
  });
}

idgen_status_t idgen_segment_set_step(const idgen_config_t* config, uint64_t step, idgen_segment_info_t* out,
                                      idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Tag tag = tag_of(config, false);
    if (out) check_struct(out, "out");
    const SegmentInfo info = tag.store->segment_set_step(tag.name_space, tag.name, step);
    if (out) write_struct(out, info_of(info), "out");
  });
}

idgen_status_t idgen_segment_list(const idgen_config_t* config, idgen_segment_fn each, void* ctx, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    if (!each) throw Error(Status::argument, "each is NULL; pass a function that is called for every tag");
    std::optional<Error> damage;
    for (const SegmentInfo& row : tag_of(config, false).store->segment_list()) {
      if (row.damage) {
        if (!damage) damage = row.damage;
        continue;
      }
      const idgen_segment_info_t info = info_of(row);
      each(ctx, row.name_space.c_str(), row.tag.c_str(), &info);
    }
    if (damage) throw Error(*damage);
  });
}

idgen_status_t idgen_segment_grant_of(const idgen_config_t* config, uint64_t number, idgen_segment_grant_t* out,
                                      idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Tag tag = tag_of(config, false);
    check_struct(out, "out");
    const LoggedGrant found = tag.store->segment_grant_of(tag.name_space, tag.name, number);
    idgen_segment_grant_t grant{sizeof grant, 0, found.grant, found.first, found.last, found.granted_unix_ms, ""};
    copy_text(found.holder, grant.holder, sizeof grant.holder);
    write_struct(out, grant, "out");
  });
}

idgen_status_t idgen_segment_max_of(const idgen_config_t* config, const char* table, const char* column,
                                    uint64_t* max_id, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(table, "table");
    require(column, "column");
    require(max_id, "max_id");
    *max_id = tag_of(config, false).store->segment_column(table, column, std::nullopt).highest_in_use();
  });
}

idgen_status_t idgen_segment_column_of(const idgen_config_t* config, const char* table, const char* column,
                                       const char* sequence, idgen_segment_column_t* out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(table, "table");
    require(column, "column");
    check_struct(out, "out");
    const NumberedColumn found =
        tag_of(config, false)
            .store->segment_column(table, column, sequence ? std::optional<std::string>(sequence) : std::nullopt);
    idgen_segment_column_t is{
        sizeof is, found.is_always, found.largest, found.issued, found.increment, found.highest_in_use(), "", ""};
    copy_text(found.counter, is.counter, sizeof is.counter);
    copy_text(found.others, is.others, sizeof is.others);
    write_struct(out, is, "out");
  });
}

idgen_status_t idgen_segment_statements(const idgen_config_t* handle, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    const Config& config = open_handle(handle, "config");
    if (config.store) {
      throw Error(Status::unsupported,
                  "a store of the program's own makes its tags itself; idgen has no statements for it");
    }
    write_text(
        segment_statements(config.get("store"), config.store_options(), config.get("namespace"), tag_name(config)),
        buffer, size);
  });
}

}  // extern "C"
