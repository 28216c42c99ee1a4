// The lock file is a witness of its store: it detects a lost database, another store's database, and an older copy.
#include <fstream>

#include "store/owner_locks.hpp"
#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string identity_of(const std::string& file) {
  return run_sql(file, "SELECT lower(hex(identity)) FROM idgen_store");
}

class SqliteWitness : public ::testing::Test {
 protected:
  std::shared_ptr<Store> open() { return open_store(folder.url(), not_creating()); }
  std::string line() {
    std::ifstream in(lock);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TempFolder folder;
  const std::string path = folder.file("ids.db");
  const std::string lock = folder.file("ids.db-lock");
};

TEST_F(SqliteWitness, IsOneLineWithTheIdentityAndTheNumberOfCommits) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  draw_from(open(), "ns", "t", 10);
  EXPECT_THAT(line(), testing::MatchesRegex("idgen store [0-9a-f]{32} commits 0000000000000000002\n"));
  EXPECT_THAT(line(), HasSubstr(identity_of(path)));
  EXPECT_EQ(run_sql(path, "SELECT commits FROM idgen_store"), "2");
}

TEST_F(SqliteWitness, TwoStoresHaveTwoIdentitiesAndDescribeShowsThem) {
  std::string identities[2];
  for (int i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "one.db" : "two.db";
    const auto store = open_store(folder.url(name), creating());
    EXPECT_THAT(store->describe(), HasSubstr("identity not known before the first grant"));
    store->windows()->window_take(window_request(7, 1000));
    identities[i] = identity_of(folder.file(name));
    EXPECT_THAT(store->describe(), AllOf(HasSubstr("identity " + identities[i]),
                                         HasSubstr("Another file, on this machine or another one")));
  }
  EXPECT_NE(identities[0], identities[1]);
}

TEST_F(SqliteWitness, WithoutItsDatabaseTheStoreIsLostAndNeverMadeAnew) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  const auto running = open_store(folder.url(), creating());
  running->windows()->window_take(window_request(7, 1000));
  fs::rename(path, folder.file("elsewhere.db"));
  const auto other = open_store(folder.url(), creating());
  EXPECT_FAILS(draw_from(other, "ns", "t", 1), Status::store_missing, "is lost");
  EXPECT_FAILS(other->windows()->window_take(window_request(7, 1000, 2)), Status::store_missing, lock);
  EXPECT_FAILS(other->segment_create("ns", "t"), Status::store_missing, "Restore the database");
  EXPECT_FALSE(fs::exists(path));
  fs::rename(folder.file("elsewhere.db"), path);
  EXPECT_EQ(draw_from(other, "ns", "t", 1), 11u);
  EXPECT_FAILS(other->windows()->window_take(window_request(7, 1000, 2)), Status::worker_busy, "this process");
}

TEST_F(SqliteWitness, AnotherStoresDatabaseIsRefusedAndBothAreNamed) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  draw_from(open_store(folder.url("other.db"), creating()), "ns", "t", 10);
  const std::string right = identity_of(path);
  const std::string wrong = identity_of(folder.file("other.db"));
  fs::rename(folder.file("other.db"), path);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_missing, "identity " + wrong);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_missing, "its lock file is of " + right);
  EXPECT_FAILS(open()->segment_show("ns", "t"), Status::store_missing, "another store took its place");
}

TEST_F(SqliteWitness, AnOlderCopyGrantsNothingUntilItsLockFileIsDeleted) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  fs::copy_file(path, folder.file("copy.db"));
  draw_from(open(), "ns", "t", 10);
  fs::rename(folder.file("copy.db"), path);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_regressed, "an older copy, at commit 1 of 2");
  EXPECT_FAILS(open()->windows()->window_take(window_request(7, 1000)), Status::store_regressed,
               "idgen segment advance");
  EXPECT_FAILS(open()->namespace_format("ns", ""), Status::store_regressed, "an older copy");  // of archived keys, too
  EXPECT_EQ(open()->segment_show("ns", "t").max_id, 10u);
  EXPECT_EQ(open()->segment_advance("ns", "t", 20).max_id, 20u);
  EXPECT_EQ(open()->segment_advance("ns", "t", 30).max_id, 30u);
  // More commits by now than the lost database had, but nobody has said that all tags were raised.
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_regressed, "at commit 3 of 4");
  fs::remove(lock);
  EXPECT_EQ(draw_from(open(), "ns", "t", 1), 31u);
}

TEST_F(SqliteWitness, ADatabaseThatIsPutInPlaceWithoutALockFileGetsOne) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  const std::string before = line();
  fs::remove(lock);
  EXPECT_EQ(open()->segment_show("ns", "t").max_id, 10u);
  EXPECT_EQ(line(), before);
}

TEST_F(SqliteWitness, ThatHoldsSomethingElseIsDamaged) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  const std::string whole = line();
  for (const std::string& text : {std::string(), whole.substr(1), std::string("idgen"), "x" + whole}) {
    std::ofstream(lock, std::ios::binary) << text;
    EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_damaged, "does not hold what idgen writes into it");
  }
  fs::remove(lock);
  fs::create_symlink(folder.file("elsewhere"), lock);
  EXPECT_FAILS(draw_from(open(), "ns", "t", 1), Status::store_unsafe, lock);
}

// A program that writes to a descriptor which it has closed may hit the lock file, behind its line.
TEST_F(SqliteWitness, WithSomethingBehindItsLineIsRead) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  std::ofstream(lock, std::ios::binary | std::ios::app) << "a line of some log\n";
  EXPECT_EQ(draw_from(open(), "ns", "t", 1), 11u);
}

TEST_F(SqliteWitness, ThatMissedTheLastCommitIsNoReasonToRefuse) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  const std::string before = line();
  draw_from(open(), "ns", "t", 10);
  std::ofstream(lock, std::ios::binary) << before;  // as after a kill between the commit and the note
  EXPECT_EQ(draw_from(open(), "ns", "t", 10), 21u);
}

TEST(OwnerByte, ComesFromNamespaceAndWorkerAndIsTheSameInEveryBuild) {
  EXPECT_EQ(owner_byte("orders", 7), 699717295140127328);
  EXPECT_NE(owner_byte("orders", 7), owner_byte("orders", 8));
  EXPECT_NE(owner_byte("orders", 7), owner_byte("users", 7));
  EXPECT_LT(owner_byte("orders", 7), kTransactionByte);
}

}  // namespace
}  // namespace idgen
