// What it costs to lease a worker, and what the renewals cost the callers: calls on a generator whose worker is renewed
// three times a second, in turns with calls on one that is never renewed.
#include <time.h>

#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"
#include "paced.hpp"

namespace bench {
namespace {

Properties leased(const std::string& url, const std::string& modules, const std::string& name_space) {
  return {{"layout", "time:41ms worker:6 sequence:16"},
          {"worker", "auto"},
          {"store", url},
          {"store_create", "true"},
          {"module.path", modules},
          {"namespace", name_space},
          {"window", "1s"},
          {"worker_lease", "1s"}};
}

}  // namespace

void leases(int seconds, const std::string& modules, std::span<char*> urls) {
  constexpr int kCreated = 30;
  const std::string run = std::to_string(time(nullptr));
  const Generator never_renewed({{"layout", "time:41ms worker:6 sequence:16"},
                                 {"worker", "1"},
                                 {"store", "memory:leases"},
                                 {"window", "1h"},
                                 {"max_ahead", "1h"}});
  Json json;
  json.open();
  for (const std::string pair : urls) {
    const std::size_t equal = pair.find('=');
    const std::string url = pair.substr(equal + 1);
    idgen_error_t error = IDGEN_ERROR_INIT;
    std::vector<double> create_ms;
    // The first one, which makes tables, and on Redis waits for the first window of a server's life, does not count.
    for (int i = 0; i <= kCreated; ++i) {
      const auto start = Clock::now();
      const Generator generator(leased(url, modules, "bench-create-" + run));
      next(generator.get(), error);
      if (i > 0) create_ms.push_back(ns_since(start) / 1e6);
    }
    const Generator renewed(leased(url, modules, "bench-" + run));
    Tally with, without;
    for (int i = 0; i < seconds; ++i) {
      paced(0.5, with, [&] { next(renewed.get(), error); });
      paced(0.5, without, [&] { next(never_renewed.get(), error); });
    }
    json.open(pair.substr(0, equal));
    json.numbers("create_ms", create_ms);
    json.number("renewals", static_cast<double>(renewed.stats().refills));
    write(json, "renewed", with);
    json.close();
    write(json, "never renewed", without);
    json.close();
    json.close();
  }
  json.close().print();
}

}  // namespace bench
