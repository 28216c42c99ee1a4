// Byte-wise copies of a process, as a checkpoint that is restored twice or a clone of the machine makes them.
//
// fork() makes such a copy once the pages that children find empty are told to stay (MADV_KEEPONFORK), and the fork
// handlers do not run (a raw clone). It lacks what a copied machine has: all threads but the one that makes it.
#include <fcntl.h>
#include <idgen/standard.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "patience.hpp"
#include "runtime/fake_vmclock.hpp"
#include "support.hpp"

// Not under the sanitizers, whose run time does not survive a clone that it does not know of.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace {
const char* vmclock = nullptr;  // the file in place of the device
}

// Of the whole program, also of libidgen.so: whoever asks for the device gets that file.
extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const bool is_device = vmclock != nullptr && std::strcmp(path, "/dev/vmclock0") == 0;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, is_device ? vmclock : path, flags, mode));
}

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

// The process draws, is copied, and goes on, as the copies do after `restored`. next() is 0 where there is no id.
Drawn draw_in_copies(const std::function<std::uint64_t()>& next, const std::function<idgen_status_t()>& restored) {
  Drawn drawn;
  Shared<std::uint64_t> of_copies(kCopies * kDraws);
  std::vector<pid_t> copies;
  for (std::size_t c = 0; c < kCopies; ++c) {
    copies.push_back(copy_of_this_process([&, c] {
      if (restored() != IDGEN_OK) return 1;
      for (std::size_t i = 0; i < kDraws; ++i) {
        if ((of_copies[c * kDraws + i] = next()) == 0) return 2;
      }
      return 0;
    }));
  }
  if (restored() != IDGEN_OK) ADD_FAILURE() << "the original could not go on";
  for (std::size_t i = 0; i < kDraws; ++i) drawn.original.push_back(next());
  for (const pid_t copy : copies) EXPECT_EQ(wait_for(copy), 0);
  for (std::size_t c = 0; c < kCopies; ++c)
    drawn.copies.emplace_back(of_copies.data() + c * kDraws, of_copies.data() + (c + 1) * kDraws);
  return drawn;
}

Drawn draw_in_copies(Ids& ids, const std::function<idgen_status_t()>& restored) {
  return draw_in_copies(
      [&] {
        const std::uint64_t id = ids.next();
        if (id == 0) std::fprintf(stderr, "%s\n", ids.outcome().message.c_str());
        return id;
      },
      restored);
}

Settings segment(const TempFolder& folder, const char* order) {
  return {{"kind", "segment"},     {"tag", "t"},     {"store", folder.url()}, {"segment.step", "100"},
          {"segment.runway", "0"}, {"order", order}, {"wait_max", "30s"}};  // clang-format off
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
  // A generator that has drawn.
  void with_ids(const std::function<void(Ids&)>& body) {
    in_child([&] {
      StoreFolder folder;
      Ids ids(segment(folder, GetParam()));
      ids.next();
      body(ids);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Order, Copies, testing::Values("strict", "relaxed"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Copies, DrawDifferentIdsAfterAQuiescedCheckpoint) {
  with_ids([](Ids& ids) {
    ASSERT_EQ(idgen_quiesce(nullptr), IDGEN_OK);
    ASSERT_GT(keep_pages_on_fork(), 0);
    const Drawn drawn = draw_in_copies(ids, [] { return idgen_reset(nullptr); });
    EXPECT_EQ(drawn.duplicates(), 0u);
    report("%zu ids of an original and %zu copies, all different", (kCopies + 1) * kDraws, kCopies);
  });
}

TEST_P(Copies, DrawDifferentIdsAfterAResetThatNobodyPreparedFor) {
  with_ids([](Ids& ids) {
    ASSERT_GT(keep_pages_on_fork(), 0);
    EXPECT_EQ(draw_in_copies(ids, [] { return idgen_reset(nullptr); }).duplicates(), 0u);
  });
}

TEST_P(Copies, WithoutAResetRepeatIds) {
  with_ids([](Ids& ids) {
    ASSERT_GT(keep_pages_on_fork(), 0);
    EXPECT_GT(draw_in_copies(ids, [] { return IDGEN_OK; }).duplicates(), 0u) << "or these copies are none";
  });
}

TEST(CopiesOfALeasedWorker, LeaseTheirOwnAfterAQuiescedCheckpoint) {
  EXPECT_EQ(wait_for(spawn([] {
              StoreFolder folder;
              Ids ids({{"worker", "auto"}, {"store", folder.url()}, {"wait_max", "30s"}});
              ids.next();
              if (idgen_quiesce(nullptr) != IDGEN_OK || keep_pages_on_fork() == 0) return 1;
              return draw_in_copies(ids, [] { return idgen_reset(nullptr); }).duplicates() == 0 ? 0 : 2;
            })),
            0);
}

// --- Copies of a machine whose hypervisor says so. Nobody calls anything.

// Every copy of a machine has a page of its own, in which its hypervisor writes.
void give_own_page(const FakeVmclock& device, std::uint64_t generation) {
  FakeVmclock own(generation);
  std::ifstream maps("/proc/self/maps");
  int changed = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long at = 0;
    if (!line.ends_with(device.path()) || std::sscanf(line.c_str(), "%lx", &at) != 1) continue;
    const int fd = open(own.path(), O_RDWR | O_CLOEXEC);
    const int rights = line.find(" rw") == std::string::npos ? PROT_READ : PROT_READ | PROT_WRITE;
    changed +=
        mmap(reinterpret_cast<void*>(at), FakeVmclock::kBytes, rights, MAP_SHARED | MAP_FIXED, fd, 0) !=  // NOLINT
        MAP_FAILED;
    close(fd);
  }
  if (changed != 2) _exit(3);  // the test's own mapping, and the library's
}

class CopiesOfAMachine : public Copies {
 protected:
  // `drawn` ids before the copies are made.
  void draw_before_and_in_copies(std::size_t drawn, bool is_noticed, const std::function<void(const Drawn&)>& check) {
    in_child([&] {
      FakeVmclock device(7);
      vmclock = device.path();
      StoreFolder folder;
      Ids ids(segment(folder, GetParam()));
      for (std::size_t i = 0; i < drawn; ++i) ids.next();
      ASSERT_GT(keep_pages_on_fork(), 0);
      const pid_t original = getpid();
      check(draw_in_copies(ids, [&] {
        if (getpid() != original) give_own_page(device, is_noticed ? 8 : 7);
        return IDGEN_OK;
      }));
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Order, CopiesOfAMachine, testing::Values("strict", "relaxed"),
                         [](const auto& info) { return std::string(info.param); });

// segment.step = 100: the slow path begins at the mark, after ten ids.
TEST_P(CopiesOfAMachine, DrawDifferentIdsOnceTheirGenerationHasChanged) {
  draw_before_and_in_copies(10, true, [](const Drawn& drawn) {
    EXPECT_EQ(drawn.duplicates(), 0u);
    report("%zu ids of an original and %zu copies that nobody told, all different", (kCopies + 1) * kDraws, kCopies);
  });
}

TEST_P(CopiesOfAMachine, RepeatIdsIfItHasNot) {
  draw_before_and_in_copies(10, false, [](const Drawn& drawn) { EXPECT_GT(drawn.duplicates(), 0u); });
}

// What remains: nobody looks in the fast path. These copies have no thread that looks beside it, every 100 ms.
TEST_P(CopiesOfAMachine, RepeatTheIdsThatAreDrawnUntilSomebodyLooks) {
  draw_before_and_in_copies(1, true, [](const Drawn& drawn) {
    // Each copy draws the other nine below the mark. A relaxed generator's blocks have one id each here, and it looks
    // before each.
    EXPECT_EQ(drawn.duplicates(), std::strcmp(GetParam(), "strict") == 0 ? 9 * kCopies : 0);
  });
}

// The last 8 bytes of it: what differs within a ms, or a second.
std::uint64_t end_of_standard_id(std::int32_t standard) {
  std::uint8_t id[16] = {};
  if (idgen_standard_make(standard, id, 1, nullptr) != IDGEN_OK) return 0;
  std::uint64_t end;
  std::memcpy(&end, id + (standard == IDGEN_STANDARD_OBJECT_ID ? 4 : 8), sizeof end);
  return end;
}

// No slow path has to be reached: each call looks.
class CopiesOfStandardIds : public testing::TestWithParam<std::int32_t> {
 protected:
  void draw_in_copies_of_a_machine(bool is_noticed, bool is_reset, const std::function<void(const Drawn&)>& check) {
    EXPECT_EQ(wait_for(spawn([&] {
                FakeVmclock device(7);
                vmclock = device.path();
                const auto next = [] { return end_of_standard_id(GetParam()); };
                next();
                if (keep_pages_on_fork() == 0) return 1;
                const pid_t original = getpid();
                check(draw_in_copies(next, [&] {
                  if (getpid() != original) give_own_page(device, is_noticed ? 8 : 7);
                  return is_reset ? idgen_reset(nullptr) : IDGEN_OK;
                }));
                return HasFailure() ? 1 : 0;
              })),
              0);
  }
};
INSTANTIATE_TEST_SUITE_P(, CopiesOfStandardIds,
                         testing::Values(IDGEN_STANDARD_UUID4, IDGEN_STANDARD_UUID7, IDGEN_STANDARD_ULID,
                                         IDGEN_STANDARD_OBJECT_ID));

TEST_P(CopiesOfStandardIds, DifferOnceTheMachinesGenerationHasChanged) {
  draw_in_copies_of_a_machine(true, false, [](const Drawn& drawn) { EXPECT_EQ(drawn.duplicates(), 0u); });
}

TEST_P(CopiesOfStandardIds, DifferAfterAReset) {
  draw_in_copies_of_a_machine(false, true, [](const Drawn& drawn) { EXPECT_EQ(drawn.duplicates(), 0u); });
}

TEST_P(CopiesOfStandardIds, AreTheSameWithoutEither) {
  draw_in_copies_of_a_machine(false, false, [](const Drawn& drawn) { EXPECT_GT(drawn.duplicates(), 0u); });
}

// This process has its threads, so it is the copy here, and the other one the original.
void draw_beside_the_original(const Settings& settings) {
  FakeVmclock device(7);
  vmclock = device.path();
  Ids ids(settings);
  ASSERT_TRUE(ids) << ids.outcome().message;
  ids.next();
  ASSERT_GT(keep_pages_on_fork(), 0);
  constexpr std::size_t kMany = 200;
  Shared<std::uint64_t> of_original(kMany);
  Shared<std::atomic<int>> is_apart;
  const pid_t original = copy_of_this_process([&] {
    give_own_page(device, 7);
    is_apart[0] = 1;
    for (std::size_t i = 0; i < kMany; ++i) of_original[i] = ids.next();
    return 0;
  });
  EXPECT_TRUE(becomes_true([&] { return is_apart[0] != 0; })) << "the original has no page of its own";
  device.change_generation();
  const auto still_held = [&] { return ids.stats().remaining; };
  EXPECT_TRUE(becomes_true([&] { return still_held() == 0; })) << "nobody looked";
  std::vector<std::uint64_t> of_copy;
  for (std::size_t i = 0; i < kMany; ++i) of_copy.push_back(ids.next());
  EXPECT_EQ(wait_for(original), 0);
  EXPECT_EQ(count_duplicates({of_copy, {of_original.data(), of_original.data() + kMany}}), 0u);
}

TEST_P(CopiesOfAMachine, NoticeByThemselvesWithinATenthOfASecond) {
  in_child([] {
    StoreFolder folder;
    draw_beside_the_original(segment(folder, GetParam()));
  });
}

TEST_P(CopiesOfAMachine, LeaseAWorkerOfTheirOwn) {
  in_child([] {
    StoreFolder folder;
    draw_beside_the_original({{"worker", "auto"}, {"store", folder.url()}, {"wait_max", "30s"}, {"order", GetParam()}});
  });
}

}  // namespace
}  // namespace idgen::faults
#endif
