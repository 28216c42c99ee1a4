// idgen layout: what a layout can do, and until when.
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "shared/command.hpp"
#include "shared/decoded.hpp"
#include "shared/layout_fields.hpp"
#include "shared/output.hpp"
#include "shared/terminal.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
LAYOUT is a preset's name or a layout in full: fields from the most significant one on, each NAME:BITS; time says its
tick too (time:41ms, time:32s, time:39x10ms), and fixed can say its value (fixed:3=5). Without
LAYOUT the presets are listed.

With --json: layout, text, bits, unsigned, js_safe, epoch, epoch_unix_ms, tick_ms, first, last, last_unix_ms,
years_left, ids_per_tick, ids_per_second, workers; without LAYOUT one object per line and preset. Dates after the year
9999 are null; a layout without a time field has none of epoch, tick, first, last, years_left and ids_per_second. One
without a sequence has no workers: any number of generators share the counter of a tag.
)";

struct Arguments {
  std::string layout;
  std::string epoch;
  std::string table;
  std::uint64_t regions = UINT64_MAX;  // not given
  bool json = false;
};

bool has_time(const idgen_layout_info_t& info) { return info.fields & IDGEN_FIELD_TIME; }

// Ids are numbers of a tag, which any number of generators may share.
bool is_counted(const idgen_layout_info_t& info) { return !(info.fields & IDGEN_FIELD_SEQUENCE); }

std::string tick(std::int64_t ms) {
  if (ms == 1) return "millisecond";
  if (ms == 1000) return "second";
  if (ms % 1000 == 0) return grouped(static_cast<std::uint64_t>(ms / 1000)) + " s";
  return grouped(static_cast<std::uint64_t>(ms)) + " ms";
}

std::string as_json(const idgen_layout_info_t& info) {
  JsonObject object;
  object.text("layout", title_of(info)).text("text", info.text).number("bits", info.bits);
  object.boolean("unsigned", info.is_unsigned).boolean("js_safe", info.is_js_safe);
  if (has_time(info)) {
    date(object, "epoch", info.epoch_unix_ms).signed_number("epoch_unix_ms", info.epoch_unix_ms);
    object.signed_number("tick_ms", info.tick_ms);
    date(object, "first", info.first_unix_ms);
    date(object, "last", info.last_unix_ms).signed_number("last_unix_ms", info.last_unix_ms);
    object.real("years_left", info.years_left);
  }
  object.number("ids_per_tick", info.ids_per_tick);
  if (has_time(info)) object.real("ids_per_second", info.ids_per_second);
  if (!is_counted(info)) object.number("workers", info.workers);
  return object.str();
}

std::string workers(const Layout& layout, const idgen_layout_info_t& info) {
  std::string product;
  int factors = 0;
  for (const idgen_field_t& field : fields_of(layout, info)) {
    constexpr std::uint32_t nodes =
        IDGEN_FIELD_DATACENTER | IDGEN_FIELD_WORKER | IDGEN_FIELD_PROCESS | IDGEN_FIELD_SHARD;
    if (!(field.kind & nodes)) continue;
    product += (factors++ ? " x " : "") + grouped(largest(field.bits) + 1) + ' ' + field.name + 's';
  }
  std::string out = grouped(info.workers);
  if (factors > 1) out += "  (" + product + ')';
  if (factors == 0) out += "  (no field tells generators apart)";
  return out;
}

std::string as_lines(const Layout& layout, const idgen_layout_info_t& info, const Terminal& terminal) {
  std::string out = terminal.paint(ink::bold, title_of(info));
  if (info.preset[0]) out += "  " + std::string(info.text);
  out += '\n';
  const auto line = [&](const char* name, const std::string& value) {
    out += "  " + terminal.paint(ink::dim, padded(name, 14)) + value + '\n';
  };
  line("bits", std::to_string(info.bits) + (info.is_unsigned ? ", the top bit too: ids do not fit a signed column"
                                            : info.bits > 64 ? ", made as 16 bytes"
                                                             : ""));
  if (has_time(info)) {
    line("ids", grouped(info.ids_per_tick) + " every " + tick(info.tick_ms) +
                    (info.tick_ms == 1000 ? "" : ", " + approximate(info.ids_per_second) + " a second") +
                    ", from one generator");
    line("generators", workers(layout, info) + " side by side");
    line("all together", approximate(info.ids_per_second * static_cast<double>(info.workers)) + " ids per second");
    line("first id", instant(info.first_unix_ms));
    line("last id", instant(info.last_unix_ms));
    if (info.years_left < 0) {
      line("years left", terminal.paint(ink::red, "none: over for " + fixed(-info.years_left, 1) + " years"));
    } else {
      line("years left", info.years_left >= 10000 ? approximate(info.years_left) : fixed(info.years_left, 1));
    }
  } else {
    line("ids",
         (info.ids_per_tick == UINT64_MAX ? "2^64 or more" : approximate(static_cast<double>(info.ids_per_tick))) +
             " in all, for each combination of the other fields");
    if (is_counted(info)) line("generators", "any number: they share the counter of a tag");
    line("time", "none: the ids do not say when they were made, and no clock is read");
  }
  line("JavaScript", info.is_js_safe
                         ? terminal.paint(ink::green, "safe") + ": never above 2^53 - 1"
                         : terminal.paint(ink::yellow, "not safe") + ": ids pass 2^53 - 1; send them as strings");
  return out;
}

std::string table(const Terminal& terminal) {
  std::string out =
      terminal.paint(ink::bold, padded("preset", 15) + padded("last id", 18) + right_aligned("ids/s", 14) +
                                    right_aligned("generators", 14) + "  fields") +
      '\n';
  for (std::size_t i = 0; i < idgen_layout_preset_count(); ++i) {
    const Layout layout = make_layout(idgen_layout_preset_at(i));
    const idgen_layout_info_t info = info_of(layout);
    std::string last = "-";
    if (has_time(info)) {
      const auto time = rfc3339(info.last_unix_ms);
      last = time ? time->substr(0, 10) : "after 9999";
    }
    const bool over = has_time(info) && info.years_left < 0;
    last = padded(over ? last + ", over" : last, 18);
    if (over) last = terminal.paint(ink::red, last);
    out += padded(info.preset, 15) + last +
           right_aligned(has_time(info) ? grouped(static_cast<std::uint64_t>(info.ids_per_second)) : "-", 14) +
           right_aligned(is_counted(info) ? "any" : grouped(info.workers), 14) + "  " + info.text + '\n';
  }
  return out;
}

std::string split_statement(const Arguments& arguments) {
  if (arguments.layout.empty()) throw UsageError("--split-regions needs a LAYOUT to go with");
  if (arguments.regions < 2 || arguments.regions > 1000)
    throw UsageError("--split-regions " + std::to_string(arguments.regions) + ": TiDB takes 2 to 1000 in a statement");
  const Layout layout = make_layout(arguments.layout, arguments.epoch);
  const idgen_layout_info_t info = info_of(layout);
  const idgen_field_t highest = fields_of(layout, info).front();
  if (info.bits > 64) throw UsageError("ids of " + std::to_string(info.bits) + " bits are no integers in TiDB");
  if (highest.kind != IDGEN_FIELD_GENE) {
    throw UsageError(
        std::string("ids that begin with ") + highest.name +
        " are not spread evenly, so some regions would take all new rows, wherever the table is split. Use "
        "a layout that begins with the gene, such as business64");
  }
  const std::string table = arguments.table.empty() ? "orders" : arguments.table;
  if (!std::ranges::all_of(table, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; }))
    throw UsageError("--table " + one_line(arguments.table) +
                     ": allowed: letters, digits, '_', and '.' after a schema");
  return "SPLIT TABLE " + table + " BETWEEN (0) AND (" + std::to_string(largest(info.bits)) + ") REGIONS " +
         std::to_string(arguments.regions) + ";\n";
}

int show(const Arguments& arguments) {
  const Terminal terminal(stdout);
  Output out;
  if (!arguments.table.empty() && arguments.regions == UINT64_MAX)
    throw UsageError("--table needs --split-regions to go with");
  if (arguments.regions != UINT64_MAX) {
    out.write(split_statement(arguments));
  } else if (!arguments.layout.empty()) {
    const Layout layout = make_layout(arguments.layout, arguments.epoch);
    const idgen_layout_info_t info = info_of(layout);
    out.write(arguments.json ? as_json(info) + '\n' : as_lines(layout, info, terminal));
  } else if (!arguments.epoch.empty()) {
    throw UsageError("--epoch needs a LAYOUT to go with");
  } else if (arguments.json) {
    for (std::size_t i = 0; i < idgen_layout_preset_count(); ++i) {
      out.line(as_json(info_of(make_layout(idgen_layout_preset_at(i)))));
    }
  } else {
    out.write(table(terminal));
  }
  out.flush();
  return kExitOk;
}

}  // namespace

Command layout_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "layout",
      .summary = "Say what a layout can do and how long it lasts; list the presets.",
      .usage = {"[LAYOUT] [--epoch TIME] [--json]", "LAYOUT --split-regions N [--table NAME]"},
      .details = kDetails,
      .examples = {"idgen layout", "idgen layout twitter",
                   "idgen layout 'time:41ms worker:8 sequence:14' --epoch 2026-01-01T00:00:00Z",
                   "idgen layout default --json | jq .years_left",
                   "idgen layout business64 --split-regions 64 --table shop.orders"},
      .options = {{.names = "LAYOUT",
                   .help = "A preset or a layout in full; left out: all presets.",
                   .target = &arguments->layout,
                   .values = preset_names()},
                  epoch_option(arguments->epoch),
                  {.names = "--split-regions",
                   .placeholder = "N",
                   .help = "Print TiDB's statement that splits a table into N regions, 2 to 1000.",
                   .target = &arguments->regions},
                  {.names = "--table",
                   .placeholder = "NAME",
                   .help = "The table of that statement; by default orders.",
                   .target = &arguments->table},
                  {.names = "--json", .help = "JSON, one object per line.", .target = &arguments->json}},
      .run = [arguments] { return show(*arguments); },
  };
}

}  // namespace idgen_tool
