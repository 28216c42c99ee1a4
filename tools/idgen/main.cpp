// The idgen command: parses, runs one command, and turns a failure into a line on stderr and an exit status.
#include <idgen/idgen.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <string>

#include "shared/failure.hpp"
#include "shared/output.hpp"
#include "shared/parser.hpp"
#include "shared/stop.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

// One line, whatever names and paths the message quotes.
void report(const std::string& kind, const std::string& message, const std::string& advice = "") {
  const std::string line = "idgen: error: " + kind + (kind.empty() ? "" : ": ") + one_line(message) + '\n' + advice;
  std::fputs(line.c_str(), stderr);
}

int usage_error(const std::string& command, const std::string& message) {
  report("", message, "See `" + command + " --help`.\n");
  return kExitUsage;
}

int run_command(const Parsed& parsed) {
  try {
    const int status = parsed.run();
    close_standard_output();
    return status;
  } catch (const Failure& failure) {
    std::string message = failure.what();
    if (failure.retry_after_ns()) {
      message +=
          " (a retry can succeed in " + std::to_string((failure.retry_after_ns() + 999'999) / 1'000'000) + " ms)";
    }
    report(idgen_status_name(failure.status()), message);
    return failure.exit_status();
  } catch (const UsageError& error) {
    return usage_error(parsed.command, error.what());
  } catch (const IoError& error) {
    report("", error.what());
    return kExitFailure;
  } catch (const ReaderGone&) {
    return 128 + SIGPIPE;
  } catch (const Interrupted&) {
    return 128 + stop_signal();
  } catch (const std::bad_alloc&) {
    report("", "out of memory");
    return kExitFailure;
  }
}

int main(int argc, char** argv) {
  const Parsed parsed = parse(program(), argc, argv);
  return parsed.mistake.empty() ? run_command(parsed) : usage_error(parsed.command, parsed.mistake);
}

}  // namespace
}  // namespace idgen_tool

int main(int argc, char** argv) {
  idgen_tool::hold_standard_descriptors();
  try {
    return idgen_tool::main(argc, argv);
  } catch (const std::exception& error) {  // making the table of commands: a libidgen of another version
    std::fprintf(stderr, "idgen: error: %s\n", error.what());
    return idgen_tool::kExitFailure;
  }
}
