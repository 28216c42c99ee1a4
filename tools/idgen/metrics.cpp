// idgen metrics: what a store knows of tags and workers, for Prometheus.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "command.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "segment.hpp"
#include "settings.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Reads the rows behind the generators of FILE (or the one of --name), or all tags of a store and the workers of
--namespace. It opens no generator, draws nothing and changes nothing. The text is what Prometheus reads (format
0.0.4): for the textfile collector of node_exporter, with --output, which replaces the file at once.

A service's own figures (stock, waits, failures) come from the service: idgen_metrics. These say how its store
stands, also when nothing runs.

  idgen_store_up                             1: the rows could be read; else 0, with the status why not
  idgen_store_tag_max_id                     highest number granted so far
  idgen_store_tag_ids_left                   ids that the layout (with --config), or 2^63, still holds above
  idgen_store_tag_grants_total               how often a range was granted, or the counter advanced
  idgen_store_tag_step                       numbers per grant, as the row says; 0: each generator's own
  idgen_store_tag_rate                       ids per second that the latest holder drew; 0 = unknown
  idgen_store_tag_updated_timestamp_seconds  when the row last changed
  idgen_store_tag_holder                     with --holders: 1, and who took the latest grant as a label
  idgen_store_worker_live                    1: an owner is alive, or may be; 0: none is
  idgen_store_worker_ahead_seconds           how far its time is reserved beyond this clock
  idgen_store_worker_clock_ahead_seconds     its owner's clock minus the store's, if the store knows
  idgen_store_worker_holder                  with --holders: 1, and who took the latest window
  idgen_store_worker_numbers                 how many the layout has (with --config)

--holders makes a series for each process that ever drew. Serials with a date have no ids_left: they begin anew.

The exit status is 0 only if all rows could be read; the text is printed all the same. 75 if all failures can pass.
)";

struct Arguments {
  Settings settings;
  std::string output;
  bool has_holders = false;
};

// As the C library does, but without its locale.
std::string number(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

// In quotes. Names come from a store: what is not UTF-8 would fail the whole scrape.
std::string quoted(const std::string& value) {
  std::string out = "\"";
  for (std::size_t i = 0; i < value.size();) {
    const auto lead = static_cast<unsigned char>(value[i]);
    const std::size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    bool is_whole = size > 0 && lead < 0xf5 && i + size <= value.size();
    for (std::size_t k = 1; is_whole && k < size; ++k)
      is_whole = (static_cast<unsigned char>(value[i + k]) & 0xc0) == 0x80;
    if (!is_whole) {
      out += '?';
      ++i;
      continue;
    }
    if (value[i] == '\\' || value[i] == '"' || value[i] == '\n') out += '\\';
    out += value[i] == '\n' ? "n" : value.substr(i, size);
    i += size;
  }
  return out + '"';
}

struct Description {
  const char* name;
  const char* type;
  const char* help;
};
constexpr Description kDescriptions[] = {
    {"idgen_store_up", "gauge", "1 = the rows of this generator could be read; status says why not."},
    {"idgen_store_tag_max_id", "gauge", "Highest number granted so far."},
    {"idgen_store_tag_ids_left", "gauge", "Ids that the layout, or 2^63, still holds above that."},
    {"idgen_store_tag_grants_total", "counter", "How often a range was granted, or the counter advanced."},
    {"idgen_store_tag_step", "gauge", "Numbers per grant, as the row says; 0 = each generator's own."},
    {"idgen_store_tag_rate", "gauge", "Ids per second that the latest holder drew; 0 = unknown."},
    {"idgen_store_tag_updated_timestamp_seconds", "gauge", "When the row last changed."},
    {"idgen_store_tag_holder", "gauge", "Who took the latest grant."},
    {"idgen_store_worker_live", "gauge", "1 = an owner is alive, or may be; 0 = none is."},
    {"idgen_store_worker_ahead_seconds", "gauge", "How far its time is reserved beyond this clock."},
    {"idgen_store_worker_clock_ahead_seconds", "gauge", "The owner's clock minus the store's."},
    {"idgen_store_worker_holder", "gauge", "Who took the latest window."},
    {"idgen_store_worker_numbers", "gauge", "How many numbers of workers the layout has."},
};

// Samples by metric. A second one with the same labels is left out: two generators of a file may share a row.
class Samples {
 public:
  void add(const std::string& metric, const std::string& labels, const std::string& value) {
    if (seen_.insert(metric + '{' + labels).second) lines_[metric] += metric + '{' + labels + "} " + value + '\n';
  }
  void add(const std::string& metric, const std::string& labels, std::uint64_t value) {
    add(metric, labels, std::to_string(value));
  }
  std::string text() const {
    std::string out;
    for (const Description& metric : kDescriptions) {
      const auto found = lines_.find(metric.name);
      if (found == lines_.end()) continue;
      out += std::string("# HELP ") + metric.name + ' ' + metric.help + "\n# TYPE " + metric.name + ' ' + metric.type +
             '\n' + found->second;
    }
    return out;
  }

 private:
  std::set<std::string> seen_;
  std::map<std::string, std::string> lines_;
};

std::string shown_store(const Config& config) {
  const std::string store = value(config, "store");
  return store == "buffer" ? without_secrets(value(config, "buffer.database")) : without_secrets(store);
}

// How many bits of a layout are fields of this kind.
unsigned bits_of(const Layout& layout, const std::set<std::string>& kinds) {
  unsigned bits = 0;
  for (const idgen_field_t& field : fields_of(layout, info_of(layout))) {
    if (kinds.contains(field.name)) bits += field.bits;
  }
  return bits;
}

Layout layout_of(const Config& config, const char* otherwise) {
  const std::string text = value(config, "layout");
  return make_layout(text.empty() ? otherwise : text, value(config, "epoch"));
}

// The last id of a tag; nothing for serials, of which a period may end sooner.
std::optional<std::uint64_t> last_id_of(const Config& config) {
  const std::string kind = value(config, "kind");
  if (kind == "serial") return std::nullopt;
  if (kind != "business" || value(config, "on_full") == "widen") return kLargestNumber;
  const unsigned bits = bits_of(layout_of(config, "business64"), {"segment"});
  return bits < 63 ? (std::uint64_t{1} << bits) - 1 : kLargestNumber;
}

void add_tag(Samples& samples, const std::string& store, const std::string& name_space, const std::string& tag,
             const idgen_segment_info_t& info, std::optional<std::uint64_t> last_id, bool has_holders) {
  const std::string labels = "store=" + quoted(store) + ",namespace=" + quoted(name_space) + ",tag=" + quoted(tag);
  samples.add("idgen_store_tag_max_id", labels, info.max_id);
  if (last_id) samples.add("idgen_store_tag_ids_left", labels, *last_id - std::min(*last_id, info.max_id));
  samples.add("idgen_store_tag_grants_total", labels, info.grants);
  samples.add("idgen_store_tag_step", labels, info.step);
  samples.add("idgen_store_tag_rate", labels, info.rate);
  samples.add("idgen_store_tag_updated_timestamp_seconds", labels,
              number(static_cast<double>(info.updated_unix_ms) / 1e3));
  if (has_holders && *info.holder)
    samples.add("idgen_store_tag_holder", labels + ",holder=" + quoted(info.holder), "1");
}

void add_workers(Samples& samples, const Config& config, bool has_holders) {
  ErrorSlot error;
  std::vector<idgen_worker_info_t> rows;
  check(idgen_worker_list(
            config.get(),
            [](void* to, const idgen_worker_info_t* info) {
              static_cast<std::vector<idgen_worker_info_t>*>(to)->push_back(*info);
            },
            &rows, error),
        error);
  const std::string space = "store=" + quoted(shown_store(config)) + ",namespace=" + quoted(value(config, "namespace"));
  for (const idgen_worker_info_t& info : rows) {
    const std::string labels = space + ",worker=\"" + std::to_string(info.worker) + '"';
    samples.add("idgen_store_worker_live", labels, std::uint64_t{info.is_live});
    samples.add("idgen_store_worker_ahead_seconds", labels, number(static_cast<double>(info.ahead_ms) / 1e3));
    if (info.clock_ahead_ms != INT64_MIN) {
      samples.add("idgen_store_worker_clock_ahead_seconds", labels,
                  number(static_cast<double>(info.clock_ahead_ms) / 1e3));
    }
    if (has_holders && *info.holder)
      samples.add("idgen_store_worker_holder", labels + ",holder=" + quoted(info.holder), "1");
  }
}

// The rows of one generator of a file.
void add_generator(Samples& samples, const Config& config, bool has_holders) {
  if (value(config, "kind") == "snowflake") {
    add_workers(samples, config, has_holders);
    const unsigned bits = bits_of(layout_of(config, "default"), {"datacenter", "worker", "process", "shard"});
    samples.add("idgen_store_worker_numbers",
                "store=" + quoted(shown_store(config)) + ",namespace=" + quoted(value(config, "namespace")),
                std::uint64_t{1} << bits);
    return;
  }
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  add_tag(samples, shown_store(config), value(config, "namespace"), tag_of(config), info, last_id_of(config),
          has_holders);
}

// All tags of a store, and the workers of a namespace.
void add_store(Samples& samples, const Config& config, bool has_holders) {
  struct Row {
    std::string name_space;
    std::string tag;
    idgen_segment_info_t info;
  };
  std::vector<Row> rows;
  ErrorSlot error;
  check(idgen_segment_list(
            config.get(),
            [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
              static_cast<std::vector<Row>*>(to)->push_back({name_space, tag, *info});
            },
            &rows, error),
        error);
  for (const Row& row : rows)
    add_tag(samples, shown_store(config), row.name_space, row.tag, row.info, kLargestNumber, has_holders);
  const Config workers = make_config();
  for (const char* key : {"store", "namespace", "directory", "module.path", "store_timeout"}) {
    if (const std::string set_to = value(config, key); !set_to.empty()) set(workers, key, set_to);
  }
  try {
    add_workers(samples, workers, has_holders);
  } catch (const Failure& failure) {
    if (failure.status() != IDGEN_E_UNSUPPORTED) throw;  // a store without workers, such as a buffer
  }
}

// Written beside it, then renamed: a collector reads the old text or the new one.
void replace_file(const std::string& path, const std::string& text) {
  std::string fresh = path + ".XXXXXX";
  const int made = mkostemp(fresh.data(), O_CLOEXEC);
  if (made < 0) throw IoError("cannot write " + path + ": " + std::strerror(errno));
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(made, 0666 & ~mask);  // others are to read it
  close(made);
  try {
    write_file(fresh, text);
    if (std::rename(fresh.c_str(), path.c_str()) != 0)
      throw IoError("cannot replace " + path + ": " + std::strerror(errno));
  } catch (const IoError&) {
    std::remove(fresh.c_str());
    throw;
  }
}

int write_metrics(const Arguments& arguments) {
  const Settings& settings = arguments.settings;
  const bool has_file = !settings.file().empty();
  if (!has_file && !settings.gives_any()) throw UsageError("which store? Name it with --store, or with --config");
  const std::vector<std::string> names =
      has_file && settings.name().empty() ? names_in(settings.file()) : std::vector{settings.name()};
  if (names.empty()) throw Failure(IDGEN_E_CONFIG_FILE, settings.file() + " has no table: nothing to read");
  Samples samples;
  std::vector<std::string> complaints;
  bool all_retryable = true;
  for (const std::string& name : names) {
    const Config config = settings.make(name);  // a wrong file is wrong as a whole
    idgen_status_t status = IDGEN_OK;
    try {
      has_file ? add_generator(samples, config, arguments.has_holders)
               : add_store(samples, config, arguments.has_holders);
    } catch (const Failure& failure) {
      status = failure.status();
      all_retryable = all_retryable && failure.exit_status() == kExitTryAgain;
      complaints.push_back(std::string(idgen_status_name(status)) + ": " + failure.what());
    }
    samples.add("idgen_store_up",
                "store=" + quoted(shown_store(config)) + ",name=" + quoted(has_file ? value(config, "name") : "") +
                    ",status=\"" + idgen_status_name(status) + '"',
                std::uint64_t{status == IDGEN_OK});
  }
  arguments.output.empty() ? print(samples.text()) : replace_file(arguments.output, samples.text());
  for (const std::string& complaint : complaints) {
    const std::string line = "idgen: error: " + one_line(complaint) + '\n';
    std::fputs(line.c_str(), stderr);
  }
  return complaints.empty() ? kExitOk : all_retryable ? kExitTryAgain : kExitFailure;
}

}  // namespace

Command metrics_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "metrics",
      .summary = "Print what a store knows of tags and workers, for Prometheus.",
      .usage = {"--config FILE [--name NAME] [--output FILE] [--holders]",
                "--store URL [--namespace NAME] [--output FILE] [--holders]"},
      .details = kDetails,
      .examples = {"idgen metrics --config idgen.toml",
                   "idgen metrics --config idgen.toml --output /var/lib/node_exporter/idgen.prom",
                   "idgen metrics --store postgres://app@db/ids"},
      .options = joined(arguments->settings.options({"store", "namespace"}),
                        {{.names = "--output",
                          .placeholder = "FILE",
                          .help = "Replace this file instead of printing.",
                          .target = &arguments->output,
                          .value = Value::file},
                         {.names = "--holders",
                          .help = "Also who took the latest grant and window.",
                          .target = &arguments->has_holders}}),
      .run = [arguments] { return write_metrics(*arguments); },
  };
}

}  // namespace idgen_tool
