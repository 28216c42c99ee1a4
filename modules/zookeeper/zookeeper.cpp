// Segments in ZooKeeper: one persistent node per tag, set if its version is still the one that was read. Not a
// sequential node: its counter has 31 bits, and a lost answer leaves a node behind. A worker is such a node too,
// with an ephemeral node below it while its owner's session is alive. Numbers of Leaf's: foreign_leaf_nodes.hpp.
#include <dirent.h>
#include <sys/socket.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <system_error>

#include "foreign_leaf_nodes.hpp"
#include "idgen/mutex.hpp"
#include "json_worker.hpp"
#include "record.hpp"
#include "socket.hpp"

namespace idgen::module {
namespace {

constexpr std::uint16_t kPort = 2181;
constexpr const char* kRoot = "/idgen/segment";
constexpr const char* kWorkerRoot = "/idgen/worker";
constexpr const char* kLive = "live-";
constexpr int kLargestValue = 4096;
constexpr int kAnyVersion = -1;

class ZooKeeperConnection {
 public:
  static constexpr std::string_view kParameters[] = {"user_env", "password_env", "password_file"};
  static constexpr const char* kDescription =
      " (ZooKeeper); each grant is a change that a quorum has on disk before its first id is issued (forceSync = "
      "yes)\n"
      "power loss, failover: nothing granted is forgotten\n"
      "a node that is deleted by hand and recreated begins at 0: raise it above all ids in use (`idgen segment "
      "advance`) "
      "before anybody draws\n";

  static std::string create_command(const Parameters&, const std::string& name_space, const std::string& tag) {
    const std::string folder = std::string(kRoot) + "/" + path_part(name_space);
    return "create /idgen\ncreate " + std::string(kRoot) + "\ncreate " + folder + "\ncreate " + folder + "/" +
           path_part(tag);
  }

  // Versions begin at 0 again when a node is deleted and recreated, so a version may also be that of another node. A
  // node is identified by the transaction that made it; see fence_of().
  struct Held {
    std::string text;
    int version = 0;
    std::int64_t made_by = 0;     // czxid
    std::int64_t written_ms = 0;  // mtime, by the server's clock
  };

  ZooKeeperConnection(const Settings& settings, const Parameters& parameters)
      : shown_(settings.url.shown()),
        timeout_ms_(settings.timeout_ms),
        user_(parameters.secret("user", settings.url.user)),
        password_(parameters.secret("password", settings.url.password)),
        records_(shown_, settings.create),
        workers_(shown_) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // it writes to standard error
    for (const StoreHost& host : settings.url.hosts) hosts_ += (hosts_.empty() ? "" : ",") + host.text(kPort);
    if (!settings.url.path.empty()) hosts_ += "/" + settings.url.path;
    open_session();
  }
  ZooKeeperConnection(const ZooKeeperConnection&) = delete;
  ZooKeeperConnection& operator=(const ZooKeeperConnection&) = delete;
  ~ZooKeeperConnection() { close_session(); }

  bool is_usable() const { return usable_; }
  Records<ZooKeeperConnection>& records() { return records_; }

  std::optional<Held> read(const std::string& name_space, const std::string& tag) {
    return read_path(path_of(name_space, tag));
  }
  bool insert(const std::string& name_space, const std::string& tag, const std::string& text) {
    for (const std::string& folder : {std::string("/idgen"), std::string(kRoot), kRoot + ("/" + path_part(name_space))})
      make(folder, "");
    return make(path_of(name_space, tag), text);
  }
  bool replace(const std::string& name_space, const std::string& tag, Held& held, const std::string& text) {
    const std::string path = path_of(name_space, tag);
    if (fenced_[path] != held.made_by && !put_fence_up(path, held)) return false;
    Stat stat{};
    const std::string fence = fence_of(path, held);
    std::array<zoo_op_t, 2> both{};
    zoo_check_op_init(&both[0], fence.c_str(), kAnyVersion);
    zoo_set_op_init(&both[1], path.c_str(), text.data(), static_cast<int>(text.size()), held.version, &stat);
    // Only one of the two can be done, since both ask for the same version.
    if (const int code = again_if_cut([&] { return try_all_or_none(both); }); code != ZOK) {
      if (is_failure(code)) check(code, "set");
      if (code == ZNONODE) fenced_.erase(path);  // somebody may have removed the fence and left the node
      return false;
    }
    held.text = text;
    held.version = stat.version;
    return true;
  }

  struct HeldRow : HeldWorker {
    bool exists = false;
    int version = 0;
    std::int64_t made_by = 0;  // see Held
  };
  WorkerRows<ZooKeeperConnection>& workers() { return workers_; }

  std::string format_of(const std::string& name_space, const std::string& format) {
    const std::string path = folder_of_workers(name_space) + "/format";
    std::optional<Held> found = read_path(path);
    if (!found && !format.empty()) {
      make_folder_of_workers(name_space);
      make(path, format);
      found = read_path(path);
    }
    return found ? found->text : "";
  }

  HeldRow read_worker(const std::string& name_space, std::uint64_t worker) {
    const std::string path = worker_path(name_space, worker);
    const std::optional<Held> found = read_path(path);
    HeldRow held;
    held.store_ms = clock_.now_ms();
    if (!found) return held;
    held.exists = true;
    held.version = found->version;
    held.made_by = found->made_by;
    if (found->text.empty()) return held;  // made, and not acquired yet
    held.row = parse_worker(shown_, name_space, worker, found->text);
    for (const std::string& child : children(path)) held.is_live = held.is_live || child.rfind(kLive, 0) == 0;
    if (held.is_live) held.lease_left_ms = zoo_recv_timeout(session());  // of a session like ours, at most
    return held;
  }

  template <class Row>
  void list_workers(const std::string& name_space, bool numbers_only, Row&& row) {
    for (const std::string& name : children(folder_of_workers(name_space))) {
      std::uint64_t worker = 0;
      const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), worker);
      if (error != std::errc{} || rest != name.data() + name.size()) continue;
      row(worker, numbers_only ? HeldRow{} : read_worker(name_space, worker));
    }
  }

  // Every write asks for the owner's own ephemeral node. It goes with the node above it, so nobody writes into a node
  // that was deleted and made again what is known of the old one, though its versions begin at 0 again.
  bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldRow& held, const WorkerRow& next,
                      const WindowRequest* request) {
    const std::string path = worker_path(name_space, worker);
    if (!held.exists) {
      make_folder_of_workers(name_space);
      if (!make(path, "")) return false;
      const std::optional<Held> made = read_path(path);
      if (!made) return false;
      held.exists = true;
      held.version = made->version;
      held.made_by = made->made_by;
    }
    const std::string text = worker_text(next);
    Stat stat{};
    // A repair is of a worker that nobody owns: there is no such node to ask for.
    const bool has_owner = request != nullptr || held.row.owned;
    const std::string live = has_owner ? live_path(path, request != nullptr ? request->owner : held.row.owner) : path;
    const bool is_owners = held.row.owned && (request == nullptr || held.row.owner == request->owner);
    bool is_made = false;
    const auto refused = [&] {
      if (is_made) zoo_delete(session(), live.c_str(), kAnyVersion);
      return false;
    };
    if (request != nullptr && !is_owners && !(is_made = hold(path, live, held))) return false;
    if (request != nullptr) {
      try {
        check_clock(*request, server_ms(path, hex_of(request->owner)));
      } catch (...) {
        refused();
        throw;
      }
    }
    for (;;) {
      std::array<zoo_op_t, 2> both{};
      zoo_check_op_init(&both[0], live.c_str(), kAnyVersion);
      zoo_set_op_init(&both[1], path.c_str(), text.data(), static_cast<int>(text.size()), held.version, &stat);
      const int code = all_or_none(both, "set");
      if (code == ZOK) break;
      // The owner's session has ended: a network that was away for longer. Nobody has taken the worker if the version
      // is as it was.
      if (code != ZNONODE || !is_owners || is_made || !(is_made = hold(path, live, held))) return refused();
    }
    if (request == nullptr && has_owner) zoo_delete(session(), live.c_str(), kAnyVersion);
    clock_.saw(stat.mtime);
    held.version = stat.version;
    held.row = next;
    return true;
  }

  // Leaf's nodes: /snowflake/NAMESPACE/forever/ADDRESS-NUMBER.
  ZooKeeperConnection& numbers() { return *this; }
  ClaimedNumber claim(ZooKeeperConnection&, const RequestNow& request) {
    const NumberRequest asked = request.now();
    if (asked.kind != kLeaf) throw_no_such_numbers(asked.kind, shown_);
    const std::string parent = kLeafRoot + ("/" + asked.name_space), folder = parent + "/forever";
    for (const std::string& path : {std::string(kLeafRoot), parent, folder}) make(path, "", &ZOO_OPEN_ACL_UNSAFE);
    const std::int64_t server_now_ms = clock_of_server(parent, asked.address);
    const NumberRequest now = request.now();
    std::optional<std::uint64_t> own;
    LeafClocks others;
    for (const std::string& name : children(folder)) {
      const std::optional<LeafNode> node = leaf_node_of(name);
      if (!node) continue;
      if (node->address == asked.address) {
        own = std::min(own.value_or(node->number), node->number);
        continue;
      }
      const std::optional<Held> found = read_path(folder + "/" + name);
      const std::optional<std::int64_t> reported_ms = found ? leaf_report_of(found->text) : std::nullopt;
      if (reported_ms) others.add(*reported_ms, found->written_ms, server_now_ms);
    }
    check_leaf_clock(now, others, server_now_ms);
    check_report(now, server_now_ms);
    ClaimedNumber claimed;
    if (own) {
      const std::optional<Held> found = read_path(leaf_path(asked, *own));
      const std::optional<std::int64_t> reported_ms = found ? leaf_report_of(found->text) : std::nullopt;
      if (found && !reported_ms) {
        throw Error(Status::store_damaged, shown_ + ": the node " + leaf_path(asked, *own) + " holds " +
                                               in_quotes(found->text) + ", which is no report of Leaf's");
      }
      claimed.number = *own;
      claimed.used_to_ms = reported_ms.value_or(0);
      return claimed;
    }
    const std::string text = leaf_report(request.now());
    std::string made(folder.size() + asked.address.size() + 16, '\0');
    check(
        zoo_create(session(), (folder + "/" + asked.address + "-").c_str(), text.data(), static_cast<int>(text.size()),
                   &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, made.data(), static_cast<int>(made.size())),
        "create");
    made.resize(std::strlen(made.c_str()));
    const std::optional<LeafNode> node = leaf_node_of(made.substr(std::min(folder.size() + 1, made.size())));
    if (!node) throw Error(Status::store_damaged, shown_ + ": a sequential node was made as " + in_quotes(made));
    claimed.number = node->number;
    return claimed;
  }
  // Written only if it is as this process left it: so a second process with the same address is noticed.
  ClaimedNumber keep(ZooKeeperConnection&, const NumberRequest& request, const ClaimedNumber& held) {
    const std::string path = leaf_path(request, held.number);
    check_report(request, server_ms(kLeafRoot + ("/" + request.name_space), request.address));
    ClaimedNumber kept = held;
    const auto lost = [&] {
      kept.lost = "its node " + path + " was deleted";
      return kept;
    };
    constexpr int kMostAttempts = 5;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      if (kept.version < 0) {  // whoever reported before, the window is ours now
        const std::optional<Held> found = read_path(path);
        if (!found) return lost();
        kept.version = found->version;
      }
      const std::string text = leaf_report(request);
      Stat stat{};
      const int code = zoo_set2(session(), path.c_str(), text.data(), static_cast<int>(text.size()),
                                static_cast<int>(kept.version), &stat);
      if (code == ZOK) {
        clock_.saw(stat.mtime);
        kept.version = stat.version;
        kept.reported_ms = request.now_ms;
        kept.is_unknown = false;
        return kept;
      }
      if (code == ZNONODE) return lost();
      if (code != ZBADVERSION) check(code, "set");
      if (held.version < 0) {
        kept.version = -1;
        continue;
      }
      const std::optional<Held> found = read_path(path);
      if (!found) return lost();
      // A report of ours whose answer was lost.
      const std::int64_t reported_ms = leaf_report_of(found->text).value_or(0);
      const bool is_ours = held.is_unknown && found->version == held.version + 1 && reported_ms >= held.reported_ms &&
                           reported_ms <= request.now_ms;
      if (!is_ours || attempt > 0) {
        throw Error(Status::value, "worker_address = " + in_quotes(request.address) +
                                       ": another process reports under it too, so both have the number " +
                                       std::to_string(held.number) + ". Give each process its own, then start again");
      }
      kept.version = found->version;
    }
    throw Error(Status::store_unavailable, shown_ + ": the node " + path + " was changed by others in " +
                                               std::to_string(kMostAttempts) + " attempts to report into it");
  }
  void release(ZooKeeperConnection&, const NumberRequest&, const ClaimedNumber&, std::optional<std::int64_t>) {}

  void list(
      const std::function<void(const std::string& name_space, const std::string& tag, const std::string& text)>& row) {
    for (const std::string& name_space : children(kRoot)) {
      const std::string folder = kRoot + ("/" + name_space);
      for (const std::string& tag : children(folder)) {
        const std::optional<Held> held = read_path(folder + "/" + tag);
        const auto names = std::pair(name_of_path_part(name_space), name_of_path_part(tag));
        if (held && names.first && names.second) row(*names.first, *names.second, held->text);
      }
    }
  }

 private:
  void open_session() {
    {
      const MutexLock lock(mutex_);
      state_ = 0;
    }
    handle_ =
        zookeeper_init(hosts_.c_str(), &ZooKeeperConnection::watch, static_cast<int>(timeout_ms_), nullptr, this, 0);
    if (handle_ == nullptr) {
      throw Error(Status::store_unavailable,
                  "cannot connect to " + shown_ + ": " + std::generic_category().message(errno));
    }
    zoo_set_servers_resolution_delay(handle_, -1);  // see NoFork: not on a separate thread
    try {
      MutexLock lock(mutex_);
      const auto is_decided = [&]() IDGEN_REQUIRES(mutex_) { return state_ != 0; };
      changed_.wait_for(lock.to_wait_with(), std::chrono::milliseconds(timeout_ms_), is_decided);
      if (state_ != ZOO_CONNECTED_STATE) {
        throw Error(state_ == ZOO_AUTH_FAILED_STATE ? Status::store_permission : Status::store_unavailable,
                    "cannot connect to " + shown_ + " within " + std::to_string(timeout_ms_) +
                        " ms (store_timeout). A server that runs takes no more connections from one address than its "
                        "maxClientCnxns says, by default 60");
      }
      lock.unlock();
      if (!user_.empty()) {
        const std::string who = user_ + ":" + password_;
        check(zoo_add_auth(handle_, "digest", who.data(), static_cast<int>(who.size()), nullptr, nullptr), "add_auth");
      }
    } catch (...) {
      close_session();
      throw;
    }
  }
  void close_session() {
    if (handle_ != nullptr) zookeeper_close(handle_);
    handle_ = nullptr;
  }

  // The client restores a cut connection by itself, but not a session that the server has ended meanwhile. It refuses a
  // request in that session without sending it, so a new session is opened first.
  zhandle_t* session() {
    if (handle_ == nullptr || is_unrecoverable(handle_) != ZOK) {
      const NoFork no_fork;
      close_session();
      open_session();
    }
    return handle_;
  }

  // A node below the tag's node, named after the transaction that made the tag's. It is deleted together with it, and
  // nobody makes it for another. Every write requires it, so that no process writes into a new node what it knows of an
  // old one.
  static std::string fence_of(const std::string& path, const Held& held) {
    return path + "/made-by-" + std::to_string(held.made_by);
  }

  // Makes it unless it exists. False if the node is no longer the one that was read.
  bool put_fence_up(const std::string& path, const Held& held) {
    const std::string fence = fence_of(path, held);
    std::array<zoo_op_t, 2> both{};
    zoo_check_op_init(&both[0], path.c_str(), held.version);
    zoo_create_op_init(&both[1], fence.c_str(), "", 0, acl(), 0, nullptr, 0);
    const int code = all_or_none(both, "create");
    if (code != ZOK && code != ZNODEEXISTS) return false;
    // The node may have been recreated since it was read, at the same version: then this fence is below the wrong one.
    const std::optional<Held> now = read_path(path);
    if (now && now->made_by == held.made_by) {
      fenced_[path] = held.made_by;
      return true;
    }
    if (code == ZOK) zoo_delete(session(), fence.c_str(), kAnyVersion);
    return false;
  }

  // ZOK, or what prevented it: ZBADVERSION, ZNONODE, ZNODEEXISTS. Throws for everything else.
  int all_or_none(const std::array<zoo_op_t, 2>& both, const char* what) {
    const int code = try_all_or_none(both);
    if (is_failure(code)) check(code, what);
    return code;
  }
  int try_all_or_none(const std::array<zoo_op_t, 2>& both) {
    std::array<zoo_op_result_t, 2> results{};
    return zoo_multi(session(), static_cast<int>(both.size()), both.data(), results.data());
  }
  static bool is_failure(int code) { return code != ZBADVERSION && code != ZNONODE && code != ZNODEEXISTS; }

  static std::string folder_of_workers(const std::string& name_space) {
    return kWorkerRoot + ("/" + path_part(name_space));
  }
  static std::string worker_path(const std::string& name_space, std::uint64_t worker) {
    return folder_of_workers(name_space) + "/" + std::to_string(worker);
  }
  static std::string live_path(const std::string& path, const Nonce& owner) {
    return path + "/" + kLive + hex_of(owner);
  }
  void make_folder_of_workers(const std::string& name_space) {
    for (const std::string& folder : {std::string("/idgen"), std::string(kWorkerRoot), folder_of_workers(name_space)})
      make(folder, "");
  }
  // Our ephemeral node below the node that was read. False: that one is gone, or another one stands in its place.
  bool hold(const std::string& path, const std::string& live, const HeldRow& held) {
    if (!make_live(live)) return false;
    const std::optional<Held> now = read_path(path);
    if (now && now->made_by == held.made_by) return true;
    zoo_delete(session(), live.c_str(), kAnyVersion);
    return false;
  }
  // False: the node above it is not there. One of our own that is there already will do: a session of ours that has
  // not ended yet.
  bool make_live(const std::string& live) {
    Stat stat{};
    const int code = zoo_create2(session(), live.c_str(), "", 0, acl(), ZOO_EPHEMERAL, nullptr, 0, &stat);
    if (code == ZNONODE) return false;
    if (code == ZNODEEXISTS) return true;
    check(code, "create");
    clock_.saw(stat.ctime);
    return true;
  }

  const ACL_vector* acl() const { return user_.empty() ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL; }

  // The client opens its sockets on its own thread, so that programs started by the host inherit them, and does not
  // reveal its descriptor. It does say which server it is connected to.
  static void close_on_exec_of(zhandle_t* handle) {
    sockaddr_storage server{}, peer{};
    socklen_t size = sizeof server;
    if (zookeeper_get_connected_host(handle, reinterpret_cast<sockaddr*>(&server), &size) == nullptr) return;
    const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), &closedir);
    if (!all) return;
    while (const dirent* const entry = readdir(all.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
      int descriptor = -1;                                    // "." and ".." are no numbers
      std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), descriptor);
      socklen_t length = sizeof peer;
      if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) != 0 || length != size) continue;
      if (std::memcmp(&server, &peer, size) == 0) close_on_exec(descriptor);
    }
  }

  // On the client's own thread.
  static void watch(zhandle_t* handle, int type, int state, const char*, void* self) {
    if (type != ZOO_SESSION_EVENT) return;
    if (state == ZOO_CONNECTED_STATE) close_on_exec_of(handle);
    if (state != ZOO_CONNECTED_STATE && state != ZOO_AUTH_FAILED_STATE && state != ZOO_EXPIRED_SESSION_STATE) return;
    auto& connection = *static_cast<ZooKeeperConnection*>(self);
    const MutexLock lock(connection.mutex_);
    connection.state_ = state;
    connection.changed_.notify_all();
  }

  static std::string path_of(const std::string& name_space, const std::string& tag) {
    return kRoot + ("/" + path_part(name_space)) + "/" + path_part(tag);
  }

  // A connection that was cut while nobody used it may be noticed only by the next request, which then fails. For
  // requests that may be done twice: those that read, and those that write over one version.
  template <class Request>
  static int again_if_cut(Request&& request) {
    int code = request();
    for (int again = 0; again < 2 && code == ZCONNECTIONLOSS; ++again) code = request();
    return code;
  }

  std::optional<Held> read_path(const std::string& path) {
    std::string text(kLargestValue, '\0');
    int size = 0;
    Stat stat{};
    const int code = again_if_cut([&] {
      size = kLargestValue;
      return zoo_get(session(), path.c_str(), 0, text.data(), &size, &stat);
    });
    if (code == ZNONODE) return std::nullopt;
    check(code, "get");
    text.resize(static_cast<std::size_t>(std::max(size, 0)));
    return Held{.text = text, .version = stat.version, .made_by = stat.czxid, .written_ms = stat.mtime};
  }

  // The server's clock, which a connection that has written nothing yet does not know.
  std::int64_t server_ms(const std::string& parent, const std::string& whose) {
    if (const std::optional<std::int64_t> now = clock_.now_ms()) return *now;
    return clock_of_server(parent, whose);
  }
  // What a node that is made at this moment says.
  std::int64_t clock_of_server(const std::string& parent, const std::string& whose) {
    const std::string path = parent + "/idgen-clock-" + path_part(whose) + "-" + std::to_string(getpid());
    Stat stat{};
    for (int attempt = 0; attempt < 2; ++attempt) {
      const int code =
          zoo_create2(session(), path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, nullptr, 0, &stat);
      if (code != ZNODEEXISTS) {
        check(code, "create");
        break;
      }
      zoo_delete(session(), path.c_str(), kAnyVersion);  // its answer was lost
    }
    zoo_delete(session(), path.c_str(), kAnyVersion);
    clock_.saw(stat.ctime);
    return stat.ctime;
  }

  bool make(const std::string& path, const std::string& text) { return make(path, text, acl()); }
  bool make(const std::string& path, const std::string& text, const ACL_vector* acl) {
    const int code =
        zoo_create(session(), path.c_str(), text.data(), static_cast<int>(text.size()), acl, 0, nullptr, 0);
    if (code == ZNODEEXISTS) return false;
    if (code == ZNONODE) {
      throw Error(Status::store_missing, shown_ +
                                             ": the node that the path of the URL names is not there. Make it with "
                                             "the command `create` of zkCli.sh");
    }
    check(code, "create");
    return true;
  }

  std::vector<std::string> children(const std::string& path) {
    String_vector found{};
    const int code = again_if_cut([&] { return zoo_get_children(session(), path.c_str(), 0, &found); });
    if (code == ZNONODE) return {};
    check(code, "get_children");
    std::vector<std::string> names;
    for (int i = 0; i < found.count; ++i) names.emplace_back(found.data[i]);
    deallocate_String_vector(&found);
    std::sort(names.begin(), names.end());
    return names;
  }

  void check(int code, const char* what) {
    if (code == ZOK) return;
    const std::string text = shown_ + ": " + what + ": " + zerror(code);
    if (code == ZNOAUTH || code == ZAUTHFAILED || code == ZINVALIDACL) throw Error(Status::store_permission, text);
    usable_ = false;
    throw Error(Status::store_unavailable, text);
  }

  const std::string shown_;
  const std::int64_t timeout_ms_;
  const std::string user_, password_;
  std::string hosts_;
  bool usable_ = true;
  Records<ZooKeeperConnection> records_;
  WorkerRows<ZooKeeperConnection> workers_;
  ServerClock clock_;
  std::map<std::string, std::int64_t> fenced_;  // by path: the node whose fence is known to exist
  zhandle_t* handle_ = nullptr;
  Mutex mutex_;
  std::condition_variable changed_;
  int state_ IDGEN_GUARDED_BY(mutex_) = 0;  // the first one that decides
};

class ZooKeeperStore final : public WithNumbers<RecordStore<ZooKeeperConnection>, ZooKeeperConnection> {
  using WithNumbers::WithNumbers;
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_zookeeper() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::ZooKeeperStore>("zookeeper");
  return &module;
}
