// Byte-wise copies of a process, as a checkpoint that is restored twice or a clone of the machine makes them.
//
// fork() makes such a copy once the pages that children find empty are told to stay (MADV_KEEPONFORK), and the fork
// handlers do not run (a raw clone).
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "support.hpp"

// Not under the sanitizers, whose run time does not survive a clone that it does not know of.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace idgen::faults {
namespace {

#ifndef MADV_KEEPONFORK
#define MADV_KEEPONFORK 19
#endif

// How many mappings there were to keep.
int keep_pages_on_fork() {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  unsigned long first = 0, end = 0;
  int kept = 0;
  while (std::getline(maps, line)) {
    unsigned long from = 0, to = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights) == 3 && rights[0] != 0) {
      first = from;
      end = to;
    }
    if (!line.starts_with("VmFlags:") || line.find(" wf") == std::string::npos) continue;
    if (madvise(reinterpret_cast<void*>(first), end - first, MADV_KEEPONFORK) == 0) ++kept;  // NOLINT
  }
  return kept;
}

pid_t copy_of_this_process(const std::function<int()>& body) {
  fflush(stdout);
  const auto copy = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (copy != 0) return copy;
  alarm(60);
  _exit(body());
}

constexpr std::size_t kDraws = 500, kCopies = 4;

struct Drawn {
  std::vector<std::uint64_t> original;
  std::vector<std::vector<std::uint64_t>> copies;
  std::size_t duplicates() const {
    auto all = copies;
    all.push_back(original);
    return count_duplicates(std::move(all));
  }
};

// The process draws, is copied, and goes on, as the copies do after `restored`.
Drawn draw_in_copies(Ids& ids, const std::function<idgen_status_t()>& restored) {
  Drawn drawn;
  Shared<std::uint64_t> of_copies(kCopies * kDraws);
  std::vector<pid_t> copies;
  for (std::size_t c = 0; c < kCopies; ++c) {
    copies.push_back(copy_of_this_process([&, c] {
      if (restored() != IDGEN_OK) return 1;
      for (std::size_t i = 0; i < kDraws; ++i) {
        if ((of_copies[c * kDraws + i] = ids.next()) == 0)
          return std::fprintf(stderr, "%s\n", ids.outcome().message.c_str()), 2;
      }
      return 0;
    }));
  }
  if (restored() != IDGEN_OK) ADD_FAILURE() << "the original could not go on";
  for (std::size_t i = 0; i < kDraws; ++i) drawn.original.push_back(ids.next());
  for (const pid_t copy : copies) EXPECT_EQ(wait_for(copy), 0);
  for (std::size_t c = 0; c < kCopies; ++c)
    drawn.copies.emplace_back(of_copies.data() + c * kDraws, of_copies.data() + (c + 1) * kDraws);
  return drawn;
}

Settings segment(const Folder& folder, const char* order) {
  return {{"kind", "segment"},
          {"tag", "t"},
          {"store", folder.url("ids.db")},
          {"segment.step", "100"},
          {"segment.runway", "0"},
          {"order", order},
          {"wait_max", "30s"}};  // clang-format off
}
// clang-format on

class Copies : public testing::TestWithParam<const char*> {
 protected:
  // In a process of its own, because its pages stay in all later children.
  void in_child(const std::function<void()>& body) {
    EXPECT_EQ(wait_for(spawn([&] {
                body();
                return HasFailure() ? 1 : 0;
              })),
              0);
  }
};
INSTANTIATE_TEST_SUITE_P(Order, Copies, testing::Values("strict", "relaxed"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Copies, DrawDifferentIdsAfterAQuiescedCheckpoint) {
  in_child([] {
    Folder folder;
    make_store(folder.url("ids.db"));
    Ids ids(segment(folder, GetParam()));
    ids.next();
    ASSERT_EQ(idgen_quiesce(nullptr), IDGEN_OK);
    ASSERT_GT(keep_pages_on_fork(), 0);
    const Drawn drawn = draw_in_copies(ids, [] { return idgen_reset(nullptr); });
    EXPECT_EQ(drawn.duplicates(), 0u);
    report("%zu ids of an original and %zu copies, all different", (kCopies + 1) * kDraws, kCopies);
  });
}

TEST_P(Copies, DrawDifferentIdsAfterAResetThatNobodyPreparedFor) {
  in_child([] {
    Folder folder;
    make_store(folder.url("ids.db"));
    Ids ids(segment(folder, GetParam()));
    ids.next();
    ASSERT_GT(keep_pages_on_fork(), 0);
    const Drawn drawn = draw_in_copies(ids, [] { return idgen_reset(nullptr); });
    EXPECT_EQ(drawn.duplicates(), 0u);
  });
}

TEST_P(Copies, WithoutAResetRepeatIds) {
  in_child([] {
    Folder folder;
    make_store(folder.url("ids.db"));
    Ids ids(segment(folder, GetParam()));
    ids.next();
    ASSERT_GT(keep_pages_on_fork(), 0);
    EXPECT_GT(draw_in_copies(ids, [] { return IDGEN_OK; }).duplicates(), 0u) << "or these copies are none";
  });
}

TEST(CopiesOfALeasedWorker, LeaseTheirOwnAfterAQuiescedCheckpoint) {
  EXPECT_EQ(wait_for(spawn([] {
              Folder folder;
              make_store(folder.url("ids.db"));
              Ids ids({{"worker", "auto"}, {"store", folder.url("ids.db")}, {"wait_max", "30s"}});
              ids.next();
              if (idgen_quiesce(nullptr) != IDGEN_OK || keep_pages_on_fork() == 0) return 1;
              return draw_in_copies(ids, [] { return idgen_reset(nullptr); }).duplicates() == 0 ? 0 : 2;
            })),
            0);
}

}  // namespace
}  // namespace idgen::faults
#endif
