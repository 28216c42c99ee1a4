#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

constexpr std::size_t kBatch = 1024;

void try_next_loop(idgen_t* generator, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t id;
    if (idgen_try_next(generator, &id)) [[unlikely]]
      id = next(generator, error);
    keep(id);
  }
}

void batch_loop(idgen_t* generator, std::uint64_t* ids, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::size_t i = 0; i < count; i += kBatch) {
    fill(generator, ids, kBatch, error);
    keep(ids);
  }
}

}  // namespace

void speed(int rounds) {
  Shared counter, called, cas, timed, ordered;
  alignas(64) std::uint64_t ids[kBatch];
  const Generator segments(segment("speed"));
  const Generator relaxed_segments(with(segment("speed-relaxed"), "order", "relaxed"));
  const Generator snowflakes(snowflake("speed"));
  const Generator relaxed_snowflakes(with(snowflake("speed-relaxed"), "order", "relaxed"));
  const Generator wide_snowflakes(snowflake("speed-batch", 24));

  const auto single = [](const Generator& generator, auto loop) {
    return [g = generator.get(), loop](std::size_t count) { loop(g, count); };
  };
  const auto batched = [&ids](const Generator& generator) {
    return [g = generator.get(), &ids](std::size_t count) { batch_loop(g, ids, count); };
  };
  std::vector<Subject> subjects = {
      {"fetch_add", [&](std::size_t count) { fetch_add(counter, count); }},
      {"fetch_add behind a call", [&](std::size_t count) { call_fetch_add(called, count); }},
      {"segment next", single(segments, draw)},
      {"segment try_next", single(segments, try_next_loop)},
      {"segment next, relaxed", single(relaxed_segments, draw)},
      {"clock", [](std::size_t count) { read_clock(count); }},
      {"compare-and-set", [&](std::size_t count) { compare_and_set(cas, count); }},
      {"clock + compare-and-set", [&](std::size_t count) { clock_and_compare_and_set(timed, count); }},
      {"time-ordered counter", [&](std::size_t count) { time_ordered_counter(ordered, count); }},
      {"snowflake next", single(snowflakes, draw)},
      {"snowflake try_next", single(snowflakes, try_next_loop)},
      {"snowflake next, relaxed", single(relaxed_snowflakes, draw)},
      {"storing 8 bytes", [&](std::size_t count) { store_numbers(ids, kBatch, count); }, kBatch},
      {"segment batch", batched(segments), kBatch},
      {"snowflake batch", batched(wide_snowflakes), kBatch},
  };
  take_turns(subjects, rounds, 5);

  Json json;
  json.open().open("ns");
  for (const Subject& subject : subjects) json.numbers(subject.name, subject.ns);
  json.close();
  double waits = 0;
  for (const Generator* generator :
       {&segments, &relaxed_segments, &snowflakes, &relaxed_snowflakes, &wide_snowflakes}) {
    waits += static_cast<double>(generator->stats().waits);
  }
  json.number("waits", waits).close().print();
}

}  // namespace bench
