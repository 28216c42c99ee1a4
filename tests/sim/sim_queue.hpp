// Redis as a buffer sees it: two servers that replicate, fail over, forget and disagree, and a network in between. The
// contract of class Queue in a few lines, with bugs to plant.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "idgen/status.hpp"
#include "store/queue.hpp"

namespace idgen::sim {

struct SimRedis {
  struct Tag {
    std::string life;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> entries;  // first, count
    std::uint64_t witness = 0;
    bool stopped = false;
  };
  struct Server {
    std::uint64_t replication_id = 1;
    bool leads = true;  // otherwise it follows the other one, and answers nobody
    std::map<std::string, Tag> tags{};
  };
  struct Load {
    std::string tag, label;
    std::uint64_t first = 0, count = 0, stock_max = 0;
  };

  std::array<Server, 2> servers{Server{}, Server{.leads = false}};
  std::vector<Server> dumps;    // any of which may come back
  std::vector<Load> in_flight;  // delivered late, or a second time
  std::uint64_t next_id = 2;
  std::uint64_t clock = 0;

  bool another_loads = false;  // takes tell nobody to load

  // Bugs to plant.
  bool ignores_label = false;    // a load is accepted whatever its label
  bool keeps_stock = false;      // what was loaded under another label is handed out
  bool ignores_witness = false;  // a load is accepted again

  void new_life(Server& server) { server.replication_id = next_id++; }
  // The replica, which may be any time behind, leads. The old master may also continue to lead.
  void promote(int which) {
    if (servers[which].leads) return;
    servers[which].leads = true;
    new_life(servers[which]);
  }
  void follow(int which) {
    if (!servers[1 - which].leads) return;
    servers[which] = servers[1 - which];
    servers[which].leads = false;
  }
  void replicate(int which) {
    if (!servers[which].leads) follow(which);
  }
  void fail_over(int to) {
    promote(to);
    follow(1 - to);
  }
  void restart(int which, const Server& dump) {
    servers[which].tags = dump.tags;
    new_life(servers[which]);
  }
  void flush(int which) { servers[which].tags.clear(); }

  Tag& present(int which, const std::string& name) {
    Server& server = servers[which];
    if (!server.leads) throw Error(Status::store_permission, "the server is a replica");
    Tag& tag = server.tags[name];
    const std::string id = std::to_string(server.replication_id) + "-";
    if (tag.life.rfind(id, 0) != 0) {
      if (!keeps_stock) tag.entries.clear();
      tag.life = id + std::to_string(++clock);
    }
    return tag;
  }
  QueuePart take(int which, const std::string& name, const QueueRequest& request) {
    Tag& tag = present(which, name);
    QueuePart part{.label = tag.life, .witness = tag.witness, .stopped = tag.stopped};
    if (tag.stopped) return part;
    tag.witness = std::max(tag.witness, request.above);
    part.witness = tag.witness;
    for (auto entry = tag.entries.begin(); entry != tag.entries.end(); ++entry) {
      const auto [first, count] = *entry;
      const std::uint64_t end = first + count;
      const std::uint64_t from = std::max(first, request.above + 1);
      if (from >= end || request.count == 0) continue;
      part.first = from;
      part.count = std::min(request.count, end - from);
      entry = tag.entries.erase(entry);
      if (from + part.count < end) entry = tag.entries.insert(entry, {from + part.count, end - from - part.count});
      if (from > first) tag.entries.insert(entry, {first, from - first});
      break;
    }
    for (const auto& [first, count] : tag.entries)
      if (first > request.above) part.stock += count;
    part.wanted = std::min(request.least, request.stock_max);
    part.load = part.stock < part.wanted && !another_loads;
    return part;
  }
  bool load(int which, const Load& load) {
    if (!servers[which].leads) throw Error(Status::store_permission, "the server is a replica");
    if (ignores_label) present(which, load.tag);
    Tag& tag = servers[which].tags[load.tag];
    const std::string id = std::to_string(servers[which].replication_id) + "-";
    const bool same = tag.life == load.label && tag.life.rfind(id, 0) == 0;
    if (tag.stopped || (!same && !ignores_label) || (load.first <= tag.witness && !ignores_witness)) return false;
    tag.entries.emplace_back(load.first, load.count);
    tag.witness = std::max(tag.witness, load.first + load.count - 1);
    std::uint64_t total = 0;
    for (const auto& entry : tag.entries) total += entry.second;
    while (total > load.stock_max) {
      total -= tag.entries.front().second;
      tag.entries.pop_front();
    }
    return true;
  }
};

// One process's connection.
class SimQueue final : public Queue {
 public:
  enum class Fate { done, request_lost, answer_lost, delayed, repeated };

  explicit SimQueue(SimRedis& redis) : redis_(redis) {}

  int server = 0;
  bool away = false;
  int calls = 0;
  int loads = 0;
  std::function<Fate()> fate = [] { return Fate::done; };
  // A bug to plant: a load whose answer is lost is sent again, after this callback, under the label of that time.
  std::function<void()> before_retry;

  QueuePart take(const std::string&, const std::string& tag, const QueueRequest& request) override {
    last_request = request;
    return call([&] { return redis_.take(server, tag, request); }, [] {});
  }
  bool load(const std::string&, const std::string& tag, const std::string& label, std::uint64_t first,
            std::uint64_t count, std::uint64_t stock_max) override {
    ++loads;
    const SimRedis::Load load{tag, label, first, count, stock_max};
    try {
      return call([&] { return redis_.load(server, load); }, [&] { redis_.in_flight.push_back(load); });
    } catch (const Error&) {
      if (!before_retry || away) throw;
      before_retry();
      SimRedis::Load again = load;
      again.label = redis_.present(server, tag).life;
      return redis_.load(server, again);
    }
  }
  void reset(const std::string&, const std::string& name, std::uint64_t witness, bool stopped) override {
    call(
        [&] {
          redis_.servers[server].tags[name].life.clear();
          SimRedis::Tag& tag = redis_.present(server, name);
          tag.entries.clear();
          tag.witness = std::max(tag.witness, witness);
          tag.stopped = stopped;
          return true;
        },
        [] {});
  }
  std::string describe() const override { return "simulated"; }

  QueueRequest last_request;

 private:
  template <class Work, class Later>
  auto call(Work&& work, Later&& later) -> decltype(work()) {
    ++calls;
    if (away) throw Error(Status::store_unavailable, "Redis is down");
    switch (fate()) {
      case Fate::request_lost:
        break;
      case Fate::answer_lost:
        work();
        break;
      case Fate::delayed:
        later();
        break;
      case Fate::repeated:
        later();
        [[fallthrough]];
      case Fate::done:
        return work();
    }
    throw Error(Status::store_unavailable, "no answer from Redis");
  }

  SimRedis& redis_;
};

}  // namespace idgen::sim
