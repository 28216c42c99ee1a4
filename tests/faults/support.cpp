#include "support.hpp"

#include <idgen/host.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "patience.hpp"

namespace idgen::faults {

Ids::Ids(const Settings& settings, Clock* clock) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_config_t* config = nullptr;
  outcome_.status = idgen_config_create(&config, nullptr);
  for (const auto& [key, value] : settings) {
    if (outcome_.status == IDGEN_OK) outcome_.status = idgen_config_set(config, key.c_str(), value.c_str(), &err);
  }
  if (clock && outcome_.status == IDGEN_OK) {
    idgen_clock_t vtable{};
    vtable.struct_size = sizeof vtable;
    vtable.now_ns = [](void* ctx) { return static_cast<Clock*>(ctx)->now_ns.load(); };
    vtable.sleep_ns = [](void* ctx, std::uint64_t ns) {
      static_cast<Clock*>(ctx)->now_ns += static_cast<std::int64_t>(ns);
      static_cast<Clock*>(ctx)->slept_ns += static_cast<std::int64_t>(ns);
    };
    outcome_.status = idgen_config_set_clock(config, &vtable, clock, &err);
  }
  if (outcome_.status == IDGEN_OK) outcome_.status = idgen_create(config, &handle_, &err);
  outcome_.message = err.message;
  outcome_.retry_after_ns = err.retry_after_ns;
  idgen_config_destroy(config);
}

Ids& Ids::operator=(Ids&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(outcome_, other.outcome_);
  return *this;
}

std::uint64_t Ids::next() {
  idgen_error_t err = IDGEN_ERROR_INIT;
  std::uint64_t id = 0;
  outcome_.status = idgen_next(handle_, &id, &err);
  if (outcome_.status == IDGEN_OK) return id;
  outcome_.message = err.message;
  outcome_.retry_after_ns = err.retry_after_ns;
  return 0;
}

Outcome Ids::close() {
  idgen_error_t err = IDGEN_ERROR_INIT;
  Outcome outcome;
  outcome.status = idgen_close(handle_, &err);
  outcome.message = err.message;
  return outcome;
}

idgen_stats_t Ids::stats() const {
  idgen_stats_t stats = IDGEN_STATS_INIT;
  EXPECT_EQ(idgen_stats(handle_, &stats, nullptr), IDGEN_OK);
  return stats;
}

void make_store(const std::string& url, const std::string& tag) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  const Config config({{"store", url}, {"tag", tag}});
  EXPECT_EQ(idgen_segment_create(config.get(), &err), IDGEN_OK) << err.message;
}

pid_t spawn(const std::function<int()>& body) {
  fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(static_cast<unsigned>(patience(std::chrono::seconds(250)).count() / 1000));
  int result = 99;
  try {
    result = body();
  } catch (...) {
  }
  _exit(result);
}

int wait_for(pid_t child) {
  int how = 0;
  EXPECT_EQ(waitpid(child, &how, 0), child);
  if (WIFEXITED(how)) return WEXITSTATUS(how);
  ADD_FAILURE() << "child " << child << " was ended by signal " << WTERMSIG(how);
  return -1;
}

Locker::Locker(const std::string& path, const std::string& how) {
  int ready[2];
  if (pipe(ready) != 0) throw std::runtime_error("pipe");
  process_ = spawn([&] {
    sqlite3* db = nullptr;
    if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) return 1;
    sqlite3_busy_timeout(db, 10'000);
    if (sqlite3_exec(db, ("BEGIN " + how).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return 2;
    if (write(ready[1], "1", 1) != 1) return 3;
    for (;;) pause();
  });
  close(ready[1]);
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1) << "the file could not be locked";
  close(ready[0]);
}

Locker::~Locker() {
  kill(process_, SIGKILL);
  int how;
  waitpid(process_, &how, 0);
}

std::int64_t mono_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::size_t count_duplicates(std::vector<std::vector<std::uint64_t>> lists) {
  std::vector<std::uint64_t> all;
  for (auto& list : lists) {
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), list.begin(), list.end());
    std::inplace_merge(all.begin(), all.begin() + middle, all.end());
    list = {};
  }
  std::size_t duplicates = 0;
  for (std::size_t i = 1; i < all.size(); ++i) duplicates += all[i] == all[i - 1];
  if (duplicates != 0) report("%zu DUPLICATE ids", duplicates);
  return duplicates;
}

bool is_strictly_rising(const std::vector<std::uint64_t>& ids) {
  const auto wrong = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
  if (wrong == ids.end()) return true;
  report("DUPLICATE or a broken order: %llu after %llu", static_cast<unsigned long long>(wrong[1]),
         static_cast<unsigned long long>(wrong[0]));
  return false;
}

void report(const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::printf("[ CHECKED  ] ");
  std::vprintf(format, list);
  std::printf("\n");
  std::fflush(stdout);
  va_end(list);
}

}  // namespace idgen::faults
