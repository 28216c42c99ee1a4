// idgen audit: whether ids in a dump were issued twice, and why.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>

#include "audit_copies.hpp"
#include "audit_csv.hpp"
#include "audit_dumps.hpp"
#include "audit_picture.hpp"
#include "audit_report.hpp"
#include "audit_result.hpp"
#include "audit_runs.hpp"
#include "command.hpp"
#include "handles.hpp"
#include "id_input.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "settings.hpp"
#include "shard_table.hpp"
#include "stop.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Reads dumps of ids: one per line, a column of a CSV file, 8 bytes each, or a column of a Parquet file (with
python3 and pyarrow). Several files are dumps of one id space, in their order; - is standard input. A dump in
the order of insertion says the most about causes.

Says which ids came more than once and what probably happened: two processes with one worker number, a clock
that was set back, a fork, a restored store, or rows that were exported twice. Says where ids step back, what
each worker issued when, and with --shards or --routes how even the shards are. Without a layout, ids are plain
numbers.

Duplicates are found exactly. What does not fit in --memory goes to temporary files of up to the dump's size.
Rows that hold no id are counted, and the first are shown. The exit status is 3 if there is a duplicate, and 1 for a
dump that cannot be read or has no id.
)";

constexpr std::uint64_t kSmallestMemory = 16 << 20;
constexpr std::uint64_t kOverhead = 12 << 20;  // the program, its libraries, tables and buffers
constexpr std::uint64_t kMostShards = 65'536;
constexpr std::int64_t kAllowedAheadMs = 60'000;  // of this clock

struct Arguments {
  std::vector<std::string> files;
  std::string format;
  std::string column;
  std::string encoding = "decimal";
  bool big_endian = false;
  std::string layout;
  std::string epoch;
  Settings settings;
  std::string process;
  std::string time;
  std::uint64_t shards = 0;
  std::string routes;
  std::string memory = "1G";
  std::string temporary;
  bool json = false;
  std::string svg;
};

std::uint64_t parse_memory(const std::string& text) {
  const auto refuse = [&]() -> std::uint64_t {
    throw UsageError("--memory is '" + text + "', and must be a size of at least 16M, such as 512M or 2G");
  };
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == 0 || digits > 12) return refuse();
  const std::uint64_t number = std::stoull(text.substr(0, digits));
  const std::string unit = text.substr(digits);
  const unsigned shift = unit == "G" ? 30 : unit == "M" ? 20 : unit == "K" ? 10 : unit.empty() ? 0 : 64;
  if (shift == 64 || number > (std::uint64_t{1} << 44 >> shift) || number << shift < kSmallestMemory) return refuse();
  return number << shift;
}

// The layout of a configured generator; nothing for segments, which are plain numbers.
std::optional<Layout> configured_layout(const Settings& settings) {
  const Config config = settings.make();
  const std::string kind = value(config, "kind");
  if (kind == "segment") return std::nullopt;
  const std::string layout = value(config, "layout");
  return make_layout(!layout.empty() ? layout : kind == "business" ? "business64" : "default", value(config, "epoch"));
}

std::optional<Layout> layout_of(const Arguments& arguments) {
  if (!arguments.settings.file().empty()) {
    if (!arguments.layout.empty() || !arguments.epoch.empty())
      throw UsageError("--config names the layout: leave --layout and --epoch out");
    return configured_layout(arguments.settings);
  }
  if (!arguments.settings.name().empty()) throw UsageError("--name needs --config");
  if (arguments.layout.empty() && !arguments.epoch.empty()) throw UsageError("--epoch needs a --layout to go with");
  if (arguments.layout.empty()) return std::nullopt;
  return make_layout(arguments.layout, arguments.epoch);
}

// Which shard each id falls on.
class Shards {
 public:
  Shards(const Arguments& arguments, const std::optional<Layout>& layout) {
    if (arguments.shards > 0) {
      if (arguments.shards > kMostShards)
        throw UsageError("--shards is " + std::to_string(arguments.shards) + ", and may be up to 65536");
      by_remainder_ = arguments.shards;
      counts_.title = "id mod " + std::to_string(by_remainder_);
      for (std::uint64_t i = 0; i < by_remainder_; ++i) counts_.names.push_back(std::to_string(i));
      weights_.assign(by_remainder_, 1);
    } else if (!arguments.routes.empty()) {
      if (!layout) throw UsageError("--routes needs the layout that has the gene: --layout or --config");
      const ShardTable table = read_shard_table(arguments.routes);
      counts_.title = arguments.routes;
      counts_.names = table.shards;
      weights_ = load_of_shards(table, even_load(table));
      ErrorSlot error;
      idgen_route_table_t* raw = nullptr;
      check(idgen_route_table_read(arguments.routes.c_str(), &raw, error), error);
      const RouteTable handle(raw);
      idgen_router_options_t options = IDGEN_ROUTER_OPTIONS_INIT;
      options.layout = layout->get();
      idgen_router_t* router = nullptr;
      check(idgen_router_create(raw, &options, &router, error), error);
      router_.reset(router);
    }
    counts_.counts.resize(counts_.names.size());
  }

  bool is_wanted() const { return !counts_.names.empty(); }
  void add(const std::uint64_t* ids, std::size_t count) {
    if (by_remainder_ > 0) {
      for (std::size_t i = 0; i < count; ++i) ++counts_.counts[ids[i] % by_remainder_];
    } else if (router_) {
      shards_.resize(count);
      ErrorSlot error;
      check(idgen_router_route_batch(router_.get(), ids, count, shards_.data(), nullptr, error), error);
      for (const std::uint32_t shard : shards_) ++counts_.counts[shard];
    }
  }
  std::optional<ShardCounts> result() const {
    if (!is_wanted()) return std::nullopt;
    ShardCounts out = counts_;
    std::vector<double> weights = weights_;
    for (std::size_t i = out.names.size(); i-- > 0;) {  // a shard without a node expects nothing
      if (weights[i] > 0) continue;
      out.names.erase(out.names.begin() + static_cast<std::ptrdiff_t>(i));
      out.counts.erase(out.counts.begin() + static_cast<std::ptrdiff_t>(i));
      weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(i));
    }
    out.evenness = evenness_of(out.counts, weights);
    return out;
  }

 private:
  std::uint64_t by_remainder_ = 0;
  std::unique_ptr<idgen_router_t, Destroyer<idgen_router_destroy>> router_;
  ShardCounts counts_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> shards_;
};

// The first look: gives the sorter its keys, and everybody else what the dumps' order says.
class FirstLook {
 public:
  FirstLook(std::vector<Dump>& dumps, const IdSpace& space, const IdRules& rules, std::size_t buffer_size, Flow& flow,
            Shards& shards, AuditResult& result)
      : dumps_(dumps),
        space_(space),
        rules_(rules),
        buffer_size_(buffer_size),
        flow_(flow),
        shards_(shards),
        result_(result) {}

  Filled fill(std::uint64_t* keys, std::size_t most) {
    std::size_t done = 0;
    const std::uint64_t steps = flow_.steps_back();
    while (done < most) {
      if (at_ == block_.count && !next_block()) break;
      const std::size_t n = std::min(most - done, block_.count - at_);
      const std::uint64_t* const ids = block_.ids.data() + at_;
      space_.keys_of(ids, n, keys + done);
      flow_.add(ids, keys + done, n, block_.rows.empty() ? nullptr : block_.rows.data() + at_, block_.first_row + at_);
      shards_.add(ids, n);
      at_ += n;
      done += n;
    }
    const bool is_in_order = flow_.steps_back() == steps && flow_.not_followed() == 0;
    return {done, is_in_order ? space_.place_bits() : 0};
  }

 private:
  bool next_block() {
    while (dump_ < dumps_.size()) {
      Dump& dump = dumps_[dump_];
      if (!is_begun_) {
        dump.begin(rules_, result_.broken, buffer_size_);
        flow_.begin_dump();
        result_.dumps.push_back(
            {dump.name(), "", dump.kind() != DumpKind::binary && dump.kind() != DumpKind::parquet, 0});
        is_begun_ = true;
      }
      at_ = 0;
      if (dump.reader().read(block_)) {
        result_.dumps.back().ids += block_.count;
        show_progress(dump);
        if (block_.count == 0) continue;
        return true;
      }
      result_.dumps.back().format = dump.described();
      is_begun_ = false;
      ++dump_;
    }
    block_.count = at_ = 0;
    return false;
  }

  void show_progress(const Dump& dump) {
    const std::uint64_t ids = flow_.ids() + block_.count;
    if (!progress_ && dump.bytes_read() > 0) {
      std::uint64_t size = 0;
      for (const Dump& each : dumps_) size += each.size();
      // As many as there would be if all were as long as the first.
      progress_.emplace(static_cast<std::uint64_t>(static_cast<double>(size) * static_cast<double>(ids) /
                                                   static_cast<double>(dump.bytes_read())) +
                        1);
    }
    if (progress_) progress_->at(ids);
  }

  std::vector<Dump>& dumps_;
  const IdSpace& space_;
  const IdRules& rules_;
  std::size_t buffer_size_;
  Flow& flow_;
  Shards& shards_;
  AuditResult& result_;
  std::size_t dump_ = 0;
  bool is_begun_ = false;
  IdBlock block_;
  std::size_t at_ = 0;
  std::optional<Progress> progress_;
};

RowParts split_row(std::string_view record, const IdReader& reader, std::optional<std::size_t> process,
                   std::optional<std::size_t> time) {
  constexpr std::size_t kLongest = 200;
  RowParts parts;
  const std::vector<std::string> fields = fields_of_record(record, reader.separator());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != reader.column()) parts.rest += fields[i].substr(0, kLongest) + '\n';
    if (process == i) parts.process = fields[i].substr(0, kLongest);
    if (time == i) parts.time = fields[i].substr(0, kLongest);
  }
  return parts;
}

// The second look, for the rows of the copies.
CopyFinder find_copies(std::vector<Dump>& dumps, const std::vector<Incident>& incidents, const IdSpace& space,
                       const IdRules& rules, std::size_t buffer_size, const Arguments& arguments) {
  std::vector<std::uint64_t> ids;
  for (const Incident& incident : incidents) {
    for (const std::uint64_t key : incident.samples) ids.push_back(space.id_of(key));
  }
  CopyFinder finder(ids);
  BrokenRows known;
  IdBlock block;
  for (Dump& dump : dumps) {
    IdReader& reader = dump.begin(rules, known, buffer_size);
    finder.begin_dump();
    const bool is_csv = dump.kind() == DumpKind::csv;
    std::optional<std::size_t> process, time;
    bool is_first = true;
    SplitRow split = [&](std::string_view record) { return split_row(record, reader, process, time); };
    while (reader.read(block, is_csv)) {
      if (is_csv && is_first && block.count > 0) {
        if (!arguments.process.empty()) process = reader.place_of(arguments.process);
        if (!arguments.time.empty()) time = reader.place_of(arguments.time);
        is_first = false;
      }
      finder.add(block, is_csv ? split : SplitRow());
    }
  }
  return finder;
}

// Neighbouring incidents of a worker with the same cause are one; rows that came twice are one for all workers.
class Findings {
 public:
  Findings(const SortedPass& sorted, const CopyFinder& finder, const AuditResult& result)
      : sorted_(sorted), finder_(finder), result_(result) {}

  std::vector<Finding> all() {
    for (const Incident& incident : sorted_.incidents()) {
      Finding next = judged(incident);
      if (!out_.empty() && is_same(out_.back(), next)) {
        out_.back() = judged(joined(out_.back().incident, next.incident));
      } else {
        out_.push_back(std::move(next));
      }
    }
    join_dumped();
    std::ranges::stable_sort(out_, std::greater{}, [](const Finding& finding) { return finding.incident.ids; });
    return std::move(out_);
  }

 private:
  static bool is_same(const Finding& a, const Finding& b) {
    if (a.incident.node != b.incident.node || a.verdict.causes != b.verdict.causes) return false;
    switch (a.verdict.causes.front()) {
      case Cause::same_worker:
      case Cause::two_stores:
      case Cause::dumped_twice:
        return true;
      case Cause::clock_back:
      case Cause::store_restored:
        return a.verdict.step == b.verdict.step;
      case Cause::fork:
        return false;
    }
    return false;
  }

  Finding judged(const Incident& incident) const {
    std::vector<const std::vector<Copy>*> copies;
    for (const std::uint64_t key : incident.samples) copies.push_back(&finder_.copies_of(result_.space.id_of(key)));
    const auto& workers = sorted_.workers();
    const auto worker = std::ranges::lower_bound(workers, incident.node, {}, &WorkerSummary::node);
    const bool is_kept = worker != workers.end() && worker->node == incident.node;
    const auto place = [this](std::size_t dump, std::uint64_t row) { return result_.place(dump, row); };
    const Circumstances circumstances{result_.space, result_.flow, place, is_kept ? worker->first : incident.first};
    Finding finding{.incident = incident, .verdict = judge(incident, copies, circumstances)};
    finding.example = result_.space.id_of(incident.samples.front());
    for (std::size_t i = 0; i < copies.size(); ++i) {
      for (const Copy& copy : *copies[i]) finding.marks.push_back({copy.ordinal, incident.samples[i]});
    }
    for (const Copy& copy : finder_.copies_of(finding.example))
      finding.places.push_back(result_.place(copy.dump, copy.row));
    return finding;
  }

  void join_dumped() {
    std::vector<Finding> kept;
    std::size_t dumped = SIZE_MAX;
    for (Finding& finding : out_) {
      if (finding.verdict.causes != std::vector{Cause::dumped_twice}) {
        kept.push_back(std::move(finding));
      } else if (dumped == SIZE_MAX) {
        dumped = kept.size();
        kept.push_back(std::move(finding));
      } else {
        Incident& all = kept[dumped].incident;
        all.ids += finding.incident.ids;
        all.extra += finding.incident.extra;
        all.single += finding.incident.single;
        kept[dumped].marks.insert(kept[dumped].marks.end(), finding.marks.begin(), finding.marks.end());
        all.most_copies = std::max(all.most_copies, finding.incident.most_copies);
        kept[dumped].workers += finding.incident.node != last_dumped_;
        last_dumped_ = finding.incident.node;
        continue;
      }
      if (dumped + 1 == kept.size()) last_dumped_ = kept[dumped].incident.node;
    }
    out_ = std::move(kept);
  }

  const SortedPass& sorted_;
  const CopyFinder& finder_;
  const AuditResult& result_;
  std::vector<Finding> out_;
  std::uint64_t last_dumped_ = 0;
};

int audit(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t memory = parse_memory(arguments.memory);
  const bool is_small = memory < (64 << 20);
  const std::size_t buffer_size = is_small ? 1 << 16 : 1 << 20;
  const std::size_t most_incidents = is_small ? 128 : 1024;
  const std::optional<Layout> layout = layout_of(arguments);
  const IdSpace space = layout ? IdSpace(*layout) : IdSpace();
  Shards shards(arguments, layout);
  catch_signals();

  std::vector<Dump> dumps;
  for (const std::string& file : arguments.files) {
    if (file == "-" && std::ranges::count(arguments.files, "-") > 1)
      throw UsageError("standard input can be read only once");
    dumps.emplace_back(file, arguments.format, arguments.temporary);
    if ((!arguments.process.empty() || !arguments.time.empty()) && dumps.back().kind() != DumpKind::csv)
      throw UsageError("--process and --time name columns of CSV, and " + dumps.back().name() + " is none");
  }
  const std::int32_t encoding = encoding_of(arguments.encoding);
  const IdRules rules{.read_id = [encoding](std::string_view text, std::uint64_t& id,
                                            std::string& why) { return read_id(text, encoding, id, why); },
                      .is_plain_decimal = encoding == IDGEN_TEXT_DECIMAL,
                      .is_big_endian = arguments.big_endian,
                      .outside = space.outside(),
                      .constant = space.constant(),
                      .column = arguments.column};
  Flow flow(space, space.tick_at(now_unix_ms() + kAllowedAheadMs));
  std::optional<SortedPass> sorted;
  AuditResult result{space, flow};
  std::unique_ptr<SortedKeys> keys;
  {
    FirstLook look(dumps, space, rules, buffer_size, flow, shards, result);
    keys = sort_all([&look](std::uint64_t* to, std::size_t most) { return look.fill(to, most); }, memory - kOverhead,
                    arguments.temporary);
  }
  if (flow.ids() == 0) {
    std::string why = "there is no id in " + dumps.front().name() + (dumps.size() > 1 ? " and the other dumps" : "");
    if (!result.broken.first.empty()) {
      const BrokenRows::Row& row = result.broken.first.front();
      why += ": " + grouped(result.broken.count) + " rows hold none. Row " + grouped(row.row) + ": " + row.why;
    }
    throw IoError(why);
  }
  sorted.emplace(space, flow.first_likely(), flow.last_likely(), most_incidents);
  {
    Progress progress(flow.ids());
    std::vector<std::uint64_t> buffer(1 << 13);
    std::uint64_t done = 0;
    while (const std::size_t count = keys->read(buffer.data(), buffer.size())) {
      sorted->add(buffer.data(), count);
      progress.at(done += count);
      if (stop_signal()) throw Interrupted();
    }
    keys.reset();
    sorted->finish();
  }
  result.sorted = &*sorted;
  if (sorted->duplicated() > 0) {
    const CopyFinder finder = find_copies(dumps, sorted->incidents(), space, rules, buffer_size, arguments);
    result.findings = Findings(*sorted, finder, result).all();
  }
  result.shards = shards.result();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!arguments.svg.empty()) write_file(arguments.svg, picture_of(result));
  print(arguments.json ? json_of(result) : report_of(result, Terminal(stdout)));
  if (sorted->duplicated() == 0) return kExitOk;
  const std::string text = "idgen: error: " + std::to_string(sorted->duplicated()) +
                           (sorted->duplicated() == 1 ? " id came more than once\n" : " ids came more than once\n");
  std::fputs(text.c_str(), stderr);
  return kExitDuplicates;
}

}  // namespace

Command audit_command() {
  auto arguments = std::make_shared<Arguments>();
  std::vector<Option> config = arguments->settings.options({});
  config.pop_back();  // --set: nothing is opened
  return {
      .name = "audit",
      .summary = "Find ids that were issued twice in a dump, and why.",
      .usage = {"[--layout LAYOUT | --config FILE] [OPTIONS] FILE..."},
      .details = kDetails,
      .examples = {"idgen audit --layout default orders.csv --column order_id --svg audit.svg",
                   "idgen audit --config idgen.toml --name orders orders.parquet",
                   "psql -Atc 'select id from orders' | idgen audit --layout default -",
                   "idgen audit numbers.bin --shards 16 --memory 512M --json"},
      .options = joined(
          joined({{.names = "FILE",
                   .help = "Dumps of one id space, in their order; - is standard input.",
                   .target = &arguments->files,
                   .value = Value::file,
                   .is_required = true},
                  layout_option(arguments->layout,
                                "A preset (`idgen layout` lists them) or a layout in full. Without: plain numbers."),
                  epoch_option(arguments->epoch)},
                 std::move(config)),
          {{.names = "--format",
            .placeholder = "FORMAT",
            .help = listed(dump_formats()) + ". Default: by the file's name and first bytes.",
            .target = &arguments->format,
            .value = Value::one_of,
            .values = dump_formats()},
           {.names = "--column",
            .placeholder = "COLUMN",
            .help = "The column of ids in CSV or Parquet, by name or number from 1. Default: the only one, or id.",
            .target = &arguments->column},
           {.names = "--encoding",
            .placeholder = "ENCODING",
            .help = "Of ids as text: " + listed(encoding_names()) + ". Default: decimal, or hexadecimal after 0x.",
            .target = &arguments->encoding,
            .value = Value::one_of,
            .values = encoding_names()},
           {.names = "--big-endian",
            .help = "Ids in binary begin with the most significant byte.",
            .target = &arguments->big_endian},
           {.names = "--process",
            .placeholder = "COLUMN",
            .help = "The column of CSV that names the host or process of a row: sharpens causes.",
            .target = &arguments->process},
           {.names = "--time",
            .placeholder = "COLUMN",
            .help = "The column of CSV that says when a row was made: shown with duplicates.",
            .target = &arguments->time},
           {.names = "--shards",
            .placeholder = "N",
            .help = "Say how evenly ids fall on N shards, by id mod N.",
            .target = &arguments->shards},
           {.names = "--routes",
            .placeholder = "TABLE",
            .help = "The same for the shards of a table of routes.",
            .target = &arguments->routes,
            .value = Value::file,
            .excludes = "--shards"},
           {.names = "--memory",
            .placeholder = "SIZE",
            .help = "How much to use, such as 512M or 2G. At least 16M. Default: 1G.",
            .target = &arguments->memory},
           {.names = "--tmp",
            .placeholder = "FOLDER",
            .help = "Where temporary files go. Default: $TMPDIR, else /tmp.",
            .target = &arguments->temporary,
            .value = Value::folder},
           {.names = "--json", .help = "One JSON object per line.", .target = &arguments->json},
           {.names = "--svg",
            .placeholder = "FILE",
            .help = "Also draw rates, order and duplicates to this file.",
            .target = &arguments->svg,
            .value = Value::file}}),
      .run = [arguments] { return audit(*arguments); },
  };
}

}  // namespace idgen_tool
