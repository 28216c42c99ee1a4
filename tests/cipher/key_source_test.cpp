// Where keys come from, which are refused, and what the store remembers of them.
#include <atomic>
#include <thread>

#include "cipher_test_support.hpp"
#include "idgen/runtime.hpp"

namespace idgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HiddenIdKeys : public testing::Test, public CipherFiles {
 protected:
  // The error of a cipher whose key file has this text.
  Error with(const std::string& text) {
    write("key", text);
    const Error error = error_of([&] { const Cipher cipher(config({{"store", "memory:never reached"}})); });
    EXPECT_THAT(error.message(), Not(HasSubstr("2B7E"))) << "a message shows a key";
    EXPECT_LT(error.message().size(), 496u);
    return error;
  }
};

const std::string kOne = std::string("1 ") + kFirstKey + "\n", kTwo = std::string("2 ") + kSecondKey + "\n";

TEST_F(HiddenIdKeys, AFileThatOthersCanReadIsRefused) {
  write("key", kOne);
  const std::string path = folder.file("key");
  for (const mode_t mode : {0640u, 0604u, 0644u, 0700u, 04600u, 0620u}) {
    chmod(path.c_str(), mode);
    EXPECT_FAILS(make(config()), Status::config_file, "allowed: 0400 or 0600");
  }
  chmod(path.c_str(), 0644);
  EXPECT_FAILS(make(config()), Status::config_file, "its mode is 0644, so others than its owner can read");
  for (const mode_t mode : {0400u, 0600u}) {
    chmod(path.c_str(), mode);
    EXPECT_NO_THROW(make(config()));
  }
}

TEST_F(HiddenIdKeys, ALinkAFolderAndAMissingFileAreRefused) {
  write("real", kOne);
  std::filesystem::create_symlink(folder.file("real"), folder.file("link"));
  EXPECT_FAILS(make(config({{"cipher.key", "file:" + folder.file("link")}})), Status::config_file, "symbolic link");
  EXPECT_FAILS(make(config({{"cipher.key", "file:" + folder.path()}})), Status::config_file, "not a regular file");
  EXPECT_FAILS(make(config({{"cipher.key", "file:" + folder.file("none")}})), Status::config_file,
               "there is no such file; `idgen key new` makes one");
  EXPECT_FAILS(make(config({{"cipher.key", ""}})), Status::value, "cipher.key is not set");
  EXPECT_FAILS(make(config({{"cipher.key", kFirstKey}})), Status::value, "neither a file nor");
}

TEST_F(HiddenIdKeys, AFileOfSomebodyElseIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write("key", kOne, 0600);
  ASSERT_EQ(chown(folder.file("key").c_str(), 4711, 4711), 0);
  EXPECT_FAILS(make(config()), Status::config_file, "belongs to the user with the number 4711");
}

TEST_F(HiddenIdKeys, ARelativePathBeginsInTheFolderOfTheConfiguration) {
  write("key", kOne);
  EXPECT_NO_THROW(make(config({{"cipher.key", "file:key"}, {"directory", folder.path()}})));
}

TEST_F(HiddenIdKeys, AMalformedLineIsNamedByItsNumberAndNeverShown) {
  const std::string key = kFirstKey;
  const auto says = [&](const std::string& text, const char* what) {
    const Error error = with(text);
    EXPECT_EQ(error.status(), Status::config_file) << text;
    EXPECT_THAT(error.message(), HasSubstr(what));
  };
  says("", "no key");
  says("# nothing\n\n", "no key");
  says("one " + key, "line 1: it does not begin with a version number");
  says("\n" + key, "line 2: it does not begin with a version number");
  says("1", "line 1: the key has 0 hexadecimal digits; allowed: 32 to 128");
  says("1 " + key.substr(2), "has 30 hexadecimal digits");
  says("1 " + key + "A", "has 33 hexadecimal digits");
  says("1 " + std::string(130, 'A'), "has 130 hexadecimal digits");
  says("1 2B7E151628AED2A6ABF7158809CF4F3G", "no hexadecimal digit at position 32");
  says("1 " + key + " retire", "only the word 'retired' may follow");
  says("1 " + key + " retired now", "only the word 'retired' may follow");
  says("0 " + key, "the version is out of range; allowed: 1 to");
  says("16777216 " + key, "the version is out of range; allowed: 1 to");
  says("1 " + key + "\n1 " + kSecondKey, "line 2: the version is there twice");
  // Without the blank, or with one too many: what looks like a number is key.
  for (const char* const line : {"12345678901234567", "1 12 345678901234567", "12 345678901234567"})
    EXPECT_THAT(with(line).message(), Not(HasSubstr("345"))) << "a message shows a key";
  says(std::string(70'000, '#'), "larger than 64 KiB");
  std::string many;
  for (int version = 1; version <= 1025; ++version) many += std::to_string(version) + " " + key + "\n";
  says(many, "more than 1024 key versions");
}

TEST_F(HiddenIdKeys, AVersionThatTheLayoutsFieldCannotHoldIsRefused) {
  EXPECT_NO_THROW(make((write("key", std::string("30 ") + kFirstKey), config())));
  write("key", std::string("31 ") + kFirstKey);
  EXPECT_FAILS(make(config()), Status::value,
               "key version 31 does not fit the layout's version field; allowed: 1 to 30");
}

TEST_F(HiddenIdKeys, TheHighestVersionThatIsNotRetiredHidesUnlessOneIsNamed) {
  write("key", kTwo + kOne + "3 " + kFirstKey + " retired\n");
  const Cipher cipher(config());
  EXPECT_EQ(version_in(hide(cipher, 5)), 2u);
  EXPECT_EQ(version_in(hide(Cipher(config({{"cipher.version", "1"}})), 5)), 1u);
  EXPECT_FAILS(make(config({{"cipher.version", "3"}})), Status::value, "that version is retired");
  EXPECT_FAILS(make(config({{"cipher.version", "4"}})), Status::value, "there is no such key; there are: 1, 2, 3");
}

TEST_F(HiddenIdKeys, ARetiredVersionStillRevealsAndIfAllAreNothingIsHidden) {
  write("key", kOne);
  const std::uint64_t hidden = hide(Cipher(config()), 5);
  write("key", std::string("1 ") + kFirstKey + " retired\n");
  const Cipher cipher(config());
  EXPECT_EQ(reveal(cipher, hidden), 5u);
  EXPECT_FAILS(hide(cipher, 5), Status::value, "every version is retired (1)");
}

TEST_F(HiddenIdKeys, AnotherKeyByTheSameNumberIsRefusedAndTheRightOneStillOpens) {
  write("key", kOne);
  const std::uint64_t hidden = hide(Cipher(config()), 5);
  write("key", std::string("1 ") + kSecondKey + "\n");
  EXPECT_FAILS(make(config()), Status::format_mismatch, "version 1 was begun with another key");
  EXPECT_FAILS(make(config({{"store", "memory"}, {"namespace", "rekeyed"}})), Status::ok, "");  // it knows no better
  write("key", kOne);
  EXPECT_EQ(reveal(Cipher(config()), hidden), 5u);
  EXPECT_FAILS(make(config({{"cipher.mode", "aes-ctr"}})), Status::format_mismatch, "another cipher.mode");
}

TEST_F(HiddenIdKeys, ARetiredVersionIsCheckedTooAndANamespaceHasItsOwn) {
  write("key", kOne + kTwo);
  EXPECT_NO_THROW(make(config()));
  write("key", std::string("1 ") + kSecondKey + " retired\n" + kTwo);
  EXPECT_FAILS(make(config()), Status::format_mismatch, "version 1 was begun with another key");
  EXPECT_NO_THROW(make(config({{"namespace", "another"}})));
}

TEST_F(HiddenIdKeys, IdsWithoutAVersionFieldKeepTheVersionThatTheyBeganWith) {
  write("key", kOne);
  const std::uint64_t hidden = hide(Cipher(config({{"layout", "default"}})), 5);
  write("key", kOne + kTwo);
  EXPECT_FAILS(make(config({{"layout", "default"}})), Status::format_mismatch, "their key can never change");
  const Cipher pinned(config({{"layout", "default"}, {"cipher.version", "1"}}));
  EXPECT_EQ(hide(pinned, 5), hidden);
  EXPECT_THAT(pinned.describe(), HasSubstr("one key version for ever"));
}

TEST_F(HiddenIdKeys, ALongNamespaceFitsTheStoreToo) {
  const std::string longest(128, 'n');
  write("key", kOne);
  EXPECT_NO_THROW(make(config({{"namespace", longest}})));
  write("key", std::string("1 ") + kSecondKey + "\n");
  EXPECT_FAILS(make(config({{"namespace", longest}})), Status::format_mismatch, "another key");
}

TEST_F(HiddenIdKeys, ACheckComparesAndWritesNothing) {
  const std::string text = Cipher(config(), false).describe();
  EXPECT_THAT(text, AllOf(HasSubstr("key version 1: hides and reveals, check value "), Not(HasSubstr(kFirstKey))));
  write("key", std::string("1 ") + kSecondKey + "\n");
  EXPECT_NO_THROW(Cipher(config(), false).describe());  // nobody has begun yet
  EXPECT_NO_THROW(make(config()));
  write("key", kOne);
  EXPECT_FAILS(Cipher(config(), false).describe(), Status::format_mismatch, "another key");
}

TEST_F(HiddenIdKeys, AStoreThatIsMissingOrDownStopsTheCipher) {
  EXPECT_FAILS(make(config({{"store_create", "false"}})), Status::store_missing, "");
  EXPECT_FALSE(std::filesystem::exists(folder.file("ids.db")));
}

TEST_F(HiddenIdKeys, CanStandInAnEnvironmentVariableThatTheConfigurationNames) {
  write("key", kOne + kTwo);
  const std::uint64_t hidden = hide(Cipher(config()), 5);
  setenv("IDGEN_TEST_KEYS", ("1 " + std::string(kFirstKey) + "; 2 " + kSecondKey).c_str(), 1);
  EXPECT_EQ(hide(Cipher(config({{"cipher.key", "env:IDGEN_TEST_KEYS"}})), 5), hidden);
  setenv("IDGEN_TEST_KEYS", kFirstKey, 1);
  EXPECT_FAILS(make(config({{"cipher.key", "env:IDGEN_TEST_KEYS"}})), Status::config_file,
               "the variable of cipher.key, line 1: it does not begin");
  unsetenv("IDGEN_TEST_KEYS");
  EXPECT_FAILS(make(config({{"cipher.key", "env:IDGEN_TEST_KEYS"}})), Status::config_file,
               "which this process does not have");
}

class KeysInCode final : public KeySource {
 public:
  void read(Each each, void* to) override {
    constexpr std::uint8_t kShort[15] = {};
    ++reads;
    for (const std::uint32_t version : versions) each(to, version, key.data(), key.size(), version == retired ? 1 : 0);
    if (passes_a_short_one) each(to, 9, kShort, sizeof kShort, 0);
    if (fails) throw Error(Status::store_unavailable, "the key service does not answer");
  }
  std::vector<std::uint32_t> versions = {1};
  std::vector<std::uint8_t> key = std::vector<std::uint8_t>(32, 7);
  std::uint32_t retired = 0;
  bool passes_a_short_one = false, fails = false;
  int reads = 0;
};

TEST_F(HiddenIdKeys, CanBeTheProgramsOwn) {
  const auto keys = std::make_shared<KeysInCode>();
  Config own = config();
  own.keys = keys;
  Cipher cipher(own);
  EXPECT_EQ(version_in(hide(cipher, 5)), 1u);
  keys->versions = {1, 2};
  cipher.reload();
  EXPECT_EQ(version_in(hide(cipher, 5)), 2u);
  EXPECT_EQ(keys->reads, 2);
  keys->passes_a_short_one = true;
  EXPECT_FAILS(cipher.reload(), Status::config_file, "the host's key version 9: the key has 15 bytes; allowed: 16");
  keys->passes_a_short_one = false;
  keys->fails = true;
  EXPECT_FAILS(cipher.reload(), Status::store_unavailable, "the key service does not answer");
  EXPECT_EQ(version_in(hide(cipher, 5)), 2u);
  keys->fails = false;
  keys->versions = {};
  EXPECT_FAILS(cipher.reload(), Status::config_file, "the host's keys: there is none");
}

TEST_F(HiddenIdKeys, AReloadTakesANewVersionAndRefusesAnotherKeyForAKnownOne) {
  write("key", kOne);
  Cipher cipher(config({{"store", "memory:reload"}}));
  const std::uint64_t hidden = hide(cipher, 5);
  cipher.reload();  // nothing new
  write("key", kOne + kTwo);
  cipher.reload();
  EXPECT_EQ(version_in(hide(cipher, 5)), 2u);
  EXPECT_EQ(reveal(cipher, hidden), 5u);
  write("key", std::string("1 ") + kSecondKey + "\n" + kTwo);
  EXPECT_FAILS(cipher.reload(), Status::format_mismatch, "under two keys two ids could get one hidden form");
  EXPECT_EQ(reveal(cipher, hidden), 5u);
  write("key", kTwo);  // version 1 was thrown away
  cipher.reload();
  EXPECT_FAILS(reveal(cipher, hidden), Status::value, "no such key here; there are: 2");
}

TEST_F(HiddenIdKeys, RotateWhileOtherThreadsHideAndReveal) {
  write("key", kOne);
  Cipher cipher(config({{"store", "memory:rotation"}}));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> wrong{0}, highest{0}, done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::uint64_t ids[20], out[20];
      for (std::uint64_t n = 0; !stop; ++n) {
        for (std::uint64_t i = 0; i < 20; ++i) ids[i] = static_cast<std::uint64_t>(t) << 50 | (n * 20 + i);
        cipher.apply(false, ids, out, 20);
        for (const std::uint64_t hidden : out)
          if (version_in(hidden) > highest) highest = version_in(hidden);
        cipher.apply(true, out, out, 20);
        if (!std::equal(ids, ids + 20, out)) ++wrong;
        ++done;
      }
    });
  }
  std::string lines = kOne;
  for (int version = 2; version <= 30; ++version) {
    lines += std::to_string(version) + " " + (version % 2 == 0 ? kSecondKey : kFirstKey) + "\n";
    write("key", lines);
    cipher.reload();
    for (const std::uint64_t before = done; done < before + 3;) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(highest, 30u);
}

TEST_F(HiddenIdKeys, ManyThreadsReloadAtOnceAndEndWithTheNewestKeys) {
  write("key", kOne);
  Cipher cipher(config({{"store", "memory:many"}}));
  write("key", kOne + kTwo);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) cipher.reload();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(version_in(hide(cipher, 5)), 2u);
}

}  // namespace
}  // namespace idgen
