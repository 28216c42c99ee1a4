#include "idgen/zone.hpp"

#include <stdlib.h>

#include <map>
#include <string>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string shown(const Zone& zone, const char* instant) {
  const LocalTime when = zone.local_time(parse_instant(instant));
  char text[TextPattern::kMostText];
  static const TextPattern pattern = TextPattern::parse("{yyyy-MM-dd HH:mm:ss} {decimal}");
  return {text, pattern.write(0, 8, when, text) - 2};
}

std::string refused(Status status, const std::string& name, const std::string& modules = {}) {
  return vectors::error_of(status, [&] { open_zone(name, modules); });
}

TEST(Zone, UtcAndOffsetsNeedNoModule) {
  EXPECT_EQ(shown(*open_zone("UTC"), "2026-11-21T23:59:59Z"), "2026-11-21 23:59:59");
  EXPECT_EQ(shown(*open_zone(""), "1969-12-31T23:59:59Z"), "1969-12-31 23:59:59");
  EXPECT_EQ(shown(*open_zone("+08:00"), "2026-11-21T16:00:00Z"), "2026-11-22 00:00:00");
  EXPECT_EQ(shown(*open_zone("-03:30"), "2026-01-01T03:29:59Z"), "2025-12-31 23:59:59");
}

TEST(Zone, AnOffsetThatIsNoneIsAnErrorWithOrWithoutTheModule) {
  for (const char* const offset : {"+25:00", "+8", "-03:60", "+0800", "+", "-1:000"})
    EXPECT_THAT(refused(Status::value, offset, "/nowhere"), HasSubstr("offsets from -14:59 to +14:59")) << offset;
}

TEST(Zone, WithoutTheModuleANameIsUnsupportedAndSaysWhatToInstall) {
  const std::string message = refused(Status::unsupported, "Europe/Berlin", "/nowhere");
  EXPECT_THAT(message, HasSubstr("zone = 'Europe/Berlin': its module libidgen_zone.so is not in '/nowhere'"));
  EXPECT_THAT(message, HasSubstr("libdate-tz3 tzdata"));
}

#ifdef IDGEN_TEST_MODULES
std::shared_ptr<const Zone> named(const std::string& name) { return open_zone(name, IDGEN_TEST_MODULES); }

TEST(Zone, NamesFollowTheRulesOfTheirPlace) {
  const auto berlin = named("Europe/Berlin");
  EXPECT_EQ(shown(*berlin, "2026-03-29T00:59:59Z"), "2026-03-29 01:59:59");
  EXPECT_EQ(shown(*berlin, "2026-03-29T01:00:00Z"), "2026-03-29 03:00:00");
  EXPECT_EQ(shown(*berlin, "2026-10-25T00:59:59Z"), "2026-10-25 02:59:59");
  EXPECT_EQ(shown(*berlin, "2026-10-25T01:00:00Z"), "2026-10-25 02:00:00");
  EXPECT_EQ(shown(*named("Asia/Shanghai"), "2026-11-21T16:00:00Z"), "2026-11-22 00:00:00");
  EXPECT_EQ(shown(*named("Asia/Kathmandu"), "2026-11-21T18:15:00Z"), "2026-11-22 00:00:00");
  EXPECT_EQ(shown(*named("America/New_York"), "2026-11-22T04:59:59Z"), "2026-11-21 23:59:59");
  EXPECT_EQ(shown(*named("Asia/Calcutta"), "2026-11-21T18:30:00Z"), "2026-11-22 00:00:00");  // an old name
}

TEST(Zone, ASpanEndsWhereTheClocksChange) {
  const ZoneSpan summer = named("Europe/Berlin")->at(parse_instant("2026-07-01T00:00:00Z") / 1000);
  EXPECT_EQ(summer.offset_s, 7200);
  EXPECT_EQ(summer.from_s, parse_instant("2026-03-29T01:00:00Z") / 1000);
  EXPECT_EQ(summer.until_s, parse_instant("2026-10-25T01:00:00Z") / 1000);
}

// The last line of a zone's file has the rule for all years after the changes that are listed. It is not read, so what
// it would decide is refused.
TEST(Zone, AfterTheLastChangeThatIsListedAZoneWithARuleIsAnError) {
  const auto far = parse_instant("2500-07-01T00:00:00Z") / 1000;
  EXPECT_THROW(named("Europe/Berlin")->at(far), Error);
  EXPECT_EQ(named("Asia/Shanghai")->at(far).offset_s, 8 * 3600);
  EXPECT_EQ(named("Asia/Tokyo")->at(far).offset_s, 9 * 3600);
}

TEST(Zone, TheVariableTzIsNotLookedAt) {
  setenv("TZ", "Asia/Tokyo", 1);
  EXPECT_EQ(shown(*named("Europe/Berlin"), "2026-01-01T00:00:00Z"), "2026-01-01 01:00:00");
  EXPECT_EQ(shown(*open_zone("UTC"), "2026-01-01T00:00:00Z"), "2026-01-01 00:00:00");
  unsetenv("TZ");
}

TEST(Zone, AnUnknownNameIsAnErrorThatSaysWhatIsMeant) {
  EXPECT_THAT(refused(Status::value, "Europe/Berln", IDGEN_TEST_MODULES),
              HasSubstr("has no zone 'Europe/Berln'; did you mean 'Europe/Berlin'?"));
  for (const auto& [name, offset] : std::map<std::string, std::string>{
           {"GMT+8", "+08:00"}, {"UTC+8", "+08:00"}, {"GMT+08:00", "+08:00"}, {"UTC-3:30", "-03:30"}})
    EXPECT_THAT(refused(Status::value, name, IDGEN_TEST_MODULES), HasSubstr("did you mean '" + offset + "'?"));
  EXPECT_THAT(refused(Status::value, "GMT+8x", IDGEN_TEST_MODULES), Not(HasSubstr("+08:00'?")));
  EXPECT_THAT(refused(Status::value, "../../../etc/passwd", IDGEN_TEST_MODULES), HasSubstr("has no zone"));
}
#endif

}  // namespace
}  // namespace idgen
