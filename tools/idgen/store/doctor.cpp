// idgen doctor: open every generator of a file, and say what its configuration protects against and what not.
#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "shared/command.hpp"
#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/terminal.hpp"
#include "shared/text.hpp"
#include "store/segment.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Opens each generator of FILE (or the one of --name) as a service would, closes it, and prints what the
configuration guarantees and what it does not. It draws no id: it takes one number of a segment (or the step in the
tag's row), or a window of a worker's time, and gives it back.

  ok    could be opened
  warn  could be opened, but one side of its buffer, Redis or the database, is down
  fail  could not. WORKER_BUSY: a running service owns the worker, and the guard is at work. Check before starting it.

With --json: name, verdict (ok, warn or fail), status (OK, or why it could not be opened), message (of a warning or
a failure, else ""), opened_ms (null if it could not), description (what is guaranteed, lines; "" if not known).

--above-table compares the tag of one generator with the column that its ids go to: after a restore, or before a
first start. If the table has ids above all that the tag granted, or its counter has issued some to rows that are
deleted, the verdict is fail (STORE_REGRESSED), and the generator is not opened: it would issue those ids again.
--config may then be replaced by --store and --tag, for a tag whose numbers are the ids (kind = segment).

The exit status is 0 only if every generator could be opened; 75 if all that failed can succeed later.
)";

struct Arguments {
  Settings settings;
  std::string above_table;
  bool json = false;
};

// The findings about one generator.
struct Finding {
  std::string name;
  std::string verdict;  // "ok", "warn" or "fail"
  idgen_status_t status = IDGEN_OK;
  std::string message{};  // of a warning or a failure
  std::optional<double> opened_ms{};
  std::string description{};  // lines
};

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Which sides of a buffer are down; "" if none is.
std::string down_sides(const Generator& generator) {
  ErrorSlot error;
  idgen_stats_t stats = IDGEN_STATS_INIT;
  check(idgen_stats(generator.get(), &stats, error), error);
  if (stats.breaker_redis) return "Redis does not answer; segments come only from the database";
  if (stats.breaker_database)
    return "the database does not answer; segments come from what Redis holds, as long as that lasts";
  return "";
}

// Without a file only a tag can be compared, which is a segment's.
Config configured(const Settings& settings, const std::string& name) {
  Config config = settings.make(name);
  if (settings.file().empty() && value(config, "kind") == "snowflake") set(config, "kind", "segment");
  return config;
}

// Opens the generator as a service would, but reserves one number where a service takes a segment, and draws no id.
void open_and_close(const Settings& settings, Finding& finding) {
  const Config as_configured = configured(settings, finding.name);
  finding.description = read_text([&](char* buffer, std::size_t* size, idgen_error_t* err) {
    return idgen_config_describe(as_configured.get(), buffer, size, err);
  });
  const Config config = configured(settings, finding.name);
  reserve_only(config, settings, 1);
  set(config, "buffer.errors", "1");  // a side that fails once is reported as down
  const auto begin = std::chrono::steady_clock::now();
  const Generator generator = make_generator(config);
  finding.opened_ms = ms_since(begin);
  finding.message = down_sides(generator);
  finding.verdict = finding.message.empty() ? "ok" : "warn";
  ErrorSlot error;
  check(idgen_close(generator.get(), error), error);
}

// What the tag of a configuration must be above: TABLE.COLUMN, where TABLE may be DATABASE.TABLE.
struct Column {
  std::string table;
  std::string column;
};
Column column_of(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == text.size())
    throw UsageError("--above-table takes TABLE.COLUMN or DATABASE.TABLE.COLUMN, not '" + one_line(text) + "'");
  return {text.substr(0, dot), text.substr(dot + 1)};
}

// Throws Failure{STORE_REGRESSED} if the column has ids above all that the tag granted; else says how they stand.
std::string compared(const Config& config, const std::string& above_table) {
  if (value(config, "kind") != "segment") {
    throw UsageError("--above-table compares numbers of a tag with ids of a table, which only kind = segment makes; '" +
                     value(config, "name") + "' has kind = " + value(config, "kind"));
  }
  const auto [table, column] = column_of(above_table);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  idgen_segment_column_t found = IDGEN_SEGMENT_COLUMN_INIT;
  check(idgen_segment_column_of(config.get(), table.c_str(), column.c_str(), nullptr, &found, error), error);
  const std::uint64_t highest = found.in_use;
  std::string stand =
      "the largest " + one_line(column) + " of " + one_line(table) + " is " + std::to_string(found.largest);
  if (highest > found.largest)
    stand += ", its counter (" + one_line(found.counter) + ") has issued up to " + std::to_string(found.issued);
  stand += ", and " + shown_tag(config) + " has granted up to " + std::to_string(info.max_id);
  if (highest <= info.max_id) return stand;  // also with a stride: the mark is an id
  throw Failure(IDGEN_E_STORE_REGRESSED,
                stand + ": " + std::to_string(highest - info.max_id) +
                    " numbers that may be in use would be issued again. Stop all that draws from the tag, then run: "
                    "idgen segment advance --to " +
                    std::to_string(highest) + " (with the same --config and --name, or --store and --tag)");
}

// Sets `all_retryable` to false if this one failed permanently.
Finding examine(const Arguments& arguments, const std::string& name, bool& all_retryable) {
  const Settings& settings = arguments.settings;
  Finding finding{name.empty() ? tag_of(settings.make()) : name, "fail"};
  try {
    std::string stand;
    if (!arguments.above_table.empty()) stand = compared(configured(settings, name), arguments.above_table) + '\n';
    open_and_close(settings, finding);
    finding.description = stand + finding.description;
  } catch (const Failure& failure) {
    all_retryable = all_retryable && failure.exit_status() == kExitTryAgain;
    finding.verdict = "fail";
    finding.status = failure.status();
    finding.message = failure.what();
    finding.opened_ms.reset();
  }
  return finding;
}

std::string as_json(const Finding& finding) {
  JsonObject object;
  object.text("name", finding.name).text("verdict", finding.verdict).text("status", idgen_status_name(finding.status));
  object.text("message", finding.message);
  finding.opened_ms ? object.real("opened_ms", rounded(*finding.opened_ms, 3)) : object.null("opened_ms");
  return object.text("description", finding.description).str() + '\n';
}

std::string as_lines(const Finding& finding, const Terminal& terminal) {
  const std::string name = terminal.paint(ink::bold, one_line(finding.name)) + "  ";
  if (finding.verdict == "fail") {
    return terminal.paint(ink::red, "fail") + "  " + name + idgen_status_name(finding.status) + ": " +
           one_line(finding.message) + '\n';
  }
  std::string out =
      finding.message.empty() ? terminal.paint(ink::green, "ok") + "    " : terminal.paint(ink::yellow, "warn") + "  ";
  out += name + "opened in " + fixed(*finding.opened_ms, 1) + " ms" +
         (finding.message.empty() ? "" : "; " + finding.message) + '\n';
  std::istringstream lines(finding.description);
  for (std::string line; std::getline(lines, line);) out += "        " + one_line(line) + '\n';
  return out;
}

int diagnose(const Arguments& arguments) {
  const Settings& settings = arguments.settings;
  const Terminal terminal(stdout);
  const bool is_one = !settings.name().empty() || settings.file().empty();
  const std::vector<std::string> names = is_one ? std::vector{settings.name()} : names_in(settings.file());
  if (names.empty()) throw Failure(IDGEN_E_CONFIG_FILE, settings.file() + " has no table: nothing to open");
  if (settings.file().empty() && arguments.above_table.empty()) throw UsageError("--config FILE is missing");
  if (settings.file().empty() && settings.name().empty() && value(settings.make(), "tag").empty())
    throw UsageError("which tag? Name it with --tag, or with --config and --name");
  if (names.size() > 1 && !arguments.above_table.empty())
    throw UsageError("--above-table is for one generator: choose it with --name");
  Output out;
  std::size_t failed = 0;
  bool all_retryable = true;
  for (const std::string& name : names) {
    if (&name != &names.front() && !arguments.json) out.line("");
    const Finding finding = examine(arguments, name, all_retryable);
    if (finding.verdict == "fail") ++failed;
    out.write(arguments.json ? as_json(finding) : as_lines(finding, terminal));
    out.flush();
  }
  if (failed == 0) return kExitOk;
  const std::string text = "idgen: error: " + std::to_string(failed) + " of " + std::to_string(names.size()) +
                           (names.size() == 1 ? " generator" : " generators") + " could not be opened\n";
  std::fputs(text.c_str(), stderr);
  return all_retryable ? kExitTryAgain : kExitFailure;
}

}  // namespace

Command doctor_command() {
  auto arguments = std::make_shared<Arguments>();
  std::vector<Option> options = arguments->settings.options({"store", "tag", "namespace", "segment.schema", "kind"});
  return {
      .name = "doctor",
      .summary = "Open every generator of a file and say what it guarantees.",
      .usage = {"--config FILE [--name NAME] [--set KEY=VALUE]... [--above-table TABLE.COLUMN] [--json]",
                "--store URL --tag TAG [--namespace NAMESPACE] --above-table TABLE.COLUMN [--json]"},
      .details = kDetails,
      .examples = {"idgen doctor --config idgen.toml", "idgen doctor --config idgen.toml --name orders",
                   "idgen doctor --config idgen.toml --name events --set worker=9",
                   "idgen doctor --config idgen.toml --name orders --above-table shop.orders.id"},
      .options =
          joined(std::move(options),
                 {{.names = "--above-table",
                   .placeholder = "TABLE.COLUMN",
                   .help = "The column that the generator's ids go to, in the same database.",
                   .target = &arguments->above_table},
                  {.names = "--json", .help = "One JSON object for each generator.", .target = &arguments->json}}),
      .run = [arguments] { return diagnose(*arguments); },
  };
}

}  // namespace idgen_tool
