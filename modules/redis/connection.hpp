// One connection to a Redis server: commands, scripts, and what it needs to know of the server.
#pragma once

#include <hiredis.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign_machines.hpp"
#include "idgen/time_units.hpp"
#include "module.hpp"
#include "number_request.hpp"
#include "script_error.hpp"
#include "socket.hpp"
#include "sql.hpp"
#include "store/nonce_text.hpp"
#include "tls.hpp"
#include "wire.hpp"
#include "with_windows.hpp"
#include "worker_scripts.hpp"

namespace idgen::module {

inline constexpr std::string_view kParameters[] = {"user_env", "password_env", "password_file",
                                                   "tls",      "tls_ca",       "accept_loss"};
inline constexpr std::uint16_t kPort = 6379;

using Arguments = std::vector<std::string>;

class Reply {
 public:
  explicit Reply(redisReply* reply) : reply_(reply, freeReplyObject) {}
  bool is_error() const { return reply_->type == REDIS_REPLY_ERROR; }
  std::string text() const { return text_of(reply_.get()); }
  std::size_t size() const { return reply_->elements; }
  std::string operator[](std::size_t i) const { return i < size() ? text_of(reply_->element[i]) : ""; }
  std::vector<std::string> list(std::size_t i) const {
    std::vector<std::string> out;
    if (i < size())
      for (std::size_t j = 0; j < reply_->element[i]->elements; ++j)
        out.push_back(text_of(reply_->element[i]->element[j]));
    return out;
  }

 private:
  static std::string text_of(const redisReply* reply) {
    return reply->str == nullptr ? "" : std::string(reply->str, reply->len);
  }
  std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply_;
};

class RedisConnection {
 public:
  RedisConnection(const Settings& settings, const Parameters& parameters)
      : shown_(settings.url.shown()), workers_(shown_), context_(nullptr, redisFree) {
    if (settings.url.hosts.size() != 1) {
      throw Error(Status::value, "store = \"" + shown_ + "\": one host is allowed, the master's");
    }
    const StoreHost& host = settings.url.hosts.front();
    const TlsTerms terms = parameters.tls("off");
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string password = parameters.secret("password", settings.url.password);
    context_.reset(redisConnectNonBlock(host.name.c_str(), host.port == 0 ? kPort : host.port));
    if (!context_) throw std::bad_alloc();
    if (context_->err) {
      throw Error(Status::store_unavailable, "cannot connect to " + shown_ + ": " + context_->errstr);
    }
    close_on_exec(context_->fd);
    wire_.emplace(context_->fd, settings.timeout_ms);
    if (!wire_->is_connected()) {
      throw Error(Status::store_unavailable, "cannot connect to " + shown_ + ": " + wire_->reason());
    }
    keep_alive(context_->fd);
    if (terms.is_required()) tls_ = std::make_unique<Tls>(shown_, *wire_, host.name, terms);

    if (!password.empty()) {
      const Reply reply =
          command(user.empty() ? Arguments{"AUTH", password} : Arguments{"AUTH", user, password}, "AUTH");
      if (reply.is_error()) throw Error(Status::store_permission, shown_ + ": " + reply.text());
    }
    if (!settings.url.path.empty()) {
      const Reply reply = command({"SELECT", settings.url.path}, "SELECT");
      if (reply.is_error()) {
        throw Error(Status::value, "store = \"" + shown_ + "\": the path is the number of a database: " + reply.text());
      }
    }
    check_role();
    if (!settings.queue) check_settings(parameters);
  }
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  bool is_usable() const { return usable_; }
  int socket() const { return context_->fd; }

  // Throws if there is no answer. The caller handles an answer that is an error. Messages name `what`, because the
  // arguments may be secret.
  Reply command(const Arguments& arguments, const char* what) {
    std::vector<const char*> pointers;
    std::vector<std::size_t> sizes;
    for (const std::string& argument : arguments) {
      pointers.push_back(argument.data());
      sizes.push_back(argument.size());
    }
    char* text = nullptr;
    const int size = redisFormatCommandArgv(&text, static_cast<int>(arguments.size()), pointers.data(), sizes.data());
    if (size < 0) throw std::bad_alloc();
    const std::unique_ptr<char, decltype(&redisFreeCommand)> owned(text, redisFreeCommand);
    wire_->begin();
    void* const reply = answer_to(text, static_cast<std::size_t>(size));
    if (reply == nullptr) {
      usable_ = false;
      const std::string why = context_->reader->err ? context_->reader->errstr
                              : tls_                ? tls_->reason()
                                                    : wire_->reason();
      throw Error(Status::store_unavailable, shown_ + ": no answer to " + what + ": " + why);
    }
    return Reply(static_cast<redisReply*>(reply));
  }

  // `body` after its prelude, which is always the same one on this connection.
  Reply script(std::string_view prelude, const char* body, const Arguments& keys, const Arguments& arguments) {
    std::string& hash = hashes_[body];
    const std::string text = std::string(prelude) + body;
    const bool known = !hash.empty();
    Arguments call = {known ? "EVALSHA" : "EVAL", known ? hash : text, std::to_string(keys.size())};
    call.insert(call.end(), keys.begin(), keys.end());
    call.insert(call.end(), arguments.begin(), arguments.end());
    if (!known) {
      const Reply loaded = command({"SCRIPT", "LOAD", text}, "SCRIPT LOAD");
      if (!loaded.is_error()) {
        hash = loaded.text();
        call[0] = "EVALSHA";
        call[1] = hash;
      }
    }
    Reply reply = command(call, "a script");
    if (reply.is_error() && reply.text().rfind("NOSCRIPT", 0) == 0) {  // the scripts were flushed: nothing was done
      call[0] = "EVAL";
      call[1] = text;
      hash.clear();
      reply = command(call, "a script");
    }
    if (reply.is_error()) fail(reply.text());
    if (reply[0] == "role") {
      usable_ = false;
      throw Error(Status::store_permission,
                  shown_ + ": the server is a " + reply[1] + ", it cannot grant anything; name the master");
    }
    return reply;
  }

  struct HeldRow : HeldWorker {};
  WorkerRows<RedisConnection>& workers() { return workers_; }

  // CosId's machine ids.
  RedisConnection& numbers() { return *this; }
  ClaimedNumber claim(RedisConnection&, const RequestNow& asked) {
    const NumberRequest before = asked.now();
    if (before.kind != kCosid) throw_no_such_numbers(before.kind, shown_);
    const Arguments keys = machine_keys(before);
    const auto server_ms =
        static_cast<std::int64_t>(stored_number(shown_, script(kMachinePrelude, kMachineClock, keys, {})[1].c_str()));
    const NumberRequest request = asked.now();
    check_cosid_clock(before, request, server_ms);
    const Reply reply =
        script(kMachinePrelude, kMachineClaim, keys,
               {request.address, std::to_string(request.numbers - 1), number_text(request.now_ms),
                number_text(cosid_expired_ms(request, server_ms)), number_text(cosid_usable_ms(request, server_ms))});
    if (reply[0] == "none") {
      throw_no_cosid_number(request, shown_, static_cast<std::int64_t>(stored_number(shown_, reply[1].c_str())),
                            server_ms);
    }
    ClaimedNumber claimed;
    claimed.number = stored_number(shown_, reply[1].c_str());
    claimed.used_to_ms = static_cast<std::int64_t>(stored_number(shown_, reply[2].c_str()));
    claimed.reported_ms = std::max(claimed.used_to_ms, request.now_ms);
    return claimed;
  }
  ClaimedNumber keep(RedisConnection&, const NumberRequest& request, const ClaimedNumber& held) {
    const Reply reply = script(kMachinePrelude, kMachineKeep, machine_keys(request),
                               {request.address, std::to_string(held.number), number_text(request.now_ms),
                                number_text(request.clock_limit_ms)});
    if (reply[0] == "ahead") check_report(request, static_cast<std::int64_t>(stored_number(shown_, reply[1].c_str())));
    ClaimedNumber kept = held;
    if (reply[0] == "lost") {
      kept.lost = reply[1].empty() ? "no instance " + in_quotes(request.address) +
                                         " is known any more: it was taken for dead, or the server has forgotten it"
                                   : "this instance has " + reply[1] + " now";
    }
    kept.reported_ms = std::max(held.reported_ms, request.now_ms);
    return kept;
  }
  void release(RedisConnection&, const NumberRequest& request, const ClaimedNumber& held,
               std::optional<std::int64_t> used_ms) {
    script(kMachinePrelude, kMachineRelease, machine_keys(request),
           {request.address, std::to_string(held.number), used_ms ? number_text(*used_ms) : "",
            cosid_left_behind(request.address, held.number)});
  }

  std::string format_of(const std::string& name_space, const std::string& format) {
    return script(kWorkerPrelude, kFormat, {kFormatPrefix + name_space}, {format})[1];
  }
  void settle_worker(const std::string& name_space, std::uint64_t worker) {
    script(kWorkerPrelude, kWorkerSettle, worker_keys(name_space, worker), {std::to_string(kLeadMs + kSkewMs)});
  }
  HeldRow read_worker(const std::string& name_space, std::uint64_t worker) {
    const Reply reply = script(kWorkerPrelude, kWorkerRead, worker_keys(name_space, worker), {});
    std::vector<std::string> columns;
    for (std::size_t i = 1; i < reply.size(); ++i) columns.push_back(reply[i]);
    columns.resize(7);
    return held_of(name_space, worker, columns);
  }
  template <class Row>
  void list_workers(const std::string& name_space, bool numbers_only, Row&& row) {
    const Reply reply =
        script(kWorkerPrelude, kWorkerList, {kWorkerStore}, {":" + name_space, numbers_only ? "1" : "0"});
    const std::vector<std::string> all = reply.list(1);
    const std::size_t columns = numbers_only ? 1 : 8;
    for (std::size_t i = 0; i + columns <= all.size(); i += columns) {
      const std::string& key = all[i];
      const std::size_t begin = std::string_view(kWorkerPrefix).size();
      std::uint64_t worker = 0;
      const auto [rest, error] = std::from_chars(key.data() + begin, key.data() + key.size(), worker);
      // A namespace may end with another one's name.
      if (error != std::errc{} || std::string_view(rest, key.data() + key.size()) != ":" + name_space) continue;
      if (numbers_only) {
        row(worker, HeldRow{});
        continue;
      }
      row(worker, held_of(name_space, worker,
                          {all.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                           all.begin() + static_cast<std::ptrdiff_t>(i) + 8}));
    }
  }
  bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldRow& held, const WorkerRow& next,
                      const WindowRequest* request) {
    WindowRequest asked;
    if (request != nullptr) {
      asked = *request;
      if (asked.width_ms > kLeadMs - kSkewMs) throw_too_wide(asked.width_ms);
      asked.max_lead_ms = std::min(asked.max_lead_ms, kLeadMs - asked.width_ms);
    }
    const Reply reply =
        script(kWorkerPrelude, kWorkerReplace, worker_keys(name_space, worker),
               {std::to_string(held.row.fence), held.row.owned ? hex_of(held.row.owner) : "",
                std::to_string(held.row.hw), std::to_string(next.fence), next.owned ? hex_of(next.owner) : "",
                std::to_string(next.hw), next.holder, request != nullptr ? std::to_string(asked.now_ms) : "",
                std::to_string(asked.max_lead_ms), std::to_string(asked.lease_ms), std::to_string(kLeadMs)});
    if (reply[0] == "ahead") check_clock(asked, static_cast<std::int64_t>(stored_number(shown_, reply[1].c_str())));
    if (reply[0] == "early") {
      const std::uint64_t wait_ms = stored_number(shown_, reply[1].c_str());
      throw Error(Status::store_unavailable,
                  shown_ +
                      ": the server may have forgotten windows that it granted (it is new, was restarted or failed "
                      "over), so " +
                      worker_name(name_space, worker) + " gets its next one above them, in " + std::to_string(wait_ms) +
                      " ms",
                  wait_ms * kNsPerMs);
    }
    if (reply[0] != "ok") return false;
    held.row = next;
    return true;
  }

 private:
  // A window ends at most this far ahead of the server's clock, so nothing that a server has forgotten ends later.
  // What is granted in another life of the server begins above that, and above what its clock may lag behind.
  static constexpr std::int64_t kLeadMs = 15'000;
  static constexpr std::int64_t kSkewMs = 2'000;

  // Of the columns now, fence, owner, hw, lease_until, ahead, holder.
  HeldRow held_of(const std::string& name_space, std::uint64_t worker, const std::vector<std::string>& row) const {
    const auto number = [&](std::size_t i) {
      std::int64_t found = 0;
      const std::string& text = row[i];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
      if (error == std::errc{} && end == text.data() + text.size()) return found;
      throw Error(Status::store_damaged, shown_ + ": " + worker_name(name_space, worker) + " holds " + in_quotes(text) +
                                             " where a whole number of 64 bits belongs");
    };
    HeldRow held;
    held.store_ms = number(0);
    held.row.fence = stored_number(shown_, row[1].c_str());
    held.row.hw = number(3);
    if (held.row.fence == 0) return held;
    if (const std::string hex = row[2]; !hex.empty()) {
      const std::optional<Nonce> owner = nonce_of(hex);
      if (!owner) {
        throw Error(Status::store_damaged, shown_ + ": " + worker_name(name_space, worker) + " holds the owner " +
                                               in_quotes(hex) + ", which is no text of 32 hexadecimal digits");
      }
      held.row.owner = *owner;
      held.row.owned = true;
    }
    held.lease_left_ms = std::max<std::int64_t>(number(4) - number(0), 0);
    held.is_live = held.lease_left_ms > 0;
    held.clock_ahead_ms = number(5);
    held.row.holder = row[6];
    return held;
  }

  [[noreturn]] static void throw_too_wide(std::int64_t width_ms) {
    throw Error(Status::value, "window = " + std::to_string(width_ms) + "ms: in Redis a window may reach " +
                                   std::to_string(kLeadMs - kSkewMs) +
                                   " ms ahead at most, so that nothing is granted again that a failover has forgotten. "
                                   "Set window to at most " +
                                   std::to_string((kLeadMs - kSkewMs) / 1000) + "s");
  }
  static Arguments machine_keys(const NumberRequest& request) {
    const std::string begin = "cosid:{" + request.name_space + "}:";
    return {begin + "itc_idx", begin + "revert", begin + "adder"};
  }
  static Arguments worker_keys(const std::string& name_space, std::uint64_t worker) {
    return {kWorkerPrefix + std::to_string(worker) + ":" + name_space, kWorkerStore};
  }

  // Null: there is none.
  void* answer_to(const char* text, std::size_t size) {
    if (!(tls_ ? tls_->send(text, size) : wire_->send(text, size))) return nullptr;
    for (char received[4096];;) {
      void* reply = nullptr;
      if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) return nullptr;
      if (reply != nullptr) return reply;
      const std::size_t got =
          tls_ ? tls_->receive(received, sizeof received) : wire_->receive(received, sizeof received);
      if (got == 0 || redisReaderFeed(context_->reader, received, got) != REDIS_OK) return nullptr;
    }
  }

  [[noreturn]] void fail(const std::string& why) {
    const std::string code = script_error(why);
    const auto says = [&](const char* begin) { return code.rfind(begin, 0) == 0; };
    const std::string text = shown_ + ": " + why;
    if (says("NOAUTH") || says("WRONGPASS")) throw Error(Status::store_permission, text);
    // The latter two of a command in a script, before and from 7.2 on.
    if (says("NOPERM") || says("ERR The user executing the script can't") || says("ERR ACL failure in script"))
      throw Error(Status::store_permission, text + ". docs/stores.md lists the rights that a user needs");
    if (says("READONLY")) {
      usable_ = false;
      throw Error(Status::store_permission, text + " Name the master");
    }
    if (says("MOVED") || says("CLUSTERDOWN") || says("CROSSSLOT")) throw_cluster(text);
    if (says("OOM")) throw Error(Status::store_full, text);
    if (says("WRONGTYPE")) throw Error(Status::store_damaged, text + ". A key that idgen uses is somebody else's");
    if (says("MISCONF")) throw Error(Status::store_full, text);  // it cannot write to its disk
    throw Error(Status::store_unavailable, text);
  }

  // A grant changes two keys, which a cluster may keep on two servers.
  [[noreturn]] static void throw_cluster(const std::string& text) {
    throw Error(Status::unsupported,
                text +
                    ". A cluster is not supported; name a server that stands alone, or the master of a group of "
                    "replicas, with cluster-enabled no");
  }

  void demand(const Parameters& parameters, const char* name, const char* wanted, const char* why) {
    if (parameters.accepts_loss(name)) return;
    const Reply reply = command({"CONFIG", "GET", name}, "CONFIG GET");
    const bool readable = !reply.is_error() && reply.size() == 2;
    if (readable && reply[1] == wanted) return;
    throw Error(Status::store_unsafe, shown_ + ": the server runs with " + name + " = " +
                                          (readable           ? reply[1]
                                           : reply.is_error() ? "(not readable: " + reply.text() + ")"
                                                              : "(not readable)") +
                                          ": " + why +
                                          ", and issuing would stop until the tag is raised by hand. Set it to " +
                                          wanted + ", or give that up with ?accept_loss=" + name);
  }
  void check_role() {
    const Reply reply = command({"INFO"}, "INFO");  // INFO takes one section before Redis 7
    if (reply.is_error()) fail(reply.text());
    if (reply.text().find("cluster_enabled:1") != std::string::npos)
      throw_cluster(shown_ + ": the server is part of a cluster (cluster-enabled yes)");
    if (reply.text().find("role:master") == std::string::npos) {
      throw Error(Status::store_permission,
                  shown_ + ": the server is a replica, it cannot grant anything; name the master");
    }
  }
  void check_settings(const Parameters& parameters) {
    demand(parameters, "maxmemory-policy", "noeviction", "it may throw a counter away");
    demand(parameters, "appendonly", "yes", "a restart forgets what was granted since the last dump");
    demand(parameters, "appendfsync", "always", "a power loss forgets the grants of the last second");
  }

  const std::string shown_;
  WorkerRows<RedisConnection> workers_;
  bool usable_ = true;
  std::map<const char*, std::string> hashes_;
  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  std::optional<Wire> wire_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

}  // namespace idgen::module
