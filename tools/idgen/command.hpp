// The commands. Each adds its subcommand to the parser and, when that is chosen, sets `run`, which main calls.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace idgen_tool {

// Returns the exit status; throws Failure, UsageError or IoError.
using Run = std::function<int()>;

void add_next(CLI::App& app, Run& run);
void add_decode(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_layout(CLI::App& app, Run& run);
void add_store(CLI::App& app, Run& run);
void add_segment(CLI::App& app, Run& run);
void add_worker(CLI::App& app, Run& run);
void add_properties(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run);
void add_bench(CLI::App& app, Run& run);

}  // namespace idgen_tool
