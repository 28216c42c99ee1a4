// Segments in ZooKeeper: one persistent node a tag, set if its version is still the one that was read. Not a sequential node: its counter has 31 bits,
// and a lost answer leaves one behind.
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "record.hpp"

namespace idgen::backend {
namespace {

constexpr std::uint16_t kPort = 2181;
constexpr const char* kRoot = "/idgen/segment";
constexpr int kLargestValue = 4096;

class ZooKeeperConnection {
 public:
  static constexpr std::string_view kParameters[] = {"user_env", "password_env"};
  static constexpr const char* kDescription =
      " (ZooKeeper); each grant is a change that a quorum has on disk before its first id is issued (forceSync = "
      "yes)\n"
      "power loss, failover: nothing granted is forgotten\n"
      "a node that is deleted by hand begins at 0 again: lift the tag instead (`idgen segment advance`)\n";

  static std::string create_command(const Parameters&, const std::string& name_space, const std::string& tag) {
    const std::string folder = std::string(kRoot) + "/" + path_part(name_space);
    return "create /idgen\ncreate " + std::string(kRoot) + "\ncreate " + folder + "\ncreate " + folder + "/" +
           path_part(tag);
  }

  struct Held {
    std::string text;
    int version = 0;
  };

  ZooKeeperConnection(const Settings& settings, const Parameters& parameters)
      : shown_(settings.url.shown()), records_(shown_, settings.create) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // it writes to standard error
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string who = user + ":" + parameters.secret("password", settings.url.password);
    std::string hosts;
    for (const StoreHost& host : settings.url.hosts) hosts += (hosts.empty() ? "" : ",") + host.text(kPort);
    if (!settings.url.path.empty()) hosts += "/" + settings.url.path;
    handle_ = zookeeper_init(hosts.c_str(), &ZooKeeperConnection::watch, static_cast<int>(settings.timeout_ms), nullptr,
                             this, 0);
    if (handle_ == nullptr) {
      throw Error(Status::store_unavailable,
                  "cannot connect to " + shown_ + ": " + std::generic_category().message(errno));
    }
    zoo_set_servers_resolution_delay(handle_, -1);  // see NoFork: not on a thread of its own
    try {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(settings.timeout_ms), [&] { return state_ != 0; });
      if (state_ != ZOO_CONNECTED_STATE) {
        throw Error(
            state_ == ZOO_AUTH_FAILED_STATE ? Status::store_permission : Status::store_unavailable,
            "cannot connect to " + shown_ + " within " + std::to_string(settings.timeout_ms) + " ms (store_timeout)");
      }
      lock.unlock();
      if (!user.empty()) {
        check(zoo_add_auth(handle_, "digest", who.data(), static_cast<int>(who.size()), nullptr, nullptr), "add_auth");
        has_user_ = true;
      }
    } catch (...) {
      zookeeper_close(handle_);
      throw;
    }
  }
  ZooKeeperConnection(const ZooKeeperConnection&) = delete;
  ZooKeeperConnection& operator=(const ZooKeeperConnection&) = delete;
  ~ZooKeeperConnection() { zookeeper_close(handle_); }

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
    Stat stat{};
    const int code = zoo_set2(handle_, path_of(name_space, tag).c_str(), text.data(), static_cast<int>(text.size()),
                              held.version, &stat);
    if (code == ZBADVERSION || code == ZNONODE) return false;
    check(code, "set");
    held = {text, stat.version};
    return true;
  }

  void list(
      const std::function<void(const std::string& name_space, const std::string& tag, const std::string& text)>& row) {
    for (const std::string& name_space : children(kRoot)) {
      const std::string folder = kRoot + ("/" + name_space);
      for (const std::string& tag : children(folder)) {
        const std::optional<Held> held = read_path(folder + "/" + tag);
        if (held) row(name_of_path_part(name_space), name_of_path_part(tag), held->text);
      }
    }
  }

 private:
  // On the client's own thread.
  static void watch(zhandle_t*, int type, int state, const char*, void* self) {
    if (type != ZOO_SESSION_EVENT) return;
    if (state != ZOO_CONNECTED_STATE && state != ZOO_AUTH_FAILED_STATE && state != ZOO_EXPIRED_SESSION_STATE) return;
    auto& connection = *static_cast<ZooKeeperConnection*>(self);
    const std::lock_guard lock(connection.mutex_);
    connection.state_ = state;
    connection.changed_.notify_all();
  }

  static std::string path_of(const std::string& name_space, const std::string& tag) {
    return kRoot + ("/" + path_part(name_space)) + "/" + path_part(tag);
  }

  std::optional<Held> read_path(const std::string& path) {
    std::string text(kLargestValue, '\0');
    int size = kLargestValue;
    Stat stat{};
    const int code = zoo_get(handle_, path.c_str(), 0, text.data(), &size, &stat);
    if (code == ZNONODE) return std::nullopt;
    check(code, "get");
    text.resize(static_cast<std::size_t>(std::max(size, 0)));
    return Held{text, stat.version};
  }

  bool make(const std::string& path, const std::string& text) {
    const ACL_vector& acl = has_user_ ? ZOO_CREATOR_ALL_ACL : ZOO_OPEN_ACL_UNSAFE;
    const int code = zoo_create(handle_, path.c_str(), text.data(), static_cast<int>(text.size()), &acl, 0, nullptr, 0);
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
    const int code = zoo_get_children(handle_, path.c_str(), 0, &found);
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
  bool usable_ = true;
  bool has_user_ = false;
  Records<ZooKeeperConnection> records_;
  zhandle_t* handle_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  int state_ = 0;  // under mutex_: the first one that decides
};

}  // namespace
}  // namespace idgen::backend

extern "C" __attribute__((visibility("default"))) const idgen_backend* idgen_backend_zookeeper() {
  static constexpr idgen_backend backend =
      idgen::backend::module<idgen::backend::RecordStore<idgen::backend::ZooKeeperConnection>>("zookeeper");
  return &backend;
}
