// The logs of all handles that share a generator. Each gets every message once, with no lock held.
//
// A list is replaced, never changed, so that a child forked at that moment finds either the old or the new one, intact.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "idgen/log.hpp"
#include "idgen/mutex.hpp"
#include "reserve/hot_page.hpp"
#include "runtime/fork_page.hpp"

namespace idgen {

class LogList {
 public:
  explicit LogList(std::shared_ptr<ForkPage<HotPage>> page) : page_(std::move(page)) {}
  LogList(const LogList&) = delete;
  LogList& operator=(const LogList&) = delete;
  ~LogList() { delete list_.load(); }

  // A handle's log; null is none. One shared by several handles is told once, until the last of them closes.
  void join(const SharedLog& log) {
    if (log) change([&](List& list) { list.push_back(log); });
  }
  void leave(const SharedLog& log) {
    if (!log) return;
    change([&](List& list) {
      if (const auto found = std::find(list.begin(), list.end(), log); found != list.end()) list.erase(found);
    });
  }

  void say(LogLevel level, const std::string& message) const IDGEN_RUNS_HOST_CODE {
    List all;
    {
      const MutexLock lock((*page_)->mutex);
      if (const List* const list = list_.load()) all = *list;
    }
    for (auto log = all.begin(); log != all.end(); ++log) {
      if (std::find(all.begin(), log, *log) == log) (**log)(level, message);
    }
  }

 private:
  using List = std::vector<SharedLog>;

  template <class Change>
  void change(Change&& change) {
    std::unique_ptr<const List> old;  // destroyed with no lock held: a log's release may be the host's code
    const MutexLock lock((*page_)->mutex);
    const List* const before = list_.load();
    auto next = std::make_unique<List>(before ? *before : List());
    change(*next);
    old.reset(list_.exchange(next.release()));
  }

  const std::shared_ptr<ForkPage<HotPage>> page_;
  std::atomic<const List*> list_{nullptr};
};

}  // namespace idgen
