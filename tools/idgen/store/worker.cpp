// idgen worker: the rows behind snowflake ids, one for each worker.
#include <memory>

#include "shared/command.hpp"
#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/text.hpp"
#include "store/workers.hpp"

namespace idgen_tool {
namespace {

struct Arguments {
  Settings settings;
  std::uint64_t highest_id = 0;
  bool json = false;
  bool is_forced = false;
  bool is_confirmed = false;
};

std::string as_json(const Config& config, const idgen_worker_info_t& info) {
  JsonObject object;
  object.text("namespace", value(config, "namespace")).number("worker", info.worker).number("fence", info.fence);
  const auto hw = rfc3339(info.hw_unix_ms);
  hw&& info.fence ? object.text("hw", *hw) : object.null("hw");
  object.signed_number("hw_unix_ms", info.hw_unix_ms).signed_number("ahead_ms", info.ahead_ms);
  object.text("max_ahead", value(config, "max_ahead"));
  object.boolean("live", info.is_live != 0).text("holder", info.holder);
  info.clock_ahead_ms == INT64_MIN ? object.null("clock_ahead_ms")
                                   : object.signed_number("clock_ahead_ms", info.clock_ahead_ms);
  return object.str();
}

std::string as_lines(const Config& config, const idgen_worker_info_t& info) {
  std::string out =
      "namespace   " + one_line(value(config, "namespace")) + "\nworker      " + std::to_string(info.worker) + '\n';
  if (info.fence == 0) return out + "not in the store: nobody has had it yet\n";
  const std::string holder = *info.holder ? one_line(info.holder) : "unknown";
  out += "hw          " + instant(info.hw_unix_ms) + ", " + relative_to(now_unix_ms(), info.hw_unix_ms) +
         ": its time is reserved up to here\n";
  out += "ahead       " + (info.ahead_ms > 0 ? std::to_string(info.ahead_ms) + " ms" : "not") +
         " of this clock; max_ahead = " + value(config, "max_ahead") + '\n';
  out += "owner       " + (info.is_live ? "alive: " + holder : "none alive; the latest was " + holder) + '\n';
  if (info.clock_ahead_ms != INT64_MIN)
    out += "clock       the owner's, " + std::to_string(info.clock_ahead_ms) + " ms ahead of the store's\n";
  return out;
}

void print_worker(const Config& config, const idgen_worker_info_t& info, bool json) {
  print(json ? as_json(config, info) + '\n' : as_lines(config, info));
}

int show(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  ErrorSlot error;
  idgen_worker_info_t info = IDGEN_WORKER_INFO_INIT;
  check(idgen_worker_show(config.get(), &info, error), error);
  print_worker(config, info, arguments.json);
  return kExitOk;
}

int list(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  const std::vector<idgen_worker_info_t> rows = workers_of(config);
  if (arguments.json) {
    for (const idgen_worker_info_t& info : rows) print(as_json(config, info) + '\n');
    return kExitOk;
  }
  if (rows.empty()) {
    print("nobody has had a worker of namespace '" + value(config, "namespace") + "' yet\n");
    return kExitOk;
  }
  print("worker  owner  reserved up to            ahead     clock     holder\n");
  for (const idgen_worker_info_t& info : rows) {
    const std::string clock = info.clock_ahead_ms == INT64_MIN ? "-" : std::to_string(info.clock_ahead_ms) + " ms";
    print(padded(std::to_string(info.worker), 8) + padded(info.is_live ? "alive" : "gone", 7) +
          padded(instant(info.hw_unix_ms), 26) + padded(std::to_string(info.ahead_ms) + " ms", 10) + padded(clock, 10) +
          (*info.holder ? one_line(info.holder) : "unknown") + '\n');
  }
  return kExitOk;
}

int repair(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  ErrorSlot error;
  idgen_worker_info_t info = IDGEN_WORKER_INFO_INIT;
  if (!arguments.is_confirmed) {
    idgen_worker_info_t before = IDGEN_WORKER_INFO_INIT;
    check(idgen_worker_show(config.get(), &before, error), error);
    check(idgen_worker_plan_repair(config.get(), arguments.highest_id, &info, error), error);
    throw UsageError("nothing was changed yet. Worker " + std::to_string(info.worker) + " of namespace '" +
                     value(config, "namespace") + "' would go back from " + instant(before.hw_unix_ms) + " to " +
                     instant(info.hw_unix_ms) +
                     ". All its ids between the two will be issued when their time comes. If "
                     "one that was issued before is still in use anywhere, it will exist twice. idgen cannot "
                     "check that " +
                     std::to_string(arguments.highest_id) +
                     " is the highest id of this worker in use. If you are sure, add --yes");
  }
  check(idgen_worker_repair(config.get(), arguments.highest_id, &info, error), error);
  print_worker(config, info, arguments.json);
  return kExitOk;
}

int release(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  ErrorSlot error;
  idgen_worker_info_t info = IDGEN_WORKER_INFO_INIT;
  if (!arguments.is_confirmed) {
    check(idgen_worker_show(config.get(), &info, error), error);
    const std::string holder = *info.holder ? one_line(info.holder) : "unknown";
    const std::string owner =
        info.fence == 0 ? "Nobody has had it yet: there is nothing to release"
        : info.is_live  ? "Its owner, " + holder +
                             ", counts as alive: it is, or its lease has not ended yet. Only --force releases it; an "
                             "owner that is alive uses up what it has reserved, and then goes on only if nobody has "
                             "taken the worker"
                       : "No owner of it is alive; the latest was " + holder;
    throw UsageError("nothing was changed yet. Worker " + std::to_string(info.worker) + " of namespace '" +
                     value(config, "namespace") + "' would be free for the next process at once. " + owner +
                     ". No id comes twice either way: what is reserved, up to " + instant(info.hw_unix_ms) +
                     ", stays reserved, and the next owner begins above it. That relies on the store alone; but a "
                     "CosId, Leaf or uid-generator knows nothing of it. If you are sure, add --yes");
  }
  check(idgen_worker_release(config.get(), arguments.is_forced ? 1 : 0, &info, error), error);
  print_worker(config, info, arguments.json);
  return kExitOk;
}

std::vector<Option> options(Arguments& arguments) {
  return joined(arguments.settings.options({"layout", "epoch", "worker", "store", "namespace"}),
                {{.names = "--json", .help = "One JSON object.", .target = &arguments.json}});
}

Command show_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "show",
      .summary = "Show how far a worker's time is reserved, and who owns it.",
      .usage = {"--config FILE [--name NAME] | --store URL --worker N [--layout LAYOUT] [--json]"},
      .details = R"(
Changes nothing. An owner is alive as long as its process is.

With --json: namespace, worker, fence (of the latest grant; 0: nobody has had it yet), hw (RFC 3339),
hw_unix_ms, ahead_ms, max_ahead, live, holder.
)",
      .examples = {"idgen worker show --config idgen.toml --name events",
                   "idgen worker show --store sqlite:ids.db --worker 7 --json"},
      .options = options(*arguments),
      .run = [arguments] { return show(*arguments); },
  };
}

Command list_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "list",
      .summary = "Show all workers of a namespace, and who owns them.",
      .usage = {"--config FILE [--name NAME] | --store URL [--namespace NAME] [--json]"},
      .details = R"(
One row per worker that anybody has had, by number. ahead: how far its time is reserved beyond this clock. clock:
how far the owner's clock was ahead of the store's at its latest window; - on SQLite, which has no clock of its
own. Changes nothing.

With --json one object per line, with the members of `idgen worker show`.
)",
      .examples = {"idgen worker list --config idgen.toml --name events",
                   "idgen worker list --store postgres://app@db/ids --json"},
      .options = joined(arguments->settings.options({"store", "namespace"}),
                        {{.names = "--json", .help = "One JSON object per line.", .target = &arguments->json}}),
      .run = [arguments] { return list(*arguments); },
  };
}

Command repair_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "repair",
      .summary = "Repair a worker whose row is far ahead of the clock.",
      .usage = {"--config FILE [--name NAME] --above ID [--yes] [--json]"},
      .details = R"(
For a worker that refuses to start (CLOCK_BACK) because a clock was wrong once. Correct the clock first.

ID is the highest id of this worker that is in use: ask every database that keeps these ids, and include those
on their way. Ids above it will be issued again. idgen cannot check that none of them is in use.

Refused while an owner is alive; if the row is not more than max_ahead ahead of the clock; if ID is not of this
worker and layout, is above the row, or is itself more than max_ahead ahead. The new row is just above ID, but
never below now. Without --yes nothing is changed: it prints the new row, and what you have to make sure of.
)",
      .examples = {"idgen worker repair --config idgen.toml --name events --above 1541815603606036480"},
      .options = joined(options(*arguments), {{.names = "--above",
                                               .placeholder = "ID",
                                               .help = "The highest id of this worker that is in use, decimal.",
                                               .target = &arguments->highest_id,
                                               .is_required = true},
                                              {.names = "--yes",
                                               .help = "No id of this worker above ID is in use: repair it.",
                                               .target = &arguments->is_confirmed}}),
      .run = [arguments] { return repair(*arguments); },
  };
}

Command release_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "release",
      .summary = "End a dead owner's hold on a worker before its lease ends.",
      .usage = {"--config FILE [--name NAME] --worker N [--force] --yes [--json]"},
      .details = R"(
For a worker whose process is gone, and whose lease would keep the number from the next one for a while yet.
Where `worker = auto` leases numbers, one of many need not be released by hand.

Refused while an owner counts as alive: on a server until its lease (worker_lease) or session has ended, on
SQLite until its process has. --force releases it all the same, on your word that the process is gone.

What it relies on: nothing that an id depends on. What the owner has reserved stays its own, and the next one
begins above it. An owner that is alive after all goes on if nobody has taken the worker by then, and has lost
it otherwise, with no id twice either way. On SQLite it keeps the lock that proves it alive until it notices.
)",
      .examples = {"idgen worker release --config idgen.toml --name events --worker 7 --force --yes"},
      .options =
          joined(options(*arguments),
                 {{.names = "--force", .help = "Even if its owner counts as alive.", .target = &arguments->is_forced},
                  {.names = "--yes", .help = "Release it.", .target = &arguments->is_confirmed}}),
      .run = [arguments] { return release(*arguments); },
  };
}

}  // namespace

Command worker_command() {
  return {
      .name = "worker",
      .summary =
          "Show a snowflake worker's row or all of them, free one, or repair one that is far ahead of the clock.",
      .usage = {"show|list|release|repair --config FILE [--name NAME] [OPTIONS]"},
      .details = R"(
A store keeps a row for each worker, which says how far its time is reserved. No id before that is issued
again, so a worker whose row a wrong clock has pushed far ahead waits.
)",
      .examples = {"idgen worker show --config idgen.toml --name events",
                   "idgen worker repair --config idgen.toml --name events --above 1541815603606036480"},
      .commands = {show_command(), list_command(), release_command(), repair_command()},
  };
}

}  // namespace idgen_tool
