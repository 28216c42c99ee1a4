// Ids that have an owner: kind = business, and snowflakes whose layout has a gene. Which ids, and which refusals:
// tests/vectors/owners.tsv.
#include <map>
#include <set>
#include <thread>

#include "generator/world.hpp"

namespace idgen::sim {
namespace {

class Business : public World {
 protected:
  std::unique_ptr<Handle> with(Settings settings) {
    settings.insert(settings.begin(), {{"kind", "business"}, {"tag", "orders"}});
    return open(settings);
  }
  static std::vector<std::uint64_t> many(Handle& handle, std::string_view owner, std::size_t count) {
    std::vector<std::uint64_t> ids(count);
    std::size_t written = 0;
    handle.fill_for(handle.owner_number(owner), std::span(ids), written);
    EXPECT_EQ(written, count);
    return ids;
  }
  static WideId wide(Handle& handle, std::string_view owner) {
    WideId id;
    std::size_t written;
    handle.fill_for(handle.owner_number(owner), std::span(&id, 1), written);
    return id;
  }
};

TEST_F(Business, IdsOfOneVirtualNodeRiseAndNoneComesTwiceWhateverTheNumberOfCounters) {
  std::set<std::uint64_t> seen;
  std::map<std::uint64_t, std::uint64_t> latest;
  for (const char* counters : {"1", "16", "3", "4096", "16"}) {
    auto handle = with({{"counters", counters}, {"segment.step", "100"}});
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t id = handle->next_for(std::to_string(i * i % 331));
      const Parts parts = handle->layout().decode(id);
      EXPECT_TRUE(seen.insert(id).second);
      EXPECT_GT(parts.segment, latest[parts.gene]) << "within a node";
      latest[parts.gene] = static_cast<std::uint64_t>(parts.segment);
      if (i % 50 == 0) runtime->run_all();
    }
  }
}

TEST_F(Business, NoSegmentComesTwiceThoughOwnersHaveCountersOfTheirOwn) {
  auto one = with({{"counters", "64"}, {"segment.step", "10"}});
  auto other = with({{"counters", "5"}, {"segment.step", "77"}});
  std::set<std::uint64_t> segments;
  for (int i = 0; i < 2000; ++i) {
    for (Handle* handle : {one.get(), other.get()}) {
      const Parts parts = handle->layout().decode(handle->next_for(std::to_string(i % 97)));
      EXPECT_TRUE(segments.insert(static_cast<std::uint64_t>(parts.segment)).second);
    }
    runtime->run_all();
  }
}

TEST_F(Business, ABatchForOneOwnerAndOneForManyAreWhatSingleCallsWouldMake) {
  auto handle = with({{"counters", "8"}});
  const std::vector<std::uint64_t> ids = many(*handle, "acme", 5000);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(handle->layout().decode(ids[i]).gene, gene_of("acme", GeneRule::hash, 16));
    EXPECT_TRUE(i == 0 || ids[i] > ids[i - 1]);
  }
  std::vector<std::uint64_t> each(500);
  std::size_t written;
  const auto owners = [&](std::size_t first, std::span<std::uint64_t> numbers) {
    const std::size_t count = std::min<std::size_t>(numbers.size(), 7);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = handle->owner_number(std::to_string(first + i));
    return count;
  };
  handle->fill_for_each(owners, std::span(each), written);
  ASSERT_EQ(written, each.size());
  for (std::size_t i = 0; i < each.size(); ++i)
    EXPECT_EQ(handle->layout().decode(each[i]).gene, gene_of(std::to_string(i), GeneRule::hash, 16));
}

TEST_F(Business, ABatchThatMeetsABadOwnerKeepsWhatItHas) {
  auto handle = with({});
  std::vector<std::uint64_t> ids(3);
  std::size_t written;
  const auto owners = [&](std::size_t first, std::span<std::uint64_t> numbers) {
    numbers[0] = handle->owner_number(first == 2 ? "" : "a");
    return std::size_t{1};
  };
  EXPECT_ERROR(VALUE, _, handle->fill_for_each(owners, std::span(ids), written));
  EXPECT_EQ(written, 2u);
}

TEST_F(Business, CallsWithoutAnOwnerAreRefusedAndLoseNothing) {
  auto handle = with({{"counters", "1"}});
  std::uint64_t id = 0;
  std::size_t written;
  EXPECT_EQ(error_of([&] { handle->next(); }).message(),
            "business tag 'orders': layout 'gene:16 version:5 segment:42' has a gene, which comes from an id's owner; "
            "call next_for");
  EXPECT_ERROR(UNSUPPORTED, _, handle->next());
  EXPECT_ERROR(UNSUPPORTED, _, handle->fill({&id, 1}, written));
  EXPECT_ERROR(UNSUPPORTED, _, handle->next_block(10));
  EXPECT_EQ(handle->try_next(id), Status::unsupported);
  EXPECT_EQ(handle->layout().decode(handle->next_for("a")).segment, 1u);
}

TEST_F(Business, WidenGoesOnWithIdsOfSixteenBytesOfTheSameNumbersAndGene) {
  disk.tags["orders"] = (std::uint64_t{1} << 42) - 51;
  auto handle = with({{"counters", "1"}, {"segment.step", "30"}, {"on_full", "widen"}});
  const std::uint64_t of = owner_number("acme", GeneRule::hash);
  Id128 previous = 0;
  for (int i = 0; i < 200; ++i) {
    const WideId id = wide(*handle, "acme");
    EXPECT_EQ(id.bytes, i < 50 ? 8u : 16u);
    const Parts parts = handle->decode(id);
    EXPECT_EQ(parts.segment, (std::uint64_t{1} << 42) - 50 + static_cast<unsigned>(i));
    EXPECT_EQ(parts.gene, of & (id.bytes == 8 ? 0xFFFFu : 0x7FFFFFu)) << "the low bits are the same, so is the shard";
    EXPECT_TRUE(id.bytes == 8 || id.value > previous);
    previous = id.value;
    runtime->run_all();
  }
  EXPECT_ERROR(EXHAUSTED, ::testing::HasSubstr("call next_wide_for"), handle->next_for("acme"));
}

TEST_F(Business, AnIdOfTheWrongLengthIsNotDecoded) {
  auto handle = with({});
  EXPECT_ERROR(VALUE, _, handle->decode(WideId{1, 16}));
  auto wide_only = with({{"layout", "business128"}, {"tag", "wide"}});
  EXPECT_ERROR(VALUE, _, wide_only->decode(WideId{1, 8}));
}

TEST_F(Business, LayoutsThatItCannotMakeAreRefused) {
  for (const char* layout : {"segment:63", "gene:63", "time:41ms worker:10 sequence:12", "gene:10 worker:10 segment:40",
                             "gene:16 segment:40 fixed:1", "segment:84 version:20 gene:23"}) {
    const Error error = error_of([&] { with({{"layout", layout}}); });
    EXPECT_TRUE(error.status() == Status::unsupported || error.status() == Status::layout) << layout;
  }
  EXPECT_ERROR(UNSUPPORTED, _, open({{"kind", "segment"}, {"layout", "business64"}}));
}

TEST_F(Business, ThreadsWithOwnersOfTheirOwnAndSharedOnesNeverGetAnIdTwice) {
  for (const char* order : {"strict", "relaxed"}) {
    Config config;  // of the system's runtime: the simulated one has no threads
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{{"kind", "business"},
                                                                                               {"store", "memory"},
                                                                                               {"store_create", "true"},
                                                                                               {"counters", "7"},
                                                                                               {"order", order},
                                                                                               {"segment.step", "1000"},
                                                                                               {"tag", order}})
      config.set(key, value);
    const auto handle = std::make_unique<Handle>(config);
    std::vector<std::vector<std::uint64_t>> drawn(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < drawn.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20'000; ++i)
          drawn[t].push_back(
              handle->next_for(std::to_string(i % 3 == 0 ? 7 : t * 1000 + static_cast<unsigned>(i) % 50)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::set<std::uint64_t> all;
    for (const auto& ids : drawn) all.insert(ids.begin(), ids.end());
    EXPECT_EQ(all.size(), 80'000u) << order;
  }
}

TEST_F(Business, AStrideIsOfTheSegment) {
  auto handle = with({{"segment.stride", "10"}, {"segment.offset", "3"}, {"counters", "2"}});
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(handle->layout().decode(handle->next_for(std::to_string(i))).segment % 10, 3u);
}

TEST_F(Business, ClosedIsClosed) {
  auto handle = with({{"counters", "4096"}});
  handle->next_for("a");
  handle->close();
  std::uint64_t id;
  EXPECT_ERROR(CLOSED, _, handle->next_for("a"));
  EXPECT_EQ(handle->try_next_for("a", id), Status::closed);
  EXPECT_FALSE(handle->draw_for("a", id));
}

TEST_F(Business, SnowflakesOfTheLayoutOrderEndWithTheLowBitsOfTheirOwner) {
  auto handle = open({{"layout", "order"}, {"worker", "5"}});
  std::uint64_t previous = 0;
  for (std::uint64_t owner : {1820u, 5177331u, 7u, 7u, 16u}) {
    const std::uint64_t id = handle->next_for(std::to_string(owner));
    EXPECT_EQ(id % 16, owner % 16);
    EXPECT_EQ(handle->layout().decode(id).worker, 5u);
    EXPECT_GT(id >> 4, previous >> 4) << "all ids rise, whoever owns them";
    previous = id;
  }
  EXPECT_ERROR(VALUE, _, handle->next_for("acme"));
  EXPECT_ERROR(UNSUPPORTED, _, handle->next());
  const std::vector<std::uint64_t> ids = many(*handle, "1820", 5000);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 5000u);
  for (const std::uint64_t id : ids) EXPECT_EQ(id % 16, 12u);
  EXPECT_EQ(wide(*handle, "1820").bytes, 8u);
  EXPECT_EQ(handle->decode(wide(*handle, "1820")).worker, 5u);
}

TEST_F(Business, ALayoutWithItsGeneAboveItsSequenceIsRefused) {
  EXPECT_ERROR(UNSUPPORTED, _, open({{"layout", "time:41ms gene:4 worker:6 sequence:12"}, {"worker", "1"}}));
}

TEST_F(Business, ItSaysWhatItIs) {
  auto handle = with({{"on_full", "widen"}});
  EXPECT_THAT(handle->describe(), ::testing::HasSubstr("kind: business, tag 'orders'"));
  EXPECT_THAT(handle->describe(), ::testing::HasSubstr("gene: the low 16 bits of the owner's XXH64 ^ MurmurHash64A\n"));
  EXPECT_THAT(handle->describe(), ::testing::HasSubstr("order: ids of one virtual node rise; 16 counters"));
}

}  // namespace
}  // namespace idgen::sim
