#include "runtime/vm_generation.hpp"

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "idgen/runtime.hpp"
#include "runtime/children.hpp"
#include "runtime/fake_vmclock.hpp"

namespace idgen {
namespace {

using Generation = std::optional<std::uint64_t>;

// Of a page that `damage` has changed before anybody looked.
Generation generation_of(const std::function<void(FakeVmclock&)>& damage) {
  FakeVmclock page(7);
  damage(page);
  return VmGeneration(page.path()).read();
}

// What a child sees.
bool holds_in_child(const std::function<bool()>& body) {
  return answer_of([&] { return body() ? 0 : 1; }) == 0;
}

std::size_t mappings_of(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with(path);
  return count;
}

TEST(VmGeneration, IsTheNumberThatTheHypervisorWrites) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  EXPECT_EQ(generation.read(), Generation(7));
  page.change_generation();
  EXPECT_EQ(generation.read(), Generation(8));
  page.change_generation();
  EXPECT_EQ(generation.read(), Generation(9));
}

TEST(VmGeneration, IsUnknownWhereThereIsNoDevice) {
  EXPECT_EQ(VmGeneration("/nowhere/vmclock0").read(), std::nullopt);
  EXPECT_EQ(VmGeneration("/proc/self").read(), std::nullopt) << "a folder";
  EXPECT_EQ(VmGeneration("/dev/null").read(), std::nullopt) << "a device that cannot be mapped";
}

TEST(VmGeneration, IsUnknownIfThePipeAtThePathNeverAnswers) {
  FakeVmclock page(7);
  ASSERT_EQ(unlink(page.path()), 0);
  ASSERT_EQ(mkfifo(page.path(), 0600), 0);
  EXPECT_EQ(VmGeneration(page.path()).read(), std::nullopt);
}

TEST(VmGeneration, IsUnknownToWhoMayNotReadTheDevice) {
  FakeVmclock page(7);
  ASSERT_EQ(chmod(page.path(), 0), 0);
  EXPECT_TRUE(holds_in_child([&] {
    if (geteuid() == 0 && seteuid(65534) != 0) return false;
    return VmGeneration(page.path()).read() == std::nullopt;
  }));
}

TEST(VmGeneration, IsUnknownFromADamagedPage) {
  using P = FakeVmclock;
  EXPECT_EQ(generation_of([](P&) {}), Generation(7));
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint32_t>(P::kMagic, 0x4b4c4357); }), std::nullopt);
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint32_t>(P::kSize, P::kEnd - 1); }), std::nullopt);
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint32_t>(P::kSize, P::kEnd); }), Generation(7));
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint16_t>(P::kVersion, 0); }), std::nullopt);
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint16_t>(P::kVersion, 2); }), std::nullopt);
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint64_t>(P::kFlags, ~std::uint64_t{1 << 8}); }), std::nullopt);
  EXPECT_EQ(generation_of([](P& page) { page.set<std::uint64_t>(P::kFlags, ~std::uint64_t{0}); }), Generation(7));
}

TEST(VmGeneration, IsUnknownFromAFileThatIsTooShort) {
  EXPECT_EQ(generation_of([](FakeVmclock& page) { page.cut_to(0); }), std::nullopt);
  EXPECT_EQ(generation_of([](FakeVmclock& page) { page.cut_to(FakeVmclock::kEnd - 1); }), std::nullopt);
  EXPECT_EQ(generation_of([](FakeVmclock& page) { page.cut_to(FakeVmclock::kEnd); }), Generation(7));
}

TEST(VmGeneration, IsUnknownWhileAnUpdateGoesOnButNobodyWaitsForItsEnd) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  page.set<std::uint32_t>(FakeVmclock::kSequence, 1);
  EXPECT_EQ(generation.read(), std::nullopt);
  page.set<std::uint32_t>(FakeVmclock::kSequence, 2);
  EXPECT_EQ(generation.read(), Generation(7));
}

TEST(VmGeneration, IsNeverHalfOfAnUpdate) {
  FakeVmclock page(0);
  VmGeneration generation(page.path());
  std::atomic<bool> is_over{false};
  std::jthread hypervisor([&] {
    for (std::uint32_t sequence = 2; !is_over; sequence += 2) {
      page.set<std::uint32_t>(FakeVmclock::kSequence, sequence - 1);
      page.set<std::uint64_t>(FakeVmclock::kGeneration, ~std::uint64_t{0});  // must not be seen
      page.set<std::uint64_t>(FakeVmclock::kGeneration, sequence);
      page.set<std::uint32_t>(FakeVmclock::kSequence, sequence);
    }
  });
  std::uint64_t last = 0;
  for (int i = 0; i < 20'000'000 && last < 100'000; ++i) {
    const std::uint64_t now = generation.read().value_or(last);
    if (now % 2 != 0 || now < last) {
      ADD_FAILURE() << now << " after " << last;
      break;
    }
    last = now;
  }
  is_over = true;
  EXPECT_GT(last, 0u);
}

TEST(VmGeneration, IsSeenByAChildToo) {
  FakeVmclock page(7);
  VmGeneration opened(page.path()), not_yet(page.path());
  ASSERT_EQ(opened.read(), Generation(7));
  EXPECT_TRUE(holds_in_child([&] {
    const bool before = opened.read() == Generation(7) && not_yet.read() == Generation(7);
    page.change_generation();
    return before && opened.read() == Generation(8) && not_yet.read() == Generation(8);
  }));
}

TEST(VmGeneration, StaysReadableWhenTheProcessGivesUpTheRightToOpenIt) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  ASSERT_EQ(generation.read(), Generation(7));
  ASSERT_EQ(unlink(page.path()), 0);
  page.change_generation();
  EXPECT_EQ(generation.read(), Generation(8));
  generation.map_again();
  EXPECT_EQ(generation.read(), Generation(8)) << "what is mapped stays, if there is nothing better";
}

TEST(VmGeneration, IsMappedOnceByAnyNumberOfThreads) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  std::vector<Generation> seen(8);
  {
    std::vector<std::jthread> threads;
    for (Generation& each : seen) threads.emplace_back([&] { each = generation.read(); });
  }
  for (const Generation& each : seen) EXPECT_EQ(each, Generation(7));
  EXPECT_EQ(mappings_of(page.path()), 2u) << "the test's own, and one";
}

TEST(VmGeneration, LeavesNoMappingOfTheDeviceForACheckpoint) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  ASSERT_EQ(generation.read(), Generation(7));
  ASSERT_EQ(mappings_of(page.path()), 2u);
  generation.unmap();
  EXPECT_EQ(mappings_of(page.path()), 1u) << "the test's own";
  EXPECT_EQ(generation.read(), std::nullopt);
  page.change_generation();
  generation.map_again();
  EXPECT_EQ(generation.read(), Generation(8));
  EXPECT_EQ(mappings_of(page.path()), 2u);
}

TEST(VmGeneration, ADeviceThatIsMissingAfterACheckpointStaysUnknown) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  ASSERT_EQ(generation.read(), Generation(7));
  generation.unmap();
  page.set<std::uint32_t>(FakeVmclock::kMagic, 0);
  generation.map_again();
  EXPECT_EQ(generation.read(), std::nullopt);
}

TEST(VmGeneration, ADeviceThatWasMissingIsLookedForAfterACheckpoint) {
  FakeVmclock page(7);
  page.set<std::uint32_t>(FakeVmclock::kMagic, 0);
  VmGeneration generation(page.path());
  ASSERT_EQ(generation.read(), std::nullopt);
  page.set<std::uint32_t>(FakeVmclock::kMagic, 0x4b4c4356);
  EXPECT_EQ(generation.read(), std::nullopt) << "not at each look";
  generation.map_again();
  EXPECT_EQ(generation.read(), Generation(7));
}

// Not under the thread sanitizer, which takes a new mapping for a write by whoever makes it.
#if !defined(__SANITIZE_THREAD__)
TEST(VmGeneration, IsReadByOtherThreadsWhileACheckpointTakesItAway) {
  FakeVmclock page(7);
  VmGeneration generation(page.path());
  std::atomic<bool> is_over{false};
  std::jthread reader([&] {
    while (!is_over) {
      // 0 where a look fell on both changes; reset(), which makes the second, starts everything over anyway.
      if (const Generation now = generation.read(); now && *now != 7 && *now != 0) ADD_FAILURE() << *now;
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    generation.unmap();
    generation.map_again();
  }
  is_over = true;
}
#endif

TEST(ProcessLane, IsOneForAllWhoHoldIt) {
  const std::shared_ptr<Lane> mine = system_runtime().process_lane();
  EXPECT_EQ(system_runtime().process_lane(), mine);
}

}  // namespace
}  // namespace idgen
