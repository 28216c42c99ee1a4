// Archiving: the number of a key that is no longer needed goes to another key, and never back.
#include <map>
#include <vector>

#include "cipher_test_support.hpp"
#include "sim/sim_store.hpp"

namespace idgen {
namespace {

using testing::HasSubstr;
using testing::Not;

// A store whose records can be looked at, and in which a test can act right before and after each of them.
class Records final : public sim::SimStore {
 public:
  explicit Records(std::shared_ptr<Store> behind = nullptr) : SimStore(disk_), behind_(std::move(behind)) {}
  std::string namespace_format(const std::string& name, const std::string& value) override {
    EXPECT_LE(name.size(), 128u) << "more than every store takes";
    // What a test does here does not come here again.
    if (const auto act = std::exchange(before_record, nullptr)) before_record = act(name, value) ? act : nullptr;
    std::string found = behind_ ? behind_->namespace_format(name, value) : SimStore::namespace_format(name, value);
    if (after_record) after_record(name, value);
    return found;
  }
  // False: it was the one that the test has waited for.
  std::function<bool(const std::string& name, const std::string& value)> before_record;
  std::function<void(const std::string& name, const std::string& value)> after_record;
  std::map<std::string, std::string>& formats() { return disk_.formats; }

 private:
  sim::SimDisk disk_;
  const std::shared_ptr<Store> behind_;
};

class ArchivedKeys : public testing::Test, public CipherFiles {
 protected:
  using Settings = std::initializer_list<std::pair<const char*, std::string>>;

  // The line of version 1 with one of several keys; beside it, version 2 is always the same.
  static std::string line(char key, const char* state = "") {
    return "1 " + std::string(32, key) + state + "\n2 " + kSecondKey + "\n";
  }
  Config on(const std::shared_ptr<Store>& store, Settings settings = {}) {
    Config made = config(settings);
    if (store) made.store = store;
    return made;
  }
  // Opens a cipher as a process with this key of version 1 would.
  void begin(char key, const Config& config) {
    write("key", line(key));
    make(config);
  }
  bool opens(char key, const Config& config) {
    return error_of([&] { begin(key, config); }).status() == Status::ok;
  }
  // From a file with nothing but the line.
  void archive(char key, Config config) {
    config.set("cipher.key", "file:" + write("kept", "1 " + std::string(32, key) + " retired\n"));
    Cipher::archive(config, 1);
  }
  void expect_archived(char key, const Config& config) {
    EXPECT_FAILS(begin(key, config), Status::format_mismatch, "key version 1 was archived");
  }
  std::string numbers(const Config& config) {
    write("key", std::string("2 ") + kSecondKey + "\n");
    return Cipher(config, false).describe();
  }

  const std::shared_ptr<Records> records = std::make_shared<Records>();
};

class ArchivedKeysOfEveryStore : public ArchivedKeys, public testing::WithParamInterface<const char*> {
 protected:
  Config of(const std::string& name_space) {
    Config made = config({{"namespace", name_space}, {"cipher.version", "1"}});
    if (std::string(GetParam()) == "memory")
      made.set("store", std::string("memory:") + testing::UnitTest::GetInstance()->current_test_info()->name());
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, ArchivedKeysOfEveryStore, testing::Values("memory", "sqlite"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ArchivedKeysOfEveryStore, GiveTheirNumberToAnotherKeyAgainAndAgainAndAreRefusedForEver) {
  const std::string keys = "abcd";
  for (const std::string& name_space : {std::string("shop"), std::string(128, 'n')}) {
    std::vector<std::uint64_t> forms;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      begin(keys[i], of(name_space));
      forms.push_back(hide(Cipher(of(name_space)), 5));
      EXPECT_EQ(version_in(forms.back()), 1u);
      EXPECT_EQ(std::count(forms.begin(), forms.end(), forms.back()), 1);
      for (std::size_t old = 0; old < i; ++old) expect_archived(keys[old], of(name_space));
      if (i + 1 < keys.size())
        EXPECT_FAILS(begin(keys[i + 1], of(name_space)), Status::format_mismatch, "begun with another key");
      archive(keys[i], of(name_space));
    }
    begin('e', of("another, in which nothing was archived"));
    EXPECT_FAILS(begin('a', of("another, in which nothing was archived")), Status::format_mismatch, "another key");
  }
}

TEST_F(ArchivedKeys, ArchivedOnceMoreNeverFreeTheNumberOfTheirSuccessor) {
  begin('a', on(records));
  archive('a', on(records));
  begin('b', on(records));
  const auto before = records->formats();
  archive('a', on(records));
  EXPECT_EQ(records->formats(), before);
  EXPECT_FAILS(begin('c', on(records)), Status::format_mismatch, "begun with another key");
  EXPECT_FAILS(archive('c', on(records)), Status::format_mismatch,
               "nothing is archived: key version 1 is another key in the store");
  EXPECT_EQ(records->formats(), before);
  EXPECT_TRUE(opens('b', on(records)));
}

TEST_F(ArchivedKeys, ThatNobodyBeganAreRecordedFirstSoThatTheNumberIsNotBegunTwice) {
  // A process with b, which has read that nothing is archived when a is.
  records->before_record = [&](const std::string& name, const std::string&) {
    if (!name.ends_with(", key 1")) return true;
    archive('a', on(records));
    begin('c', on(records));
    write("key", line('b'));
    return false;
  };
  EXPECT_FAILS(begin('b', on(records)), Status::format_mismatch, "begun with another key");
  expect_archived('a', on(records));
  EXPECT_TRUE(opens('c', on(records)));
}

TEST_F(ArchivedKeys, ArchivedByTwoAtOnceLeaveOneEntryAndTheSuccessorItsNumber) {
  begin('a', on(records));
  records->before_record = [&](const std::string& name, const std::string& value) {
    if (!name.ends_with(", archive 1") || value.empty()) return true;
    archive('a', on(records));
    begin('b', on(records));
    return false;
  };
  archive('a', on(records));
  expect_archived('a', on(records));
  EXPECT_TRUE(opens('b', on(records)));
  EXPECT_FALSE(opens('c', on(records)));
  EXPECT_FALSE(records->formats().contains("hidden ids of shop, 42 bits, archive 2"));
}

TEST_F(ArchivedKeys, OfTwoVersionsAtOnceAreBothArchived) {
  begin('a', on(records));
  records->before_record = [&](const std::string& name, const std::string& value) {
    if (!name.ends_with(", archive 1") || value.empty()) return true;
    Config other = on(records);
    other.set("cipher.key", "file:" + write("other", std::string("2 ") + kSecondKey + " retired\n"));
    Cipher::archive(other, 2);
    return false;
  };
  archive('a', on(records));
  write("key", "3 " + std::string(32, 'c') + "\n");
  EXPECT_THAT(Cipher(on(records), false).describe(), HasSubstr("archived: 1, 2; free for another key: 1, 2\n"));
}

TEST_F(ArchivedKeys, AnErrorOfAStoreThatHasWrittenNeverLeadsToTheSuccessor) {
  begin('a', on(records));
  records->after_record = [&](const std::string& name, const std::string& value) {
    if (name.ends_with(", archive 1") && !value.empty()) throw Error(Status::store_unavailable, "no answer");
  };
  EXPECT_FAILS(archive('a', on(records)), Status::store_unavailable, "no answer");
  records->after_record = nullptr;
  begin('b', on(records));
  archive('a', on(records));
  EXPECT_TRUE(opens('b', on(records)));
  EXPECT_FALSE(opens('c', on(records)));
}

TEST_F(ArchivedKeys, OfBothLengthsAreCheckedBeforeEitherIsWritten) {
  begin('a', on(records));
  begin('b', on(records, {{"layout", "business128"}}));
  const auto before = records->formats();
  EXPECT_FAILS(archive('a', on(records, {{"on_full", "widen"}})), Status::format_mismatch, "nothing is archived");
  EXPECT_FAILS(archive('b', on(records, {{"on_full", "widen"}})), Status::format_mismatch, "nothing is archived");
  EXPECT_EQ(records->formats(), before);
}

TEST_F(ArchivedKeys, OfBothLengthsAreFreeForBothHoweverOftenTheWritingIsKilled) {
  const std::string wide = "ids of 16 bytes", free = "free for another key: 1\n";
  for (int writes = 0; writes <= 4; ++writes) {
    const std::string name = std::to_string(writes) + ".db", url = folder.url(name);
    open_store(url, creating())->create();
    Child child([&](int) {
      const auto killed = std::make_shared<Records>(open_store(url, creating()));
      int left = writes;
      killed->before_record = [&](const std::string&, const std::string& value) {
        if (!value.empty() && left-- == 0) kill(getpid(), SIGKILL);
        return true;
      };
      archive('a', on(killed, {{"on_full", "widen"}}));
    });
    EXPECT_EQ(child.wait(), writes < 4 ? SIGKILL : 0) << "a key that nobody began takes four writes";

    const Config both = config({{"on_full", "widen"}, {"store", url}});
    const Config narrow_only = config({{"store", url}}),
                 wide_only = config({{"store", url}, {"layout", "business128"}});
    const std::string found = numbers(both);
    const std::size_t middle = found.find(wide);
    ASSERT_NE(middle, std::string::npos);
    EXPECT_EQ(found.substr(0, middle).find(free) != std::string::npos, writes >= 2) << found;
    EXPECT_EQ(found.find(free, middle) != std::string::npos, writes >= 4) << found;
    // Never a key and its successor in ids of one length.
    const std::string copied = folder.file("copy of " + name);
    std::filesystem::copy(folder.file(name), copied);
    const std::string copy = "sqlite:" + copied;
    for (const char* const layout : {"business64", "business128"}) {
      const Config one = config({{"layout", layout}, {"store", copy}});
      EXPECT_FALSE(opens('b', one) && opens('a', one)) << writes << " " << layout;
    }

    archive('a', both);
    EXPECT_FALSE(opens('a', narrow_only));
    EXPECT_FALSE(opens('a', wide_only));
    EXPECT_TRUE(opens('b', both));
    archive('a', both);
    EXPECT_TRUE(opens('b', both));
    EXPECT_FALSE(opens('c', both));
  }
}

TEST_F(ArchivedKeys, MustBeThereAndRetiredAndInALayoutWithAVersionField) {
  const auto archive = [&](const std::string& text, std::uint32_t version, const char* layout) {
    write("key", text);
    Cipher::archive(on(records, {{"layout", layout}}), version);
  };
  EXPECT_FAILS(archive(line('a'), 1, "business64"), Status::value, "key version 1 is not retired");
  EXPECT_FAILS(archive(line('a', " retired"), 3, "business64"), Status::value, "there is no such key to archive");
  EXPECT_FAILS(archive(line('a', " retired"), 31, "business64"), Status::value, "allowed: 1 to 30");
  EXPECT_FAILS(archive(line('a', " retired"), 1, "default"), Status::unsupported, "their key can never change");
  EXPECT_TRUE(records->formats().empty());
}

TEST_F(ArchivedKeys, AreNamedByACheckWithTheNumbersThatAreFree) {
  EXPECT_THAT(numbers(on(records)), HasSubstr("key versions: 1 to 30; archived: none; free for another key: none\n"));
  archive('a', on(records));
  const auto before = records->formats();
  EXPECT_THAT(numbers(on(records)), HasSubstr("key versions: 1 to 30; archived: 1; free for another key: 1\n"));
  EXPECT_EQ(records->formats(), before);
  begin('b', on(records));
  EXPECT_THAT(numbers(on(records)), HasSubstr("archived: 1; free for another key: none\n"));
  EXPECT_THAT(Cipher(on(records)).describe(), Not(HasSubstr("archived")));
}

TEST_F(ArchivedKeys, AReloadTakesTheSuccessorOnlyIfTheStoreHasArchivedTheKeyThatTheProcessHas) {
  begin('a', on(records));
  Cipher running(on(records, {{"cipher.version", "1"}}));
  const std::uint64_t form = hide(running, 5);
  // A store in which the number was given on, but not by the key of this process.
  const auto known = std::exchange(records->formats(), {});
  archive('d', on(records));
  begin('b', on(records));
  EXPECT_FAILS(running.reload(), Status::format_mismatch, "key version 1 is another key than before");
  EXPECT_EQ(hide(running, 5), form);

  records->formats() = known;
  EXPECT_FAILS(running.reload(), Status::format_mismatch, "begun with another key");
  archive('a', on(records));
  running.reload();
  EXPECT_NE(hide(running, 5), form);
  EXPECT_EQ(reveal(running, hide(Cipher(on(records, {{"cipher.version", "1"}})), 5)), 5u);
}

TEST_F(ArchivedKeys, AreGivenUpByAProcessWhoseReloadIsRefused) {
  const Config both = on(records, {{"on_full", "widen"}});
  const Config pinned = on(records, {{"cipher.version", "1"}});
  begin('a', both);
  Cipher running(both), hiding(pinned);
  const std::uint64_t form = hide(hiding, 5), other = hide(running, 5);
  const auto reveals_wide = [&] {
    std::uint8_t bytes[16] = {0, 0, 0, 0, 0, 0x10};  // of version 1
    running.apply_wide(true, bytes, bytes, 1, 16);
  };
  EXPECT_NO_THROW(reveals_wide());
  archive('a', both);
  EXPECT_EQ(reveal(running, form), 5u) << "nothing tells it before it reloads";
  // The file that it began with, and one that cannot be read.
  EXPECT_FAILS(running.reload(), Status::format_mismatch, "key version 1 was archived");
  write("key", "1 typing error");
  EXPECT_FAILS(hiding.reload(), Status::config_file, "after the key only");
  EXPECT_FAILS(reveal(running, form), Status::value, "there is no such key here; there are: 2");
  EXPECT_FAILS(reveals_wide(), Status::value, "there is no such key here; there are: 2");
  EXPECT_EQ(reveal(running, other), 5u);
  EXPECT_EQ(hide(running, 5), other);
  EXPECT_FAILS(reveal(hiding, form), Status::value, "there is no such key here");
  EXPECT_FAILS(hide(hiding, 5), Status::value, "cipher.version = 1: that key was archived");
}

TEST_F(ArchivedKeys, LeaveNoneThatHidesIfTheOneThatHidIsAmongThem) {
  const std::string other = "1 " + std::string(32, 'b') + "\n", highest = std::string("2 ") + kSecondKey;
  write("key", other + highest + "\n");
  Cipher running(on(records));
  const std::uint64_t form = hide(running, 5);
  Config config = on(records);
  config.set("cipher.key", "file:" + write("kept", highest + " retired\n"));
  Cipher::archive(config, 2);
  EXPECT_FAILS(running.reload(), Status::format_mismatch, "key version 2 was archived");
  EXPECT_FAILS(hide(running, 5), Status::value, "or the one that hid was archived");
  EXPECT_FAILS(reveal(running, form), Status::value, "there is no such key here; there are: 1");
  write("key", other);
  running.reload();
  EXPECT_EQ(reveal(running, hide(running, 5)), 5u);
}

TEST_F(ArchivedKeys, AreRefusedAlsoIfTheyAreArchivedWhileAProcessReadsItsKeys) {
  begin('a', on(records));
  Cipher running(on(records, {{"cipher.version", "1"}}));
  const auto archive_meanwhile = [&](const std::string& name, const std::string&) {
    if (!name.ends_with(", key 1")) return true;
    archive('a', on(records));
    return false;
  };
  const auto before = records->formats();
  records->before_record = archive_meanwhile;
  EXPECT_FAILS(make(on(records)), Status::format_mismatch, "key version 1 was archived");
  records->formats() = before;
  records->before_record = archive_meanwhile;
  EXPECT_FAILS(running.reload(), Status::format_mismatch, "key version 1 was archived");
  EXPECT_FAILS(hide(running, 5), Status::value, "cipher.version = 1: that key was archived");
}

TEST_F(ArchivedKeys, AProcessWithNoOtherKeySaysSo) {
  write("key", "1 " + std::string(32, 'a') + "\n");
  Cipher running(on(records));
  archive('a', on(records));
  EXPECT_FAILS(running.reload(), Status::format_mismatch, "was archived");
  EXPECT_FAILS(hide(running, 5), Status::value, "every version is retired (there is none)");
}

TEST_F(ArchivedKeys, OfALongNamespaceFitEveryStoreToo) {
  const Config config = on(records, {{"namespace", std::string(128, 'n')}, {"layout", "business128"}});
  for (const char key : {'a', 'b'}) {
    begin(key, config);
    archive(key, config);
    expect_archived(key, config);
  }
}

TEST_F(ArchivedKeys, AStoreThatAnswersNonsenseIsRefused) {
  records->formats()["hidden ids of shop, 42 bits, archive 1"] = "ff1 0123456789abcdef";
  EXPECT_FAILS(begin('a', on(records)), Status::store_damaged, "which names no archived key");
  records->formats()["hidden ids of shop, 42 bits, archive 1"] = "1 ff1 0123456789abcdef";
  records->formats()["hidden ids of shop, 42 bits, archive 2"] = "1 ff1 0123456789abcdef";
  EXPECT_FAILS(archive('a', on(records)), Status::store_damaged, "or one that was archived before");
}

}  // namespace
}  // namespace idgen
