// What the store does with files that are missing, damaged, foreign, out of reach or replaced under it.
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <fstream>

#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class SqliteFile : public ::testing::Test {
 protected:
  // A store with tag "t" at 10 and worker 7 acquired and returned.
  void make_store() {
    const auto store = open_store(folder.url(), creating());
    draw_from(store, "ns", "t", 10);
    const Window window = store->windows()->window_take(window_request(7, 1000));
    store->windows()->window_return("orders", 7, window.fence, window.end_ms, 2000);
  }
  std::shared_ptr<Store> open() { return open_store(folder.url(), not_creating()); }

  TempFolder folder;
  const std::string path = folder.file("ids.db");
};

TEST_F(SqliteFile, AMissingFileIsRefusedWithItsFullPathAndWhatToDo) {
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_missing, path);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_missing, "idgen store create --store sqlite:" + path);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_missing, "idgen segment create");
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_missing, "store_create = true");
  EXPECT_FAILS(open()->windows()->window_take(window_request(7, 1000)), Status::store_missing, path);
  EXPECT_FAILS(open()->segment_show("ns", "t"), Status::store_missing, path);
  EXPECT_FAILS(open()->segment_advance("ns", "t", 1), Status::store_missing, path);
  EXPECT_FAILS(open()->segment_return("ns", "t", 5, 1), Status::store_missing, path);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const auto no_folder = open_store(folder.url("no/such/ids.db"), creating());
  EXPECT_FAILS(draw_from(no_folder, "ns", "t", 1), Status::store_missing,
               "folder \"" + folder.path() + "/no/such\" does not exist");
}

TEST_F(SqliteFile, CreatingMakesACompleteFileThatOthersMayReadAndLeavesNothingElse) {
  const mode_t before = umask(022);
  open()->segment_create("ns", "t");
  umask(before);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
  EXPECT_EQ(run_sql(path, "PRAGMA application_id"), std::to_string(0x6964676e));
  EXPECT_EQ(run_sql(path, "PRAGMA user_version"), "3");
  EXPECT_EQ(run_sql(path, "PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteFile, AStoreWithoutATagIsMadeOnceAndIsAllThatSnowflakesNeed) {
  open_store(folder.url(), creating())->create();
  open_store(folder.url(), creating())->create();
  EXPECT_TRUE(open()->segment_list().empty());
  const Window before = open()->windows()->window_take(window_request(7, 1000));
  EXPECT_EQ(before.fence, 1u);
  open_store(folder.url(), creating())->create();
  EXPECT_GE(open()->windows()->window_take(window_request(7, 1000)).start_ms, before.end_ms)
      << "made again, it goes on";
  fs::remove(path);
  EXPECT_FAILS(open()->create(), Status::store_missing, "is lost");
}

TEST_F(SqliteFile, AStoreIsMadeByTheFirstWindowIfThatWasAskedFor) {
  EXPECT_EQ(open_store(folder.url(), creating())->windows()->window_take(window_request(7, 1000)).fence, 1u);
}

TEST_F(SqliteFile, ACallThatIsRefusedMakesNoFile) {
  const auto store = open_store(folder.url(), creating());
  EXPECT_FAILS(draw_from(store, "ns", "t", 0), Status::argument, "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(SqliteFile, AJournalWithoutItsDatabaseIsNotMistakenForAFreshStart) {
  make_store();
  fs::remove(path);
  fs::remove(path + "-lock");
  write_bytes(path + "-journal", "what was to be rolled back");
  EXPECT_FAILS(draw_from(open_store(folder.url(), creating()), "ns", "t", 1), Status::store_damaged, path + "-journal");
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(SqliteFile, AnEmptyFileIsDamageAndNotAFreshStart) {
  make_store();
  write_bytes(path, "");
  for (const auto& options : {creating(), not_creating()}) {
    EXPECT_FAILS(draw_from(open_store(folder.url(), options), "ns", "t", 1), Status::store_damaged, "empty (0 bytes)");
  }
}

TEST_F(SqliteFile, AFileThatWasCutOffIsReportedAsDamaged) {
  make_store();
  const std::string whole = bytes_of(path);
  ASSERT_GE(whole.size(), 3 * 4096u);
  for (const std::size_t left : {std::size_t{1}, std::size_t{50}, std::size_t{4096}, whole.size() / 2}) {
    write_bytes(path, whole.substr(0, left));
    EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_damaged, path);
    EXPECT_FAILS(open_store(folder.url(), creating())->windows()->window_take(window_request(7, 1000)),
                 Status::store_damaged, path);
  }
}

TEST_F(SqliteFile, OverwrittenBytesAreReportedAsDamaged) {
  make_store();
  const std::string whole = bytes_of(path);
  std::string header = whole;
  header.replace(0, 100, std::string(100, '\x5a'));
  std::string pages = whole;  // all pages but the first, which says what the file is
  pages.replace(4096, pages.size() - 4096, std::string(pages.size() - 4096, '\x5a'));
  for (const std::string& damaged : {header, pages, std::string("id,count\n1,2\n"), std::string(20'000, '\0')}) {
    write_bytes(path, damaged);
    EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_damaged, "idgen segment advance");
    EXPECT_FAILS(open()->windows()->window_take(window_request(7, 1000)), Status::store_damaged, path);
    EXPECT_FAILS(open()->segment_show("ns", "t"), Status::store_damaged, path);
  }
}

TEST_F(SqliteFile, ValuesThatCannotBeAreReportedAsDamagedAndNothingIsGranted) {
  make_store();
  const struct {
    const char* sql;
    const char* text;
    bool is_window;
  } cases[] = {
      {"UPDATE idgen_segment SET max_id = -5", "max_id is -5", false},
      {"UPDATE idgen_segment SET max_id = 'ten'", "max_id is not a whole number", false},
      {"UPDATE idgen_segment SET max_id = 1.5", "max_id is not a whole number", false},
      {"UPDATE idgen_segment SET grants = -1", "grants is -1", false},
      {"UPDATE idgen_worker SET fence = 0", "fence is 0", true},
      {"UPDATE idgen_worker SET fence = -3", "fence is -3", true},
      {"UPDATE idgen_worker SET owner = x'00'", "owner is not a blob of 16 bytes", true},
      {"UPDATE idgen_worker SET owner = 'me'", "owner is not a blob", true},
      {"UPDATE idgen_worker SET hw = x'00'", "hw is not a whole number", true},
      {"UPDATE idgen_store SET commits = -1", "commits is -1", false},
      {"UPDATE idgen_store SET identity = x'00'", "identity is not a blob of 16 bytes", true},
      {"DELETE FROM idgen_store", "idgen_store has no row", true},
      {"UPDATE idgen_namespace SET format = 1.5; DROP TABLE idgen_worker", "idgen_worker", true},
      {"DROP TABLE idgen_segment", "idgen_segment", false},
      {"PRAGMA user_version = 0", "schema version 0", false},
  };
  const std::string whole = bytes_of(path);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.sql);
    write_bytes(path, whole);
    run_sql(path, c.sql);
    WindowRequest request = window_request(7, 1000);
    if (std::string_view(c.sql).find("format = 1.5") != std::string_view::npos) request.format = "1.5";
    if (c.is_window) {
      EXPECT_FAILS(open()->windows()->window_take(request), Status::store_damaged, c.text);
    } else {
      EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_damaged, c.text);
    }
  }
}

TEST_F(SqliteFile, ADamagedRowIsNamedAndAllOthersAreListed) {
  make_store();
  open()->segment_create("ns", "other");
  run_sql(path, "UPDATE idgen_segment SET max_id = -5 WHERE tag = 't'");
  std::string found;
  for (const SegmentInfo& row : open()->segment_list()) found += row.damage ? row.damage->message() : row.tag + ' ';
  EXPECT_THAT(found, ::testing::AllOf(::testing::StartsWith("other "), ::testing::HasSubstr("tag 't'"),
                                      ::testing::HasSubstr("max_id is -5")));
}

TEST_F(SqliteFile, ADatabaseOfSomebodyElseIsLeftAlone) {
  run_sql(path, "CREATE TABLE invoices(id INTEGER PRIMARY KEY)");
  const std::string before = bytes_of(path);
  for (const auto& options : {creating(), not_creating()}) {
    EXPECT_FAILS(open_store(folder.url(), options)->segment_create("ns", "t"), Status::store_damaged,
                 "not one of idgen");
  }
  EXPECT_EQ(bytes_of(path), before);
}

TEST_F(SqliteFile, ADatabaseOfANewerVersionIsLeftAlone) {
  make_store();
  run_sql(path, "PRAGMA user_version = 4");
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_version, "schema version 4, this idgen knows up to 3");
  EXPECT_FAILS(open()->segment_show("ns", "t"), Status::store_version, "Upgrade");
}

TEST_F(SqliteFile, ADatabaseOfABuildBeforeTheFirstReleaseIsLeftAlone) {
  make_store();
  run_sql(path, "PRAGMA user_version = 1");
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_version, "before the first release");
}

// Following the message's advice is enough: the numbers and the workers continue where they were.
TEST_F(SqliteFile, ADatabaseOfVersion2IsRefusedWithTheStatementsThatBringItUpToDate) {
  make_store();
  const std::uint64_t drawn = draw_from(open(), "ns", "t", 1);
  open()->windows()->window_take(window_request(7, 1000));
  run_sql(path, "ALTER TABLE idgen_worker RENAME COLUMN fence TO epoch; PRAGMA user_version = 2");
  const std::string before = bytes_of(path);
  const Error refusal = error_of([&] { draw_from(open(), "ns", "t", 1); });
  EXPECT_EQ(refusal.status(), Status::store_version);
  EXPECT_THAT(std::string(refusal.message()),
              ::testing::HasSubstr("schema version 2, which only builds before the first release made"));
  EXPECT_EQ(bytes_of(path), before);
  const std::string message(refusal.message());
  run_sql(path, message.substr(message.find("BEGIN")));
  EXPECT_EQ(draw_from(open(), "ns", "t", 1), drawn + 1);
  EXPECT_EQ(open()->windows()->window_take(window_request(7, 1000, 2)).fence, 3u);
  EXPECT_EQ(run_sql(path, "PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteFile, AFolderOrADeviceIsNoStore) {
  fs::create_directory(path);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_damaged, "not a file");
  EXPECT_FAILS(draw_from(open_store("sqlite:/dev/null", creating()), "ns", "t", 1), Status::store_damaged,
               "not a file");
}

TEST_F(SqliteFile, AFileWithTwoNamesIsUnsafe) {
  make_store();
  fs::create_hard_link(path, folder.file("second.db"));
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_unsafe, "2 names");
  fs::remove(folder.file("second.db"));
  EXPECT_EQ(draw_from(open(), "ns", "t", 1), 11u);
}

TEST_F(SqliteFile, AFileThatIsDeletedUnderAnOpenStoreIsNoticed) {
  make_store();
  const auto store = open();
  const WindowRequest request = window_request(7, 1000);
  const Window window = store->windows()->window_take(request);
  EXPECT_EQ(draw_from(store, "ns", "t", 1), 11u);
  fs::rename(path, folder.file("elsewhere.db"));
  EXPECT_FAILS(draw_from(store, "ns", "t", 1), Status::store_missing, path);
  EXPECT_FAILS(store->windows()->window_take(renewal(request, window, 2000)), Status::store_missing, path);
  fs::rename(folder.file("elsewhere.db"), path);
  EXPECT_EQ(draw_from(store, "ns", "t", 1), 12u);
  EXPECT_EQ(store->windows()->window_take(renewal(request, window, 2000)).start_ms, window.end_ms);
}

// --------------------------------------------------------------------------------------------------- out of reach

// Gives up root's power to write anywhere. Throws if that fails, so that no test passes without its fault.
void become_nobody() {
  if (geteuid() != 0) return;
  constexpr uid_t kNobody = 65534;
  if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) {
    throw std::runtime_error(std::string("cannot become nobody: ") + std::strerror(errno));
  }
}

std::string as_nobody(const std::function<void(Store&)>& call, const std::string& url,
                      const StoreOptions& options = not_creating()) {
  return in_child([&]() -> std::string {
    become_nobody();
    return report_of([&] { call(*open_store(url, options)); });
  });
}

void draw_one(Store& store) { store.segment_grant("ns", "t", {.step = 1}); }
void show(Store& store) { store.segment_show("ns", "t"); }

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(SqliteFile, AFileThatMayNotBeWrittenIsRefusedAndTheMessageNamesIt) {
  make_store();
  fs::permissions(path, fs::perms(0444));
  EXPECT_THAT(as_nobody(draw_one, folder.url()), AllOf(StartsWith("STORE_PERMISSION"), HasSubstr(path),
                                                       HasSubstr("the file cannot be written (Permission denied)")));
  EXPECT_EQ(as_nobody(show, folder.url()), "OK: nothing was thrown");
}

TEST_F(SqliteFile, AFileThatMayNotBeReadIsRefusedAndTheMessageNamesIt) {
  make_store();
  fs::permissions(path, fs::perms(0200));
  EXPECT_THAT(as_nobody(draw_one, folder.url()),
              AllOf(StartsWith("STORE_PERMISSION"), HasSubstr("the file cannot be read (Permission denied)")));
}

TEST_F(SqliteFile, AFolderThatMayNotBeWrittenIsRefusedAndTheMessageNamesIt) {
  make_store();
  fs::permissions(path, fs::perms(0666));
  fs::permissions(folder.path(), fs::perms(0555));
  EXPECT_THAT(as_nobody(draw_one, folder.url()),
              AllOf(StartsWith("STORE_PERMISSION"), HasSubstr("its folder \"" + folder.path() + "\"")));
  EXPECT_THAT(
      as_nobody([](Store& store) { store.segment_create("ns", "t"); }, folder.url("new.db"), creating()),
      AllOf(StartsWith("STORE_PERMISSION"), HasSubstr("cannot be made in the folder \"" + folder.path() + "\"")));
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_F(SqliteFile, AFolderThatMayNotBeSearchedIsRefused) {
  fs::create_directory(folder.file("closed"));
  open_store(folder.url("closed/ids.db"), creating())->segment_create("ns", "t");
  fs::permissions(folder.file("closed"), fs::perms(0600));
  EXPECT_THAT(as_nobody(draw_one, folder.url("closed/ids.db")),
              AllOf(StartsWith("STORE_PERMISSION"), HasSubstr("right to search")));
  fs::permissions(folder.file("closed"), fs::perms(0700));
}

TEST_F(SqliteFile, ALockFileThatMayNotBeWrittenIsRefusedAndTheMessageNamesIt) {
  make_store();
  fs::permissions(folder.path(), fs::perms(0777));
  fs::permissions(path, fs::perms(0666));
  fs::permissions(path + "-lock", fs::perms(0444));
  EXPECT_THAT(as_nobody([](Store& store) { store.windows()->window_take(window_request(7, 1000)); }, folder.url()),
              AllOf(StartsWith("STORE_PERMISSION"), HasSubstr(path + "-lock")));
  EXPECT_EQ(as_nobody(show, folder.url()), "OK: nothing was thrown");
}

TEST_F(SqliteFile, AReaderNeedsNoLockFileWhereItMayNotMakeOne) {
  make_store();
  fs::remove(path + "-lock");
  EXPECT_EQ(as_nobody(show, folder.url()), "OK: nothing was thrown");
  EXPECT_FALSE(fs::exists(path + "-lock"));
}

TEST_F(SqliteFile, TheLockFileIsAsAccessibleAsTheDatabase) {
  open()->segment_create("ns", "t");
  fs::permissions(path, fs::perms(0660));
  fs::remove(path + "-lock");
  open()->windows()->window_take(window_request(7, 1000));
  EXPECT_EQ(fs::status(path + "-lock").permissions(), fs::perms(0660));
}

// For a store that a group shares. Only root can give a file away, but everybody can give one to a group of their own.
TEST_F(SqliteFile, TheLockFileBelongsToTheGroupThatTheDatabaseIsSharedBy) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be two members of a group";
  constexpr gid_t kGroup = 54321;
  const auto become_member = [&](uid_t user) {
    if (setgroups(1, &kGroup) != 0 || setgid(user) != 0 || setuid(user) != 0) throw std::runtime_error("setuid");
  };
  make_store();
  fs::permissions(path, fs::perms(0660));
  fs::permissions(folder.path(), fs::perms(0770));
  for (const std::string& shared : {path, folder.path()}) ASSERT_EQ(chown(shared.c_str(), 65534, kGroup), 0);
  for (const uid_t maker : {0, 54322}) {
    fs::remove(path + "-lock");
    for (const uid_t user : {maker, uid_t{54323}}) {
      EXPECT_EQ(in_child([&] {
                  if (user != 0) become_member(user);
                  return report_of([&] { draw_from(open(), "ns", "t", 1); });
                }),
                "OK: nothing was thrown")
          << maker << " " << user;
    }
    struct stat lock {};
    ASSERT_EQ(stat((path + "-lock").c_str(), &lock), 0);
    EXPECT_EQ(lock.st_gid, kGroup);
    EXPECT_EQ(lock.st_mode & 0777, 0660u);
    EXPECT_EQ(lock.st_uid, maker == 0 ? 65534 : maker) << "root makes it for who has the database";
  }
}

// A process with its own mounts; throws if the system does not permit that.
void enter_mount_namespace() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    throw std::runtime_error(std::string("unshare: ") + std::strerror(errno));
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    throw std::runtime_error(std::string("mount --make-private: ") + std::strerror(errno));
  }
}

TEST_F(SqliteFile, AFileThatIsMountedByItselfIsUnsafe) {
  make_store();
  fs::create_directory(folder.file("container"));
  const std::string inside = folder.file("container/ids.db");
  write_bytes(inside, "");
  const std::string report = in_child([&]() -> std::string {
    try {
      enter_mount_namespace();
    } catch (const std::runtime_error& error) {
      return std::string("skipped: ") + error.what();
    }
    if (mount(path.c_str(), inside.c_str(), nullptr, MS_BIND, nullptr) != 0) return std::strerror(errno);
    const std::string alone = report_of([&] { draw_from(open_store("sqlite:" + inside, creating()), "ns", "t", 1); });
    // The folder, mounted, holds everything that belongs to the store.
    if (umount(inside.c_str()) != 0) return std::strerror(errno);
    if (mount(folder.path().c_str(), folder.path().c_str(), nullptr, MS_BIND, nullptr) != 0)
      return std::strerror(errno);
    return alone + " | " + report_of([&] { draw_from(open(), "ns", "t", 1); });
  });
  if (report.starts_with("skipped: ")) GTEST_SKIP() << "this user may not mount: " << report;
  EXPECT_THAT(report, AllOf(StartsWith("STORE_UNSAFE"), HasSubstr(inside + "\" is mounted by itself"),
                            HasSubstr("Mount the folder"), HasSubstr(" | OK")));
}

// A device with no space left: a small tmpfs, or where mounting is not permitted a limit on the size of files, which
// SQLite meets in the same place. The report says which, and fails if neither is possible.
std::string on_a_full_device(const TempFolder& folder, const std::function<void()>& prepare,
                             const std::function<void()>& call) {
  return in_child([&]() -> std::string {
    try {
      enter_mount_namespace();
      if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) throw std::runtime_error("mount tmpfs");
      prepare();
      const int fd = open(folder.file("ballast").c_str(), O_WRONLY | O_CREAT, 0600);
      const std::string page(4096, 'x');
      while (write(fd, page.data(), page.size()) > 0) {
      }
      if (fd < 0 || errno != ENOSPC) throw std::runtime_error("the tmpfs does not fill up");
      close(fd);
      return "tmpfs: " + report_of(call);
    } catch (const std::runtime_error&) {
      prepare();
      signal(SIGXFSZ, SIG_IGN);
      const rlimit none{0, 0};
      if (setrlimit(RLIMIT_FSIZE, &none) != 0) throw;
      return "limit: " + report_of(call);
    }
  });
}

TEST_F(SqliteFile, AFullDeviceIsReportedAsFullAndNothingIsGranted) {
  const auto prepare = [&] { make_store(); };
  const std::string take = on_a_full_device(folder, prepare, [&] { draw_from(open(), "ns", "t", 1); });
  RecordProperty("device", take.substr(0, 5));
  EXPECT_THAT(take, AllOf(HasSubstr(": STORE_FULL: "), HasSubstr("Free space")));
  const TempFolder other;
  const std::string create = on_a_full_device(
      other, [] {}, [&] { open_store(other.url(), creating())->segment_create("ns", "t"); });
  EXPECT_THAT(create, HasSubstr(": STORE_FULL: "));
}

TEST_F(SqliteFile, AStoreIsUsableAgainOnceThereIsSpace) {
  const std::string report = in_child([&]() -> std::string {
    make_store();
    const auto store = open();
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit none{0, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    const Error error = error_of([&] { draw_from(store, "ns", "t", 1); });
    setrlimit(RLIMIT_FSIZE, &limit);
    return name_of(error) + " then " + std::to_string(draw_from(store, "ns", "t", 1));
  });
  EXPECT_EQ(report, "STORE_FULL then 11");
}

TEST_F(SqliteFile, AReadOnlyFileSystemIsRefused) {
  make_store();
  const std::string report = in_child([&]() -> std::string {
    try {
      enter_mount_namespace();
      const char* where = folder.path().c_str();
      struct statvfs at {};
      if (mount(where, where, nullptr, MS_BIND, nullptr) != 0 || statvfs(where, &at) != 0 ||
          mount(nullptr, where, nullptr,
                MS_BIND | MS_REMOUNT | MS_RDONLY | (at.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)), nullptr) != 0) {
        throw std::runtime_error(std::string("mount: ") + std::strerror(errno));
      }
    } catch (const std::runtime_error&) {
      // No mounts here: a file and a folder that nobody may write take the same path.
      fs::permissions(path, fs::perms(0444));
      fs::permissions(folder.path(), fs::perms(0555));
      become_nobody();
    }
    return report_of([&] { draw_from(open(), "ns", "t", 1); }) + " | " +
           report_of([&] { open_store(folder.url("new.db"), creating())->segment_create("ns", "t"); });
  });
  fs::permissions(folder.path(), fs::perms(0755));
  EXPECT_THAT(report, AllOf(StartsWith("STORE_PERMISSION"), HasSubstr("| STORE_PERMISSION"),
                            HasSubstr("the file cannot be written")));
}

}  // namespace
}  // namespace idgen
