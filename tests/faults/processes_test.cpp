// Many processes on one SQLite file.
#include <dlfcn.h>

#include <filesystem>

#include "support.hpp"

namespace idgen::faults {
namespace {

constexpr std::size_t kProcesses = 8;
constexpr std::size_t kPerProcess = 2'600'000 / kSlower;

void processes_draw_no_id_twice(const std::function<Settings(std::size_t)>& settings_of) {
  Shared<std::uint64_t> ids(kProcesses * kPerProcess);
  std::vector<pid_t> children;
  for (std::size_t p = 0; p < kProcesses; ++p) {
    children.push_back(spawn([&, p] {
      Ids mine(settings_of(p));
      if (!mine) return std::fprintf(stderr, "%s\n", mine.outcome().message.c_str()), 1;
      std::size_t done = 0, written = 0;
      std::uint64_t* const to = ids.data() + p * kPerProcess;
      while (done < kPerProcess) {
        if (done % 3 == 0) {
          to[done++] = mine.next();
        } else {
          const std::size_t want = std::min<std::size_t>(1000, kPerProcess - done);
          if (idgen_next_batch(mine.get(), to + done, want, &written, nullptr) != IDGEN_OK) return 2;
          done += written;
        }
      }
      return mine.close().status == IDGEN_OK ? 0 : 3;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  std::vector<std::vector<std::uint64_t>> lists;
  for (std::size_t p = 0; p < kProcesses; ++p) {
    lists.emplace_back(ids.data() + p * kPerProcess, ids.data() + (p + 1) * kPerProcess);
    EXPECT_TRUE(is_strictly_rising(lists.back()));
    EXPECT_NE(lists.back().front(), 0u);
  }
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  report("%zu ids of %zu processes, all different", kProcesses * kPerProcess, kProcesses);
}

TEST(Processes, DrawNoIdOfASharedTagTwice) {
  StoreFolder folder;
  processes_draw_no_id_twice([&](std::size_t) {
    return Settings{{"kind", "segment"},      {"tag", "t"},       {"segment.step", "20000"}, {"store", folder.url()},
                    {"store_timeout", "60s"}, {"wait_max", "60s"}};
  });
}

TEST(Processes, DrawNoSnowflakeOfDifferentWorkersTwice) {
  TempFolder folder;
  processes_draw_no_id_twice([&](std::size_t p) {
    return Settings{{"worker", std::to_string(p)}, {"store", folder.url()},
                    {"store_create", "true"},      {"store_timeout", "60s"},
                    {"wait_max", "60s"},           {"layout", "time:41ms worker:4 sequence:18"}};
  });
}

// Like two class loaders of one Java process, or a plugin beside its host.
TEST(ASecondCopyOfTheLibrary, IsRefusedAWorkerOfTheFirst) {
  TempFolder folder;
  Dl_info library;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&idgen_create), &library), 0);
  std::filesystem::copy_file(library.dli_fname, folder.file("another-libidgen.so"));
  void* const copy = dlopen(folder.file("another-libidgen.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(copy, nullptr) << dlerror();
  const auto create = reinterpret_cast<decltype(&idgen_create)>(dlsym(copy, "idgen_create"));
  const auto config_create = reinterpret_cast<decltype(&idgen_config_create)>(dlsym(copy, "idgen_config_create"));
  const auto config_set = reinterpret_cast<decltype(&idgen_config_set)>(dlsym(copy, "idgen_config_set"));
  const auto config_destroy = reinterpret_cast<decltype(&idgen_config_destroy)>(dlsym(copy, "idgen_config_destroy"));
  const auto destroy = reinterpret_cast<decltype(&idgen_destroy)>(dlsym(copy, "idgen_destroy"));
  ASSERT_NE(create, &idgen_create) << "not a copy";

  const Settings settings{{"worker", "1"}, {"store", folder.url()}, {"store_create", "true"}};
  Ids ids(settings);
  ASSERT_TRUE(ids) << ids.outcome().message;
  idgen_config_t* config = nullptr;
  ASSERT_EQ(config_create(&config, nullptr), IDGEN_OK);
  for (const auto& [key, value] : settings)
    ASSERT_EQ(config_set(config, key.c_str(), value.c_str(), nullptr), IDGEN_OK);
  idgen_t* second = nullptr;
  idgen_error_t error = IDGEN_ERROR_INIT;
  EXPECT_EQ(create(config, &second, &error), IDGEN_E_WORKER_BUSY);
  EXPECT_NE(std::string(error.message).find("this process"), std::string::npos) << error.message;
  EXPECT_NE(ids.next(), 0u);

  EXPECT_EQ(ids.close().status, IDGEN_OK);
  EXPECT_EQ(create(config, &second, &error), IDGEN_OK) << error.message;
  destroy(second);
  config_destroy(config);
}

}  // namespace
}  // namespace idgen::faults
