// Standard ids as they are made: their fixed bits, their time, their order, and that none comes twice.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "idgen/checkpoint.hpp"
#include "idgen/standard.hpp"
#include "idgen/status.hpp"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

class EachStandard : public testing::TestWithParam<Standard> {
 protected:
  std::size_t bytes() const { return standard_bytes(GetParam()); }
  bool has_time() const { return GetParam() != Standard::uuid4; }
  std::vector<StandardId> make(std::size_t count, std::size_t at_once = 1) const {
    std::vector<StandardId> ids;
    std::vector<std::uint8_t> raw(at_once * bytes());
    while (ids.size() < count) {
      make_standard(GetParam(), raw.data(), at_once);
      for (std::size_t i = 0; i < at_once; ++i) {
        ids.emplace_back();
        std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(i * bytes()), bytes(), ids.back().begin());
      }
    }
    return ids;
  }
};

std::string name_of(const testing::TestParamInfo<Standard>& info) {
  const std::vector<std::string> names = {"", "Uuid4", "Uuid7", "Ulid", "ObjectId"};
  return names[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(, EachStandard,
                         testing::Values(Standard::uuid4, Standard::uuid7, Standard::ulid, Standard::object_id),
                         name_of);

std::size_t count_different(const std::vector<std::vector<StandardId>>& all) {
  std::vector<StandardId> ids;
  for (const auto& each : all) ids.insert(ids.end(), each.begin(), each.end());
  return std::set(ids.begin(), ids.end()).size();
}

TEST_P(EachStandard, HasItsOwnBitsAndTheTimeOfTheClock) {
  const std::int64_t before = store_clock_ms();
  for (const StandardId& id : make(1000)) {
    const StandardParts parts = decode_standard(GetParam(), id);
    EXPECT_EQ(parts.standard, GetParam());
    EXPECT_TRUE(parts.is_rfc);
    EXPECT_EQ(parts.unix_ms.has_value(), has_time());
    if (!has_time()) continue;
    EXPECT_GE(*parts.unix_ms, before / 1000 * 1000);
    EXPECT_LE(*parts.unix_ms, store_clock_ms() + 1);
  }
}

TEST_P(EachStandard, SetsEachOfItsOtherBitsAboutHalfTheTime) {
  constexpr int kIds = 4000;
  std::array<int, 128> ones{};
  for (int i = 0; i < kIds; ++i) {
    forget_standard_randomness();  // so that the bits of a process vary, too
    const StandardId id = make(1)[0];
    for (std::size_t bit = 0; bit < 128; ++bit) ones[bit] += id[bit / 8] >> (7 - bit % 8) & 1;
  }
  const auto is_fixed = [&](std::size_t bit) {
    switch (GetParam()) {
      case Standard::uuid4:
        return (bit >= 48 && bit < 52) || bit == 64 || bit == 65;
      case Standard::uuid7:  // the time, the version, the counter that goes up by one, the variant
        return bit < 74;
      case Standard::ulid:
        return bit < 68;
      default:
        return bit < 32 || bit >= 72;
    }
  };
  for (std::size_t bit = 0; bit < 128; ++bit)
    EXPECT_TRUE(is_fixed(bit) || std::abs(ones[bit] - kIds / 2) < 6 * 32) << bit;  // 6 standard deviations
}

TEST_P(EachStandard, ThatHasATimeRisesOneByOneAndInBatches) {
  if (!has_time()) return;
  for (const std::size_t at_once : {1, 7, 1000}) {
    const auto ids = make(20'000, at_once);
    EXPECT_TRUE(std::ranges::is_sorted(ids, std::less_equal<>())) << at_once;
  }
}

TEST_P(EachStandard, ComesOnceWhateverThreadsMakeIt) {
  std::vector<std::vector<StandardId>> made(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < made.size(); ++i)
    threads.emplace_back([&, i] { made[i] = make(50'000, i % 2 ? 64 : 1); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count_different(made), made[0].size() + made[1].size() + made[2].size() + made[3].size());
  if (!has_time()) return;
  for (const auto& each : made) EXPECT_TRUE(std::ranges::is_sorted(each, std::less_equal<>()));
}

TEST_P(EachStandard, OfAResetProcessHasNoNumbersOfTheOneBefore) {
  const auto before = make(1000);
  const std::uint64_t process = decode_standard(GetParam(), before[0]).process;
  reset();
  const auto after = make(1000);
  EXPECT_EQ(count_different({before, after}), 2000u);
  if (GetParam() == Standard::object_id) {
    EXPECT_NE(decode_standard(GetParam(), after[0]).process, process);
  }
}

// After the library's own destructor of the thread: a host's may be later.
TEST_P(EachStandard, CanBeMadeInTheLastDestructorsOfAThread) {
  static std::atomic<int> made;
  static Standard standard;
  standard = GetParam();
  made = 0;
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) {
                                 StandardId id;
                                 make_standard(standard, id.data(), 1);
                                 ++made;
                               }),
            0);
  for (int i = 0; i < 4; ++i) {
    std::thread([&] {
      pthread_setspecific(key, &made);
      make(3);
    }).join();
  }
  pthread_key_delete(key);
  EXPECT_EQ(made, 4);
}

TEST_P(EachStandard, OfNoneIsNothing) { make_standard(GetParam(), nullptr, 0); }

TEST(Standards, ObjectIdsOfAProcessHaveItsNumberAndCount) {
  std::vector<std::uint8_t> ids(1000 * 12);
  make_standard(Standard::object_id, ids.data(), 1000);
  StandardParts first;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    StandardId id{};
    std::copy_n(ids.begin() + i * 12, 12, id.begin());
    const StandardParts parts = decode_standard(Standard::object_id, id);
    if (i == 0) first = parts;
    EXPECT_EQ(parts.process, first.process);
    EXPECT_EQ(parts.process >> 40, 0u);
    EXPECT_EQ(parts.counter, (first.counter + i) & 0xFFFFFF);
  }
}

TEST(Standards, OfNoVersionAreNotMade) {
  StandardId id;
  EXPECT_FAILS(make_standard(Standard::uuid, id.data(), 1), Status::argument, "");
}

}  // namespace
}  // namespace idgen
