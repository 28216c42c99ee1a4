// Segments in etcd: one key per tag, replaced in a transaction that compares its value. A worker is such a key too, and
// while its owner is alive there is a second key beside it, which disappears when the owner's lease ends. Uses the JSON
// gateway of the v3 API (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/), so it needs only libcurl.
#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>

#include "json_worker.hpp"
#include "record.hpp"

namespace idgen::module {
namespace {

using Json = nlohmann::json;

constexpr std::uint16_t kPort = 2379;
constexpr const char* kDefaultPrefix = "idgen/segment/";

std::string base64(const std::string& bytes) {  // RFC 4648
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
  }
  return out;
}

std::string from_base64(const std::string& text) {
  std::string out;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) break;  // the padding
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) >= 8) out += static_cast<char>(group >> (bits -= 8) & 255);
  }
  return out;
}

class EtcdConnection {
 public:
  static constexpr std::string_view kParameters[] = {"user_env", "password_env", "password_file", "tls",
                                                     "tls_ca",   "tls_cert",     "tls_key",       "prefix"};
  static constexpr const char* kDescription =
      " (etcd); each grant is a transaction, committed through Raft before its first id is issued\n"
      "power loss, failover: nothing granted is forgotten\n"
      "restored from a snapshot: grants made after it are forgotten; raise each tag above all ids in use (`idgen "
      "segment "
      "advance`)\n";

  static std::string create_command(const Parameters& parameters, const std::string& name_space,
                                    const std::string& tag) {
    return "etcdctl put " + prefix_of(parameters) + path_part(name_space) + "/" + path_part(tag);
  }

  struct Held {
    std::string text;
  };

  EtcdConnection(const Settings& settings, const Parameters& parameters)
      : shown_(settings.url.shown()),
        prefix_(prefix_of(parameters)),
        timeout_ms_(settings.timeout_ms),
        tls_(parameters.tls("off")),
        records_(shown_, settings.create),
        workers_(shown_),
        curl_(curl_easy_init(), curl_easy_cleanup) {
    if (!curl_) throw std::bad_alloc();
    for (const StoreHost& host : settings.url.hosts)
      endpoints_.push_back((tls_.is_required() ? "https://" : "http://") + host.text(kPort));
    curl_easy_setopt(curl_.get(), CURLOPT_ERRORBUFFER, reason_);
    curl_easy_setopt(curl_.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(
        curl_.get(), CURLOPT_OPENSOCKETFUNCTION, +[](void*, curlsocktype, curl_sockaddr* to) -> curl_socket_t {
          return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);  // libcurl's own would be inherited
        });
    curl_easy_setopt(curl_.get(), CURLOPT_HEADERDATA, this);
    curl_easy_setopt(curl_.get(), CURLOPT_HEADERFUNCTION, &EtcdConnection::header);
    curl_easy_setopt(curl_.get(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeout_ms_));
    curl_easy_setopt(curl_.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms_));
    curl_easy_setopt(curl_.get(), CURLOPT_PROXY, "");  // ignore the environment's proxies: this is a database
    curl_easy_setopt(curl_.get(), CURLOPT_SSL_VERIFYPEER, tls_.is_verified() ? 1L : 0L);
    curl_easy_setopt(curl_.get(), CURLOPT_SSL_VERIFYHOST, tls_.is_name_verified() ? 2L : 0L);
    const auto file = [&](CURLoption option, const char* key) {
      const std::string path = parameters.file(key);
      if (!path.empty()) curl_easy_setopt(curl_.get(), option, path.c_str());
    };
    if (!tls_.ca.empty()) {
      curl_easy_setopt(curl_.get(), CURLOPT_CAINFO, tls_.ca.c_str());
      curl_easy_setopt(curl_.get(), CURLOPT_CAPATH, nullptr);  // libcurl would trust the system's as well
    }
    file(CURLOPT_SSLCERT, "tls_cert");
    file(CURLOPT_SSLKEY, "tls_key");

    user_ = parameters.secret("user", settings.url.user);
    if (!user_.empty()) {
      password_ = [parameters, given = settings.url.password] { return parameters.secret("password", given); };
      authenticate();
    } else {
      read("", "");  // is it there, and may we use it?
    }
  }
  EtcdConnection(const EtcdConnection&) = delete;
  EtcdConnection& operator=(const EtcdConnection&) = delete;

  bool is_usable() const { return usable_; }
  Records<EtcdConnection>& records() { return records_; }

  std::optional<Held> read(const std::string& name_space, const std::string& tag) {
    std::optional<std::string> text = value_of(key_of(name_space, tag));
    return text ? std::optional(Held{std::move(*text)}) : std::nullopt;
  }
  bool insert(const std::string& name_space, const std::string& tag, const std::string& text) {
    return insert_key(key_of(name_space, tag), text);
  }
  // Equal values are interchangeable: comparing what was read is enough.
  bool replace(const std::string& name_space, const std::string& tag, Held& held, const std::string& text) {
    const std::string key = base64(key_of(name_space, tag));
    if (!transact({{"key", key}, {"target", "VALUE"}, {"result", "EQUAL"}, {"value", base64(held.text)}}, key, text))
      return false;
    held.text = text;
    return true;
  }

  struct HeldRow : HeldWorker {
    std::string text;   // "": there is none
    std::string lease;  // of the key beside it
  };
  WorkerRows<EtcdConnection>& workers() { return workers_; }

  std::string format_of(const std::string& name_space, const std::string& format) {
    const std::string key = worker_prefix() + path_part(name_space) + "/%format";
    std::optional<std::string> found = value_of(key);
    if (!found && !format.empty()) {
      insert_key(key, format);
      found = value_of(key);
    }
    return found.value_or("");
  }

  HeldRow read_worker(const std::string& name_space, std::uint64_t worker) {
    const std::string key = worker_key(name_space, worker);
    // The two keys are neighbours: no digit sorts before '%'.
    const Json answer =
        post("/v3/kv/range", {{"key", base64(key)}, {"range_end", base64(live_key(key) + std::string(1, '\0'))}});
    HeldRow held;
    held.store_ms = clock_.now_ms();
    for (const Json& entry : answer.value("kvs", Json::array())) {
      if (from_base64(entry.value("key", "")) == key) {
        held.text = from_base64(entry.value("value", ""));
        held.row = parse_worker(shown_, name_space, worker, held.text);
      } else {
        held.lease = entry.value("lease", "");
        held.is_live = true;
        const Json left = post("/v3/lease/timetolive", {{"ID", held.lease}});
        held.lease_left_ms = 1000 * std::max(std::stoll(left.value("TTL", "0")), 0LL);
      }
    }
    return held;
  }

  template <class Row>
  void list_workers(const std::string& name_space, bool numbers_only, Row&& row) {
    const std::string folder = worker_prefix() + path_part(name_space) + "/";
    std::string end = folder;
    ++end.back();
    const Json answer =
        post("/v3/kv/range", {{"key", base64(folder)}, {"range_end", base64(end)}, {"keys_only", numbers_only}});
    const Json none = Json::array();
    std::map<std::uint64_t, HeldWorker> found;
    for (const Json& entry : answer.value("kvs", none)) {
      const std::string name = from_base64(entry.value("key", "")).substr(folder.size());
      std::uint64_t worker = 0;
      const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), worker);
      if (error != std::errc{}) continue;  // the format
      HeldWorker& held = found[worker];
      if (numbers_only) continue;
      if (rest == name.data() + name.size()) {
        held.row = parse_worker(shown_, name_space, worker, from_base64(entry.value("value", "")));
      } else {
        held.is_live = true;
      }
    }
    for (const auto& [worker, held] : found) row(worker, held);
  }
  bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldRow& held, const WorkerRow& next,
                      const WindowRequest* request) {
    const std::string key = worker_key(name_space, worker);
    const std::string text = worker_text(next);
    Json done = Json::array({{{"request_put", {{"key", base64(key)}, {"value", base64(text)}}}}});
    std::string lease;
    if (request != nullptr) {
      if (const auto now = clock_.now_ms()) check_clock(*request, *now);
      lease = kept_alive(held.lease, request->lease_ms);
    }
    if (lease.empty()) {
      done.push_back({{"request_delete_range", {{"key", base64(live_key(key))}}}});
    } else {
      done.push_back({{"request_put", {{"key", base64(live_key(key))}, {"value", ""}, {"lease", lease}}}});
    }
    const Json as_read =
        held.text.empty()
            ? Json{{"key", base64(key)}, {"target", "CREATE"}, {"result", "EQUAL"}, {"create_revision", "0"}}
            : Json{{"key", base64(key)}, {"target", "VALUE"}, {"result", "EQUAL"}, {"value", base64(held.text)}};
    const Json answer = post("/v3/kv/txn", {{"compare", Json::array({as_read})}, {"success", done}});
    if (!answer.value("succeeded", false)) return false;
    held.row = next;
    held.text = text;
    held.lease = lease;
    return true;
  }

  // All tags, in the order of their keys.
  void list(
      const std::function<void(const std::string& name_space, const std::string& tag, const std::string& text)>& row) {
    std::string end = prefix_;
    ++end.back();  // see prefix_of()
    const Json answer = post("/v3/kv/range", {{"key", base64(prefix_)}, {"range_end", base64(end)}});
    const auto found = answer.find("kvs");
    if (found == answer.end()) return;
    for (const Json& entry : *found) {
      const std::string key = from_base64(entry.value("key", ""));
      const std::size_t slash = key.find('/', prefix_.size());
      if (key.rfind(prefix_, 0) != 0 || slash == std::string::npos) continue;
      const auto name_space = name_of_path_part(key.substr(prefix_.size(), slash - prefix_.size()));
      const auto tag = name_of_path_part(key.substr(slash + 1));
      if (name_space && tag) row(*name_space, *tag, from_base64(entry.value("value", "")));
    }
  }

 private:
  // Without one, every key of the cluster would be taken for a tag. It also appears in a command that people run.
  static std::string prefix_of(const Parameters& parameters) {
    std::string prefix = parameters.get("prefix", kDefaultPrefix);
    const bool is_plain = std::all_of(prefix.begin(), prefix.end(), [](char c) {
      return c > ' ' && c < '~' && std::string_view("\"'`\\$&|;<>()*?!").find(c) == std::string_view::npos;
    });
    if (is_plain && !prefix.empty()) return prefix;
    throw Error(Status::value, "store = \"etcd://...\": prefix = " + in_quotes(prefix) +
                                   "; allowed: at least one letter, digit or plain sign such as / or -. Leave the "
                                   "parameter out for " +
                                   kDefaultPrefix);
  }
  // Beside the segments; below a prefix of one's own where no namespace's part can be: a '%' there is followed by two
  // digits.
  std::string worker_prefix() const { return prefix_ == kDefaultPrefix ? "idgen/worker/" : prefix_ + "%worker/"; }
  std::string worker_key(const std::string& name_space, std::uint64_t worker) const {
    return worker_prefix() + path_part(name_space) + "/" + std::to_string(worker);
  }
  static std::string live_key(const std::string& key) { return key + "%live"; }

  std::optional<std::string> value_of(const std::string& key) {
    const Json answer = post("/v3/kv/range", {{"key", base64(key)}});
    const auto found = answer.find("kvs");
    if (found == answer.end() || found->empty()) return std::nullopt;
    return from_base64(found->at(0).value("value", ""));
  }
  bool insert_key(const std::string& key, const std::string& text) {
    const std::string name = base64(key);
    return transact({{"key", name}, {"target", "CREATE"}, {"result", "EQUAL"}, {"create_revision", "0"}}, name, text);
  }

  // A lease that has so long to go: the one that is held, if the server still knows it, or a new one. "" for 0.
  std::string kept_alive(const std::string& lease, std::int64_t lease_ms) {
    if (lease_ms <= 0) return "";
    if (!lease.empty()) {
      const Json answer = post("/v3/lease/keepalive", {{"ID", lease}});
      if (std::stoll(answer.value("result", Json::object()).value("TTL", "0")) > 0) return lease;
    }
    return post("/v3/lease/grant", {{"TTL", std::to_string((lease_ms + 999) / 1000)}}).value("ID", "");
  }

  // Whole seconds: the end of that second, so that nobody is told off by what was cut away.
  static std::size_t header(char* text, std::size_t size, std::size_t count, void* self) {
    const std::string line(text, size * count);
    if (line.size() > 5 && strncasecmp(line.c_str(), "date:", 5) == 0) {
      const time_t seconds = curl_getdate(line.c_str() + 5, nullptr);
      if (seconds > 0) static_cast<EtcdConnection*>(self)->clock_.saw(std::int64_t{seconds} * 1000 + 999);
    }
    return size * count;
  }

  std::string key_of(const std::string& name_space, const std::string& tag) const {
    return prefix_ + path_part(name_space) + "/" + path_part(tag);
  }

  bool transact(const Json& compare, const std::string& key, const std::string& text) {
    const Json put = {{"request_put", {{"key", key}, {"value", base64(text)}}}};
    const Json answer = post("/v3/kv/txn", {{"compare", Json::array({compare})}, {"success", Json::array({put})}});
    return answer.value("succeeded", false);
  }

  std::string reason_of(CURLcode code) const {
    const bool by_tls = endpoints_[endpoint_].rfind("https:", 0) == 0;
    return (by_tls ? " by TLS: " : ": ") + std::string(reason_[0] != 0 ? reason_ : curl_easy_strerror(code));
  }

  // By the password of now: a password_file may have another one than when the connection was made.
  void authenticate() {
    token_.clear();
    token_ = post("/v3/auth/authenticate", {{"name", user_}, {"password", password_()}}).value("token", "");
  }

  // Retries with a new token if etcd wants one: it forgets a token some minutes after its last use (--auth-token-ttl),
  // at a restart, and when users or roles change. It checks the token before anything else, so nothing was done.
  Json post(const char* path, const Json& body) {
    Answer answer = send(path, body);
    if (!token_.empty() && answer.wants_new_token()) {
      authenticate();
      answer = send(path, body);
    }
    if (answer.status == 200 && answer.body.is_object()) return std::move(answer.body);
    fail(answer.status, answer.error());
  }

  struct Answer {
    long status = 0;
    Json body;

    std::string error() const {
      for (const char* key : {"error", "message"}) {
        if (body.is_object() && body.contains(key) && body[key].is_string()) return body[key].get<std::string>();
      }
      return "";
    }
    bool wants_new_token() const {
      const std::string why = status == 200 ? "" : error();
      return why.find("invalid auth token") != std::string::npos ||
             why.find("revision of auth store is old") != std::string::npos;
    }
  };

  // Tries one endpoint after the other until one can be reached. What was sent is not sent again. (libcurl may do so on
  // a connection that turns out to be dead; the comparison, and the care of give_back(), make that harmless.)
  Answer send(const char* path, const Json& body) {
    const std::string text = body.dump();
    std::string answer;
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
        curl_slist_append(nullptr, "Content-Type: application/json"), curl_slist_free_all);
    if (!token_.empty()) curl_slist_append(headers.get(), ("Authorization: " + token_).c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(text.size()));
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDS, text.c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(
        curl_.get(), CURLOPT_WRITEFUNCTION,
        +[](char* data, std::size_t size, std::size_t count, void* to) -> std::size_t {
          static_cast<std::string*>(to)->append(data, size * count);
          return size * count;
        });
    reason_[0] = 0;
    CURLcode code = CURLE_OK;
    for (std::size_t tried = 0; tried < endpoints_.size(); ++tried) {
      curl_easy_setopt(curl_.get(), CURLOPT_URL, (endpoints_[endpoint_] + path).c_str());
      code = curl_easy_perform(curl_.get());
      const bool unsent =
          code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_SSL_CONNECT_ERROR;
      if (!unsent) break;
      endpoint_ = (endpoint_ + 1) % endpoints_.size();
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM) {
      usable_ = false;
      const std::string why = reason_of(code);
      const bool differs = why.find("subject name") != std::string::npos && why.find("match") != std::string::npos;
      throw Error(Status::store_permission, shown_ + why + (differs ? tls_.if_name_differs() : ""));
    }
    if (code != CURLE_OK) {
      usable_ = false;
      throw Error(Status::store_unavailable, shown_ + reason_of(code));
    }
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    return {status, Json::parse(answer, nullptr, false)};
  }

  [[noreturn]] void fail(long status, const std::string& why) {
    usable_ = false;
    const std::string text = shown_ + ": etcd says " + std::to_string(status) + (why.empty() ? "" : ": " + why);
    const auto says = [&](const char* part) { return why.find(part) != std::string::npos; };
    if (says("authentication is not enabled"))
      throw Error(Status::store_permission, text + ". Leave user and password out, or enable authentication");
    if (says("permission denied") || says("authentication failed") || says("invalid auth token") ||
        says("user name is empty"))
      throw Error(Status::store_permission, text);
    if (says("database space exceeded")) throw Error(Status::store_full, text);
    if (status == 404) {
      throw Error(Status::store_version,
                  text + ". The JSON gateway of the v3 API is not there: etcd 3.4 or newer is needed");
    }
    throw Error(Status::store_unavailable, text);
  }

  const std::string shown_;
  const std::string prefix_;
  const std::int64_t timeout_ms_;
  const TlsTerms tls_;
  bool usable_ = true;
  Records<EtcdConnection> records_;
  WorkerRows<EtcdConnection> workers_;
  ServerClock clock_;
  std::string user_;
  std::function<std::string()> password_;
  std::string token_;  // "" without a user
  std::vector<std::string> endpoints_;
  std::size_t endpoint_ = 0;
  char reason_[CURL_ERROR_SIZE] = "";
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
};

// When the module is loaded, which is once: libcurl's own set-up was not thread-safe before version 7.84.
const CURLcode curl_is_ready = curl_global_init(CURL_GLOBAL_DEFAULT);

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_etcd() {
  if (idgen::module::curl_is_ready != CURLE_OK) return nullptr;
  static constexpr idgen_module module =
      idgen::module::interface_of<idgen::module::RecordStore<idgen::module::EtcdConnection>>("etcd");
  return &module;
}
