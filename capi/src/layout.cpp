#include "idgen/layout.hpp"

#include <time.h>

#include <limits>

#include "border.hpp"
#include "idgen/gene.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"
#include "wide.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

idgen_parts_t to_c(const Parts& parts) {
  return {0,
          parts.fields,
          parts.unix_ms,
          parts.time,
          parts.datacenter,
          parts.worker,
          parts.process,
          parts.shard,
          parts.sequence,
          parts.gene,
          parts.version,
          static_cast<uint64_t>(parts.segment),
          parts.fixed,
          static_cast<uint64_t>(parts.segment >> 64)};
}

Parts from_c(const idgen_parts_t* given) {
  if (require(given, "parts")->struct_size < sizeof(idgen_parts_t)) {
    throw Error(Status::argument,
                concat({"parts: struct_size is ", given->struct_size, "; set it to sizeof, ", sizeof(idgen_parts_t)}));
  }
  const idgen_parts_t& parts = *given;
  Parts result;
  result.time = parts.time;
  result.datacenter = parts.datacenter;
  result.worker = parts.worker;
  result.process = parts.process;
  result.shard = parts.shard;
  result.sequence = parts.sequence;
  result.gene = parts.gene;
  result.version = parts.version;
  result.segment = Id128{parts.segment_high} << 64 | parts.segment;
  result.fixed = parts.fixed;
  return result;
}

}  // namespace

extern "C" {

idgen_status_t idgen_layout_create(const char* layout, const char* epoch, idgen_layout_t** out, idgen_error_t* err) {
  return guard(err, [&] {
    require(layout, "layout");
    require(out, "out");
    *out =
        new idgen_layout(Layout::parse(layout, epoch && *epoch ? std::optional(parse_instant(epoch)) : std::nullopt));
  });
}

void idgen_layout_destroy(idgen_layout_t* layout) {
  if (layout && layout->is_intact()) delete layout;
}

idgen_status_t idgen_layout_of(const idgen_t* generator, idgen_layout_t** out, idgen_error_t* err) {
  return guard(err, [&] {
    require(out, "out");
    *out = new idgen_layout(open_handle(generator, "generator").layout());
  });
}

idgen_status_t idgen_decode(const idgen_t* generator, uint64_t id, idgen_parts_t* parts, idgen_error_t* err) {
  return guard(err,
               [&] { write_struct(parts, to_c(open_handle(generator, "generator").layout().decode(id)), "parts"); });
}

idgen_status_t idgen_layout_decode(const idgen_layout_t* layout, uint64_t id, idgen_parts_t* parts,
                                   idgen_error_t* err) {
  return guard(err, [&] { write_struct(parts, to_c(open_handle(layout, "layout").decode(id)), "parts"); });
}

idgen_status_t idgen_layout_encode(const idgen_layout_t* layout, const idgen_parts_t* parts, uint64_t* id,
                                   idgen_error_t* err) {
  return guard(err, [&] {
    const Layout& fields = open_handle(layout, "layout");
    const Parts values = from_c(parts);
    *require(id, "id") = fields.encode(values);
  });
}

idgen_status_t idgen_decode_wide(const idgen_t* generator, const idgen_wide_id_t* id, idgen_parts_t* parts,
                                 idgen_error_t* err) {
  return guard(err,
               [&] { write_struct(parts, to_c(open_handle(generator, "generator").decode(from_c(id))), "parts"); });
}

idgen_status_t idgen_layout_decode_wide(const idgen_layout_t* layout, const idgen_wide_id_t* id, idgen_parts_t* parts,
                                        idgen_error_t* err) {
  return guard(err, [&] { write_struct(parts, to_c(open_handle(layout, "layout").decode(from_c(id))), "parts"); });
}

idgen_status_t idgen_layout_encode_wide(const idgen_layout_t* layout, const idgen_parts_t* parts, idgen_wide_id_t* id,
                                        idgen_error_t* err) {
  return guard(err, [&] {
    const Layout& fields = open_handle(layout, "layout");
    const Parts values = from_c(parts);
    *require(id, "id") = to_c(fields.encode_wide(values));
  });
}

idgen_status_t idgen_layout_gene(const idgen_layout_t* layout, int32_t rule, const void* owner, size_t size,
                                 uint64_t* gene, idgen_error_t* err) {
  return guard(err, [&] {
    const Layout& fields = open_handle(layout, "layout");
    if (size > 0) require(owner, "owner");
    if (rule < IDGEN_GENE_AUTO || rule > IDGEN_GENE_MOD) {
      throw Error(Status::argument, concat({"rule ", rule, " is not one of IDGEN_GENE_*, 0 to ", IDGEN_GENE_MOD}));
    }
    const std::optional<GeneRule> chosen =
        rule == IDGEN_GENE_AUTO ? std::nullopt : std::optional(rule == IDGEN_GENE_MOD ? GeneRule::mod : GeneRule::hash);
    *require(gene, "gene") = fields.gene_of({static_cast<const char*>(owner), size}, chosen);
  });
}

idgen_status_t idgen_layout_info(const idgen_layout_t* layout, int64_t now_unix_ms, idgen_layout_info_t* out,
                                 idgen_error_t* err) {
  return guard(err, [&] {
    const Layout& fields = open_handle(layout, "layout");
    if (now_unix_ms == std::numeric_limits<int64_t>::min()) {
      timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      now_unix_ms = now.tv_sec * 1000 + now.tv_nsec / kNsPerMs;
    }
    idgen_layout_info_t info{};
    info.fields = fields.field_bits();
    info.bits = fields.bits();
    info.is_unsigned = fields.is_unsigned();
    info.is_js_safe = fields.is_js_safe();
    info.field_count = static_cast<uint32_t>(fields.fields().size());
    info.epoch_unix_ms = fields.epoch_unix_ms();
    info.tick_ms = fields.tick_ms();
    info.first_unix_ms = fields.epoch_unix_ms();
    info.last_unix_ms = fields.last_unix_ms();
    info.years_left = fields.years_left(now_unix_ms);
    info.ids_per_tick = fields.ids_per_tick();
    info.ids_per_second = fields.ids_per_second();
    info.workers = fields.workers();
    copy_text(fields.text(), info.text, sizeof info.text);
    copy_text(fields.preset(), info.preset, sizeof info.preset);
    write_struct(out, info, "out");
  });
}

idgen_status_t idgen_layout_field_at(const idgen_layout_t* layout, size_t index, idgen_field_t* out,
                                     idgen_error_t* err) {
  return guard(err, [&] {
    const auto fields = open_handle(layout, "layout").fields();
    check_index(index, fields.size());
    const Field& field = fields[index];
    write_struct(
        out,
        idgen_field_t{0, static_cast<uint32_t>(field.kind), field.bits, field.shift, field_name(field.kind).data()},
        "out");
  });
}

size_t idgen_layout_preset_count(void) { return presets().size(); }
const char* idgen_layout_preset_at(size_t index) {
  return index < presets().size() ? presets()[index].name.data() : nullptr;
}

}  // extern "C"
