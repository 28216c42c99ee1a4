#include <functional>
#include <thread>

#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"
#include "rate.hpp"

namespace bench {

void threads(int rounds, unsigned most) {
  Shared counter, timed;
  const Generator segments(segment("threads"));
  const Generator relaxed_segments(with(segment("threads-relaxed"), "order", "relaxed"));
  const Generator snowflakes(snowflake("threads"));
  const Generator relaxed_snowflakes(with(snowflake("threads-relaxed", 24), "order", "relaxed"));

  struct Contest {
    std::string name;
    std::function<void(std::size_t)> work;
  };
  const auto from = [](const Generator& generator) {
    return [g = generator.get()](std::size_t count) { draw(g, count); };
  };
  const std::vector<Contest> contests = {
      {"fetch_add", [&](std::size_t count) { fetch_add(counter, count); }},
      {"segment strict", from(segments)},
      {"segment relaxed", from(relaxed_segments)},
      {"time-ordered counter", [&](std::size_t count) { time_ordered_counter(timed, count); }},
      {"snowflake strict", from(snowflakes)},
      {"snowflake relaxed", from(relaxed_snowflakes)},
  };

  std::vector<unsigned> sizes;
  for (unsigned n = 1; n < most; n *= 2) sizes.push_back(n);
  sizes.push_back(most);
  std::vector<std::vector<std::vector<double>>> rates(contests.size(), std::vector<std::vector<double>>(sizes.size()));
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      for (std::size_t c = 0; c < contests.size(); ++c)
        rates[c][s].push_back(rate(sizes[s], [&](unsigned, std::size_t count) { contests[c].work(count); }));
    }
  }

  Json json;
  json.open().number("cores", std::thread::hardware_concurrency()).open("ids_per_second");
  for (std::size_t c = 0; c < contests.size(); ++c) {
    json.open(contests[c].name);
    for (std::size_t s = 0; s < sizes.size(); ++s) json.numbers(std::to_string(sizes[s]), rates[c][s]);
    json.close();
  }
  json.close().close().print();
}

}  // namespace bench
