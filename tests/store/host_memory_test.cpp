#include "store/host_memory.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "store/store_test_support.hpp"

namespace idgen {
namespace {

class HostMemoryTest : public ::testing::Test {
 protected:
  HostMemory memory() const { return HostMemory(file(), "tag 'orders'", 1000); }
  std::filesystem::path file() const { return folder_.file("file"); }
  std::string text() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TempFolder folder_;
};

TEST_F(HostMemoryTest, BeginsWithNothing) {
  EXPECT_EQ(memory().look().highest, 0u);
  EXPECT_EQ(memory().look().times_taken, 0u);
  EXPECT_NE(text().find("tag 'orders'"), std::string::npos) << text();
}

TEST_F(HostMemoryTest, IsAsAccessibleAsItsFolderWhoeverMakesIt) {
  struct stat info {};
  for (const mode_t mode : {0755, 0775, 0700}) {
    std::filesystem::remove(file());
    ASSERT_EQ(chmod(file().parent_path().c_str(), mode), 0);
    const uid_t owner = geteuid() == 0 ? 12345 : geteuid();
    ASSERT_EQ(chown(file().parent_path().c_str(), owner, static_cast<gid_t>(-1)), 0);
    memory().look();
    ASSERT_EQ(stat(file().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, mode & 0664);
    EXPECT_EQ(info.st_uid, owner);
  }
}

TEST_F(HostMemoryTest, SaysThatItsFolderIsMissing) {
  EXPECT_FAILS(HostMemory(file().string() + "/below", "tag", 1000).look(), Status::store_missing,
               "Name an existing folder");
}

TEST_F(HostMemoryTest, OfAGrantThatIsTakenOutWholeWhatLiesBelowItIsAnotherHosts) {
  const HostMemory memory = this->memory();
  memory.add(1, 10);
  memory.add(31, 40);
  memory.take(31, 40);
  EXPECT_EQ(memory.look().highest, 10u);
  memory.take(6, 10);
  EXPECT_EQ(memory.look().highest, 5u);
  EXPECT_EQ(memory.look().times_taken, 2u);
  memory.take(1, 5);
  EXPECT_EQ(memory.look().highest, 0u);
}

TEST_F(HostMemoryTest, KeepsGrantsThatComeOutOfTurn) {
  const HostMemory memory = this->memory();
  memory.add(31, 40);
  memory.add(11, 20);  // granted before, written after
  EXPECT_EQ(memory.look().highest, 40u);
  memory.take(31, 40);
  EXPECT_EQ(memory.look().highest, 20u);
}

// Against a bit for each number.
TEST_F(HostMemoryTest, HasTheHighestNumbersOfAllThatWereAddedAndNotTakenOut) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(file());
    const HostMemory memory = this->memory();
    std::vector<bool> has(202);
    std::uint64_t granted = 0;
    for (int step = 0; step < 60 && granted < 190; ++step) {
      const std::uint64_t first = granted + 1 + random() % 4, last = first + random() % 8;
      granted = last;
      for (std::uint64_t n = first; n <= last; ++n) has[n] = true;
      memory.add(first, last);
      if (random() % 2 == 0) {
        const std::uint64_t end = random() % 3 == 0 ? 1 + random() % last : last, begin = 1 + random() % end;
        for (std::uint64_t n = begin; n <= end; ++n) has[n] = false;
        memory.take(begin, end);
      }
      std::uint64_t highest = granted;
      while (highest > 0 && !has[highest]) --highest;
      ASSERT_EQ(memory.look().highest, highest) << "round " << round << ", step " << step;
    }
  }
}

// Of two hosts with many workers, which have each a range in use and one ready, one ends in order.
TEST_F(HostMemoryTest, KnowsWhatItHasUsedOnceAllThatWasReadyIsGivenBack) {
  const HostMemory memory = this->memory();
  for (std::uint64_t n = 0; n < 64; ++n) EXPECT_TRUE(memory.add(200 * n + 1, 200 * n + 100));
  for (std::uint64_t n = 64; n-- > 0;)
    n >= 32 ? memory.take(200 * n + 1, 200 * n + 100) : memory.take(200 * n + 51, 200 * n + 100);
  EXPECT_EQ(memory.look().highest, 200u * 31 + 50);
}

TEST_F(HostMemoryTest, ForgetsTheLowestWhereThereAreTooManyAndNeverSaysMoreThanItHad) {
  const HostMemory memory = this->memory();
  for (std::uint64_t n = 1; n <= 120; ++n) memory.add(10 * n, 10 * n + 1);
  for (std::uint64_t n = 120; n > 25; --n) {
    EXPECT_EQ(memory.look().highest, 10 * n + 1);
    memory.take(10 * n, 10 * n + 1);
  }
  EXPECT_EQ(memory.look().highest, 0u);
}

TEST_F(HostMemoryTest, SaysThatItHasHadSomeOfWhatIsAddedAndAddsNone) {
  const HostMemory memory = this->memory();
  EXPECT_TRUE(memory.add(11, 20));
  EXPECT_FALSE(memory.add(20, 25));
  EXPECT_FALSE(memory.add(1, 11));
  EXPECT_FALSE(memory.add(14, 15));
  EXPECT_EQ(memory.look().highest, 20u);
  EXPECT_TRUE(memory.add(21, 25));
  EXPECT_TRUE(memory.add(1, 10));
  EXPECT_EQ(memory.look().highest, 25u);
}

// Of each sector the old state or the new one, as after a power loss.
TEST_F(HostMemoryTest, IsReadInWhateverStateAPowerLossLeavesIt) {
  const HostMemory memory = this->memory();
  for (std::uint64_t n = 1; n <= 30; ++n) memory.add(10 * n, 10 * n + 1);
  const std::string before = text();
  memory.add(401, 410);
  const std::string after = text();
  ASSERT_EQ(before.size(), after.size());
  for (unsigned newer = 0; newer < 256; ++newer) {
    std::string mixed = before;
    for (unsigned sector = 0; sector < 8; ++sector)
      if (newer >> sector & 1) mixed.replace(512 * sector, 512, after, 512 * sector, 512);
    std::ofstream(file()) << mixed;
    const std::uint64_t highest = this->memory().look().highest;
    EXPECT_TRUE(highest == 301 || highest == 410) << newer << ": " << highest;
  }
}

TEST_F(HostMemoryTest, HasRoomForTheLargestNumbers) {
  const HostMemory memory = this->memory();
  const std::uint64_t largest = (std::uint64_t{1} << 63) - 1;
  for (int i = 0; i < 12; ++i) memory.add(largest - 100 * (12 - i), largest - 100 * (12 - i) + 5);
  memory.add(largest - 9, largest);
  EXPECT_EQ(memory.look().highest, largest);
  EXPECT_EQ(this->memory().look().highest, largest);
}

TEST_F(HostMemoryTest, IsNotTakenForEmptyWhereItIsDamaged) {
  memory().add(1, 10);
  std::filesystem::resize_file(file(), 100);
  EXPECT_FAILS(memory().look(), Status::store_damaged, "");
}

}  // namespace
}  // namespace idgen
