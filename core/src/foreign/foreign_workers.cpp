#include "foreign/foreign_workers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "config/paths.hpp"
#include "foreign/claim_heartbeat.hpp"
#include "foreign/number_rules.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"
#include "store/grant_rules.hpp"
#include "store/new_file.hpp"

namespace idgen {
namespace {

// CosId reports every minute; its processes count as dead after five.
constexpr std::int64_t kCosidReportMs = 60'000;
constexpr std::int64_t kCosidReportsPerGuard = 5;
constexpr std::int64_t kCosidAfterFailureMs = 5'000;
// uid-generator's ids that were tried and whose numbers somebody may have.
constexpr int kMostWrapped = 100;

std::string random_digits(Runtime& runtime, int count) {
  std::uint8_t bytes[4];
  runtime.nonce(bytes);
  char text[9];
  std::snprintf(text, sizeof text, "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
  return std::string(text, static_cast<std::size_t>(count));
}

std::string cache_path(const Config& config) {
  return config.get("worker_cache").empty() ? "" : path_of(config, "worker_cache");
}

// The file in which Leaf keeps its number, a line "workerID=7", with whose number it is.
class NumberCache {
 public:
  NumberCache(std::string path, std::string name_space, std::string address)
      : path_(std::move(path)), name_space_(std::move(name_space)), address_(std::move(address)) {}

  bool exists() const { return !path_.empty(); }

  // Empty if it was never written. Throws Error{value} if it is another process's.
  std::optional<std::uint64_t> read() const {
    if (path_.empty()) return std::nullopt;
    std::ifstream file(path_);
    std::optional<std::uint64_t> number;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(kNumber)) number = parse(line.substr(kNumber.size()));
      check(line, kName, name_space_);
      check(line, kAddress, address_);
    }
    return number;
  }

  // Whole or not at all. Throws Error{store_permission}.
  void write(std::uint64_t number) const {
    if (path_.empty()) return;
    const std::string text = std::string(kNumber) + std::to_string(number) + "\n" + std::string(kName) + name_space_ +
                             "\n" + std::string(kAddress) + address_ + "\n";
    NewFile fresh(path_);
    const int fd = fresh.open(0644);
    const bool is_written =
        fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    int error = is_written ? 0 : errno;
    if (fd >= 0) ::close(fd);
    if (is_written) error = fresh.replace(path_);
    if (error == 0) return;
    throw Error(Status::store_permission, concat({"worker_cache: the file ", in_quotes(path_), " cannot be written (",
                                                  system_error_text(error), "). Name one in an existing folder"}));
  }

 private:
  static constexpr std::string_view kNumber = "workerID=", kName = "idgen.namespace=", kAddress = "idgen.address=";

  static std::optional<std::uint64_t> parse(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    return error == std::errc{} && (rest.empty() || rest == "\r") ? std::optional(number) : std::nullopt;
  }
  void check(const std::string& line, std::string_view key, const std::string& expected) const {
    if (!line.starts_with(key) || line.substr(key.size()) == expected) return;
    throw Error(Status::value,
                concat({"worker_cache: the file ", in_quotes(path_), " is of another process, ", in_quotes(line),
                        "; expected ", in_quotes(std::string(key) + expected), ". Give each its own file"}));
  }

  const std::string path_;
  const std::string name_space_;
  const std::string address_;
};

// Who we are in the other generator's rows.
std::string address_of(const WorkerSourceContext& context) {
  Runtime& runtime = *context.runtime;
  const std::string& given = context.config.get("worker_address");
  // The number of an address is one process's; a forked child is another one.
  if (context.node.source == NumberSource::cosid && !given.empty())
    return context.is_copy ? given + "/" + random_digits(runtime, 8) : given;
  if (!given.empty() && context.node.source == NumberSource::zookeeper) return given;
  std::string host = runtime.host_name().substr(0, 60);
  std::string port = std::to_string(getpid());
  if (!given.empty()) {
    const AddressParts parts = parts_of_address(given);
    host = parts.host.substr(0, 64);
    if (!parts.port.empty()) port = parts.port;
  }
  if (host.empty()) host = "unknown";
  if (context.node.source == NumberSource::uid_generator)
    return host + ":" + port.substr(0, 40) + std::string(kUidMark) + random_digits(runtime, 6);
  return host + ":" + port + "-" + random_digits(runtime, 8);
}

NumberRequest request_of(const WorkerSourceContext& context) {
  const Config& config = context.config;
  const bool is_cosid = context.node.source == NumberSource::cosid;
  return {.kind = config.get("worker_source"),
          .name_space = config.get("namespace"),
          .address = address_of(context),
          .numbers = context.node.leased->size(),
          .now_ms = 0,
          .guard_ms = is_cosid ? config.duration_ms("worker_guard") : 0,
          .clock_limit_ms = config.duration_ms(is_cosid ? "max_ahead" : "worker_clock_limit")};
}

std::shared_ptr<NumberRows> rows_of(const WorkerSourceContext& context) {
  const Config& config = context.config;
  const std::string& url = config.get("worker_url");
  if (url.empty()) return std::make_shared<NumberRows>(context.store, "", StoreOptions{});
  StoreOptions options = config.store_options();
  options.schema = "idgen";  // that of segments, and so is the log
  options.grant_log = 0;
  return std::make_shared<NumberRows>(nullptr, url, std::move(options));
}

// What the three have in common: a number is claimed, reported while it is in use, and released.
class ForeignWorkers : public WorkerSource {
 public:
  explicit ForeignWorkers(const WorkerSourceContext& context)
      : field_(*context.node.leased),
        store_(context.store),
        runtime_(context.runtime),
        log_(context.log),
        request_(request_of(context)),
        rows_(rows_of(context)),
        // With a lane of its own, a server that hangs delays no window.
        lane_(context.config.get("worker_url").empty() ? store_->lane(*runtime_) : runtime_->make_lane()),
        wait_max_ns_(context.config.duration_ms("wait_max") * kNsPerMs) {}

  void confirm(std::int64_t until_ms) override {
    if (kept_) kept_->confirm(until_ms);
  }
  void abandon() noexcept override { no_longer_keep(); }

 protected:
  ClaimedNumber claim() IDGEN_RUNS_HOST_CODE {
    NumberRequest request = request_;
    request.now_ms = now_ms();
    return numbers_of(*rows_->store(), request.kind).number_claim(request);
  }
  void keep(const ClaimedNumber& claimed, std::int64_t every_ms, std::int64_t after_failure_ms) IDGEN_RUNS_HOST_CODE {
    kept_ = std::make_shared<ClaimHeartbeat>(ClaimHeartbeat::Options{.request = request_,
                                                                     .rows = rows_,
                                                                     .runtime = runtime_,
                                                                     .lane = lane_,
                                                                     .every_ns = every_ms * kNsPerMs,
                                                                     .after_failure_ns = after_failure_ms * kNsPerMs,
                                                                     .log = log_},
                                             claimed);
    kept_->start();
  }
  // What is held; empty if nothing is.
  std::optional<ClaimedNumber> no_longer_keep() {
    const std::shared_ptr<ClaimHeartbeat> kept = std::exchange(kept_, nullptr);
    return kept ? kept->stop(wait_max_ns_) : std::nullopt;
  }
  void say(LogLevel level, const std::string& line) const IDGEN_RUNS_HOST_CODE {
    if (log_) log_(level, "worker_source = " + request_.kind + ": " + line);
  }
  std::int64_t now_ms() const IDGEN_RUNS_HOST_CODE { return floor_div(runtime_->wall_ns(), kNsPerMs); }

  const LeasedField field_;
  const std::shared_ptr<Store> store_;
  const std::shared_ptr<Runtime> runtime_;
  const Log log_;
  const NumberRequest request_;
  const std::shared_ptr<NumberRows> rows_;

 private:
  const std::shared_ptr<Lane> lane_;
  const std::int64_t wait_max_ns_;
  std::shared_ptr<ClaimHeartbeat> kept_;
};

// A row for each start, never used again. Its ids outgrow the field in the end, sooner where they jump (TiDB): then a
// number is what is left of its id, and is used if nobody can have it who has no window.
class UidGeneratorNumbers final : public ForeignWorkers {
 public:
  using ForeignWorkers::ForeignWorkers;

  std::uint64_t propose(const WindowRequest&, int) override {
    for (int attempt = 0; attempt < kMostWrapped; ++attempt) {
      const ClaimedNumber claimed = claim();
      if (claimed.number < field_.size()) return field_.number(claimed.number);
      const std::uint64_t left = claimed.number & (field_.size() - 1);
      const bool is_usable = claimed.taken == ClaimedNumber::Taken::by_nobody ||
                             // Its window tells whether it is free, if all processes have them in one store.
                             (claimed.taken == ClaimedNumber::Taken::by_idgen && has_leases(*store_));
      if (!is_usable) continue;
      say(LogLevel::info, "id " + std::to_string(claimed.number) + " of WORKER_NODE is beyond " + field_.name +
                              ", so it is used as " + std::to_string(left));
      return field_.number(left);
    }
    throw Error(
        Status::worker_busy,
        concat({"worker_source = uid_generator: the ids of WORKER_NODE are beyond ", field_.name, " (",
                std::to_string(field_.size() - 1), " at most), and each of the numbers that ",
                std::to_string(kMostWrapped),
                " of them leave may be in use by a process without a window in this store: a row says so. Delete "
                "the rows of processes that do not run any more (but not the last row), or use a layout with "
                "more bits for ",
                field_.name}));
  }
};

class CosidNumbers final : public ForeignWorkers {
 public:
  using ForeignWorkers::ForeignWorkers;

  std::uint64_t propose(const WindowRequest&, int) override {
    claimed_ = claim();
    try {
      check_used("worker_source = cosid: machine id " + std::to_string(claimed_->number) + " of namespace " +
                     in_quotes(request_.name_space),
                 claimed_->used_to_ms, now_ms());
    } catch (...) {
      release(0);
      throw;
    }
    return field_.number(claimed_->number);
  }
  void begin() override {
    const std::int64_t every_ms =
        request_.guard_ms == 0
            ? kCosidReportMs
            : std::min(kCosidReportMs, std::max<std::int64_t>(request_.guard_ms / kCosidReportsPerGuard, 1));
    keep(*claimed_, every_ms, std::min(every_ms, kCosidAfterFailureMs));
    is_kept_ = true;
  }
  void leave() noexcept override { give(std::nullopt); }
  void release(std::int64_t used_ms) noexcept override { give(used_ms); }
  void abandon() noexcept override {
    ForeignWorkers::abandon();
    claimed_.reset();
    is_kept_ = false;
  }

 private:
  void give(std::optional<std::int64_t> used_ms) noexcept {
    std::optional<ClaimedNumber> held = std::exchange(claimed_, std::nullopt);
    if (std::exchange(is_kept_, false)) held = no_longer_keep();
    if (!held) return;
    try {
      NumberRequest request = request_;
      request.now_ms = now_ms();
      numbers_of(*rows_->store(), request.kind).number_release(request, *held, used_ms);
    } catch (const std::exception& error) {
      try {
        say(LogLevel::warning, "machine id " + std::to_string(held->number) +
                                   " could not be given back; it counts as dead after worker_guard: " + error.what());
      } catch (...) {  // a line of the log is not worth a failure
      }
    }
  }

  std::optional<ClaimedNumber> claimed_;
  bool is_kept_ = false;
};

// The number of an address, for good.
class LeafNumbers final : public ForeignWorkers {
 public:
  explicit LeafNumbers(const WorkerSourceContext& context)
      : ForeignWorkers(context), cache_(cache_path(context.config), request_.name_space, request_.address) {}

  std::uint64_t propose(const WindowRequest&, int) override {
    claimed_ = find();
    if (claimed_.number >= field_.size()) {
      throw Error(Status::exhausted,
                  concat({"worker_source = zookeeper: the node of ", in_quotes(request_.address), " has the number ",
                          std::to_string(claimed_.number), ", but ", field_.name, " holds at most ",
                          std::to_string(field_.size() - 1),
                          ", as Leaf's does. Numbers are for good and only rise: use a layout with more bits for ",
                          field_.name, ", or another namespace, with worker_address the same at each start"}));
    }
    return field_.number(claimed_.number);
  }
  bool has_others() const override { return false; }
  void begin() override { keep(claimed_, kLeafReportMs, kLeafReportMs); }
  void release(std::int64_t) noexcept override { no_longer_keep(); }

 private:
  ClaimedNumber find() IDGEN_RUNS_HOST_CODE {
    try {
      ClaimedNumber claimed = claim();
      check_used("worker_source = zookeeper: " + in_quotes(request_.address), claimed.used_to_ms, now_ms());
      cache_.write(claimed.number);
      return claimed;
    } catch (const Error& error) {
      if (error.status() != Status::store_unavailable || !cache_.exists()) throw;
      const std::optional<std::uint64_t> number = cache_.read();
      if (!number) throw;
      say(LogLevel::warning,
          "the number " + std::to_string(*number) + " is taken from worker_cache, because " + error.message());
      return {.number = *number};
    }
  }

  const NumberCache cache_;
  ClaimedNumber claimed_;
};

bool has_control(const std::string& text) { return std::any_of(text.begin(), text.end(), is_control); }

}  // namespace

void check_foreign_workers(const Config& config) {
  const std::string& kind = config.get("worker_source");
  const std::string& address = config.get("worker_address");
  const std::string& url = config.get("worker_url");
  if (!url.empty()) {
    try {
      check_numbers(url, kind);
    } catch (const Error& error) {
      throw Error(error.status(), "worker_url: " + error.message());
    }
  } else if (!config.store) {  // a store of the host's says it when it is asked
    check_numbers(config.get("store"), kind);
  }
  if (has_control(address)) throw Error(Status::value, "worker_address holds a control character");
  if (kind == kLeaf) {
    const AddressParts parts = parts_of_address(address);
    const bool is_whole = !parts.host.empty() && !parts.port.empty() && address.find_first_of("-/ ") == address.npos;
    if (!is_whole) {
      throw Error(Status::value,
                  concat({"worker_source = zookeeper needs worker_address",
                          (address.empty() ? "" : ", not " + in_quotes(address)),
                          ": the IP:PORT under which this process has its number, the same at each start; without a "
                          "hyphen, slash or space, at which Leaf would split it"}));
    }
    const std::string& name = config.get("namespace");
    if (name.find('/') != name.npos || name == "." || name == ".." || has_control(name)) {
      throw Error(Status::value, concat({"worker_source = zookeeper: namespace = ", in_quotes(name),
                                         " cannot be a node's name, as leaf.name is; choose one without a slash"}));
    }
  }
  if (kind != kCosid) return;
  constexpr std::size_t kLongest = 100;  // of CosId's column
  if (const std::string name = cosid_name(config.get("namespace"), 0); name.size() > kLongest) {
    throw Error(Status::value, concat({"worker_source = cosid: namespace = ", in_quotes(config.get("namespace")),
                                       " is too long; a machine id's row is named after it, with at most ",
                                       std::to_string(kLongest), " characters"}));
  }
  const std::int64_t guard_ms = config.duration_ms("worker_guard");
  const std::int64_t least_ms = 2 * (config.duration_ms("window") + config.duration_ms("max_ahead"));
  if (guard_ms != 0 && guard_ms < least_ms) {
    throw Error(Status::value,
                concat({"worker_guard = ", config.get("worker_guard"),
                        ": what is reserved (window, max_ahead) could outlast it; allowed: 0ms, or at least ",
                        std::to_string(least_ms), "ms"}));
  }
}

std::unique_ptr<WorkerSource> make_foreign_workers(const WorkerSourceContext& context) {
  switch (context.node.source) {
    case NumberSource::uid_generator:
      return std::make_unique<UidGeneratorNumbers>(context);
    case NumberSource::cosid:
      return std::make_unique<CosidNumbers>(context);
    default:
      return std::make_unique<LeafNumbers>(context);
  }
}

std::string describe_foreign_workers(const Config& config, const Node& node) {
  const std::string guarded = "; its window in the store guards it among processes of idgen";
  switch (node.source) {
    case NumberSource::uid_generator:
      return "the id of a new row in uid-generator's table WORKER_NODE at each start, wrapped beyond " +
             std::to_string(node.leased->size() - 1) + guarded;
    case NumberSource::cosid:
      return "a machine id of CosId's, one of " + std::to_string(node.leased->size()) +
             ", reported there and given back when this generator closes" + guarded;
    default:
      return "the number of " + in_quotes(config.get("worker_address")) +
             " in Leaf's tree in ZooKeeper, reported there every 3 s" +
             (config.get("worker_cache").empty() ? "" : ", and kept in " + in_quotes(config.get("worker_cache"))) +
             guarded;
  }
}

}  // namespace idgen
