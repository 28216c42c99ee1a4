// worker_source = uid_generator, cosid, zookeeper: a number by another generator's rows, reported and lost.
#include <unistd.h>

#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "foreign/number_rules.hpp"
#include "generator/world.hpp"
#include "idgen/checkpoint.hpp"
#include "temp_folder.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Another generator's rows, as all its processes see them.
struct SimRows {
  struct Row {
    std::string instance;  // "" = given back
    std::int64_t stamp_ms = 0;
  };
  std::map<std::uint64_t, Row> rows;
  std::uint64_t next_id = 1;       // of uid_generator
  std::set<std::uint64_t> idgens;  // ids of rows
};

// Windows whose owner may be known to be alive, and another generator's rows beside them. For threads, too.
class RowsStore final : public LeasingStore, public NumberStore {
 public:
  RowsStore(SimDisk& disk, SimRows& rows) : LeasingStore(disk), rows_(rows) {}

  Window window_take(const WindowRequest& request) override {
    const std::lock_guard lock(mutex_);
    return LeasingStore::window_take(request);
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    const std::lock_guard lock(mutex_);
    LeasingStore::window_return(name_space, worker, fence, end_ms, used_ms);
  }
  bool has_leases() const override { return is_shared; }
  NumberStore* numbers() noexcept override { return this; }

  ClaimedNumber number_claim(const NumberRequest& request) override {
    const std::lock_guard lock(mutex_);
    before_claim();
    claims.push_back(request);
    if (request.kind == kUidGenerator) return claim_id(request);
    ClaimedNumber claimed;
    for (auto& [number, row] : rows_.rows) {
      const bool is_own = row.instance == request.address;
      const bool is_free = row.instance.empty() || (request.kind == kCosid && request.guard_ms > 0 &&
                                                    row.stamp_ms <= request.now_ms - request.guard_ms);
      if (!is_own && (!is_free || request.kind == kLeaf)) continue;
      claimed.number = number;
      claimed.used_to_ms = row.stamp_ms;
      if (request.kind == kCosid) row = {request.address, std::max(row.stamp_ms, request.now_ms)};
      claimed.reported_ms = row.stamp_ms;
      return claimed;
    }
    claimed.number = rows_.rows.empty() ? 0 : rows_.rows.rbegin()->first + 1;
    if (request.kind == kCosid && claimed.number >= request.numbers) throw Error(Status::worker_busy, "none is free");
    rows_.rows[claimed.number] = {request.address, request.now_ms};
    claimed.reported_ms = request.now_ms;
    return claimed;
  }
  ClaimedNumber number_keep(const NumberRequest& request, const ClaimedNumber& held) override {
    const std::lock_guard lock(mutex_);
    ++reports;
    before_report();
    ClaimedNumber kept = held;
    SimRows::Row& row = rows_.rows[held.number];
    if (row.instance != request.address) {
      kept.lost = "another one has it";
      return kept;
    }
    row.stamp_ms = std::max(row.stamp_ms, request.now_ms);
    kept.reported_ms = row.stamp_ms;
    return kept;
  }
  void number_release(const NumberRequest& request, const ClaimedNumber& held,
                      std::optional<std::int64_t> used_ms) override {
    const std::lock_guard lock(mutex_);
    SimRows::Row& row = rows_.rows[held.number];
    if (row.instance != request.address) return;
    if (!used_ms) {
      row.instance += "~left";
    } else {
      row = {"", std::max(row.stamp_ms, *used_ms)};
    }
  }

  bool is_shared = true;
  std::function<void()> before_claim = [] {};
  std::function<void()> before_report = [] {};
  int reports = 0;
  std::vector<NumberRequest> claims;

 private:
  ClaimedNumber claim_id(const NumberRequest& request) {
    ClaimedNumber claimed;
    claimed.number = rows_.next_id;
    ++rows_.next_id;
    for (const auto& [id, row] : rows_.rows) {
      if (id % request.numbers != claimed.number % request.numbers || claimed.number < request.numbers) continue;
      const bool is_idgens = rows_.idgens.contains(id);
      if (!is_idgens && id < request.numbers) claimed.taken = ClaimedNumber::Taken::by_original;
      if (is_idgens && claimed.taken == ClaimedNumber::Taken::by_nobody) claimed.taken = ClaimedNumber::Taken::by_idgen;
    }
    rows_.rows[claimed.number] = {request.address, request.now_ms};
    rows_.idgens.insert(claimed.number);
    return claimed;
  }

  std::mutex mutex_;
  SimRows& rows_;
};

class ForeignWorkers : public World {
 protected:
  ForeignWorkers() { renew(); }
  // Another process's connection.
  void renew() {
    const bool is_shared = !other || other->is_shared;
    other = std::make_shared<RowsStore>(disk, rows);
    other->is_shared = is_shared;
    store = other;
  }
  Config settled(const std::string& kind, const Settings& more) {
    Config config =
        this->config({{"worker", "auto"}, {"worker_source", kind}, {"layout", "time:41ms worker:4 sequence:8"}});
    for (const auto& [key, value] : more) config.set(key, value);
    return config;
  }
  std::unique_ptr<Handle> opened(const std::string& kind, const Settings& more = {}) {
    return std::make_unique<Handle>(settled(kind, more));
  }
  Error refusal(const std::string& kind, const Settings& more = {}) {
    return error_of([&] { opened(kind, more); });
  }
  static std::uint64_t worker_of(Handle& handle) { return World::worker_of(handle, handle.next()); }
  void take_by_another(std::uint64_t number) { rows.rows[number] = {"another:1", now_ms()}; }

  SimRows rows;
  std::shared_ptr<RowsStore> other;
};

class UidGenerator : public ForeignWorkers {};
class Cosid : public ForeignWorkers {};
class Leaf : public ForeignWorkers {
 protected:
  static constexpr const char* kAddress = "10.0.0.1:8080";
  Settings here(const Settings& more = {}) {
    Settings all{{"worker_address", kAddress}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(UidGenerator, EachStartHasTheIdOfARowOfItsOwn) {
  for (std::uint64_t expected = 1; expected <= 3; ++expected) {
    auto handle = opened("uid_generator");
    EXPECT_EQ(worker_of(*handle), expected);
  }
  EXPECT_THAT(other->claims.front().address, HasSubstr(std::string(kUidMark)));
}

TEST_F(UidGenerator, AnIdBeyondTheFieldIsWrapped) {
  rows.next_id = 30'001;  // as where a server's ids jump
  auto handle = opened("uid_generator");
  EXPECT_EQ(worker_of(*handle), 30'001u % 16);
}

TEST_F(UidGenerator, AWrappedNumberThatALiveProcessOfIdgenHasIsPassedOver) {
  auto first = opened("uid_generator");
  EXPECT_EQ(worker_of(*first), 1u);
  rows.next_id = 17;
  const auto before = std::exchange(store, nullptr);
  renew();
  auto second = opened("uid_generator");
  EXPECT_EQ(worker_of(*second), 2u);
  EXPECT_EQ(other->claims.size(), 2u);
}

TEST_F(UidGenerator, AWrappedNumberContinuesAboveWhatItsFormerProcessReserved) {
  std::uint64_t last = 0;
  {
    auto first = opened("uid_generator");
    last = first->next();
    store->dead = true;  // killed: its window stays reserved
    first.reset();
    disk.workers.at(1).owner = {};
  }
  renew();
  rows.next_id = 17;
  auto second = opened("uid_generator");
  const std::uint64_t id = second->next();
  EXPECT_EQ(second->layout().decode(id).worker, 1u);
  EXPECT_GT(second->layout().decode(id).unix_ms, second->layout().decode(last).unix_ms + 5'000);
}

TEST_F(UidGenerator, AWrappedNumberOfARowOfTheOriginalIsLeftToIt) {
  rows.rows[3] = {"10.0.0.9:1732281600000-4711", 0};
  rows.next_id = 19;
  auto handle = opened("uid_generator");
  EXPECT_EQ(worker_of(*handle), 4u);
}

TEST_F(UidGenerator, AWrappedNumberOfAnotherMachinesProcessIsNotUsedWithWindowsOfOneMachine) {
  other->is_shared = false;
  rows.rows[3] = {"elsewhere", 0};
  rows.idgens.insert(3);
  rows.next_id = 19;
  auto handle = opened("uid_generator");
  EXPECT_EQ(worker_of(*handle), 4u);
}

TEST_F(UidGenerator, ThatFindsNoNumberSaysWhichRowsToDelete) {
  other->is_shared = false;
  for (std::uint64_t id = 1; id < 16; ++id) rows.rows[id] = {"original", 0};
  rows.rows[16] = {"elsewhere", 0};
  rows.idgens.insert(16);
  rows.next_id = 17;
  EXPECT_ERROR(WORKER_BUSY, AllOf(HasSubstr("are beyond worker (15 at most)"), HasSubstr("Delete the rows")),
               opened("uid_generator", {{"worker_wait", "0ms"}}));
  EXPECT_EQ(other->claims.size(), 100u);
}

TEST_F(Cosid, ANumberIsReportedEveryMinuteAndGivenBackAtTheEnd) {
  auto handle = opened("cosid");
  EXPECT_EQ(worker_of(*handle), 0u);
  const std::string instance = rows.rows.at(0).instance;
  EXPECT_THAT(instance, StartsWith(runtime->host_name() + ":" + std::to_string(getpid()) + "-"));
  const int before = other->reports;
  pass(10 * kSecond, 30);
  EXPECT_EQ(other->reports - before, 5);
  EXPECT_GE(rows.rows.at(0).stamp_ms, now_ms() - 60'000);
  handle->close();
  EXPECT_EQ(rows.rows.at(0).instance, "");
  pass(3600 * kSecond);
  EXPECT_EQ(other->reports - before, 5) << "nothing is reported any more";
}

TEST_F(Cosid, WhoHasTheNumberNextBeginsAboveAllIdsOfIt) {
  auto handle = opened("cosid", {{"on_overflow", "borrow"}});
  std::uint64_t last = 0;
  for (int i = 0; i < 256 * 500; ++i) last = handle->next();  // half a second ahead of the clock
  ASSERT_GT(ms_of(*handle, last), now_ms());
  handle->close();
  EXPECT_GT(rows.rows.at(0).stamp_ms, ms_of(*handle, last));
}

TEST_F(Cosid, ANumberThatAnotherInstanceHasTakenIsFollowedByAnotherOne) {
  auto handle = opened("cosid");
  const std::uint64_t first = handle->next();
  EXPECT_EQ(handle->layout().decode(first).worker, 0u);
  take_by_another(0);
  pass(61 * kSecond);
  const std::uint64_t second = handle->next();
  EXPECT_EQ(handle->layout().decode(second).worker, 1u);
  EXPECT_GT(second, first);
  handle->close();
  EXPECT_EQ(rows.rows.at(0).instance, "another:1") << "what is not ours is not given back";
  EXPECT_EQ(disk.workers.at(0).owner, Nonce{}) << "but its window is";
}

TEST_F(Cosid, ANumberThatAnotherInstanceHasTakenIsAnErrorByPolicy) {
  auto handle = opened("cosid", {{"on_worker_lost", "fail"}, {"wait_max", "100ms"}});
  EXPECT_EQ(worker_of(*handle), 0u);
  take_by_another(0);
  pass(61 * kSecond);
  EXPECT_ERROR(WORKER_BUSY, HasSubstr("no longer this process's: another one has it"), handle->next());
}

// The next owner of the number may be on a machine with the right time, and without this one's windows.
TEST_F(Cosid, AClockThatIsTooFarAheadToBeReportedReservesNothing) {
  auto handle = opened("cosid", {{"worker_guard", "300s"}, {"max_ahead", "20s"}, {"wait_max", "100ms"}});
  handle->next();
  const std::int64_t reported_ms = rows.rows.at(0).stamp_ms;
  other->before_report = [] { throw Error(Status::clock_leap, "ahead of the server's"); };
  runtime->set_clock_by(60 * kSecond);
  for (int i = 0; i < 10; ++i) {
    const Error error = error_of([&] { handle->next(); });
    EXPECT_EQ(error.status(), i == 0 ? error.status() : Status::clock_leap) << error.message();
    runtime->run_all();
  }
  for (const auto& [worker, row] : disk.workers) EXPECT_LE(row.hw, reported_ms + 20'000);
  runtime->set_clock_by(-60 * kSecond);
  other->before_report = [] {};
  pass(kSecond, 12);
  EXPECT_GE(ms_of(*handle, handle->next()), reported_ms + 12'000);
}

// CosId has no windows: what it may have taken for free must not be issued here.
TEST_F(Cosid, WithoutReportsNothingIsReservedBeyondTheGuard) {
  auto handle = opened("cosid", {{"worker_guard", "60s"}, {"wait_max", "100ms"}});
  other->before_report = [] { throw Error(Status::store_unavailable, "its server is down"); };
  std::int64_t latest = 0;
  Error error(Status::ok, "");
  for (int i = 0; i < 100 && error.status() == Status::ok; ++i) {
    pass(kSecond);
    try {
      latest = ms_of(*handle, handle->next());
    } catch (const Error& thrown) {
      error = thrown;
    }
  }
  EXPECT_EQ(error.status(), Status::store_unavailable);
  EXPECT_THAT(error.message(), HasSubstr("was not reported for too long"));
  EXPECT_LT(latest, rows.rows.at(0).stamp_ms + 60'000);
  EXPECT_GT(latest, rows.rows.at(0).stamp_ms + 40'000) << "an outage of the half is not noticed";
  for (const auto& [worker, row] : disk.workers) EXPECT_LE(row.hw, rows.rows.at(0).stamp_ms + 60'000);
  other->before_report = [] {};
  pass(kSecond, 12);
  EXPECT_EQ(worker_of(*handle), 0u) << "nobody has taken it";
}

TEST_F(Cosid, AfterAPauseTheRowIsAskedBeforeMoreIsReserved) {
  auto handle = opened("cosid");
  EXPECT_EQ(worker_of(*handle), 0u);
  runtime->hold_back(true);
  runtime->pass(600 * kSecond);
  runtime->hold_back(false);
  take_by_another(0);
  EXPECT_EQ(worker_of(*handle), 1u);
}

TEST_F(Cosid, ANumberWhoseWorkerIsHeldIsLeftToBeTakenForDead) {
  rows.rows[0] = {"", now_ms() - 1'000};
  disk.workers[0] = {1, Nonce{9}, 0};  // a process of idgen that its CosId's server has not seen for long
  auto handle = opened("cosid");
  EXPECT_EQ(worker_of(*handle), 1u);
  EXPECT_THAT(rows.rows.at(0).instance, HasSubstr("~left"));
  EXPECT_EQ(rows.rows.at(1).instance, other->claims.back().address);
}

TEST_F(Cosid, ANumberThatWasUsedAheadOfThisClockIsRefusedWithTheMilliseconds) {
  rows.rows[0] = {"", now_ms() + 3'600'000};
  const Error error = refusal("cosid");
  EXPECT_EQ(error.status(), Status::clock_back);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("machine id 0 of namespace 'default'"), HasSubstr("3600000 ms ahead")));
  EXPECT_EQ(error.retry_after_ns(), 3'600'000'000'000u);
  EXPECT_EQ(rows.rows.at(0).instance, "") << "it is given back";
  EXPECT_EQ(rows.rows.at(0).stamp_ms, now_ms() + 3'600'000);
}

TEST_F(Cosid, AnAddressIsThisProcessesAlsoAfterARestart) {
  {
    auto handle = opened("cosid", {{"worker_address", "10.0.0.1:8080"}});
    EXPECT_EQ(worker_of(*handle), 0u);
    rows.rows[1] = {"", 0};
    store->dead = true;  // killed
    handle.reset();
  }
  rows.rows[0] = {"10.0.0.1:8080", now_ms()};
  disk.workers.at(0).owner = {};
  renew();
  auto handle = opened("cosid", {{"worker_address", "10.0.0.1:8080"}});
  EXPECT_EQ(worker_of(*handle), 0u);
}

TEST_F(Cosid, ACopyOfAProcessLeavesTheNumberToTheOriginalAndHasAnother) {
  for (const Settings& settings : {Settings{}, Settings{{"worker_address", "10.0.0.1:8080"}, {"namespace", "b"}}}) {
    rows.rows.clear();
    disk = SimDisk();
    renew();
    auto handle = opened("cosid", settings);
    EXPECT_EQ(worker_of(*handle), 0u);
    const std::string original = rows.rows.at(0).instance;
    idgen::reset();  // as the copy calls it
    EXPECT_EQ(worker_of(*handle), 1u);
    EXPECT_EQ(rows.rows.at(0).instance, original);
    EXPECT_NE(rows.rows.at(1).instance, original);
  }
}

TEST_F(Cosid, AGuardThatWhatIsReservedOutlastsIsRefused) {
  EXPECT_ERROR(VALUE, HasSubstr("at least 60000ms"), opened("cosid", {{"worker_guard", "59s"}}));
  opened("cosid", {{"worker_guard", "0ms"}});
}

TEST_F(Leaf, ANumberIsTheAddressesForGoodAndReportedEveryThreeSeconds) {
  rows.rows[4] = {"10.0.0.9:8080", 0};
  auto handle = opened("zookeeper", here());
  EXPECT_EQ(worker_of(*handle), 5u);
  runtime->run_all();
  const int before = other->reports;
  pass(kSecond, 30);
  EXPECT_EQ(other->reports - before, 10);
  handle->close();
  EXPECT_EQ(rows.rows.at(5).instance, kAddress);
  renew();
  runtime->pass(kSecond);
  auto again = opened("zookeeper", here());
  EXPECT_EQ(worker_of(*again), 5u);
}

TEST_F(Leaf, AClockBehindItsOwnLastReportIsRefusedWithTheMilliseconds) {
  rows.rows[4] = {kAddress, now_ms() + 3'600'000};
  for (const char* policy : {"wait", "continue", "fail"}) {
    const Error error = refusal("zookeeper", here({{"on_clock_back", policy}}));
    EXPECT_EQ(error.status(), Status::clock_back) << policy;
    EXPECT_THAT(error.message(), AllOf(HasSubstr("'10.0.0.1:8080'"), HasSubstr("3600000 ms ahead of this clock")));
  }
  rows.rows[4].stamp_ms = now_ms() + 2'000;
  auto handle = opened("zookeeper", here());
  EXPECT_EQ(worker_of(*handle), 4u) << "waited for, up to wait_max";
}

TEST_F(Leaf, ANumberBeyondTheFieldIsRefused) {
  rows.rows[15] = {"10.0.0.9:8080", 0};
  EXPECT_ERROR(EXHAUSTED, AllOf(HasSubstr("has the number 16"), HasSubstr("at most 15")), opened("zookeeper", here()));
}

TEST_F(Leaf, AnAddressIsRequiredAndOneThatLeafCanRead) {
  EXPECT_THAT(refusal("zookeeper").message(), HasSubstr("needs worker_address"));
  for (const char* address : {"my-host:8080", "10.0.0.1", ":8080", "10.0.0.1:", "a/b:1", "a b:1"}) {
    const Error error = refusal("zookeeper", {{"worker_address", address}});
    EXPECT_EQ(error.status(), Status::value) << address;
    EXPECT_THAT(error.message(), HasSubstr("without a hyphen")) << address;
  }
  EXPECT_THAT(refusal("zookeeper", here({{"namespace", "a/b"}})).message(), HasSubstr("cannot be a node's name"));
}

TEST_F(Leaf, ANodeThatWasDeletedIsFollowedByAnotherNumber) {
  auto handle = opened("zookeeper", here());
  EXPECT_EQ(worker_of(*handle), 0u);
  rows.rows[0] = {"deleted", 0};
  pass(11 * kSecond);
  EXPECT_EQ(worker_of(*handle), 1u);
}

TEST_F(Leaf, AnAddressOfTwoProcessesIsAnErrorThatNoOtherNumberMends) {
  auto handle = opened("zookeeper", here({{"wait_max", "100ms"}}));
  EXPECT_EQ(worker_of(*handle), 0u);
  other->before_report = [] { throw Error(Status::value, "another process reports under it too"); };
  pass(11 * kSecond);
  for (int i = 0; i < 3; ++i) {
    EXPECT_ERROR(VALUE, _, handle->next());
    runtime->pass(kSecond);
  }
  EXPECT_EQ(rows.rows.size(), 1u);
}

TEST_F(Leaf, AWorkerThatIsHeldIsWaitedForBecauseThereIsNoOtherNumber) {
  rows.rows[4] = {kAddress, 0};
  disk.workers[4] = {1, Nonce{9}, 0};
  EXPECT_ERROR(WORKER_BUSY, AllOf(HasSubstr("another owner is alive"), HasSubstr("worker_wait")),
               opened("zookeeper", here({{"worker_wait", "3s"}})));
}

class LeafCache : public Leaf {
 protected:
  Settings cached(const Settings& more = {}) {
    Settings all = here({{"worker_cache", path}});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void zookeeper_is_down() {
    other->before_claim = [] { throw Error(Status::store_unavailable, "ZooKeeper is down"); };
    other->before_report = other->before_claim;
  }
  std::string content() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempFolder folder;
  const std::string path = folder.file("workerID.properties");
};

TEST_F(LeafCache, AStartWithZooKeeperDownHasTheNumberOfTheLastOne) {
  rows.rows[4] = {kAddress, 0};
  opened("zookeeper", cached());
  EXPECT_EQ(content(), "workerID=4\nidgen.namespace=default\nidgen.address=10.0.0.1:8080\n");
  renew();
  zookeeper_is_down();
  auto handle = opened("zookeeper", cached());
  EXPECT_EQ(worker_of(*handle), 4u);
  other->before_report = [] {};
  const int before = other->reports;
  pass(4 * kSecond);
  EXPECT_EQ(other->reports, before + 1) << "reported once it is up";
}

TEST_F(LeafCache, AStartWithZooKeeperDownContinuesAboveWhatWasReserved) {
  std::int64_t hw = 0;
  {
    auto handle = opened("zookeeper", cached());
    handle->next();
    hw = disk.workers.at(0).hw;
    store->dead = true;  // killed
    handle.reset();
    disk.workers.at(0).owner = {};
  }
  renew();
  zookeeper_is_down();
  auto handle = opened("zookeeper", cached());
  EXPECT_GE(ms_of(*handle, handle->next()), hw);
}

TEST_F(LeafCache, ANumberOfLeafsOwnFileWillDo) {
  std::ofstream(path) << "workerID=7";
  zookeeper_is_down();
  auto handle = opened("zookeeper", cached());
  EXPECT_EQ(worker_of(*handle), 7u);
}

TEST_F(LeafCache, ANumberThatIsSomebodyElsesOnceZooKeeperIsUpIsLost) {
  std::ofstream(path) << "workerID=7";
  zookeeper_is_down();
  auto handle = opened("zookeeper", cached());
  EXPECT_EQ(worker_of(*handle), 7u);
  rows.rows[7] = {"10.0.0.9:8080", 0};
  other->before_claim = other->before_report = [] {};
  pass(11 * kSecond);
  EXPECT_EQ(worker_of(*handle), 8u);
}

TEST_F(LeafCache, WithoutANumberAStartWithZooKeeperDownFails) {
  zookeeper_is_down();
  EXPECT_EQ(refusal("zookeeper", cached({{"wait_max", "0ms"}})).status(), Status::store_unavailable);
  EXPECT_EQ(refusal("zookeeper", here({{"wait_max", "0ms"}})).status(), Status::store_unavailable);
  std::ofstream(path) << "workerID=x\n";
  EXPECT_EQ(refusal("zookeeper", cached({{"wait_max", "0ms"}})).status(), Status::store_unavailable);
}

TEST_F(LeafCache, IsNotWrittenThroughALinkThatSomebodyElseHasMade) {
  const std::string victim = folder.file("victim");
  std::ofstream(victim) << "important";
  ASSERT_EQ(symlink(victim.c_str(), path.c_str()), 0);
  ASSERT_EQ(symlink(victim.c_str(), (path + ".new-" + std::to_string(getpid())).c_str()), 0);
  rows.rows[4] = {kAddress, 0};
  opened("zookeeper", cached());
  EXPECT_THAT(content(), HasSubstr("workerID=4"));
  std::ifstream file(victim);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "important");
}

TEST_F(LeafCache, AFileOfAnotherProcessIsRefused) {
  opened("zookeeper", cached());
  renew();
  zookeeper_is_down();
  EXPECT_ERROR(VALUE, HasSubstr("'idgen.address=10.0.0.1:8080'"),
               opened("zookeeper", {{"worker_cache", path}, {"worker_address", "10.0.0.2:8080"}}));
}

TEST_F(LeafCache, AFileThatCannotBeWrittenIsAnErrorBeforeItIsNeeded) {
  EXPECT_ERROR(STORE_PERMISSION, HasSubstr("worker_cache"),
               opened("zookeeper", here({{"worker_cache", folder.file("nowhere/file")}})));
}

// With the system's clock and threads, for the thread sanitizer.
TEST_F(ForeignWorkers, AreReportedAndGivenBackWhileThreadsDrawAndClose) {
  Config config = settled("cosid", {{"window", "100ms"}, {"max_ahead", "100ms"}, {"worker_guard", "400ms"}});
  config.runtime = nullptr;
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 5; ++round) {
    Handle handle(config);
    std::vector<std::vector<std::uint64_t>> drawn(3);
    std::vector<std::thread> drawing;
    for (auto& ids : drawn) {
      drawing.emplace_back([&handle, &ids] {
        for (int i = 0; i < 300; ++i) {
          ids.push_back(handle.next());
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
    for (std::thread& thread : drawing) thread.join();
    handle.close();
    for (const auto& ids : drawn)
      for (const std::uint64_t id : ids) EXPECT_TRUE(seen.insert(id).second);
  }
  for (const auto& [number, row] : rows.rows) EXPECT_EQ(row.instance, "") << number;
}

TEST_F(ForeignWorkers, AreRefusedWhereTheStoreHasNoSuchRows) {
  Config config = settled("cosid", {});
  config.set("store", "sqlite:ids.db");
  EXPECT_ERROR(UNSUPPORTED,
               AllOf(HasSubstr("Set worker_url"), HasSubstr("redis://HOST"), HasSubstr("mysql://"),
                     Not(HasSubstr("zookeeper://"))),
               Handle(config));
  config.set("worker_url", "zookeeper://127.0.0.1");
  EXPECT_ERROR(UNSUPPORTED, _, Handle(config));
}

TEST_F(ForeignWorkers, AreSaidInTheDescription) {
  EXPECT_THAT(opened("cosid")->describe(), HasSubstr("a machine id of CosId's, one of 16"));
  renew();
  EXPECT_THAT(opened("uid_generator", {{"namespace", "b"}})->describe(), HasSubstr("WORKER_NODE at each start"));
}

// The rules by themselves.

NumberRequest request(std::int64_t now_ms, std::int64_t guard_ms = 300'000, std::int64_t limit_ms = 10'000) {
  return {.kind = "cosid",
          .name_space = "orders",
          .address = "10.0.0.1:8080",
          .numbers = 1024,
          .now_ms = now_ms,
          .guard_ms = guard_ms,
          .clock_limit_ms = limit_ms};
}
Status status_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::ok;
}

TEST(NumberRules, AClockThatCosIdWouldTakeForDeadClaimsNothing) {
  constexpr std::int64_t kNow = 1'767'225'600'000;
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow), kNow + 150'000); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow), kNow + 150'001); }), Status::clock_back);
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow), kNow - 10'000); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow), kNow - 10'001); }), Status::clock_leap);
  // Neither, if only the answer took long.
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow + 75'000), kNow + 225'000); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow + 75'000), kNow); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow), request(kNow + 75'001), kNow); }),
            Status::store_unavailable);
  EXPECT_EQ(status_of([&] { check_cosid_clock(request(kNow, 0), request(kNow, 0), kNow + 3'600'000); }), Status::ok);
  try {
    check_cosid_clock(request(kNow), request(kNow), kNow + 3'600'000);
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("3600000 ms behind"));
  }
}

TEST(NumberRules, WhoIsDeadIsSaidByTheClockThatIsBehind) {
  EXPECT_EQ(cosid_expired_ms(request(1'000'000), 2'000'000), 700'000);
  EXPECT_EQ(cosid_expired_ms(request(2'000'000), 1'000'000), 700'000);
  EXPECT_EQ(cosid_expired_ms(request(2'000'000, 0), 1'000'000), -1);
}

TEST(NumberRules, ATimeFarAheadOfTheServersIsNotReported) {
  constexpr std::int64_t kServer = 1'767'225'600'000;
  EXPECT_EQ(status_of([&] { check_report(request(kServer + 10'000), kServer); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_report(request(kServer + 10'001), kServer); }), Status::clock_leap);
  EXPECT_EQ(status_of([&] { check_report(request(kServer - 3'600'000), kServer); }), Status::ok)
      << "a report below the last one keeps nobody out";
}

TEST(NumberRules, AClockOffTheMeanOfTheOthersIsRefused) {
  constexpr std::int64_t kServer = 1'767'225'600'000;
  LeafClocks others;
  EXPECT_EQ(status_of([&] { check_leaf_clock(request(kServer + 3'600'000), others, kServer); }), Status::ok)
      << "nobody to compare with";
  others.add(kServer - 2'000 + 6'000, kServer - 2'000, kServer);  // 6 s ahead of the server
  others.add(kServer - 1'000 + 2'000, kServer - 1'000, kServer);  // 2 s
  others.add(kServer - 3'600'000, kServer - 60'000, kServer);     // does not run any more
  ASSERT_EQ(others.count, 2);
  EXPECT_EQ(status_of([&] { check_leaf_clock(request(kServer + 4'000), others, kServer); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_leaf_clock(request(kServer + 14'000), others, kServer); }), Status::ok);
  EXPECT_EQ(status_of([&] { check_leaf_clock(request(kServer + 14'001), others, kServer); }), Status::clock_leap);
  EXPECT_EQ(status_of([&] { check_leaf_clock(request(kServer - 6'001), others, kServer); }), Status::clock_back);
  try {
    check_leaf_clock(request(kServer - 3'596'000), others, kServer);
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("3600000 ms behind the mean"), HasSubstr("the 2 other processes")));
  }
}

TEST(NumberRules, NamesAreAsTheOriginalsWriteThem) {
  EXPECT_EQ(cosid_name("orders", 7), "orders.00000007");
  EXPECT_EQ(cosid_name("orders", 123'456'789), "orders.123456789");
  EXPECT_EQ(parts_of_address("[::1]:8080").host, "[::1]");
  EXPECT_EQ(parts_of_address("box").port, "");
}

}  // namespace
}  // namespace idgen::sim
