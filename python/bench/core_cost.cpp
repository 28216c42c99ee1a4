// What one idgen_try_next costs without Python: compiled by bench_idgen.py against the static core if it is given one.
// Prints "snowflake <ns>" and "segment <ns>".
#include <idgen/idgen.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

static double cost(const char* kind, const char* layout) {
  idgen_config_t* config = nullptr;
  idgen_t* generator = nullptr;
  idgen_error_t error = IDGEN_ERROR_INIT;
  bool ready = idgen_config_create(&config) == IDGEN_OK;
  ready = ready && idgen_config_set(config, "kind", kind, &error) == IDGEN_OK;
  ready = ready && idgen_config_set(config, "store", "memory", &error) == IDGEN_OK;
  ready = ready && idgen_config_set(config, "store_create", "true", &error) == IDGEN_OK;
  if (*layout != '\0') {
    ready = ready && idgen_config_set(config, "layout", layout, &error) == IDGEN_OK;
    ready = ready && idgen_config_set(config, "worker", "1", &error) == IDGEN_OK;
  } else {
    ready = ready && idgen_config_set(config, "segment.step", "100000000", &error) == IDGEN_OK;
  }
  if (!ready || idgen_create(config, &generator, &error) != IDGEN_OK) {
    std::fprintf(stderr, "%s\n", error.message);
    std::exit(1);
  }
  constexpr int kCalls = 2'000'000;
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t id = 0;
    for (int i = 0; i < kCalls; ++i) {
      if (idgen_try_next(generator, &id) != IDGEN_OK && idgen_next(generator, &id, &error) != IDGEN_OK) std::exit(1);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (took.count() / kCalls < best) best = took.count() / kCalls;
  }
  idgen_destroy(generator);
  idgen_config_destroy(config);
  return best;
}

int main() {
  std::printf("snowflake %.2f\n", cost("snowflake", "time:31s worker:10 sequence:22"));
  std::printf("segment %.2f\n", cost("segment", ""));
}
