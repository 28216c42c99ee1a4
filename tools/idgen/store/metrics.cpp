// idgen metrics: what a store knows of tags and workers, for Prometheus.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "shared/command.hpp"
#include "shared/layout_fields.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/text.hpp"
#include "store/segment.hpp"
#include "store/workers.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Reads the rows behind the generators of FILE (or the one of --name), or all tags of a store and the workers of
--namespace. It opens no generator, draws nothing and changes nothing. The text is what Prometheus reads (format
0.0.4): for the textfile collector of node_exporter, with --output, which replaces the file at once.

A service's own figures (stock, waits, failures) come from the service: idgen_metrics. These say how its store
stands, also when nothing runs.

  idgen_store_up                             1: the rows could be read; else 0, with the status why not
  idgen_store_read_timestamp_seconds         when this run read them, or tried to
  idgen_store_tag_max_id                     highest number granted so far, without what was given back
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

--holders makes a series for each process that ever drew. A retired tag has no ids_left: nobody is to draw from it.
Nor has a serial with --config. With --store it has those below 2^63: a row does not say what its numbers are for.

FILE of --output is replaced where it lies, also behind a symbolic link. What is no regular file is refused. A FILE of
--config that cannot be read makes one sample, idgen_store_up 0, with its name: nothing old is left that says all is
well.

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
    {"idgen_store_read_timestamp_seconds", "gauge", "When the rows were read, or were to be."},
    {"idgen_store_tag_max_id", "gauge", "Highest number granted so far, without what was given back."},
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

// Samples by metric and labels. Two generators of a file may share a row: its samples are the same for both.
class Samples {
 public:
  void add(const std::string& metric, const std::string& labels, const std::string& value) {
    samples_[metric].emplace(labels, value);
  }
  void add(const std::string& metric, const std::string& labels, std::uint64_t value) {
    add(metric, labels, std::to_string(value));
  }
  // What is left of one row depends on who asks: the narrowest layout is full first.
  void add_left(const std::string& metric, const std::string& labels, std::uint64_t left) {
    const auto [known, is_new] = left_.emplace(metric + '{' + labels, left);
    if (!is_new) known->second = std::min(known->second, left);
    samples_[metric][labels] = std::to_string(known->second);
  }
  std::string text() const {
    std::string out;
    for (const Description& metric : kDescriptions) {
      const auto found = samples_.find(metric.name);
      if (found == samples_.end()) continue;
      out += std::string("# HELP ") + metric.name + ' ' + metric.help + "\n# TYPE " + metric.name + ' ' + metric.type +
             '\n';
      for (const auto& [labels, value] : found->second)
        out.append(metric.name).append("{").append(labels).append("} ").append(value).append("\n");
    }
    return out;
  }

 private:
  std::map<std::string, std::map<std::string, std::string>> samples_;  // by metric, then by labels
  std::map<std::string, std::uint64_t> left_;
};

std::string store_label(const Config& config) {
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

// `idgen segment retire` and `move` say so in the row. One that is full without that has run out, and somebody waits.
bool is_retired(const idgen_segment_info_t& info) {
  return info.max_id == kLargestNumber && std::strstr(info.holder, "retired") != nullptr;
}

void add_tag(Samples& samples, const std::string& store, const std::string& name_space, const std::string& tag,
             const idgen_segment_info_t& info, std::optional<std::uint64_t> last_id, bool has_holders) {
  const std::string labels = "store=" + quoted(store) + ",namespace=" + quoted(name_space) + ",tag=" + quoted(tag);
  samples.add("idgen_store_tag_max_id", labels, info.max_id);
  if (last_id && !is_retired(info))
    samples.add_left("idgen_store_tag_ids_left", labels, *last_id - std::min(*last_id, info.max_id));
  samples.add("idgen_store_tag_grants_total", labels, info.grants);
  samples.add("idgen_store_tag_step", labels, info.step);
  samples.add("idgen_store_tag_rate", labels, info.rate);
  samples.add("idgen_store_tag_updated_timestamp_seconds", labels,
              number(static_cast<double>(info.updated_unix_ms) / 1e3));
  if (has_holders && *info.holder)
    samples.add("idgen_store_tag_holder", labels + ",holder=" + quoted(info.holder), "1");
}

void add_workers(Samples& samples, const Config& config, bool has_holders) {
  const std::string space = "store=" + quoted(store_label(config)) + ",namespace=" + quoted(value(config, "namespace"));
  for (const idgen_worker_info_t& info : workers_of(config)) {
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
                "store=" + quoted(store_label(config)) + ",namespace=" + quoted(value(config, "namespace")),
                std::uint64_t{1} << bits);
    return;
  }
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  add_tag(samples, store_label(config), value(config, "namespace"), tag_of(config), info, last_id_of(config),
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
    add_tag(samples, store_label(config), row.name_space, row.tag, row.info, kLargestNumber, has_holders);
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

// Where a path leads. The links are followed one by one, because the last one may lead to what is not there yet.
std::filesystem::path behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(at, error)); ++i) {
    if (i == kMostLinks) throw IoError("cannot replace " + path + ": " + std::strerror(ELOOP));
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) throw IoError("cannot replace " + path + ": " + error.message());
    at = at.parent_path() / target;  // the target alone if it begins with /
  }
  return at;
}

// rename() puts a file in the place of anything but a folder: of a device, for every process of the machine.
void check_replaceable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return;
  const char* const what = S_ISDIR(found.st_mode)    ? "a folder"
                           : S_ISFIFO(found.st_mode) ? "a pipe"
                           : S_ISSOCK(found.st_mode) ? "a socket"
                                                     : "a device";
  throw IoError("cannot replace " + path + ": it is " + what +
                ". --output takes a file, which it replaces or makes, or - for standard output");
}

// Written beside it, then renamed: a collector reads the old text or the new one, also after a power loss.
void replace_file(const std::string& path, const std::string& text) {
  check_replaceable(path);
  const std::string target = behind_links(path).string();
  std::string fresh = target + ".XXXXXX";
  const int made = mkostemp(fresh.data(), O_CLOEXEC);
  if (made < 0) throw IoError("cannot write " + path + ": " + std::strerror(errno));
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(made, 0666 & ~mask);  // others are to read it
  try {
    write_file(fresh, text);
    if (fsync(made) != 0) throw IoError("cannot write " + path + ": " + std::strerror(errno));
    if (std::rename(fresh.c_str(), target.c_str()) != 0)
      throw IoError("cannot replace " + path + ": " + std::strerror(errno));
  } catch (const IoError&) {
    close(made);
    std::remove(fresh.c_str());
    throw;
  }
  close(made);
}

// What is read, and what could not be.
struct Report {
  Samples samples;
  std::vector<std::string> complaints;
  bool all_retryable = true;

  idgen_status_t failed(const Failure& failure) {
    all_retryable = all_retryable && failure.exit_status() == kExitTryAgain;
    complaints.push_back(std::string(idgen_status_name(failure.status())) + ": " + failure.what());
    return failure.status();
  }
  void add_up(const std::string& store, const std::string& name, idgen_status_t status) {
    const std::string labels = "store=" + quoted(store) + ",name=" + quoted(name);
    samples.add("idgen_store_up", labels + ",status=\"" + idgen_status_name(status) + '"',
                std::uint64_t{status == IDGEN_OK});
    samples.add("idgen_store_read_timestamp_seconds", labels, number(static_cast<double>(now_unix_ms()) / 1e3));
  }
};

// The rows behind one table of a file, or all of a store.
void add_rows(const Arguments& arguments, const std::string& name, Report& report) {
  const bool has_file = !arguments.settings.file().empty();
  std::string store, shown_name = has_file ? name : "";  // a table that is wrong names no store
  idgen_status_t status = IDGEN_OK;
  try {
    const Config config = arguments.settings.make(name);
    store = store_label(config);
    if (has_file) shown_name = value(config, "name");
    has_file ? add_generator(report.samples, config, arguments.has_holders)
             : add_store(report.samples, config, arguments.has_holders);
  } catch (const Failure& failure) {
    if (!has_file && store.empty()) throw;  // a wrong option: a person reads the answer, or the file grows too old
    status = report.failed(failure);
  }
  report.add_up(store, shown_name, status);
}

int write_metrics(const Arguments& arguments) {
  const Settings& settings = arguments.settings;
  const bool has_file = !settings.file().empty();
  if (!has_file && !settings.gives_any()) throw UsageError("which store? Name it with --store, or with --config");
  Report report;
  std::vector<std::string> names{settings.name()};
  if (has_file && settings.name().empty()) {
    try {
      names = names_in(settings.file());
      if (names.empty()) throw Failure(IDGEN_E_CONFIG_FILE, settings.file() + " has no table: nothing to read");
    } catch (const Failure& failure) {  // the file stands for the generators in it, which nobody knows
      names.clear();
      report.add_up("", settings.file(), report.failed(failure));
    }
  }
  for (const std::string& name : names) add_rows(arguments, name, report);
  const std::string text = report.samples.text();
  arguments.output.empty() || arguments.output == "-" ? print(text) : replace_file(arguments.output, text);
  for (const std::string& complaint : report.complaints) {
    const std::string line = "idgen: error: " + one_line(complaint) + '\n';
    std::fputs(line.c_str(), stderr);
  }
  return report.complaints.empty() ? kExitOk : report.all_retryable ? kExitTryAgain : kExitFailure;
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
                          .help = "Replace this file instead of printing; - is standard output.",
                          .target = &arguments->output,
                          .value = Value::file},
                         {.names = "--holders",
                          .help = "Also who took the latest grant and window.",
                          .target = &arguments->has_holders}}),
      .run = [arguments] { return write_metrics(*arguments); },
  };
}

}  // namespace idgen_tool
