// idgen doctor: open every generator of a file, and say what its configuration protects against and what not.
#include <chrono>
#include <memory>
#include <sstream>

#include "command.hpp"
#include "help.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "settings.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails =
    "Opens each generator of FILE (or the one of --name) as a service would, draws one id from it, closes it, and "
    "prints what\n"
    "the configuration guarantees and what it does not. That id, and for snowflake a little of its worker's time, is "
    "used up.\n"
    "A worker that a running service owns is reported as WORKER_BUSY: that is the guard at work; check before you "
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

std::string fields(const idgen_t* generator, std::uint64_t id) {
  ErrorSlot error;
  idgen_layout_t* raw = nullptr;
  check(idgen_layout_of(generator, &raw, error), error);
  const Layout layout(raw);
  const idgen_layout_info_t info = info_of(layout);
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  check(idgen_decode(generator, id, &parts, error), error);
  std::string out;
  for (const idgen_field_t& field : fields_of(layout, info)) {
    out += out.empty() ? "" : ", ";
    out += field.kind == IDGEN_FIELD_TIME ? instant(parts.unix_ms)
                                          : field.name + (' ' + std::to_string(value_of(parts, field.kind)));
  }
  return out;
}

void examine(const Config& config, const std::string& name, const Terminal& terminal, Output& out) {
  const auto begin = std::chrono::steady_clock::now();
  const Generator generator = make_generator(config);
  const double opened_ms = ms_since(begin);
  ErrorSlot error;
  std::uint64_t id = 0;
  check(idgen_next(generator.get(), &id, error), error);
  const std::string described = read_text([&](char* buffer, std::size_t* size, idgen_error_t* err) {
    return idgen_describe(generator.get(), buffer, size, err);
  });
  const std::string read = fields(generator.get(), id);
  check(idgen_close(generator.get(), error), error);

  out.line(terminal.paint(ink::green, "ok") + "    " + terminal.paint(ink::bold, name) + "  opened in " +
           fixed(opened_ms, 1) + " ms, drew " + std::to_string(id) + " (" + read + ")");
  std::istringstream lines(described);
  for (std::string line; std::getline(lines, line);) out.line("        " + line);
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
      examine(settings.make(name), name, terminal, out);
    } catch (const Failure& failure) {
      ++failed;
      all_retryable = all_retryable && failure.exit_status() == kExitTryAgain;
      out.line(terminal.paint(ink::red, "fail") + "  " + terminal.paint(ink::bold, name) + "  " +
               idgen_status_name(failure.status()) + ": " + failure.what());
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
