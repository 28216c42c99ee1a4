#include <atomic>
#include <thread>

#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

constexpr std::size_t kStride = 256;  // ids between two checks of the stop flag
constexpr auto kSlice = std::chrono::milliseconds(100);

// ids per second of n threads that all run work(kStride) until the slice ends. Only whole strides inside the slice
// count.
double rate(unsigned n, const std::function<void(std::size_t)>& work) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < n; ++i) {
    threads.emplace_back([&] {
      work(kStride);
      ++ready;
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      std::uint64_t mine = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        work(kStride);
        mine += kStride;
      }
      done += mine;
    });
  }
  while (ready < n) std::this_thread::yield();
  const auto start = Clock::now();
  go.store(true, std::memory_order_release);
  std::this_thread::sleep_for(kSlice);
  stop.store(true, std::memory_order_relaxed);
  const double ns = ns_since(start);
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(done) / ns * 1e9;
}

}  // namespace

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
      for (std::size_t c = 0; c < contests.size(); ++c) rates[c][s].push_back(rate(sizes[s], contests[c].work));
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
