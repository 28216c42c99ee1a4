// kind = serial: numbers that start over with each period of their date.
#include <map>
#include <set>
#include <string>

#include "calendar/period.hpp"
#include "generator/world.hpp"

namespace idgen::sim {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

class Serial : public World {
 protected:
  std::unique_ptr<Handle> with(Settings settings, std::shared_ptr<SimStore> on = nullptr) {
    settings.insert(settings.begin(), {{"kind", "serial"}, {"tag", "orders"}, {"pattern", "SO{yyyyMMdd}{000000}"}});
    Config made = config(settings);
    if (on) made.store = on;
    return std::make_unique<Handle>(made);
  }
  static std::string next(Handle& handle) {
    char text[TextPattern::kMostText];
    return {text, handle.write_text(handle.next(), text)};
  }
  void set_clock(const char* instant) { runtime->set_clock(parse_instant(instant) * kMs); }
};

TEST_F(Serial, CountsFromOneInEachDay) {
  set_clock("2026-11-21T23:59:58Z");
  auto handle = with({});
  EXPECT_EQ(next(*handle), "SO20261121000001");
  EXPECT_EQ(next(*handle), "SO20261121000002");
  runtime->pass(2 * kSecond);
  EXPECT_EQ(next(*handle), "SO20261122000001");
  EXPECT_EQ(next(*handle), "SO20261122000002");
  runtime->pass(10 * 24 * 3600 * kSecond);
  EXPECT_EQ(next(*handle), "SO20261202000001");
}

TEST_F(Serial, CountsFromOneInEachHourMonthOrYearOrForEver) {
  set_clock("2026-12-31T22:59:59Z");
  auto hourly = with({{"pattern", "{yyyyMMddHH}-{000}"}, {"tag", "hourly"}});
  auto monthly = with({{"pattern", "{yyMM}-{000}"}, {"tag", "monthly"}});
  auto yearly = with({{"pattern", "{yyyy}/{000}"}, {"tag", "yearly"}});
  auto ever = with({{"pattern", "INV-{000}{check}"}, {"tag", "ever"}});
  EXPECT_EQ(next(*hourly), "2026123122-001");
  EXPECT_EQ(next(*monthly), "2612-001");
  EXPECT_EQ(next(*yearly), "2026/001");
  EXPECT_EQ(next(*ever), "INV-0018");
  runtime->pass(kSecond);
  EXPECT_EQ(next(*hourly), "2026123123-001");
  EXPECT_EQ(next(*monthly), "2612-002");
  EXPECT_EQ(next(*yearly), "2026/002");
  runtime->pass(3600 * kSecond);
  EXPECT_EQ(next(*hourly), "2027010100-001");
  EXPECT_EQ(next(*monthly), "2701-001");
  EXPECT_EQ(next(*yearly), "2027/001");
  EXPECT_EQ(next(*ever), "INV-0026");
}

TEST_F(Serial, ADayBeginsWhereTheClocksOfTheZoneSayIt) {
  set_clock("2026-11-21T15:59:59Z");
  auto handle = with({{"zone", "+08:00"}});
  EXPECT_EQ(next(*handle), "SO20261121000001");
  runtime->pass(kSecond);
  EXPECT_EQ(next(*handle), "SO20261122000001");
}

// The store's counter only rises: so a clock that steps back over midnight cannot begin a day again.
TEST_F(Serial, AClockThatStepsBackOverMidnightGoesOnWithTheLaterDay) {
  set_clock("2026-11-22T00:00:01Z");
  auto handle = with({});
  EXPECT_EQ(next(*handle), "SO20261122000001");
  runtime->set_clock_by(-10 * kSecond);
  EXPECT_EQ(next(*handle), "SO20261122000002");
  auto other = with({}, std::make_shared<SimStore>(disk));
  EXPECT_THAT(next(*other), testing::StartsWith("SO20261122"));
  runtime->pass(20 * kSecond);
  EXPECT_EQ(next(*handle), "SO20261122000003");
}

TEST_F(Serial, AClockThatIsADayBehindTheTagIsAnErrorAndNotAnOldDay) {
  set_clock("2026-11-22T12:00:00Z");
  auto handle = with({});
  EXPECT_EQ(next(*handle), "SO20261122000001");
  handle.reset();
  set_clock("2026-11-21T12:00:00Z");
  const Error error = error_of([&] { with({{"wait_max", "1s"}}); });
  EXPECT_EQ(error.status(), Status::clock_back);
  EXPECT_THAT(error.message(),
              HasSubstr("has come to 'SO20261122000001', and this process's clock says 2026-11-21T12"));
  EXPECT_TRUE(error.ends_waits()) << "the clock is not set right by waiting";
  set_clock("2026-11-22T12:00:00Z");
  EXPECT_THAT(next(*with({})), testing::StartsWith("SO20261122"));
}

// Only the supply knows whether this process is a copy of one that goes on, and so whether anything may be given back.
TEST_F(Serial, AGrantThatIsRefusedIsNotGivenBack) {
  set_clock("2026-11-22T12:00:00Z");
  auto handle = with({{"segment.step", "10"}});
  EXPECT_EQ(next(*handle), "SO20261122000001");
  kill(handle);
  set_clock("2026-11-21T12:00:00Z");
  error_of([&] { with({{"segment.step", "10"}, {"wait_max", "1s"}}); });
  set_clock("2026-11-22T12:00:00Z");
  EXPECT_GE(next(*with({{"segment.step", "10"}})), "SO20261122000011");
}

TEST_F(Serial, ATagKeepsItsPatternButForTheWidth) {
  set_clock("2026-11-21T12:00:00Z");
  EXPECT_EQ(next(*with({{"pattern", "A{yyyyMMdd}{000}"}})), "A20261121001");
  for (const char* const other : {"A{yyyyMM}{000}", "A{yyyy}{00000}", "B{yyyyMMdd}{000}", "A{yyyyddMM}{000}", "A{000}",
                                  "A{yyyyMMdd}{hex:3}", "A{yyyyMMdd}{000}{check}"}) {
    const Error error = error_of([&] { with({{"pattern", other}}); });
    EXPECT_EQ(error.status(), Status::format_mismatch) << other;
    EXPECT_THAT(error.message(), HasSubstr("has serials of the pattern 'A{yyyyMMdd}{decimal}'"));
  }
  EXPECT_EQ(next(*with({{"pattern", "A{yyyyMMdd}{00000}"}})), "A2026112100002");
  EXPECT_EQ(next(*with({{"pattern", "A{yyyyMMdd}{decimal:3+}"}})), "A20261121003");
}

TEST_F(Serial, TagsKeepTheirPatternsApartWhateverSlashesTheirNamesHave) {
  set_clock("2026-11-21T12:00:00Z");
  EXPECT_EQ(next(*with({{"namespace", "a"}, {"tag", "b/c"}, {"pattern", "A{000}"}})), "A001");
  EXPECT_EQ(next(*with({{"namespace", "a/b"}, {"tag", "c"}, {"pattern", "B{000}"}})).substr(0, 1), "B");
}

TEST_F(Serial, ARowWithAStrideIsRefused) {
  disk.stride = 2;
  disk.offset = 1;
  EXPECT_THAT(error_of([&] { with({}); }).message(), HasSubstr("its row has a stride of 2"));
}

TEST_F(Serial, NoProcessHoldsALargePartOfTheDigitsHoweverFastItDraws) {
  set_clock("2026-11-21T12:00:00Z");
  auto handle = with({{"pattern", "{yyyyMMdd}{0000}"}, {"segment.step", "10"}});
  for (int n = 0; n < 2000; ++n) {
    next(*handle);
    pass(kSecond / 600);
  }
  EXPECT_LE(handle->stats().remaining, 400u);
}

TEST_F(Serial, AProcessThatWasKilledLeavesAGapAndNoNumberComesTwice) {
  set_clock("2026-11-21T10:00:00Z");
  auto handle = with({{"segment.step", "10"}});
  EXPECT_EQ(next(*handle), "SO20261121000001");
  kill(handle);
  handle = with({{"segment.step", "10"}});
  EXPECT_EQ(next(*handle), "SO20261121000011");
  runtime->pass(24 * 3600 * kSecond);
  kill(handle);
  EXPECT_EQ(next(*with({{"segment.step", "10"}})), "SO20261122000001");
}

TEST_F(Serial, ClosingGivesBackWhatIsLeftOfTheDay) {
  set_clock("2026-11-21T10:00:00Z");
  auto handle = with({});
  EXPECT_EQ(next(*handle), "SO20261121000001");
  handle.reset();
  EXPECT_EQ(next(*with({})), "SO20261121000002");
}

TEST_F(Serial, WhenTheDigitsAreUsedUpItIsAnErrorUntilTheNextPeriod) {
  set_clock("2026-11-21T23:59:00Z");
  auto handle = with({{"pattern", "{yyyyMMdd}{00}"}, {"wait_max", "1s"}});
  for (int n = 1; n <= 99; ++n) EXPECT_EQ(next(*handle), "20261121" + std::to_string(100 + n).substr(1));
  EXPECT_ERROR(EXHAUSTED, HasSubstr("all serials up to '2026112199' are used up, the last that the pattern holds"),
               next(*handle));
  runtime->pass(60 * kSecond - 1'000'000);
  error_of([&] { next(*handle); });
  runtime->pass(2'000'000);  // at once, whatever pause the failure asks for
  EXPECT_EQ(next(*handle), "2026112201");
}

TEST_F(Serial, WithAPlusTheNumberWidensInstead) {
  auto handle = with({{"pattern", "A{0+}"}});
  for (int n = 1; n <= 1234; ++n) EXPECT_EQ(next(*handle), "A" + std::to_string(n));
}

TEST_F(Serial, APatternWithoutADateEndsWithItsDigits) {
  auto handle = with({{"pattern", "A{0}"}, {"wait_max", "1s"}});
  for (int n = 1; n <= 9; ++n) EXPECT_EQ(next(*handle), "A" + std::to_string(n));
  EXPECT_THAT(error_of([&] { next(*handle); }).message(), HasSubstr("all serials up to 'A9' are used up"));
}

TEST_F(Serial, OneProcessTakesAHundredthOfTheDigitsAtMost) {
  set_clock("2026-11-21T10:00:00Z");
  auto one = with({{"pattern", "{yyyyMMdd}{0000}"}, {"segment.step", "5000"}});
  auto other = with({{"pattern", "{yyyyMMdd}{0000}"}}, std::make_shared<SimStore>(disk));
  EXPECT_EQ(next(*one), "202611210001");
  EXPECT_LE(std::stoi(next(*other).substr(8)), 300);
}

TEST_F(Serial, NumbersOfADayThatIsOverCountAsUnused) {
  set_clock("2026-11-21T23:59:59Z");
  auto handle = with({});
  for (int n = 0; n < 5; ++n) next(*handle);
  runtime->pass(kSecond);
  for (int n = 0; n < 3; ++n) next(*handle);
  EXPECT_EQ(handle->stats().issued, 8u);
}

TEST_F(Serial, IdsRiseFromDayToDayAndSayTheSame) {
  set_clock("2026-11-21T23:59:59Z");
  auto handle = with({});
  const std::uint64_t before = handle->next();
  runtime->pass(kSecond);
  const std::uint64_t after = handle->next();
  EXPECT_LT(before, after);
  char text[TextPattern::kMostText];
  EXPECT_EQ(std::string(text, handle->text_form().write({after, 8}, text)), "SO20261122000001");
  EXPECT_EQ(static_cast<std::uint64_t>(handle->text_form().read("SO20261122000001").id.value), after);
}

TEST_F(Serial, WhatCannotCountIsRefused) {
  const auto refused = [&](Settings settings) { return error_of([&] { with(std::move(settings)); }).message(); };
  EXPECT_THAT(refused({{"pattern", ""}}), HasSubstr("kind = serial needs a pattern"));
  EXPECT_THAT(refused({{"pattern", "{dd}{000}"}}), HasSubstr("its date comes again"));
  EXPECT_THAT(refused({{"pattern", "{yyyyMMddHHmm}{000}"}}), HasSubstr("minutes and seconds"));
  EXPECT_THAT(refused({{"order", "relaxed"}}), HasSubstr("counts one by one"));
  EXPECT_THAT(refused({{"segment.stride", "2"}, {"segment.offset", "1"}}), HasSubstr("counts one by one"));
  EXPECT_THAT(refused({{"layout", "default"}}), HasSubstr("layout = 'default' with kind = serial"));
  EXPECT_THAT(refused({{"zone", "+99:00"}}), HasSubstr("+99:00"));
}

// Several processes at full rate over two midnights, some of which are killed: every serial once, and none is dated
// before its draw.
class SerialAtMidnight : public Serial, public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(SerialAtMidnight, NoSerialComesTwiceAndEachHasTheDayOfItsDraw) {
  const auto& [zone, begin] = GetParam();
#ifndef IDGEN_TEST_MODULES
  if (zone[0] != '+' && std::string(zone) != "UTC") GTEST_SKIP() << "there is no module of zones";
#else
  const std::string modules = IDGEN_TEST_MODULES;
#endif
  Settings settings{{"zone", zone}, {"segment.step", "7"}, {"pattern", "{yyyyMMdd}{000000}"}};
#ifdef IDGEN_TEST_MODULES
  settings.emplace_back("module.path", modules);
#endif
  const auto clocks = open_zone(zone, config(settings).get("module.path"));
  set_clock(begin);
  std::mt19937_64 random(11);
  std::vector<std::shared_ptr<SimStore>> stores;
  std::vector<std::unique_ptr<Handle>> handles;
  for (int i = 0; i < 4; ++i) {
    stores.push_back(std::make_shared<SimStore>(disk));
    handles.push_back(with(settings, stores.back()));
  }
  std::set<std::string> seen;
  std::map<std::string, int> days;
  std::vector<std::string> latest(handles.size());
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t i = random() % handles.size();
    if (random() % 500 == 0) {
      stores[i]->dead = true;
      handles[i].reset();
      stores[i] = std::make_shared<SimStore>(disk);
      handles[i] = with(settings, stores[i]);
    }
    if (random() % 50 == 0) runtime->run_all();
    runtime->pass(static_cast<std::int64_t>(random() % 20) * kSecond);  // 53 h in all
    const LocalTime now = clocks->local_time(now_ms());
    const std::string text = next(*handles[i]);
    ASSERT_TRUE(seen.insert(text).second) << text;
    ASSERT_GT(text, latest[i]) << "a process's serials rise";
    latest[i] = text;
    char today[TextPattern::kMostText];
    static const TextPattern date = TextPattern::parse("{yyyyMMdd}{0}");
    const std::string day(today, date.write(0, 8, now, today) - 1);
    ASSERT_GE(text.substr(0, 8), day);
    if (text.substr(0, 8) != day) {  // the store's is later: a clock went back over midnight there
      ASSERT_STREQ(zone, "America/St_Johns") << text << " on " << day;
    }
    ++days[text.substr(0, 8)];
  }
  EXPECT_GE(days.size(), 3u);
}

// Days of 23, 24 and 25 hours; in Newfoundland the clocks once went back at one minute past midnight, into the day
// before.
INSTANTIATE_TEST_SUITE_P(Zones, SerialAtMidnight,
                         testing::Values(std::pair{"UTC", "2026-11-21T22:00:00Z"},
                                         std::pair{"+08:00", "2026-11-21T14:00:00Z"},
                                         std::pair{"Europe/Berlin", "2026-03-28T21:00:00Z"},
                                         std::pair{"Europe/Berlin", "2026-10-24T20:00:00Z"},
                                         std::pair{"America/Sao_Paulo", "2018-11-03T20:00:00Z"},
                                         std::pair{"America/St_Johns", "2009-10-31T22:00:00Z"}),
                         [](const auto& info) { return std::to_string(info.index); });

}  // namespace
}  // namespace idgen::sim
