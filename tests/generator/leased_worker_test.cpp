// worker = auto: a number that is leased, lost, and followed by another.
#include <grp.h>
#include <unistd.h>

#include <map>
#include <set>

#include "generator/world.hpp"
#include "runtime/children.hpp"
#include "temp_folder.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// A machine whose name and environment the test decides.
class NamedRuntime final : public SimRuntime {
 public:
  std::string host_name() override { return name; }
  std::optional<std::string> environment(const std::string& variable) override {
    const auto found = variables.find(variable);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  std::string name = "box";
  std::map<std::string, std::string> variables;
};

class LeasedWorker : public World {
 protected:
  LeasedWorker() { store = std::make_shared<LeasingStore>(disk); }

  // As another process that has waited for our lease to end.
  void take_worker(std::uint64_t worker) {
    SimDisk::Worker& row = disk.workers.at(worker);
    ++row.fence;
    row.owner = {1};
    row.hw += 10'000;
  }
};

TEST_F(LeasedWorker, ThatIsLostIsFollowedByAnotherOnceItsWindowIsUsedUp) {
  auto handle = open({{"worker", "auto"}});
  const std::uint64_t first = handle->next();
  const std::uint64_t worker = worker_of(*handle, first);
  take_worker(worker);
  runtime->pass(4 * kSecond);
  const std::uint64_t second = handle->next();
  EXPECT_EQ(worker_of(*handle, second), worker) << "what was reserved stays its own";
  const auto summary = [](std::uint64_t number) {
    return "snowflake 'idgen', worker " + std::to_string(number) + " of namespace 'default'";
  };
  EXPECT_EQ(handle->summary(), summary(worker));
  runtime->pass(7 * kSecond);
  const std::uint64_t third = handle->next();
  EXPECT_NE(worker_of(*handle, third), worker);
  EXPECT_EQ(handle->summary(), summary(worker_of(*handle, third)));
  EXPECT_GT(third, second);
  EXPECT_LT(ms_of(*handle, third), now_ms() + 1);
  EXPECT_EQ(handle->stats().refills, 2u) << "of both workers together";
}

TEST_F(LeasedWorker, KeepsTheConstantOfTheLayoutBesideEachNumber) {
  auto handle = open({{"worker", "auto"}, {"layout", "time:41ms worker:7 fixed:3=5 sequence:12"}});
  const std::uint64_t worker = worker_of(*handle, handle->next());
  take_worker(worker);
  runtime->pass(11 * kSecond);
  const Parts parts = handle->layout().decode(handle->next());
  EXPECT_NE(parts.worker, worker);
  EXPECT_EQ(parts.fixed, 5u);
}

TEST_F(LeasedWorker, ThatIsLostIsLostForAllHandlesOfTheGenerator) {
  auto one = open({{"worker", "auto"}});
  auto two = open({{"worker", "auto"}});
  take_worker(worker_of(*one, one->next()));
  runtime->pass(11 * kSecond);
  const std::uint64_t id = one->next();
  EXPECT_EQ(worker_of(*one, id), worker_of(*two, two->next()));
  two->close();
  EXPECT_GT(one->next(), id);
  one->close();
  EXPECT_ERROR(CLOSED, _, one->next());
}

TEST_F(LeasedWorker, ThatIsLostAheadOfTheClockIsFollowedByIdsThatStillRise) {
  std::set<std::uint64_t> seen;
  for (const char* order : {"strict", "relaxed"}) {
    SimDisk fresh;
    std::swap(disk, fresh);
    auto handle = open({{"worker", "auto"},
                        {"namespace", order},
                        {"order", order},
                        {"on_overflow", "borrow"},
                        {"window", "100ms"},
                        {"layout", "time:41ms worker:10 sequence:4"}});
    std::uint64_t last = 0;
    for (int i = 0; i < 20'000; ++i) {
      if (i % 1000 == 999) take_worker(worker_of(*handle, last));
      const std::uint64_t id = handle->next();
      ASSERT_GT(id, last) << i;
      ASSERT_TRUE(seen.insert(id).second);
      last = id;
    }
    EXPECT_GE(disk.workers.size(), 10u);
    seen.clear();
  }
}

TEST_F(LeasedWorker, ThatIsLostIsAnErrorByPolicy) {
  auto handle = open({{"worker", "auto"}, {"on_worker_lost", "fail"}, {"wait_max", "50ms"}});
  take_worker(worker_of(*handle, handle->next()));
  runtime->pass(11 * kSecond);
  store->before = [this] { disk.workers.begin()->second.hw = kStartNs / kMs + 3'600'000; };
  EXPECT_NE(error_of([&] { handle->next(); }).status(), Status::ok);
  EXPECT_EQ(disk.workers.size(), 1u);
}

TEST_F(LeasedWorker, ThatIsLostWhileTheStoreIsAwayIsReplacedWhenItIsBack) {
  auto handle = open({{"worker", "auto"}, {"wait_max", "100ms"}});
  const std::uint64_t worker = worker_of(*handle, handle->next());
  take_worker(worker);
  runtime->pass(11 * kSecond);
  int left = 1;  // the renewal is answered, what follows is not
  store->before = [&left] {
    if (left-- <= 0) throw Error(Status::store_unavailable, "away");
  };
  EXPECT_ERROR(STORE_UNAVAILABLE, _, handle->next());
  EXPECT_ERROR(STORE_UNAVAILABLE, _, handle->next());
  store->before = [] {};
  EXPECT_NE(worker_of(*handle, handle->next()), worker);
}

TEST_F(LeasedWorker, ThatIsLostIsReplacedInTheBackgroundForCallersThatMayNotWait) {
  auto handle = open({{"worker", "auto"}});
  const std::uint64_t worker = worker_of(*handle, handle->next());
  take_worker(worker);
  runtime->pass(11 * kSecond);
  std::uint64_t id = 0;
  Status status = Status::would_block;
  for (int i = 0; i < 20 && status == Status::would_block; ++i) {
    status = handle->try_next(id);
    runtime->run_all();
    runtime->pass(kSecond);
  }
  EXPECT_EQ(status, Status::ok);
  EXPECT_NE(worker_of(*handle, id), worker);
}

TEST_F(LeasedWorker, IsNeverUsedAgainWithoutRecycling) {
  const Settings settings{{"worker", "auto"}, {"worker_recycle", "false"}, {"layout", "time:41ms worker:2 sequence:4"}};
  std::set<std::uint64_t> workers;
  for (int i = 0; i < 4; ++i) {
    auto handle = open(settings);
    workers.insert(worker_of(*handle, handle->next()));
    handle->close();
  }
  EXPECT_EQ(workers.size(), 4u);
  EXPECT_ERROR(EXHAUSTED, AllOf(HasSubstr("all 4 numbers for worker"), HasSubstr("worker_recycle = false")),
               open(settings));
}

class NumberAtHand : public LeasedWorker {
 protected:
  std::uint64_t worker_with(const Settings& settings) {
    Config config = this->config(settings);
    config.set("worker", "auto");
    config.runtime = named;
    if (config.is_set("store")) config.store.reset();
    Handle handle(config);
    const std::uint64_t worker = worker_of(handle, handle.next());
    described = handle.describe();
    return worker;
  }
  Error refusal(const Settings& settings) {
    return error_of([&] { worker_with(settings); });
  }

  ~NumberAtHand() override { named->drop_all(); }
  std::shared_ptr<NamedRuntime> named = std::make_shared<NamedRuntime>();
  std::string described;
};

TEST_F(NumberAtHand, IsTheOrdinalOfAStatefulSetsPod) {
  for (const auto& [name, ordinal] : std::map<std::string, std::uint64_t>{
           {"web-0", 0}, {"web-7", 7}, {"order-service-12", 12}, {"web-3.web.default.svc.cluster.local", 3}}) {
    named->name = name;
    EXPECT_EQ(worker_with({{"worker_source", "ordinal"}}), ordinal) << name;
    EXPECT_THAT(described, HasSubstr("worker " + std::to_string(ordinal) + " of namespace"));
    EXPECT_THAT(described, HasSubstr("the ordinal of the host name '" + name + "'"));
  }
}

TEST_F(NumberAtHand, IsTheOrdinalOfThePodWhateverItsHostIsCalled) {
  named->name = "ip-10-0-1-17.ec2.internal";
  for (const auto& [name, ordinal] :
       std::map<std::string, std::uint64_t>{{"web-7", 7}, {"web2-0", 0}, {"shard-1-3", 3}, {"10-0-1", 1}}) {
    named->variables["POD_NAME"] = name;
    EXPECT_EQ(worker_with({{"worker_source", "ordinal"}, {"store", "memory:" + name}}), ordinal) << name;
    EXPECT_THAT(described, HasSubstr("the ordinal of the pod '" + name + "'"));
  }
}

TEST_F(NumberAtHand, IsNotGuessedFromAnyOtherName) {
  for (const char* name : {"box", "web-", "-3", "web-07", "web-x1", "web-1x", "10.0.0.7", "web-99999999999999999999",
                           "web-5d8f7c9b6-24567"}) {
    for (const bool is_pod : {false, true}) {
      named->name = is_pod ? "web-0" : name;
      if (is_pod) named->variables["POD_NAME"] = name;
      const Error error = refusal({{"worker_source", "ordinal"}});
      EXPECT_EQ(error.status(), Status::value) << name;
      EXPECT_THAT(error.message(), AllOf(HasSubstr("does not end in a hyphen and an ordinal"), HasSubstr("0 to 1023"),
                                         HasSubstr(is_pod ? "the pod '" : "host name '"), HasSubstr("worker_env")));
    }
    named->variables.clear();
  }
  named->name = "";
  EXPECT_THAT(refusal({{"worker_source", "ordinal"}}).message(), HasSubstr("does not end in a hyphen and an ordinal"));
  named->name = "web-1024";
  EXPECT_THAT(
      refusal({{"worker_source", "ordinal"}}).message(),
      AllOf(HasSubstr("worker = 1024, the ordinal of the host name 'web-1024', does not fit"), HasSubstr("0 to 1023")));
}

// hostNetwork: true gives a pod the name of its node.
TEST_F(NumberAtHand, IsNotTakenFromTheNameOfAMachine) {
  for (const char* name :
       {"ip-10-0-1-17.ec2.internal", "ip-10-0-1-17", "10-0-1-17", "rack1-node-7", "web2-0", "a-1-7"}) {
    named->name = name;
    EXPECT_THAT(refusal({{"worker_source", "ordinal"}}).message(),
                AllOf(HasSubstr("has several numbers, as the names of machines have"), HasSubstr("POD_NAME")));
  }
  named->variables["POD_NAME"] = "web-ip-10-0-1-17";  // a static pod, named after its node
  EXPECT_THAT(refusal({{"worker_source", "ordinal"}}).message(), HasSubstr("the pod 'web-ip-10-0-1-17' does not end"));
}

TEST_F(NumberAtHand, IsNotTakenFromAHostNameWhereNoOtherHostSeesTheStore) {
  named->name = "node-7";
  for (const char* own : {"memory", "memory:other", "sqlite:windows.db", "jdbc:sqlite:windows.db"}) {
    EXPECT_THAT(
        refusal({{"worker_source", "ordinal"}, {"store", own}}).message(),
        AllOf(HasSubstr("may be that of a node"), HasSubstr("the store is this host's own"), HasSubstr("POD_NAME")))
        << own;
  }
}

TEST_F(NumberAtHand, IsReadFromAVariable) {
  named->variables["POD_INDEX"] = "41";
  EXPECT_EQ(worker_with({{"worker_source", "env"}, {"worker_env", "POD_INDEX"}}), 41u);
  EXPECT_EQ(worker_with({{"worker_source", "ordinal"}, {"worker_env", "POD_INDEX"}}), 41u);
  EXPECT_THAT(described, HasSubstr("the environment variable 'POD_INDEX'"));
}

TEST_F(NumberAtHand, InAVariableThatIsMissingOrNoNumberIsRefused) {
  EXPECT_THAT(refusal({{"worker_source", "env"}}).message(), HasSubstr("needs worker_env"));
  EXPECT_THAT(refusal({{"worker_source", "env"}, {"worker_env", "NODE"}}).message(),
              AllOf(HasSubstr("'NODE'"), HasSubstr("which this process does not have"), HasSubstr("0 to 1023")));
  named->variables["NODE"] = "seven";
  EXPECT_THAT(refusal({{"worker_source", "env"}, {"worker_env", "NODE"}}).message(),
              AllOf(HasSubstr("'seven' is not a number"), HasSubstr("0 to 1023")));
  named->variables["NODE"] = "1024";
  EXPECT_THAT(refusal({{"worker_source", "env"}, {"worker_env", "NODE"}}).message(), HasSubstr("does not fit"));
}

TEST_F(NumberAtHand, IsAskedForOnlyIfAFieldIsAuto) {
  named->name = "web-3";
  Config config = this->config({{"worker", "5"}, {"worker_source", "ordinal"}});
  config.runtime = named;
  EXPECT_THAT(error_of([&] { Handle handle(config); }).message(), HasSubstr("no field of the node is auto"));
}

TEST_F(NumberAtHand, OfASlotIsTheLowestThatNobodyHasLocked) {
  const TempFolder folder;
  const Settings settings{{"worker", "auto"}, {"worker_source", "slot"}, {"worker_slots", folder.path()}};
  auto one = open(settings);
  EXPECT_EQ(worker_of(*one, one->next()), 0u);
  SimDisk elsewhere;  // another store, so that nothing but the slot keeps them apart
  const auto store_here = std::exchange(store, std::make_shared<LeasingStore>(elsewhere));
  auto two = open(settings);
  EXPECT_EQ(worker_of(*two, two->next()), 1u);
  one->close();
  auto three = open(settings);
  EXPECT_EQ(worker_of(*three, three->next()), worker_of(*two, two->next())) << "the same store: shared";
  SimDisk third_disk;
  store = std::make_shared<LeasingStore>(third_disk);
  auto second = settings;
  second.emplace_back("namespace", "other");
  auto other = open(second);
  EXPECT_EQ(worker_of(*other, other->next()), 0u) << "each namespace has its own";
  store = store_here;
  auto four = open(settings);
  EXPECT_EQ(worker_of(*four, four->next()), 0u) << "free again";
}

TEST_F(NumberAtHand, OfASlotIsTheNextIfTheLowestOnesRowIsFarAhead) {
  const TempFolder folder;
  const Settings settings{{"worker", "auto"}, {"worker_source", "slot"}, {"worker_slots", folder.path()}};
  open(settings)->close();
  disk.workers.at(0).hw += 3'600'000;  // as after a clock that was an hour ahead, and believed
  std::vector<std::string> lines;
  Config config = this->config(settings);
  config.log = log_to(lines);
  Handle right(config);
  EXPECT_EQ(worker_of(right, right.next()), 1u);
  EXPECT_THAT(lines, Contains(HasSubstr("another number is tried, because of reserved too far ahead")));
}

TEST_F(NumberAtHand, OfASlotMayBeLockedByEveryUserWhoMayWriteInItsFolder) {
  const mode_t before = umask(077);
  for (const mode_t mode : {01777u, 0775u, 0700u}) {
    const TempFolder folder;
    ASSERT_EQ(chmod(folder.path().c_str(), mode), 0);
    open({{"worker", "auto"}, {"worker_source", "slot"}, {"worker_slots", folder.path()}})->close();
    struct stat file {};
    ASSERT_EQ(stat(folder.file("idgen-slots").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, mode & 0666);
  }
  umask(before);
}

TEST_F(NumberAtHand, OfASlotMayBeLockedByMembersOfTheFirstUsersGroupToo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const TempFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 01777), 0);
  const auto use_as = [&](uid_t user, gid_t group) {
    return answer_of([&] {
      if (setgroups(0, nullptr) != 0 || setgid(group) != 0 || setuid(user) != 0) return 2;
      open({{"worker", "auto"}, {"worker_source", "slot"}, {"worker_slots", folder.path()}})->close();
      return 0;
    });
  };
  EXPECT_EQ(use_as(1001, 100), 0);
  EXPECT_EQ(use_as(1002, 100), 0) << "another member of that group";
  EXPECT_EQ(use_as(1003, 200), 0) << "a stranger";
}

TEST_F(NumberAtHand, OfASlotNeedsAFolder) {
  EXPECT_THAT(refusal({{"worker_source", "slot"}}).message(), HasSubstr("needs worker_slots"));
  EXPECT_ERROR(STORE_MISSING, HasSubstr("'/nowhere/at/all/idgen-slots'"),
               worker_with({{"worker_source", "slot"}, {"worker_slots", "/nowhere/at/all"}}));
  EXPECT_EQ(refusal({{"worker_source", "slot"}, {"worker_slots", "/proc"}}).status(), Status::store_unsafe);
}

}  // namespace
}  // namespace idgen::sim
