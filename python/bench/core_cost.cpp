// What one idgen_try_next costs without Python: compiled by bench_idgen.py against the static core if it is given one.
// Prints "snowflake <ns>" and "segment <ns>".
#include <idgen/idgen.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// CPU time of this thread: a busy machine must not distort it.
static double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

static double cost(const char* kind, const char* layout) {
  idgen_config_t* config = nullptr;
  idgen_t* generator = nullptr;
  idgen_error_t error = IDGEN_ERROR_INIT;
  bool ready = idgen_config_create(&config, nullptr) == IDGEN_OK;
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
  double rounds[7];
  for (double& round : rounds) {
    const double start = thread_ns();
    std::uint64_t id = 0;
    for (int i = 0; i < kCalls; ++i) {
      if (idgen_try_next(generator, &id) != IDGEN_OK && idgen_next(generator, &id, &error) != IDGEN_OK) std::exit(1);
    }
    round = (thread_ns() - start) / kCalls;
  }
  idgen_destroy(generator);
  idgen_config_destroy(config);
  std::sort(rounds, rounds + 7);
  return rounds[3];
}

int main() {
  std::printf("snowflake %.2f\n", cost("snowflake", "time:27s worker:3 sequence:33"));
  std::printf("segment %.2f\n", cost("segment", ""));
}
