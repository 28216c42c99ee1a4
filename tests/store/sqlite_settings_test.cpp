// Settings and file systems that could lose a commit, and locks of others.
#include "store/file_system.hpp"
#include "store/sqlite_connection.hpp"
#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

using SqliteSettings = InAFolder;

TEST_F(SqliteSettings, ADatabaseInWalModeIsRefusedWithTheCommandThatConvertsIt) {
  const auto store = open_store(folder.url(), creating());
  draw_from(store, "ns", "t", 10);
  ASSERT_EQ(run_sql(folder.file("ids.db"), "PRAGMA journal_mode=WAL"), "wal");
  EXPECT_FAILS(draw_from(store, "ns", "t", 1), Status::store_unsafe, "PRAGMA journal_mode=DELETE");
  EXPECT_FAILS(store->segment_show("ns", "t"), Status::store_unsafe, "WAL");
  ASSERT_EQ(run_sql(folder.file("ids.db"), "PRAGMA journal_mode=DELETE"), "delete");
  EXPECT_EQ(draw_from(store, "ns", "t", 1), 11u);
}

TEST_F(SqliteSettings, EveryCommitIsMadeWithJournalDeleteAndSynchronousExtra) {
  open_store(folder.url(), creating())->segment_create("ns", "t");
  SqliteConnection connection(folder.file("ids.db"), 1000);
  EXPECT_EQ(connection.number("PRAGMA synchronous"), 3);
  EXPECT_EQ(connection.word("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(connection.word("PRAGMA locking_mode"), "normal");
}

TEST_F(SqliteSettings, ALockedDatabaseIsWaitedForUntilTheTimeoutAndThenReportedAsRetryable) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  LockingProcess other(folder.file("ids.db"));
  const auto store = open_store(folder.url(), not_creating(50));
  const Error error = error_of([&] { draw_from(store, "ns", "t", 1); });
  EXPECT_EQ(error.status(), Status::store_unavailable) << error.message();
  EXPECT_THAT(error.message(), testing::HasSubstr("waited 50 ms (store_timeout)"));
  EXPECT_GT(error.retry_after_ns(), 0u);
  EXPECT_TRUE(status_text(error.status()).retryable);
  EXPECT_FAILS(store->windows()->window_take(window_request(7, 1000)), Status::store_unavailable,
               "locked by another process or thread");
  other.let_go();
  EXPECT_EQ(draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1), 11u);
}

TEST_F(SqliteSettings, AFileThatIsReplacedInTheMiddleOfATransactionGrantsNothing) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  open_store(folder.url("new.db"), creating())->segment_create("ns", "t");
  Error error(Status::ok, "");
  {
    const AtCommit replacing([&](const char* journal) {
      std::filesystem::rename(folder.file("new.db"), folder.file("ids.db"));
      return unlink(journal);
    });
    error = error_of([&] { draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1); });
  }
  EXPECT_EQ(error.status(), Status::store_unavailable) << error.message();
  EXPECT_THAT(error.message(), testing::HasSubstr("another file took its place during the transaction"));
  EXPECT_EQ(run_sql(folder.file("ids.db"), "SELECT max_id FROM idgen_segment"), "0");
}

TEST_F(SqliteSettings, AnSqliteThatIsMadeForOneThreadIsRefused) {
  open_store(folder.url(), creating())->segment_create("ns", "t");
  const std::string report = in_child([&] {
    if (sqlite3_shutdown() != SQLITE_OK || sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) != SQLITE_OK)
      return std::string("SQLite cannot be configured");
    return report_of([&] { draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1); });
  });
  EXPECT_THAT(report, testing::StartsWith("STORE_UNSAFE"));
  EXPECT_THAT(report, testing::HasSubstr("made for one thread"));
}

TEST_F(SqliteSettings, FileSystemsAreTrustedByAListOfThoseThatAreKnown) {
  using enum FileSystemKind;
  const struct {
    std::uint64_t magic;
    FileSystemKind kind;
    const char* name;
  } cases[] = {
      {0xEF53, local, "ext"},
      {0x58465342, local, "XFS"},
      {0x9123683E, local, "btrfs"},
      {0xFFFFFFFF9123683E, local, "btrfs"},  // f_type is signed: where it has 32 bits it arrives sign-extended
      {0x2FC12FC1, local, "ZFS"},
      {0xCA451A4E, local, "bcachefs"},
      {0xF2F52010, local, "F2FS"},
      {0x01021994, memory, "tmpfs"},
      {0x794C7630, container, "overlayfs"},
      {0x6969, refused, "NFS"},
      {0xFF534D42, refused, "CIFS"},
      {0x65735546, refused, "FUSE"},
      {0x01021997, refused, "9P"},
      {0x00C36400, refused, "Ceph"},
      {0x0BD00BD0, refused, "Lustre"},
      {0x47504653, refused, "GPFS"},
      {0x19830326, refused, "BeeGFS"},
      {0x7461636F, refused, "OCFS2"},
      {0x01161970, refused, "GFS2"},
      {0x20030528, refused, "OrangeFS"},
      {0x786F4256, refused, "a VirtualBox shared folder"},
      {0xBACBACBC, refused, "a VMware shared folder"},
      {0x7C7C6673, refused, "a Parallels shared folder"},
      {0x12345678, refused, ""},  // nobody has heard of it
      {0, refused, ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(classify_file_system(c.magic).kind, c.kind) << std::hex << c.magic;
    EXPECT_STREQ(classify_file_system(c.magic).name, c.name);
  }
}

TEST_F(SqliteSettings, AFileSystemThatIsOnNoListIsRefusedAndItsNumberNamed) {
  EXPECT_FAILS(open_store("sqlite:/proc/ids.db", creating()), Status::store_unsafe, "f_type 0x00009fa0");
}

TEST_F(SqliteSettings, DescribeSaysWhetherAMissingFileWouldBeMadeAnew) {
  EXPECT_THAT(open_store(folder.url(), creating())->describe(), testing::HasSubstr("if both are lost, ids repeat"));
  EXPECT_THAT(open_store(folder.url(), not_creating())->describe(), testing::HasSubstr("A missing file is refused"));
}

}  // namespace
}  // namespace idgen
