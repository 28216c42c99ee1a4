// A generator through the C ABI, like a user's. A failure ends the program with the library's own message: a benchmark
// with an error must not give a figure.
#pragma once

#include <idgen/admin.h>
#include <idgen/idgen.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace bench {

using Properties = std::vector<std::pair<std::string, std::string>>;

inline void check(idgen_status_t status, const idgen_error_t& error) {
  if (status == IDGEN_OK) return;
  std::fprintf(stderr, "idgen-bench: %s: %s\n", idgen_status_name(status), error.message);
  std::exit(1);
}

class Config {
 public:
  explicit Config(const Properties& properties = {}) {
    check(idgen_config_create(&config_, &error_), error_);
    for (const auto& [key, value] : properties) set(key, value);
  }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  ~Config() { idgen_config_destroy(config_); }

  void set(const std::string& key, const std::string& value) {
    check(idgen_config_set(config_, key.c_str(), value.c_str(), &error_), error_);
  }
  idgen_config_t* get() const { return config_; }

 private:
  idgen_error_t error_ = IDGEN_ERROR_INIT;
  idgen_config_t* config_ = nullptr;
};

class Generator {
 public:
  explicit Generator(const Properties& properties) : Generator(Config(properties)) {}
  explicit Generator(const Config& config) {
    idgen_error_t error = IDGEN_ERROR_INIT;
    check(idgen_create(config.get(), &generator_, &error), error);
  }
  Generator(Generator&& other) noexcept : generator_(std::exchange(other.generator_, nullptr)) {}
  Generator& operator=(Generator&&) = delete;
  ~Generator() { idgen_destroy(generator_); }

  idgen_t* get() const { return generator_; }

  idgen_stats_t stats() const {
    idgen_error_t error = IDGEN_ERROR_INIT;
    idgen_stats_t stats = IDGEN_STATS_INIT;
    check(idgen_stats(generator_, &stats, &error), error);
    return stats;
  }

 private:
  idgen_t* generator_ = nullptr;
};

// Out of line, so that the loop around idgen_next is a user's loop.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(idgen_status_t status, const idgen_error_t& error) {
  check(status, error);
  std::abort();
}

inline std::uint64_t next(idgen_t* generator, idgen_error_t& error) {
  std::uint64_t id;
  if (const idgen_status_t status = idgen_next(generator, &id, &error)) [[unlikely]]
    fail(status, error);
  return id;
}

// The loop behind most figures.
inline void draw(idgen_t* generator, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t id = next(generator, error);
    keep(id);
  }
}

inline void fill(idgen_t* generator, std::uint64_t* ids, std::size_t n, idgen_error_t& error) {
  std::size_t written;
  if (const idgen_status_t status = idgen_next_batch(generator, ids, n, &written, &error)) [[unlikely]]
    fail(status, error);
}

// The memory store, and segments so large that no disk and no refill is measured.
inline Properties segment(const std::string& tag) {
  return {{"kind", "segment"},
          {"tag", tag},
          {"store", "memory:bench"},
          {"store_create", "true"},
          {"segment.step", "1000000000"}};
}
// sequence: 22 bits are 4 194 304 ids per millisecond, more than single calls can use up; batches need 24.
inline Properties snowflake(const std::string& name_space, int sequence = 22) {
  const std::string layout = "time:" + std::to_string(63 - sequence) + "ms sequence:" + std::to_string(sequence);
  return {{"layout", layout}, {"store", "memory:bench"}, {"namespace", name_space}};
}
// The format that everybody knows: at most 4096 ids per millisecond.
inline Properties twelve_bits() {
  return {
      {"layout", "time:41ms worker:10 sequence:12"}, {"worker", "1"}, {"store", "memory:bench"}, {"namespace", "cap"}};
}
inline Properties with(Properties properties, const std::string& key, const std::string& value) {
  properties.emplace_back(key, value);
  return properties;
}

}  // namespace bench
