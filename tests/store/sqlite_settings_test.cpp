// Settings and file systems that could lose a commit, and locks of others.
#include <thread>

#include "store/file_system.hpp"
#include "store/sqlite_connection.hpp"
#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

TEST(SqliteSettings, ADatabaseInWalModeIsRefusedWithTheCommandThatConvertsIt) {
  const TempFolder folder;
  const auto store = open_store(folder.url(), creating());
  draw_from(store, "ns", "t", 10);
  ASSERT_EQ(run_sql(folder.file("ids.db"), "PRAGMA journal_mode=WAL"), "wal");
  EXPECT_FAILS(draw_from(store, "ns", "t", 1), Status::store_unsafe, "PRAGMA journal_mode=DELETE");
  EXPECT_FAILS(store->segment_show("ns", "t"), Status::store_unsafe, "WAL");
  ASSERT_EQ(run_sql(folder.file("ids.db"), "PRAGMA journal_mode=DELETE"), "delete");
  EXPECT_EQ(draw_from(store, "ns", "t", 1), 11u);
}

TEST(SqliteSettings, EveryCommitIsMadeWithJournalDeleteAndSynchronousExtra) {
  const TempFolder folder;
  open_store(folder.url(), creating())->segment_create("ns", "t");
  SqliteConnection connection(folder.file("ids.db"), 1000, 1000);
  EXPECT_EQ(connection.number("PRAGMA synchronous"), 3);
  EXPECT_EQ(connection.word("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(connection.word("PRAGMA locking_mode"), "normal");
}

TEST(SqliteSettings, ALockedDatabaseIsWaitedForUntilTheTimeoutAndThenReportedAsRetryable) {
  const TempFolder folder;
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  LockingProcess other(folder.file("ids.db"));
  const auto store = open_store(folder.url(), not_creating(50));
  const Error error = error_of([&] { draw_from(store, "ns", "t", 1); });
  EXPECT_EQ(error.status(), Status::store_unavailable) << error.message();
  EXPECT_THAT(error.message(), testing::HasSubstr("waited 50 ms (store_timeout)"));
  EXPECT_GT(error.retry_after_ns(), 0u);
  EXPECT_TRUE(status_text(error.status()).retryable);
  EXPECT_FAILS(store->window_take(window_request(7, 1000)), Status::store_unavailable, "locked by another process");
  other.let_go();
  EXPECT_EQ(draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1), 11u);
}

TEST(SqliteSettings, AFileThatIsReplacedInTheMiddleOfATransactionGrantsNothing) {
  const TempFolder folder;
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  open_store(folder.url("new.db"), creating())->segment_create("ns", "t");
  LockingProcess other(folder.file("ids.db"));
  Error error(Status::ok, "");
  std::thread inside(
      [&] { error = error_of([&] { draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1); }); });
  // SQLite has opened it, and cannot go on before the other process lets go.
  const auto has_opened = [&] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path(), gone) == folder.file("ids.db")) return true;
    }
    return false;
  };
  while (!has_opened()) std::this_thread::yield();
  std::filesystem::rename(folder.file("new.db"), folder.file("ids.db"));
  other.let_go();
  inside.join();
  EXPECT_EQ(error.status(), Status::store_missing) << error.message();
  EXPECT_THAT(error.message(), testing::HasSubstr("moved or deleted while in use"));
  EXPECT_EQ(run_sql(folder.file("ids.db"), "SELECT max_id FROM idgen_segment"), "0");
}

TEST(SqliteSettings, NetworkFileSystemsAreKnownByTheirMagicNumber) {
  const struct {
    std::uint64_t magic;
    FileSystemKind kind;
    const char* name;
  } cases[] = {
      {0x6969, FileSystemKind::network, "NFS"},
      {0xFF534D42, FileSystemKind::network, "CIFS"},
      {0xFFFFFFFFFF534D42, FileSystemKind::network,
       "CIFS"},  // f_type is signed: where it has 32 bits it arrives sign-extended
      {0xFE534D42, FileSystemKind::network, "SMB2"},
      {0x517B, FileSystemKind::network, "SMB"},
      {0x65735546, FileSystemKind::network, "FUSE"},
      {0x01021997, FileSystemKind::network, "9P"},
      {0x00C36400, FileSystemKind::network, "Ceph"},
      {0x01021994, FileSystemKind::memory, "tmpfs"},
      {0x794C7630, FileSystemKind::container, "overlayfs"},
      {0xEF53, FileSystemKind::local, ""},      // ext2, 3, 4
      {0x58465342, FileSystemKind::local, ""},  // XFS
      {0x9123683E, FileSystemKind::local, ""},  // btrfs
      {0x2FC12FC1, FileSystemKind::local, ""},  // ZFS
      {0, FileSystemKind::local, ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(classify_file_system(c.magic).kind, c.kind) << std::hex << c.magic;
    EXPECT_STREQ(classify_file_system(c.magic).name, c.name);
  }
}

TEST(SqliteSettings, DescribeSaysWhetherAMissingFileWouldBeMadeAnew) {
  const TempFolder folder;
  EXPECT_THAT(open_store(folder.url(), creating())->describe(),
              testing::HasSubstr("if the file is ever lost, ids repeat"));
  EXPECT_THAT(open_store(folder.url(), not_creating())->describe(), testing::HasSubstr("A missing file is refused"));
}

}  // namespace
}  // namespace idgen
