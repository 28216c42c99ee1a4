// The parts of `idgen audit` that need no file: cutting text, sorting, merging, finding duplicates, and chi-squared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "audit_csv.hpp"
#include "audit_flow.hpp"
#include "audit_input.hpp"
#include "audit_runs.hpp"
#include "audit_shards.hpp"
#include "audit_sort.hpp"
#include "audit_sorted.hpp"
#include "audit_space.hpp"
#include "failure.hpp"
#include "temp_folder.hpp"

namespace idgen_tool {
namespace {

using idgen::TempFolder;
using ::testing::ElementsAre;

// ---- text

std::vector<std::string> records_of(std::string_view text, bool is_csv = true) {
  std::vector<std::string> out;
  while (const std::size_t size = record_size(text, ',', is_csv, true)) {
    out.emplace_back(without_line_end(text.substr(0, size)));
    text.remove_prefix(size);
  }
  return out;
}

TEST(AuditCsv, ARecordEndsWithItsLineUnlessTheLineEndIsQuoted) {
  EXPECT_THAT(records_of("a,b\r\nc,\"d\ne\"\nf"), ElementsAre("a,b", "c,\"d\ne\"", "f"));
  EXPECT_THAT(records_of("\"a \"\"\n\"\" b\",1\n2\n"), ElementsAre("\"a \"\"\n\"\" b\",1", "2"));
}

TEST(AuditCsv, InADumpOfLinesQuotesMeanNothing) {
  EXPECT_THAT(records_of("\"1\n2\"\n", false), ElementsAre("\"1", "2\""));
}

TEST(AuditCsv, AQuoteInsideAFieldIsALetter) {
  EXPECT_THAT(records_of("5\" disk,1\nx\n"), ElementsAre("5\" disk,1", "x"));
}

TEST(AuditCsv, AQuoteThatIsNeverClosedLosesOnlyItsLine) {
  EXPECT_THAT(records_of("1,\"a\n2,b\n3,c\n"), ElementsAre("1,\"a", "2,b", "3,c"));
}

TEST(AuditCsv, ARecordThatIsNotAllThereIsWaitedFor) {
  EXPECT_EQ(record_size("1,\"a\n", ',', true, false), 0U);
  EXPECT_EQ(record_size("1,a", ',', true, false), 0U);
  EXPECT_EQ(record_size("1,a", ',', true, true), 3U);
  const std::string endless = "1,\"" + std::string(2 * kLongestRecord, 'x');
  EXPECT_EQ(record_size(endless, ',', true, false), endless.size());
  EXPECT_EQ(record_size(endless, ',', false, false), endless.size());
}

TEST(AuditCsv, FieldsAreUnquoted) {
  std::string scratch;
  EXPECT_EQ(field_at("a,\"b \"\"c\"\", d\",e", ',', 1, scratch), "b \"c\", d");
  EXPECT_EQ(field_at("a,\"b\",e", ',', 2, scratch), "e");
  EXPECT_EQ(field_at("a,,e", ',', 1, scratch), "");
  EXPECT_EQ(field_at("a,b", ',', 2, scratch), std::nullopt);
  EXPECT_THAT(fields_of_record("a;\"b;c\";", ';'), ElementsAre("a", "b;c", ""));
}

// ---- reading

struct Read {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> rows;
  BrokenRows broken;
};

// With reads of at most `piece` bytes, through a buffer of `buffer_size`.
Read read_all(const std::string& text, DumpFormat format, std::size_t piece, std::size_t buffer_size) {
  Read out;
  std::size_t at = 0;
  const auto bytes = [&](char* to, std::size_t size) {
    const std::size_t n = std::min({size, piece, text.size() - at});
    std::copy_n(text.data() + at, n, to);
    at += n;
    return n;
  };
  const IdRules rules{.read_id = [](std::string_view word, std::uint64_t&, std::string& why) {
    why = "no id: " + std::string(word);
    return false;
  }};
  IdReader reader("dump", format, bytes, rules, out.broken, buffer_size);
  IdBlock block;
  while (reader.read(block)) {
    out.ids.insert(out.ids.end(), block.ids.begin(), block.ids.begin() + static_cast<std::ptrdiff_t>(block.count));
    for (std::size_t i = 0; i < block.count; ++i) out.rows.push_back(block.row_of(i));
  }
  return out;
}

TEST(AuditInput, WhatIsReadDoesNotDependOnHowTheBytesArrive) {
  std::string text = "id,x\n";
  for (int i = 1; i <= 200; ++i)
    text += std::to_string(i) + (i % 7 == 0 ? ",\"two\nlines\"\n" : i % 5 == 0 ? ",\n\n" : ",y\r\n");
  text += "none,z\n7";
  const Read whole = read_all(text, DumpFormat::csv, text.size(), 1 << 16);
  ASSERT_EQ(whole.ids.size(), 201U);
  EXPECT_EQ(whole.broken.count, 1U);
  EXPECT_EQ(whole.rows.back(), static_cast<std::uint64_t>(std::ranges::count(text, '\n')) + 1);
  for (const std::size_t piece : {1, 2, 3, 17, 64}) {
    for (const std::size_t buffer : {1, 8, 31, 4096}) {
      const Read pieces = read_all(text, DumpFormat::csv, piece, buffer);
      EXPECT_EQ(pieces.ids, whole.ids);
      EXPECT_EQ(pieces.rows, whole.rows);
      EXPECT_EQ(pieces.broken.first.at(0).row, whole.broken.first.at(0).row);
    }
  }
}

TEST(AuditInput, TheKindFollowsFromTheNameElseFromTheContent) {
  EXPECT_EQ(kind_of("a.csv", "1\n2\n"), DumpKind::csv);
  EXPECT_EQ(kind_of("a.TSV", ""), DumpKind::csv);
  EXPECT_EQ(kind_of("a.parquet", ""), DumpKind::parquet);
  EXPECT_EQ(kind_of("-", "PAR1xyz"), DumpKind::parquet);
  EXPECT_EQ(kind_of("a.d/ids", "1\n2\n"), DumpKind::lines);
  EXPECT_EQ(kind_of("ids", "1,x\n2\n"), DumpKind::csv);
  EXPECT_EQ(kind_of("ids", std::string_view("\1\0\0\0\0\0\0\0", 8)), DumpKind::binary);
}

// ---- keys

TEST(AuditSpace, AKeyHasTheWorkerAboveTheTimeAndGivesTheIdBack) {
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < idgen_layout_preset_count(); ++i) {
    const std::string preset = idgen_layout_preset_at(i);
    const Layout layout = make_layout(preset);
    if (info_of(layout).bits > 64) {
      EXPECT_THROW(IdSpace{layout}, UsageError) << preset;
      continue;
    }
    const IdSpace space(layout);
    std::vector<std::uint64_t> ids, keys(3000);
    for (int j = 0; j < 3000; ++j) ids.push_back(random() & ~space.outside());
    space.keys_of(ids.data(), ids.size(), keys.data());
    for (std::size_t j = 0; j < ids.size(); ++j) {
      ASSERT_EQ(keys[j], space.key_of(ids[j])) << preset;
      ASSERT_EQ(space.id_of(keys[j]), ids[j]) << preset;
      ErrorSlot error;
      idgen_parts_t parts = IDGEN_PARTS_INIT;
      if (idgen_layout_decode(layout.get(), ids[j], &parts, error) != IDGEN_OK || !space.has_time()) continue;
      ASSERT_EQ(space.tick_of(keys[j]), parts.time) << preset;
      ASSERT_EQ(space.unix_ms_of(parts.time), parts.unix_ms) << preset;
    }
  }
}

TEST(AuditSpace, NodesAreNamedByAllTheirFields) {
  const IdSpace space(make_layout("twitter"));
  const std::uint64_t key = space.key_of(std::uint64_t{12345} << 22 | 3 << 17 | 9 << 12 | 5);
  EXPECT_EQ(space.name_of(space.node_of(key)), "datacenter 3 worker 9");
  EXPECT_EQ(space.tick_of(key), 12345U);
}

// ---- sorting

std::vector<std::uint64_t> sorted_by_us(std::vector<std::uint64_t> keys, unsigned from_bit = 0) {
  std::vector<std::uint64_t> scratch(keys.size());
  const std::uint64_t* const at = sort_keys(keys.data(), keys.size(), scratch.data(), from_bit);
  return {at, at + keys.size()};
}

TEST(AuditSort, AgreesWithTheStandardLibrary) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0U, 1U, 2U, 64U, 65U, 1000U, 100'000U}) {
    for (const std::uint64_t mask :
         {UINT64_MAX, std::uint64_t{0xff}, std::uint64_t{0xf0000f000f00ff00}, std::uint64_t{1} << 63}) {
      std::vector<std::uint64_t> keys(count);
      for (std::uint64_t& key : keys) key = random() & mask;
      std::vector<std::uint64_t> expected = keys;
      std::ranges::sort(expected);
      EXPECT_EQ(sorted_by_us(keys), expected) << count << ' ' << mask;
    }
  }
}

TEST(AuditSort, KeysThatRiseWithinEachWorkerAreSortedByTheWorkerAlone) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 10'000; ++i) keys.push_back(random() % 1000 << 40 | i << 20 | random() % 1024);
  std::vector<std::uint64_t> expected = keys;
  std::ranges::sort(expected);
  EXPECT_EQ(sorted_by_us(keys, 40), expected);
}

std::vector<std::uint64_t> sorted_in_pieces(const std::vector<std::uint64_t>& keys, std::size_t memory) {
  std::size_t at = 0;
  const auto fill = [&](std::uint64_t* to, std::size_t most) {
    const std::size_t n = std::min(most, keys.size() - at);
    std::copy_n(keys.data() + at, n, to);
    at += n;
    return Filled{n, 0};
  };
  const TempFolder folder;
  const auto sorted = sort_all(fill, memory, folder.path());
  std::vector<std::uint64_t> out, piece(777);
  while (const std::size_t n = sorted->read(piece.data(), piece.size()))
    out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
  return out;
}

TEST(AuditRuns, AnyNumberOfKeysComesBackInOrderWhateverTheMemory) {
  std::mt19937_64 random(1);
  for (const std::uint64_t mask : {UINT64_MAX, std::uint64_t{0xffff}, std::uint64_t{0}}) {
    for (const std::size_t count : {0U, 1U, 4096U, 4097U, 500'000U}) {
      std::vector<std::uint64_t> keys(count);
      for (std::uint64_t& key : keys) key = random() & mask;
      std::vector<std::uint64_t> expected = keys;
      std::ranges::sort(expected);
      for (const std::size_t memory : {std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 26}) {
        EXPECT_TRUE(sorted_in_pieces(keys, memory) == expected) << count << ' ' << memory << ' ' << mask;
      }
    }
  }
}

TEST(AuditRuns, RunsThatFollowOneAnotherAreMergedToo) {
  std::vector<std::uint64_t> keys(500'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * 1'000'003;
  EXPECT_TRUE(sorted_in_pieces(keys, 1 << 18) == keys);
}

TEST(AuditRuns, AFailureWhileFillingEndsTheSort) {
  int calls = 0;
  const auto fill = [&](std::uint64_t* to, std::size_t most) -> Filled {
    if (++calls == 3) throw IoError("gone");
    std::fill_n(to, most, 1);
    return {most, 0};
  };
  EXPECT_THROW(sort_all(fill, 1 << 16, TempFolder().path()), IoError);
}

TEST(AuditRuns, ATemporaryFolderThatIsNotThereIsAnError) {
  const auto fill = [](std::uint64_t* to, std::size_t most) {
    std::fill_n(to, most, 1);
    return Filled{most, 0};
  };
  EXPECT_THROW(sort_all(fill, 1 << 16, "/nowhere"), IoError);
}

// ---- duplicates

SortedPass pass_over(const IdSpace& space, std::vector<std::uint64_t> keys, std::size_t most = 100) {
  std::ranges::sort(keys);
  SortedPass pass(space, 0, 1 << 20, most);
  for (std::size_t at = 0; at < keys.size(); at += 3)
    pass.add(keys.data() + at, std::min<std::size_t>(3, keys.size() - at));
  pass.finish();
  return pass;
}

TEST(AuditSorted, ARunOfDuplicatesIsOneIncidentAndTwoThatAreFarApartAreTwo) {
  const IdSpace space;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 10'000; ++i) keys.push_back(i);
  for (std::uint64_t i = 2000; i < 2500; ++i) keys.push_back(i);
  for (std::uint64_t i = 9000; i < 9010; ++i) keys.insert(keys.end(), {i, i});
  const SortedPass pass = pass_over(space, keys);
  EXPECT_EQ(pass.different(), 10'000U);
  EXPECT_EQ(pass.duplicated(), 510U);
  EXPECT_EQ(pass.extra(), 520U);
  ASSERT_EQ(pass.incidents().size(), 2U);
  const Incident& first = pass.incidents()[0];
  EXPECT_THAT((std::vector{first.first, first.last, first.ids, first.single, first.before, first.after}),
              ElementsAre(2000, 2499, 500, 0, 2000, 7500));
  EXPECT_TRUE(first.begins_in_tick);
  EXPECT_EQ(pass.incidents()[1].most_copies, 3U);
  EXPECT_LE(first.samples.size(), Incident::kSamples + 1);
  EXPECT_EQ(first.samples.front(), 2000U);
  EXPECT_EQ(first.samples.back(), 2499U);
}

TEST(AuditSorted, NoDuplicateIsLostWhenThereAreMoreIncidentsThanAreKept) {
  const IdSpace space;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    keys.push_back(i);
    if (i % 1000 == 999) keys.push_back(i);
  }
  const SortedPass pass = pass_over(space, keys, 10);
  EXPECT_EQ(pass.duplicated(), 200U);
  EXPECT_LT(pass.incidents().size(), 20U);
  std::uint64_t ids = 0;
  for (const Incident& incident : pass.incidents()) ids += incident.ids;
  EXPECT_EQ(ids, 200U);
}

TEST(AuditSorted, IncidentsAndTicksBelongToOneWorker) {
  const IdSpace space(make_layout("default"));
  std::vector<std::uint64_t> keys;
  const auto key = [&](std::uint64_t tick, std::uint64_t worker, std::uint64_t sequence) {
    return space.key_of(tick << 22 | worker << 12 | sequence);
  };
  for (std::uint64_t worker = 1; worker <= 3; ++worker) {
    for (std::uint64_t tick = 100; tick < 200; ++tick)
      keys.insert(keys.end(), {key(tick, worker, 0), key(tick, worker, 1)});
    keys.push_back(key(150, worker, 1));
  }
  keys.push_back(key(500, 2, 0));
  const SortedPass pass = pass_over(space, keys);
  ASSERT_EQ(pass.incidents().size(), 3U);
  EXPECT_TRUE(pass.incidents()[0].begins_in_tick);
  EXPECT_EQ(pass.worker_count(), 3U);
  const WorkerSummary& two = pass.workers().at(1);
  EXPECT_THAT((std::vector{two.ids, two.duplicated, two.ticks, two.peak, two.longest_gap, two.gap_begin}),
              ElementsAre(201, 1, 101, 2, 301, 199));
}

TEST(AuditSorted, WithMoreWorkersThanAreKeptEveryIdIsCounted) {
  const IdSpace space(make_layout("default"));
  std::vector<std::uint64_t> keys;
  for (std::uint64_t worker = 0; worker < 1000; ++worker) {
    for (std::uint64_t tick = 0; tick <= worker % 10; ++tick)
      keys.insert(keys.end(), 2, space.key_of(tick << 22 | worker << 12));
  }
  const SortedPass pass = pass_over(space, keys, 10);
  EXPECT_EQ(pass.worker_count(), 1000U);
  EXPECT_EQ(pass.different(), 5500U);
  EXPECT_EQ(pass.duplicated(), 5500U);
  EXPECT_EQ(pass.workers().size(), 10U);
  EXPECT_LT(pass.incidents().size(), 20U);
  std::uint64_t all = 0, apart = 0;
  for (const std::uint64_t ids : pass.rates().all) all += ids;
  for (const std::uint64_t ids : pass.rates().others) apart += ids;
  for (const Rates::Series& series : pass.rates().shown) apart += series.ids;
  EXPECT_EQ(all, 5500U);
  EXPECT_EQ(apart, 5500U);
}

// ---- order

TEST(AuditFlow, TheLargestStepsOfAWorkerAreKeptAndAllAreCounted) {
  const IdSpace space;
  Flow flow(space, 0);
  flow.begin_dump();
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < 100; ++i) ids.insert(ids.end(), {1'000'000 + 1000 * i, 1'000'000 + 999 * i});
  flow.add(ids.data(), ids.data(), ids.size(), nullptr, 1);
  const WorkerSteps& steps = flow.workers_with_steps().at(0);
  EXPECT_EQ(steps.count, 99U);
  ASSERT_EQ(steps.largest.size(), WorkerSteps::kKept);
  EXPECT_EQ(size_of(steps.largest.front(), space), 99U);
  EXPECT_EQ(steps.largest.front().row, 200U);
  EXPECT_EQ(size_of(steps.largest.back(), space), 92U);
}

TEST(AuditFlow, TheCourseOfTheDumpIsDrawnFromEveryId) {
  const IdSpace space;
  Flow flow(space, 0);
  flow.begin_dump();
  for (std::uint64_t begin = 0; begin < 100'000; begin += 1000) {
    std::vector<std::uint64_t> ids(1000);
    for (std::uint64_t i = 0; i < 1000; ++i) ids[i] = begin + i;
    flow.add(ids.data(), ids.data(), ids.size(), nullptr, 1);
  }
  EXPECT_EQ(flow.ids(), 100'000U);
  const auto& course = flow.course();
  for (std::size_t i = 0; i < course.size(); ++i) {
    EXPECT_EQ(course[i].least, i * flow.ids_per_point());
    EXPECT_EQ(course[i].largest, std::min<std::uint64_t>((i + 1) * flow.ids_per_point(), 100'000) - 1);
  }
}

// ---- shards

TEST(AuditShards, ChancesAreThoseOfTables) {
  // chi-squared, degrees of freedom and probability: NIST/SEMATECH e-Handbook, table 1.3.6.7.4
  EXPECT_NEAR(chance_of(3.841, 1), 0.05, 1e-4);
  EXPECT_NEAR(chance_of(6.635, 1), 0.01, 1e-4);
  EXPECT_NEAR(chance_of(18.307, 10), 0.05, 1e-4);
  EXPECT_NEAR(chance_of(29.588, 10), 0.001, 1e-5);
  EXPECT_NEAR(chance_of(124.342, 100), 0.05, 1e-4);
  EXPECT_NEAR(chance_of(77.929, 100), 0.95, 1e-4);
  // With two degrees it is exp(-x / 2).
  for (const double x : {0.001, 0.5, 2.0, 3.9, 4.1, 30.0, 700.0}) {
    EXPECT_NEAR(chance_of(x, 2) / std::exp(-x / 2), 1, 1e-9) << x;
  }
  EXPECT_EQ(chance_of(0, 5), 1);
  EXPECT_EQ(chance_of(1e9, 5), 0);
  EXPECT_NEAR(chance_of(65'535, 65'535), 0.5, 0.01);
}

TEST(AuditShards, ShardsAreComparedWithWhatTheyShouldHave) {
  const Evenness even = evenness_of({300, 100}, {3, 1});
  EXPECT_EQ(even.chi_squared, 0);
  EXPECT_EQ(even.degrees, 1U);
  const Evenness uneven = evenness_of({100, 300}, {3, 1});
  EXPECT_NEAR(uneven.chi_squared, 200.0 * 200 / 300 + 200.0 * 200 / 100, 1e-9);
  EXPECT_NEAR(uneven.fullest, 3, 1e-9);
  EXPECT_EQ(sentence_of(uneven), "uneven, and not by chance");
  EXPECT_NE(sentence_of(evenness_of({1, 2}, {1, 1})), sentence_of(uneven));
}

}  // namespace
}  // namespace idgen_tool
