// What the fault tests share: generators through the C border, child processes, memory that survives them, and exact
// checks.
#pragma once

#include <gtest/gtest.h>
#include <idgen/admin.h>
#include <idgen/idgen.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "temp_folder.hpp"

namespace idgen::faults {

#if defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kSlower =
    50;  // the sanitizers make every step slower, but the test no weaker: they check each access
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kSlower = 10;
#else
inline constexpr std::size_t kSlower = 1;
#endif

using Settings = std::vector<std::pair<std::string, std::string>>;

// A clock that the test sets. Sleeping moves it.
struct Clock {
  explicit Clock(std::int64_t unix_ms) : now_ns(unix_ms * 1'000'000) {}
  std::atomic<std::int64_t> now_ns;
  std::atomic<std::int64_t> slept_ns{0};
  void move_ms(std::int64_t ms) { now_ns += ms * 1'000'000; }
};
inline constexpr std::int64_t kEpochMs = 1735689600000;  // of the default layout

struct Outcome {
  idgen_status_t status = IDGEN_OK;
  std::string message;
  std::uint64_t retry_after_ns = 0;
};

class Ids {
 public:
  Ids() = default;
  // Notes how creation went in `outcome`.
  explicit Ids(const Settings& settings, Clock* clock = nullptr);
  Ids(Ids&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), outcome_(std::move(other.outcome_)) {}
  Ids& operator=(Ids&& other) noexcept;
  ~Ids() { idgen_destroy(handle_); }

  explicit operator bool() const { return handle_ != nullptr; }
  idgen_t* get() const { return handle_; }
  // From the creation, or from the last next().
  const Outcome& outcome() const { return outcome_; }
  // 0 on failure.
  std::uint64_t next();
  Outcome close();
  idgen_stats_t stats() const;

 private:
  idgen_t* handle_ = nullptr;
  Outcome outcome_;
};

// A configuration, and a generator made from it.
class Config {
 public:
  explicit Config(const Settings& settings) {
    EXPECT_EQ(idgen_config_create(&config_, nullptr), IDGEN_OK);
    for (const auto& [key, value] : settings)
      EXPECT_EQ(idgen_config_set(config_, key.c_str(), value.c_str(), nullptr), IDGEN_OK) << key;
  }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  ~Config() { idgen_config_destroy(config_); }
  idgen_config_t* get() const { return config_; }
  idgen_t* open() const {
    idgen_t* generator = nullptr;
    idgen_error_t err = IDGEN_ERROR_INIT;
    EXPECT_EQ(idgen_create(config_, &generator, &err), IDGEN_OK) << err.message;
    return generator;
  }

 private:
  idgen_config_t* config_ = nullptr;
};

// Makes the store, with a tag.
void make_store(const std::string& url, const std::string& tag = "t");

struct StoreFolder : TempFolder {
  StoreFolder() { make_store(url()); }
};

// A child made by fork() that runs body and exits without running the test framework: exit status = its result, 99 = an
// exception.
pid_t spawn(const std::function<int()>& body);
// Its exit status; -1 and a failed test if it did not exit by itself.
int wait_for(pid_t child);

// Another process holds the write lock of the file, as a backup or a careless admin does, until it is killed. With
// "EXCLUSIVE" nobody can read it either.
class Locker {
 public:
  explicit Locker(const std::string& path, const std::string& how = "IMMEDIATE");
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;
  ~Locker();

 private:
  pid_t process_;
};

// Memory that parent and children share.
template <class T>
class Shared {
 public:
  explicit Shared(std::size_t count = 1)
      : count_(count),
        data_(static_cast<T*>(mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(data_, count_ * sizeof(T)); }
  T& operator[](std::size_t i) { return data_[i]; }
  T* operator->() { return data_; }
  T* data() { return data_; }

 private:
  std::size_t count_;
  T* data_;
};

std::int64_t mono_ns();

// Exact: every id of every list once. Lists need not be sorted. Returns how many ids occur more than once. Both print
// what is wrong, with the word DUPLICATE.
std::size_t count_duplicates(std::vector<std::vector<std::uint64_t>> lists);
bool is_strictly_rising(const std::vector<std::uint64_t>& ids);

// Says what was checked.
void report(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace idgen::faults
