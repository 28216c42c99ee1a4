// idgen-bench: samples for bench/report.py. Not installed; `idgen bench` is what users have.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>

#include "commands.hpp"

namespace {

constexpr const char* kUsage =
    "usage: idgen-bench speed ROUNDS\n"
    "       idgen-bench threads ROUNDS\n"
    "       idgen-bench cap ROUNDS\n"
    "       idgen-bench refill FOLDER SECONDS\n"
    "       idgen-bench footprint FOLDER ROUNDS\n"
    "       idgen-bench stores ROUNDS SECONDS MODULES NAME=URL...\n"
    "       idgen-bench leases SECONDS MODULES NAME=URL...\n"
    "       idgen-bench owners ROUNDS\n"
    "       idgen-bench routes ROUNDS\n"
    "       idgen-bench count SUBJECT TIMES\n"
    "       idgen-bench hidden ROUNDS\n"
    "       idgen-bench standard ROUNDS\n";

int run(std::span<char*> arguments) {
  const auto is = [&](const char* command, std::size_t size) {
    return arguments.size() == size && std::strcmp(arguments[0], command) == 0;
  };
  const auto number = [&](std::size_t i) { return std::atoi(arguments[i]); };
  if (is("speed", 2)) return bench::speed(number(1)), 0;
  if (is("threads", 2)) return bench::threads(number(1), std::max(2u, std::thread::hardware_concurrency())), 0;
  if (is("owners", 2)) return bench::owners(number(1), std::max(2u, std::thread::hardware_concurrency())), 0;
  if (is("routes", 2)) return bench::routes(number(1)), 0;
  if (is("cap", 2)) return bench::cap(number(1)), 0;
  if (is("refill", 3)) return bench::refill(arguments[1], number(2)), 0;
  if (is("footprint", 3)) return bench::footprint(arguments[1], number(2)), 0;
  if (arguments.size() > 4 && std::strcmp(arguments[0], "stores") == 0)
    return bench::stores(number(1), number(2), arguments[3], arguments.subspan(4)), 0;
  if (arguments.size() > 3 && std::strcmp(arguments[0], "leases") == 0)
    return bench::leases(number(1), arguments[2], arguments.subspan(3)), 0;
  if (is("count", 3)) return bench::count(arguments[1], static_cast<std::size_t>(number(2))), 0;
  if (is("hidden", 2)) return bench::hidden(number(1)), 0;
  if (is("standard", 2)) return bench::standard(number(1)), 0;
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) { return run({argv + 1, static_cast<std::size_t>(argc - 1)}); }
