// idgen doctor: open every generator of a file, and say what its configuration protects against and what not.
#include <chrono>
#include <memory>
#include <sstream>

#include "command.hpp"
#include "help.hpp"
#include "output.hpp"
#include "settings.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails =
    "Opens each generator of FILE (or the one of --name) as a service would, closes it, and prints what the\n"
    "configuration guarantees and what it does not. It draws no id: of a segment it takes one number (or the step "
    "that\n"
    "the tag's row names), of a worker's time a window, and gives both back.\n"
    "\n"
    "  ok    could be opened\n"
    "  warn  could be opened, but one side of its buffer, Redis or the database, is down\n"
    "  fail  could not. WORKER_BUSY: a running service owns the worker, and the guard is at work. Check before you "
    "start it.\n"
    "\n"
    "The exit status is 0 only if every generator could be opened; 75 if all that failed can succeed later.\n"
    "\n"
    "Examples:\n"
    "  idgen doctor --config idgen.toml\n"
    "  idgen doctor --config idgen.toml --name orders\n"
    "  idgen doctor --config idgen.toml --name events --set worker=9\n";

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Which sides of a buffer are down; "" if it has none that is.
std::string down_sides(const Generator& generator) {
  ErrorSlot error;
  idgen_stats_t stats = IDGEN_STATS_INIT;
  check(idgen_stats(generator.get(), &stats, error), error);
  if (stats.breaker_redis) return "Redis does not answer; segments come from the database alone";
  if (stats.breaker_database)
    return "the database does not answer; segments come from what Redis holds, as long as that lasts";
  return "";
}

// Opens the generator as a service would, but for one number where a service takes a segment, and draws no id.
void examine(const Settings& settings, const std::string& name, const Terminal& terminal, Output& out) {
  const Config as_configured = settings.make(name);
  const std::string described = read_text([&](char* buffer, std::size_t* size, idgen_error_t* err) {
    return idgen_config_describe(as_configured.get(), buffer, size, err);
  });
  const Config config = settings.make(name);
  reserve_only(config, settings, 1);
  set(config, "buffer.errors", "1");  // a side that fails once is told to be down
  const auto begin = std::chrono::steady_clock::now();
  const Generator generator = make_generator(config);
  const double opened_ms = ms_since(begin);
  const std::string warning = down_sides(generator);
  ErrorSlot error;
  check(idgen_close(generator.get(), error), error);

  const std::string verdict =
      warning.empty() ? terminal.paint(ink::green, "ok") + "    " : terminal.paint(ink::yellow, "warn") + "  ";
  out.line(verdict + terminal.paint(ink::bold, one_line(name)) + "  opened in " + fixed(opened_ms, 1) + " ms" +
           (warning.empty() ? "" : "; " + warning));
  std::istringstream lines(described);
  for (std::string line; std::getline(lines, line);) out.line("        " + one_line(line));
}

int diagnose(const Settings& settings) {
  const Terminal terminal(stdout);
  const std::vector<std::string> names =
      settings.name().empty() ? names_in(settings.file()) : std::vector{settings.name()};
  if (names.empty()) throw Failure(IDGEN_E_CONFIG_FILE, settings.file() + " has no table: nothing to open");
  Output out;
  std::size_t failed = 0;
  bool all_retryable = true;
  for (const std::string& name : names) {
    if (&name != &names.front()) out.line("");
    try {
      examine(settings, name, terminal, out);
    } catch (const Failure& failure) {
      ++failed;
      all_retryable = all_retryable && failure.exit_status() == kExitTryAgain;
      out.line(terminal.paint(ink::red, "fail") + "  " + terminal.paint(ink::bold, one_line(name)) + "  " +
               idgen_status_name(failure.status()) + ": " + one_line(failure.what()));
    }
    out.flush();
  }
  if (failed == 0) return kExitOk;
  const std::string text = "idgen: error: " + std::to_string(failed) + " of " + std::to_string(names.size()) +
                           (names.size() == 1 ? " generator" : " generators") + " could not be opened\n";
  std::fputs(text.c_str(), stderr);
  return all_retryable ? kExitTryAgain : kExitFailure;
}

}  // namespace

void add_doctor(CLI::App& app, Run& run) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command = add_command(app, "doctor", "Open every generator of a file and say what it guarantees.",
                                  "doctor --config FILE [--name NAME] [--set KEY=VALUE]...", kDetails);
  settings->add_options(*command, {});
  command->get_option("--config")->required();
  command->callback([settings, &run] { run = [settings] { return diagnose(*settings); }; });
}

}  // namespace idgen_tool
