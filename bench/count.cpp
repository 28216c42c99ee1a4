#include <cstdio>
#include <cstdlib>

#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"

namespace bench {

void count(const std::string& subject, std::size_t times) {
  Shared shared;
  idgen_error_t error = IDGEN_ERROR_INIT;
  if (subject == "fetch_add") return fetch_add(shared, times);
  if (subject == "time-ordered counter") return time_ordered_counter(shared, times);
  if (subject == "clock + compare-and-set") return clock_and_compare_and_set(shared, times);

  const bool timed = subject.starts_with("snowflake");
  const bool relaxed = subject.ends_with("relaxed");
  Properties properties = timed ? snowflake("count", 24) : segment("count");
  if (relaxed) properties = with(properties, "order", "relaxed");
  const Generator generator(properties);
  if (subject.ends_with("batch")) {
    std::uint64_t ids[1024];
    for (std::size_t i = 0; i < times; ++i) fill(generator.get(), ids, 1024, error);
  } else if (subject.find("try_next") != std::string::npos) {
    for (std::size_t i = 0; i < times; ++i) {
      std::uint64_t id;
      if (idgen_try_next(generator.get(), &id)) id = next(generator.get(), error);
      keep(id);
    }
  } else if (subject.find(" next") != std::string::npos) {
    draw(generator.get(), times);
  } else {
    std::fprintf(stderr, "idgen-bench: there is no subject '%s'\n", subject.c_str());
    std::exit(2);
  }
}

}  // namespace bench
