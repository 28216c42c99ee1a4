// Hidden ids through the module: what comes out, and what is refused.
#include <array>
#include <random>

#include "cipher_test_support.hpp"
#include "idgen/layout.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HiddenIds : public testing::Test, public CipherFiles {};

Id128 number_of(const std::string& text) {
  Id128 number = 0;
  for (const char c : text) number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

std::array<std::uint8_t, 16> bytes_of(Id128 id) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 16; i-- > 0; id >>= 8) bytes[i] = static_cast<std::uint8_t>(id);
  return bytes;
}

TEST_F(HiddenIds, AreThoseOfTheReferenceInEveryModeAndLayout) {
  const std::string vectors = IDGEN_VECTORS_DIR;
  std::ifstream from(vectors + "/hidden.keys");
  write("key", std::string(std::istreambuf_iterator<char>(from), {}));
  std::size_t wide_ones = 0;
  for (const std::vector<std::string>& row : vectors::read_tsv(vectors + "/hidden.tsv")) {
    SCOPED_TRACE(row[0] + " " + row[2] + " " + row[4]);
    const Cipher cipher(config({{"store", "memory:vectors"},
                                {"cipher.mode", row[0]},
                                {"namespace", row[1]},
                                {"layout", row[2]},
                                {"cipher.version", row[3]}}));
    const std::array<std::uint8_t, 16> plain = bytes_of(number_of(row[4])), hidden = bytes_of(number_of(row[5]));
    std::array<std::uint8_t, 16> found{};
    cipher.apply_wide(false, plain.data(), found.data(), 1);
    EXPECT_EQ(found, hidden);
    cipher.apply_wide(true, hidden.data(), found.data(), 1);
    EXPECT_EQ(found, plain);
    if (Layout::parse(row[2]).is_wide()) {
      ++wide_ones;
      EXPECT_FAILS(hide(cipher, 5), Status::unsupported, "use the one for ids of 128 bits");
      continue;
    }
    EXPECT_EQ(hide(cipher, static_cast<std::uint64_t>(number_of(row[4]))), number_of(row[5]));
    EXPECT_EQ(reveal(cipher, static_cast<std::uint64_t>(number_of(row[5]))), number_of(row[4]));
  }
  EXPECT_GT(wide_ones, 10u);
}

TEST_F(HiddenIds, ABatchGivesWhatOneByOneGivesAlsoInPlaceAndWithKeyVersionsMixed) {
  write("key", std::string("1 ") + kFirstKey + "\n2 " + kSecondKey + "\n");
  const Cipher cipher(config()), older(config({{"cipher.version", "1"}}));
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> ids, hidden;
  for (int i = 0; i < 1000; ++i) {
    ids.push_back((random() & 0xFFFF) << 47 | (random() & ((std::uint64_t{1} << 42) - 1)));
    hidden.push_back(hide(i % 7 == 0 ? older : cipher, ids.back()));
  }
  std::vector<std::uint64_t> found = hidden;
  cipher.apply(true, found.data(), found.data(), found.size());
  EXPECT_EQ(found, ids);
  cipher.apply(false, found.data(), found.data(), found.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(found[i], hide(cipher, ids[i])) << i;
}

TEST_F(HiddenIds, ABatchWithOneBadIdWritesNothingAndNamesIt) {
  const Cipher cipher(config());
  std::vector<std::uint64_t> ids(100, 5), out(100, 0);
  ids[70] = hide(cipher, 5);
  EXPECT_FAILS(cipher.apply(false, ids.data(), out.data(), ids.size()), Status::value, "number 71 of 100");
  EXPECT_EQ(out, std::vector<std::uint64_t>(100, 0));
}

TEST_F(HiddenIds, OfEitherLengthHaveTheSameKeysAndEachLengthItsOwnReload) {
  Cipher cipher(config({{"on_full", "widen"}}));
  const std::array<std::uint8_t, 16> plain = bytes_of(5);
  const auto hidden_as = [&](unsigned bytes) {
    std::array<std::uint8_t, 16> out{};
    cipher.apply_wide(false, plain.data(), out.data(), 1, bytes);
    return out;
  };
  const std::array<std::uint8_t, 16> narrow = hidden_as(8), wide = hidden_as(16);
  EXPECT_EQ(narrow, bytes_of(hide(cipher, 5)));
  std::array<std::uint8_t, 16> alone{};
  Cipher(config({{"layout", "business128"}})).apply_wide(false, plain.data(), alone.data(), 1, 16);
  EXPECT_EQ(wide, alone);
  write("key", std::string("1 ") + kFirstKey + "\n2 " + kSecondKey + "\n");
  cipher.reload();
  EXPECT_NE(hidden_as(8), narrow);
  EXPECT_NE(hidden_as(16), wide);
  EXPECT_THAT(cipher.describe(), ::testing::HasSubstr("key version 2: hides"));
}

TEST_F(HiddenIds, WithoutWideningAnIdOfTheOtherLengthIsRefused) {
  const Cipher narrow(config()), wide(config({{"layout", "business128"}}));
  std::array<std::uint8_t, 16> id = bytes_of(5);
  EXPECT_FAILS(narrow.apply_wide(false, id.data(), id.data(), 1, 16), Status::value, "an id of 16 bytes");
  EXPECT_FAILS(wide.apply_wide(false, id.data(), id.data(), 1, 8), Status::value, "an id of 8 bytes");
  EXPECT_EQ(id, bytes_of(5));
}

TEST_F(HiddenIds, AnIdThatCannotBeOneIsRefusedInPlainWords) {
  const Cipher cipher(config());
  const std::uint64_t hidden = hide(cipher, 77);
  EXPECT_FAILS(hide(cipher, hidden), Status::value, "is hidden already, by key version 1");
  EXPECT_FAILS(reveal(cipher, 77), Status::value, "is not hidden: its version field is 0");
  EXPECT_FAILS(hide(cipher, std::uint64_t{1} << 63), Status::value, "has bits outside the layout");
  EXPECT_FAILS(reveal(cipher, std::uint64_t{1} << 63 | hidden), Status::value, "has bits outside the layout");
  EXPECT_FAILS(reveal(cipher, std::uint64_t{31} << 42), Status::value, "kept for a later extension");
  EXPECT_FAILS(reveal(cipher, std::uint64_t{7} << 42), Status::value,
               "by key version 7, and there is no such key here");
  const std::array<std::uint8_t, 16> wide = bytes_of(Id128{1} << 64);
  std::array<std::uint8_t, 16> out{};
  EXPECT_FAILS(cipher.apply_wide(false, wide.data(), out.data(), 1), Status::value, "id 18446744073709551616 has bits");
}

TEST_F(HiddenIds, ComeBackForEveryWidthThatIsInUse) {
  for (const char* const layout : {"segment:42", "segment:48", "segment:53", "segment:63", "unsigned segment:64"}) {
    const Cipher cipher(config({{"layout", layout}, {"namespace", layout}}));
    const unsigned bits = Layout::parse(layout).bits();
    std::mt19937_64 random(bits);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t id = random() >> (64 - bits);
      ASSERT_EQ(reveal(cipher, hide(cipher, id)), id) << layout;
    }
  }
  const Cipher cipher(config({{"kind", "segment"}, {"layout", ""}, {"namespace", "plain"}}));
  EXPECT_EQ(reveal(cipher, hide(cipher, 1)), 1u);
  EXPECT_THAT(cipher.describe(), HasSubstr("the whole id of 63 bits"));
  const Cipher business(config({{"kind", "business"}, {"layout", ""}, {"namespace", "owned"}}));
  EXPECT_THAT(business.describe(), HasSubstr("the segment field of 42 bits"));
}

TEST_F(HiddenIds, ALayoutWithTooFewBitsOrNoSegmentBesideAVersionIsRefused) {
  EXPECT_FAILS(make(config({{"layout", "gene:16 version:5 segment:19"}})), Status::unsupported, "19 bits to hide");
  EXPECT_FAILS(make(config({{"layout", "time:41ms version:5 sequence:17"}})), Status::unsupported,
               "need a segment field");
}

TEST_F(HiddenIds, AMaskWarnsThatOneKnownPairRevealsItAndItDoes) {
  for (const char* const mode : {"chacha20", "aes-ctr"}) {
    const Cipher cipher(config({{"cipher.mode", mode}, {"namespace", mode}}));
    EXPECT_THAT(cipher.describe(), AllOf(HasSubstr("Warning"), HasSubstr("one id that is known in both forms")));
    const std::uint64_t mask = hide(cipher, 0);
    EXPECT_EQ(hide(cipher, 12345), mask ^ 12345);
    EXPECT_EQ(reveal(cipher, mask ^ 12345), 12345u);
  }
  EXPECT_THAT(Cipher(config()).describe(), Not(HasSubstr("Warning")));
}

TEST_F(HiddenIds, WithoutTheModuleTheErrorNamesItsFileAndItsPackage) {
  const std::string empty = folder.file("no modules");
  std::filesystem::create_directory(empty);
  EXPECT_FAILS(make(config({{"module.path", empty}})), Status::unsupported,
               "hidden ids: its module libidgen_cipher.so is not in");
  EXPECT_FAILS(make(config({{"module.path", empty}})), Status::unsupported, "Debian: libssl3");
}

TEST_F(HiddenIds, AChildHidesAndRevealsWithTheKeysOfItsParent) {
  const Cipher cipher(config());
  const std::uint64_t hidden = hide(cipher, 99);
  EXPECT_EQ(in_child([&] { return std::to_string(hide(cipher, 99)) + " " + std::to_string(reveal(cipher, hidden)); }),
            std::to_string(hidden) + " 99");
}

}  // namespace
}  // namespace idgen
