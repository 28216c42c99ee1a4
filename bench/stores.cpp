// A warm segment costs the same whichever store it came from, and an idle generator does nothing, nor does its store's
// client library.
#include <time.h>

#include <chrono>
#include <memory>
#include <thread>

#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

double process_cpu_s() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

void stores(int rounds, int seconds, const std::string& modules, std::span<char*> urls) {
  Shared counter;
  std::vector<Subject> subjects = {{"fetch_add", [&](std::size_t count) { fetch_add(counter, count); }}};
  std::vector<std::pair<std::string, Generator>> generators;
  generators.emplace_back("memory", Generator(segment("stores")));
  for (const std::string pair : urls) {
    const std::size_t equal = pair.find('=');
    Properties properties = with(segment("bench-" + std::to_string(time(nullptr))), "store", pair.substr(equal + 1));
    if (!modules.empty()) properties = with(properties, "module.path", modules);
    generators.emplace_back(pair.substr(0, equal), Generator(properties));
  }
  for (const auto& [name, generator] : generators)
    subjects.push_back({name, [g = generator.get()](std::size_t count) { draw(g, count); }});
  take_turns(subjects, rounds, 5);

  const double before = process_cpu_s();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double at_rest = (process_cpu_s() - before) / seconds;

  Json json;
  json.open().open("ns");
  for (const Subject& subject : subjects) json.numbers(subject.name, subject.ns);
  json.close();
  double waits = 0;
  for (const auto& [name, generator] : generators) waits += static_cast<double>(generator.stats().waits);
  json.number("waits", waits);
  json.number("generators", static_cast<double>(generators.size()));
  json.number("cpu_at_rest", at_rest);
  json.close().print();
}

}  // namespace bench
