// Segments in Redis: one Lua script per grant, on one hash per tag; with segment.schema = cosid on the string that
// CosId counts in, and a label beside it.
//
// Redis may forget what it has acknowledged: after a failover, a restart from an older dump, an eviction. Every way to
// lose data changes the server's replication id (but not its run id). So each tag carries the id under which it was
// written. A script that finds another id grants nothing, and the tag has to be raised by hand. A hash beside the tags
// keeps the label and the names of all tags that were made: with store_create, a missing tag is made only if nothing
// says that it was forgotten. So uniqueness does not depend on the durability of Redis; only availability does. The
// price: a master also takes a new id when its first replica joins, and when it has had none for repl-backlog-ttl.
// Windows of workers: worker_scripts.hpp.
#include <hiredis.h>
#include <sys/time.h>

#include <charconv>
#include <map>
#include <optional>

#include "machine_scripts.hpp"
#include "module.hpp"
#include "number_request.hpp"
#include "queue_scripts.hpp"
#include "socket.hpp"
#include "sql.hpp"
#include "store/nonce_text.hpp"
#include "tls.hpp"
#include "with_windows.hpp"
#include "worker_scripts.hpp"

namespace idgen::module {
namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env", "tls", "tls_ca", "accept_loss"};
constexpr std::string_view kTls[] = {"off", "require", "verify"};
constexpr std::uint16_t kPort = 6379;

// Lua's numbers are doubles: counters stay in Redis (INCRBY is exact) and cross as text.
constexpr const char* kPrelude = R"(
local info = redis.call('INFO', 'replication')
local role = string.match(info, 'role:(%a+)')
local label = string.match(info, 'master_replid:(%x+)')
if role ~= 'master' then return {'role', role} end
local key = KEYS[1]
local function below(a, b) return #a < #b or (#a == #b and a < b) end
local function refusal(done, number, count)
  if type(done) ~= 'table' or not done.err then return nil end
  if string.sub(done.err, 1, 4) ~= 'ERR ' then return done end -- a full disk, say: no fault of the counter
  return {'refused', number, done.err, count}
end
-- What is known of tags that are not there: a field for each that was made, and the label of the first one. A server
-- that knows neither is new, unless it took over from another one before the first tag had reached it: then it has that
-- one's id too.
local store = KEYS[#KEYS]
local function remember()
  redis.call('HSET', store, key, '1')
  redis.call('HSETNX', store, 'label', label)
end
local function is_forgotten(rewind)
  local known = redis.call('HMGET', store, key, 'label')
  if known[1] then return true end
  if rewind then return false end
  if known[2] then return known[2] ~= label end
  local before = string.match(info, 'master_replid2:(%x+)')
  return before and string.find(before, '[^0]') ~= nil
end
)";

// How a tag is kept: row is {counter, label, step}; each may be false.
constexpr const char* kOwnRow = R"(
local row = redis.call('HMGET', key, 'max_id', 'label', 'step')
local function make()
  redis.call('HSET', key, 'max_id', '0', 'grants', '0', 'label', label)
  remember()
end
local function add(count) return redis.pcall('HINCRBY', key, 'max_id', count) end
local function put(number) redis.call('HSET', key, 'max_id', number) end
local function relabel() redis.call('HSET', key, 'label', label) remember() end
local function stamp(now) redis.call('HSET', key, 'updated_unix_ms', now) end
local function granted(now)
  redis.call('HINCRBY', key, 'grants', 1)
  stamp(now)
end
local function drawn_by(rate, holder) redis.call('HSET', key, 'rate', rate, 'holder', holder) end
local function answer()
  local r = redis.call('HMGET', key, 'max_id', 'grants', 'updated_unix_ms', 'step', 'rate', 'holder')
  return {'ok', r[1], r[2], r[3] or '0', r[4] or '0', r[5] or '0', r[6] or ''}
end
if row[1] and not string.find(row[1], '^%d+$') then return {'refused', row[1], 'no counter', '0'} end
)";
// If the label exists, a missing counter was forgotten: only CosId makes it again, or a person.
constexpr const char* kCosidRow = R"(
local row = {redis.call('GET', key), redis.call('GET', KEYS[2]), false}
local function make()
  redis.call('SETNX', key, '0')
  redis.call('SET', KEYS[2], label)
  remember()
end
local function add(count) return redis.pcall('INCRBY', key, count) end
local function put(number) redis.call('SET', key, number) end
local function relabel() redis.call('SET', KEYS[2], label) remember() end
local function stamp(now) end
local function granted(now) end
local function drawn_by(rate, holder) end
local function answer() return {'ok', redis.call('GET', key), '0', '0', '0', '0', ''} end
if row[1] and not string.find(row[1], '^%d+$') then return {'refused', row[1], 'no counter', '0'} end
)";

// ARGV: step, wanted, now, whether to make the tag, whether a rewind is accepted, rate, holder, above. The answer ends
// with the count.
constexpr const char* kTake = R"(
if not row[1] then
  if ARGV[4] ~= '1' then return {'unknown'} end
  if row[2] or is_forgotten(ARGV[5] == '1') then return {'forgotten'} end
  make()
elseif row[2] ~= label then
  if ARGV[5] ~= '1' then return {'label', row[1], row[2] or 'none', label} end
  relabel()
end
local count = ARGV[1]
if row[3] and row[3] ~= '0' then
  if not string.find(row[3], '^%d+$') then return {'refused', row[1], 'its step is not a number', '0'} end
  count = row[3]
end
if below(count, ARGV[2]) then count = ARGV[2] end
if below(row[1] or '0', ARGV[8]) then
  put(ARGV[8])
  row[1] = ARGV[8]
end
local refused = refusal(add(count), row[1] or '0', count)
if refused then return refused end
drawn_by(ARGV[6], ARGV[7])
granted(ARGV[3])
local a = answer()
a[#a + 1] = count
return a
)";
// ARGV: last, minus unused, now.
constexpr const char* kGiveBack = R"(
if not row[1] then return {'unknown'} end
if row[2] == label and row[1] == ARGV[1] then
  add(ARGV[2])
  stamp(ARGV[3])
end
return {'ok'}
)";
// ARGV: step, now. Only for idgen's own rows.
constexpr const char* kSetStep = R"(
if not row[1] then return {'unknown'} end
redis.call('HSET', key, 'step', ARGV[1])
stamp(ARGV[2])
return answer()
)";
// ARGV: now.
constexpr const char* kCreate = R"(
if row[1] then return {'exists', row[1]} end
make()
stamp(ARGV[1])
return answer()
)";
constexpr const char* kShow = R"(
if not row[1] then return {'unknown'} end
return answer()
)";
// ARGV: target, now. From now on the tag belongs to this life of the server.
constexpr const char* kAdvance = R"(
if not row[1] then return {'unknown'} end
if below(row[1], ARGV[1]) then
  put(ARGV[1])
else
  local refused = refusal(add(1), row[1], '1')
  if refused then return refused end
end
relabel()
granted(ARGV[2])
return answer()
)";

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
      : shown_(settings.url.shown()),
        is_cosid_(settings.schema == "cosid"),
        workers_(shown_),
        context_(nullptr, redisFree) {
    if (settings.url.hosts.size() != 1) {
      throw Error(Status::value, "store = \"" + shown_ + "\": one host is allowed, the master's");
    }
    const StoreHost& host = settings.url.hosts.front();
    const std::string user = parameters.secret("user", settings.url.user);
    const std::string password = parameters.secret("password", settings.url.password);
    const timeval timeout{static_cast<time_t>(settings.timeout_ms / 1000),
                          static_cast<suseconds_t>(settings.timeout_ms % 1000 * 1000)};
    context_.reset(redisConnectWithTimeout(host.name.c_str(), host.port == 0 ? kPort : host.port, timeout));
    if (!context_) throw std::bad_alloc();
    if (context_->err) {
      throw Error(Status::store_unavailable, "cannot connect to " + shown_ + ": " + context_->errstr);
    }
    close_on_exec(context_->fd);
    keep_alive(context_->fd);
    redisSetTimeout(context_.get(), timeout);
    const std::string ca = parameters.file("tls_ca");
    if (const std::string tls = parameters.choice("tls", kTls); tls != "off")
      tls_ = std::make_unique<Tls>(shown_, context_->fd, host.name, tls == "verify", ca);

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
    const int count = static_cast<int>(arguments.size());
    void* const reply = tls_ ? command_over_tls(count, pointers.data(), sizes.data())
                             : redisCommandArgv(context_.get(), count, pointers.data(), sizes.data());
    if (reply == nullptr) {
      usable_ = false;
      throw Error(Status::store_unavailable,
                  shown_ + ": no answer to " + what + ": " + (tls_ ? Tls::reason() : context_->errstr));
    }
    return Reply(static_cast<redisReply*>(reply));
  }

  // body after its prelude; without one, after kPrelude and the functions of a row.
  Reply script(const char* body, const Arguments& keys, const Arguments& arguments, const char* prelude = nullptr) {
    std::string& hash = hashes_[body];
    const std::string text =
        (prelude != nullptr ? std::string(prelude) : std::string(kPrelude) + (is_cosid_ ? kCosidRow : kOwnRow)) + body;
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
        static_cast<std::int64_t>(stored_number(shown_, script(kMachineClock, keys, {}, kMachinePrelude)[1].c_str()));
    const NumberRequest request = asked.now();
    check_cosid_clock(before, request, server_ms);
    const Reply reply = script(kMachineClaim, keys,
                               {request.address, std::to_string(request.numbers - 1), number_text(request.now_ms),
                                number_text(cosid_expired_ms(request, server_ms))},
                               kMachinePrelude);
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
    const Reply reply =
        script(kMachineKeep, machine_keys(request),
               {request.address, std::to_string(held.number), number_text(request.now_ms)}, kMachinePrelude);
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
    script(kMachineRelease, machine_keys(request),
           {request.address, std::to_string(held.number), used_ms ? number_text(*used_ms) : "",
            cosid_left_behind(request.address, held.number)},
           kMachinePrelude);
  }

  std::string format_of(const std::string& name_space, const std::string& format) {
    return script(kFormat, {kFormatPrefix + name_space}, {format}, kWorkerPrelude)[1];
  }
  void settle_worker(const std::string& name_space, std::uint64_t worker) {
    script(kWorkerSettle, worker_keys(name_space, worker), {std::to_string(kLeadMs + kSkewMs)}, kWorkerPrelude);
  }
  HeldRow read_worker(const std::string& name_space, std::uint64_t worker) {
    const Reply reply = script(kWorkerRead, worker_keys(name_space, worker), {}, kWorkerPrelude);
    std::vector<std::string> columns;
    for (std::size_t i = 1; i < reply.size(); ++i) columns.push_back(reply[i]);
    columns.resize(7);
    return held_of(name_space, worker, columns);
  }
  template <class Row>
  void list_workers(const std::string& name_space, bool numbers_only, Row&& row) {
    const Reply reply =
        script(kWorkerList, {kWorkerStore}, {":" + name_space, numbers_only ? "1" : "0"}, kWorkerPrelude);
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
        script(kWorkerReplace, worker_keys(name_space, worker),
               {std::to_string(held.row.fence), held.row.owned ? hex_of(held.row.owner) : "",
                std::to_string(held.row.hw), std::to_string(next.fence), next.owned ? hex_of(next.owner) : "",
                std::to_string(next.hw), next.holder, request != nullptr ? std::to_string(asked.now_ms) : "",
                std::to_string(asked.max_lead_ms), std::to_string(asked.lease_ms), std::to_string(kLeadMs)},
               kWorkerPrelude);
    if (reply[0] == "ahead") check_clock(asked, static_cast<std::int64_t>(stored_number(shown_, reply[1].c_str())));
    if (reply[0] == "early") {
      const std::uint64_t wait_ms = stored_number(shown_, reply[1].c_str());
      throw Error(Status::store_unavailable,
                  shown_ +
                      ": the server may have forgotten windows that it granted (it is new, was restarted or failed "
                      "over), so " +
                      worker_name(name_space, worker) + " gets its next one above them, in " + std::to_string(wait_ms) +
                      " ms",
                  wait_ms * 1'000'000);
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

  // redisCommandArgv(), with hiredis's formatter and its reader.
  void* command_over_tls(int count, const char** arguments, const std::size_t* sizes) {
    char* text = nullptr;
    const int size = redisFormatCommandArgv(&text, count, arguments, sizes);
    if (size < 0) throw std::bad_alloc();
    const std::unique_ptr<char, decltype(&redisFreeCommand)> owned(text, redisFreeCommand);
    if (!tls_->send(text, static_cast<std::size_t>(size))) return nullptr;
    for (char received[4096];;) {
      void* reply = nullptr;
      if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) return nullptr;
      if (reply != nullptr) return reply;
      const std::size_t got = tls_->receive(received, sizeof received);
      if (got == 0 || redisReaderFeed(context_->reader, received, got) != REDIS_OK) return nullptr;
    }
  }

  [[noreturn]] void fail(const std::string& why) {
    const auto says = [&](const char* code) { return why.rfind(code, 0) == 0; };
    const std::string text = shown_ + ": " + why;
    if (says("NOPERM") || says("NOAUTH") || says("WRONGPASS")) throw Error(Status::store_permission, text);
    if (says("READONLY")) {
      usable_ = false;
      throw Error(Status::store_permission, text + " Name the master");
    }
    if (says("MOVED") || says("CLUSTERDOWN")) {
      throw Error(Status::unsupported,
                  text + ". A cluster is not supported; name a server that stands alone or a master");
    }
    if (says("OOM")) throw Error(Status::store_full, text);
    if (says("WRONGTYPE"))
      throw Error(Status::store_damaged, text + (is_cosid_ ? ". The key is not CosId's" : ". The key is not idgen's"));
    if (says("MISCONF")) throw Error(Status::store_full, text);  // it cannot write to its disk
    throw Error(Status::store_unavailable, text);
  }

  void demand(const Parameters& parameters, const char* name, const char* wanted, const char* why) {
    if (parameters.accepts_loss(name)) return;
    const Reply reply = command({"CONFIG", "GET", name}, "CONFIG GET");
    const bool readable = !reply.is_error() && reply.size() == 2;
    if (readable && reply[1] == wanted) return;
    throw Error(Status::store_unsafe, shown_ + ": the server runs with " + name + " = " +
                                          (readable ? reply[1] : "(not readable)") + ": " + why +
                                          ", and issuing would stop until the tag is raised by hand. Set it to " +
                                          wanted + ", or give that up with ?accept_loss=" + name);
  }
  void check_role() {
    const Reply reply = command({"INFO", "replication"}, "INFO");
    if (reply.is_error()) fail(reply.text());
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
  const bool is_cosid_;
  WorkerRows<RedisConnection> workers_;
  bool usable_ = true;
  std::map<const char*, std::string> hashes_;
  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

// idgen:NAMESPACE:TAG, where a colon or percent sign of the namespace is written as %XX.
constexpr std::string_view kKeyPrefix = "idgen:";
// For queues, which are not tags.
constexpr std::string_view kQueuePrefix = "idgen-buffer:";

std::string key_of(const std::string& name_space, const std::string& tag, std::string_view prefix = kKeyPrefix) {
  std::string key(prefix);
  for (const char c : name_space) {
    if (c == ':') {
      key += "%3A";
    } else if (c == '%') {
      key += "%25";
    } else {
      key += c;
    }
  }
  return key + ":" + tag;
}

// The tag's key, and the key of what is known of all tags, which has only one colon and so is no tag's.
Arguments own_keys(const std::string& name_space, const std::string& tag) {
  return {key_of(name_space, tag), "idgen:store"};
}

// CosId's key, ours beside it, and the key of what is known of all of them.
constexpr std::string_view kCosidPrefix = "cosid:{", kCosidSuffix = "}.adder";

Arguments cosid_keys(const std::string& name_space, const std::string& tag) {
  const std::string name = name_space + "." + tag;
  return {std::string(kCosidPrefix) + name + std::string(kCosidSuffix), "idgen.label:{" + name + "}",
          "idgen.label:store"};
}

// Worded unlike the other stores: here a missing tag may be one that was forgotten.
constexpr const char* kHowToMake =
    "If the server has forgotten it, make it and raise it above all ids in use (`idgen segment advance`). If it is "
    "new, make it with "
    "`idgen segment create`, or set store_create = true";

// In the form that redis-cli takes.
std::string cli_word(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  bool is_plain = !text.empty();
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7F || c == '"' || c == '\\') {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      is_plain = false;
    } else {
      quoted += c;
      is_plain = is_plain && c != '\'';
    }
  }
  return is_plain ? text : quoted + "\"";
}

class RedisStore final
    : public WithNumbers<WithWindows<ConnectedStore<RedisConnection>, RedisConnection>, RedisConnection>,
      public QueueStore {
 public:
  explicit RedisStore(const Settings& settings)
      : WithNumbers(settings, kParameters), is_cosid_(settings.schema == "cosid") {
    if (!is_cosid_) check_schema(settings);
    use([](RedisConnection&) {});
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    const std::string note = "# MASTER_REPLID: as INFO replication says it\n";
    const bool is_cosid = settings.schema == "cosid";
    if (!is_cosid) check_schema(settings);
    Arguments keys = is_cosid ? cosid_keys(name_space, tag) : own_keys(name_space, tag);
    for (std::string& key : keys) key = cli_word(key);
    const std::string made = is_cosid ? "SETNX " + keys[0] + " 0\nSET " + keys[1] + " MASTER_REPLID\n"
                                      : "HSET " + keys[0] + " max_id 0 grants 0 label MASTER_REPLID\n";
    return note + made + "HSET " + keys.back() + " " + keys[0] + " 1\nHSETNX " + keys.back() + " label MASTER_REPLID\n";
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    advance_by(name_space, tag, request.above, grant_size(0, request));
    const std::string accepted = parameters_.accepts_loss("rewind") ? "1" : "0";
    return use([&](RedisConnection& server) {
      const Reply row = checked(name_space, tag,
                                server.script(kTake, keys_of(name_space, tag),
                                              {std::to_string(request.step), std::to_string(request.wanted), now(),
                                               settings_.create ? "1" : "0", accepted, std::to_string(request.rate),
                                               request.holder, std::to_string(request.above)}));
      const std::uint64_t count = number(row[7]);
      return SegmentGrant{.first = number(row[1]) - count + 1, .count = count};
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](RedisConnection& server) {
      checked(name_space, tag,
              server.script(kGiveBack, keys_of(name_space, tag),
                            {std::to_string(last), "-" + std::to_string(unused), now()}));
    });
  }
  void create(const std::string& name_space, const std::string& tag) override {
    use([&](RedisConnection& server) {
      const Reply row = server.script(kCreate, keys_of(name_space, tag), {now()});
      if (row[0] == "exists") throw_tag_exists(name_space, tag, number(row[1]));
    });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return use([&](RedisConnection& server) {
      return info_of(name_space, tag, checked(name_space, tag, server.script(kShow, keys_of(name_space, tag), {})));
    });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    check_advance(target);
    return use([&](RedisConnection& server) {
      return info_of(
          name_space, tag,
          checked(name_space, tag, server.script(kAdvance, keys_of(name_space, tag), {std::to_string(target), now()})));
    });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    if (is_cosid_) {
      throw Error(Status::unsupported,
                  "CosId keeps no step in Redis: with segment.schema = cosid each generator uses its own segment.step");
    }
    return use([&](RedisConnection& server) {
      return info_of(
          name_space, tag,
          checked(name_space, tag, server.script(kSetStep, keys_of(name_space, tag), {std::to_string(step), now()})));
    });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) override {
    use([&](RedisConnection& server) {
      std::map<std::pair<std::string, std::string>, SegmentInfo> rows;
      std::string cursor = "0";
      do {
        const std::string pattern = is_cosid_ ? "cosid:{*}.adder" : std::string(kKeyPrefix) + "*";
        const Reply page = server.command({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"}, "SCAN");
        if (page.is_error()) throw Error(Status::store_permission, shown_ + ": " + page.text());
        cursor = page[0];
        for (const std::string& key : page.list(1)) {
          const std::optional<std::pair<std::string, std::string>> names =
              is_cosid_ ? names_of_cosid(key) : names_of(key);
          if (!names) continue;
          const Reply found = server.script(kShow, keys_of(names->first, names->second), {});
          if (found[0] == "ok") rows[*names] = info_of(names->first, names->second, found);
        }
      } while (cursor != "0");
      for (const auto& [names, info] : rows) row(info);
    });
  }
  QueuePart queue_take(const std::string& name_space, const std::string& tag, const QueueRequest& request) override {
    return use([&](RedisConnection& server) {
      const Reply part =
          queue_script(server, kQueueTake, name_space, tag,
                       {std::to_string(request.count), std::to_string(request.above), std::to_string(request.least),
                        std::to_string(request.rate), std::to_string(request.runway_ms),
                        std::to_string(request.stock_max), settings_.queue_of});
      return QueuePart{.label = part[1],
                       .witness = number(part[2]),
                       .first = number(part[3]),
                       .count = number(part[4]),
                       .stock = number(part[5]),
                       .wanted = number(part[6]),
                       .stopped = part[8] == "1",
                       .load = part[7] == "1"};
    });
  }
  bool queue_load(const std::string& name_space, const std::string& tag, const std::string& label, std::uint64_t first,
                  std::uint64_t count, std::uint64_t stock_max) override {
    return use([&](RedisConnection& server) {
      const Reply done = queue_script(
          server, kQueueLoad, name_space, tag,
          {label, std::to_string(first), std::to_string(count), std::to_string(stock_max), settings_.queue_of});
      return done[1] == "1";
    });
  }
  void queue_reset(const std::string& name_space, const std::string& tag, std::uint64_t witness,
                   bool stopped) override {
    use([&](RedisConnection& server) {
      queue_script(server, kQueueReset, name_space, tag, {std::to_string(witness), stopped ? "1" : "0"});
    });
  }
  std::string describe() override {
    if (settings_.queue) return shown_;
    const bool rewind = parameters_.accepts_loss("rewind");
    std::string text = "store: " + shown_ +
                       " (Redis); each grant is one script, acknowledged by the master before its first id is issued\n"
                       "restart, failover, eviction of the server: it may have forgotten grants, so nothing more is "
                       "granted until the tag was raised above all ids in use (`idgen segment advance`)";
    text += rewind ? ". accept_loss = rewind: NOT HERE: it continues with what the server remembers, and ids may "
                     "be issued twice\n"
            : settings_.create ? "; no id is issued twice, unless the server comes back empty\n"
                               : "; no id is issued twice\n";
    if (settings_.create)
      text +=
          "server that comes back empty: store_create = true takes it for a new one; its tags begin at 0, and ids ARE "
          "ISSUED TWICE. " +
          losses();
    text +=
        "worker: its windows end at most 15 s ahead of the server's clock. After a restart, a failover or a loss of "
        "all "
        "data the next ones begin 17 s ahead of it, above everything that can have been forgotten; the first window of "
        "a new server too. Two masters that both take writes (a partition without min-replicas-to-write), or clocks of "
        "two servers that are more than 2 s apart, are not covered: ids may then be issued twice\n";
    return text +
           "a first replica that joins, or none for repl-backlog-ttl, counts as a failover: add replicas before tags\n"
           "a copy of the server's memory that goes on beside it (a cloned machine) is not noticed\n" +
           (is_cosid_
                ? "schema: cosid; CosId draws from the same key and does not notice when the server has forgotten "
                  "grants: it continues where idgen stops\n"
                : "");
  }

 private:
  static void check_schema(const Settings& settings) {
    if (settings.schema == "idgen") return;
    throw Error(Status::unsupported, "segment.schema = " + in_quotes(settings.schema) +
                                         ": in Redis idgen knows its own tags and CosId's, \"cosid\"");
  }
  // How the server can come back empty.
  std::string losses() const {
    std::string accepted;
    for (const char* const setting : {"appendonly", "appendfsync", "maxmemory-policy"}) {
      if (parameters_.accepts_loss(setting)) accepted += (accepted.empty() ? "" : ", ") + std::string(setting);
    }
    return accepted.empty()
               ? "Only FLUSHALL or the loss of its files does that\n"
               : "A restart or an eviction is enough for that, because of accept_loss = " + accepted + "\n";
  }
  Arguments keys_of(const std::string& name_space, const std::string& tag) const {
    return is_cosid_ ? cosid_keys(name_space, tag) : own_keys(name_space, tag);
  }
  static Reply queue_script(RedisConnection& server, const char* body, const std::string& name_space,
                            const std::string& tag, const Arguments& arguments) {
    return server.script(body, {key_of(name_space, tag, kQueuePrefix)}, arguments, kQueuePrelude);
  }
  static std::string now() { return std::to_string(store_clock_unix_ms()); }
  std::uint64_t number(const std::string& text) const { return stored_number(shown_, text.c_str()); }

  // Throws the error that a script reports.
  Reply checked(const std::string& name_space, const std::string& tag, Reply row) const {
    const std::string outcome = row[0];
    if (outcome == "ok") return row;
    if (outcome == "unknown") throw_tag_unknown(name_space, tag, shown_, kHowToMake);
    if (outcome == "forgotten") {
      throw Error(Status::tag_unknown,
                  tag_name(name_space, tag) + " is not in the store " + shown_ +
                      ", but it was there before, or the server has restarted or failed over since and may have "
                      "forgotten it: so it is not made. Make it with `idgen segment create` and raise it above all ids "
                      "in use with `idgen segment advance`");
    }
    if (outcome == "refused") {
      if (const std::uint64_t count = number(row[3]))
        advance_by(name_space, tag, number(row[1]), count);  // throws that it is exhausted
      throw Error(Status::store_damaged,
                  shown_ + ": " + tag_name(name_space, tag) + " holds " + in_quotes(row[1]) + ": " + row[2]);
    }
    if (row[2] == "none" && is_cosid_) {
      throw Error(
          Status::store_regressed,
          "the key " + keys_of(name_space, tag)[0] + " of " + shown_ + " stands at " + row[1] +
              " and was not labelled by idgen: CosId has made it, or the server has forgotten the label. Take it "
              "over with `idgen segment advance --to N`, N at or above all ids in use");
    }
    throw Error(
        Status::store_regressed,
        tag_name(name_space, tag) + " stands at " + row[1] + " in " + shown_ +
            ", but was written in another life of the server (" + row[2].substr(0, 8) + ", now " + row[3].substr(0, 8) +
            "): after a restart or failover it may have forgotten grants. Raise the tag above all ids in use with "
            "`idgen segment advance`");
  }

  SegmentInfo info_of(const std::string& name_space, const std::string& tag, const Reply& row) const {
    SegmentInfo info;
    info.name_space = name_space;
    info.tag = tag;
    info.max_id = number(row[1]);
    info.grants = number(row[2]);
    info.updated_unix_ms = static_cast<std::int64_t>(number(row[3]));
    info.step = number(row[4]);
    info.rate = number(row[5]);
    info.holder = row[6];
    return info;
  }

  // At the last dot. A name without a dot is not in a namespace of idgen's.
  static std::optional<std::pair<std::string, std::string>> names_of_cosid(const std::string& key) {
    const std::string name = key.substr(kCosidPrefix.size(), key.size() - kCosidPrefix.size() - kCosidSuffix.size());
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    return std::pair{name.substr(0, dot), name.substr(dot + 1)};
  }
  static std::optional<std::pair<std::string, std::string>> names_of(const std::string& key) {
    const std::size_t colon = key.find(':', kKeyPrefix.size());
    if (colon == std::string::npos) return std::nullopt;
    std::string name_space = key.substr(kKeyPrefix.size(), colon - kKeyPrefix.size());
    for (std::size_t i = 0; (i = name_space.find('%', i)) != std::string::npos; ++i)
      name_space.replace(i, 3, name_space.compare(i, 3, "%3A") == 0 ? ":" : "%");
    return std::pair{name_space, key.substr(colon + 1)};
  }

  const bool is_cosid_;
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_redis() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::RedisStore>("redis");
  return &module;
}
