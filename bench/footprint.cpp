#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "commands.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

// Memory that this process alone has, in bytes.
double private_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  double kib = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Private_")) kib += std::stod(line.substr(line.find(':') + 1));
  }
  return kib * 1024;
}

// The disk's time for the smallest durable write: 4 KiB written and synced.
double sync_ms(const std::string& folder) {
  const std::string path = folder + "/sync";
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  const std::string page(4096, 'x');
  const auto start = Clock::now();
  const bool done = file >= 0 && pwrite(file, page.data(), page.size(), 0) == 4096 && fsync(file) == 0;
  const double ms = ns_since(start) / 1e6;
  if (!done) {
    std::perror(path.c_str());
    std::exit(1);
  }
  close(file);
  unlink(path.c_str());
  return ms;
}

Properties one_of_many(const std::string& store, int i) {
  return {{"kind", "segment"}, {"tag", "t" + std::to_string(i)}, {"store", store}, {"store_create", "true"}};
}

Properties worker(const std::string& store, int i) {
  return {{"layout", "time:41ms worker:10 sequence:12"},
          {"worker", std::to_string(i)},
          {"store", store},
          {"store_create", "true"}};
}

double create_ms(const Properties& properties) {
  const Config config(properties);
  const auto start = Clock::now();
  const Generator generator(config);
  return ns_since(start) / 1e6;
}

// Bytes per generator, with this many of them, each used once.
double bytes_each(const std::vector<Properties>& all) {
  std::vector<Generator> generators;
  generators.reserve(all.size());
  idgen_error_t error = IDGEN_ERROR_INIT;
  const double before = private_bytes();
  for (const Properties& properties : all) {
    generators.emplace_back(properties);
    next(generators.back().get(), error);
  }
  return (private_bytes() - before) / static_cast<double>(all.size());
}

}  // namespace

void footprint(const std::string& folder, int rounds) {
  const std::string store = "sqlite:" + folder + "/footprint.db";
  std::vector<double> floor, segments, snowflakes, in_memory;
  create_ms(one_of_many(store, 0));  // warm: the store exists, the library is in memory
  create_ms(worker(store, 0));
  for (int i = 1; i <= rounds; ++i) {
    floor.push_back(sync_ms(folder));
    segments.push_back(create_ms(one_of_many(store, i)));
    snowflakes.push_back(create_ms(worker(store, i)));
    in_memory.push_back(create_ms(worker("memory:create", i)));
  }

  std::vector<Properties> memory_segments, memory_snowflakes, sqlite_segments;
  for (int i = 0; i < 500; ++i) {
    memory_segments.push_back(one_of_many("memory:many", i));
    memory_snowflakes.push_back(worker("memory:many-workers", i));
  }
  for (int i = 0; i < 50; ++i) sqlite_segments.push_back(one_of_many(store, i));

  Json json;
  json.open().open("create_ms");
  json.numbers("write and fsync", floor);
  json.numbers("segment, SQLite", segments);
  json.numbers("snowflake, SQLite", snowflakes);
  json.numbers("snowflake, memory", in_memory);
  json.close().open("bytes");
  json.number("segment, memory", bytes_each(memory_segments));
  json.number("snowflake, memory", bytes_each(memory_snowflakes));
  json.number("segment, SQLite", bytes_each(sqlite_segments));
  json.close().close().print();
}

}  // namespace bench
