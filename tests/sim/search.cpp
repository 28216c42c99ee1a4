#include "sim/search.hpp"

#include <setjmp.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace idgen::search {
namespace {

constexpr std::size_t kMostPlaces = 5;   // atomics
constexpr std::size_t kMostGuarded = 6;  // what the lock guards
constexpr std::size_t kMostThreads = 3;
constexpr std::size_t kMostStored = 16;  // stores of a place that somebody may still see
constexpr std::uint64_t kNumbers = 64;

// For each place, which of its stores is the earliest that may be seen.
using View = std::array<std::uint8_t, kMostPlaces>;

void join(View& view, const View& other) {
  for (std::size_t i = 0; i < kMostPlaces; ++i) view[i] = std::max(view[i], other[i]);
}

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

struct Stored {
  std::uint64_t value = 0;
  View view{};               // what who acquires it knows then
  bool is_attached = false;  // a read-modify-write of the one before: nothing comes between
};

struct History {
  std::uint8_t count = 0;
  std::array<Stored, kMostStored> stored{};
};

// A thread between two steps.
struct Local {
  std::uint8_t action = 0;
  bool has_issued = false;  // any
  View view{};
  std::uint32_t node = 0;  // what its steps in this action gave; see Code
  std::uint8_t last = 0;   // number that it issued
};

struct State {
  std::array<History, kMostPlaces> places{};
  std::array<std::uint64_t, kMostGuarded> guarded{};
  std::array<Local, kMostThreads> threads{};
  View lock_view{};
  std::uint8_t holder = kMostThreads;  // of the lock; kMostThreads: none
  std::uint64_t ours = 0;              // numbers, as bits
  std::uint64_t issued = 0;
};

// To and from as few bytes as it takes.
class Packed {
 public:
  template <class T>
  void add(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void take(T& value) {
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }
  explicit Packed(std::string bytes = {}) : bytes_(std::move(bytes)) {}
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

template <class State, class Each>
void for_each_part(State& state, Each&& each) {
  for (auto& place : state.places) {
    each(place.count);
    for (std::size_t i = 0; i < place.count; ++i) {
      each(place.stored[i].value);
      each(place.stored[i].view);
      each(place.stored[i].is_attached);
    }
  }
  each(state.guarded);
  for (auto& local : state.threads) {
    each(local.action);
    each(local.has_issued);
    each(local.view);
    each(local.node);
    each(local.last);
  }
  each(state.lock_view);
  each(state.holder);
  each(state.ours);
  each(state.issued);
}
std::string pack(const State& state) {
  Packed packed;
  packed.bytes().reserve(320);
  for_each_part(state, [&](const auto& part) { packed.add(part); });
  return std::move(packed.bytes());
}
void unpack(std::string bytes, State& state) {
  Packed packed(std::move(bytes));
  for_each_part(state, [&](auto& part) { packed.take(part); });
}

// 128 bits of it. That two different states among 10^7 have the same is less likely than 10^-24.
struct Hash {
  std::uint64_t a = 0x9e3779b97f4a7c15u, b = 0xc2b2ae3d27d4eb4fu;
  explicit Hash(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
      a = mix(a ^ word);
      b = mix(b + word * 0x9e3779b97f4a7c15u);
    }
  }
  bool operator==(const Hash&) const = default;

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
};
struct FirstHalf {
  std::size_t operator()(const Hash& hash) const { return hash.a; }
};

// --- a thread's code, run again up to a step that is not decided

struct Run {
  std::vector<std::uint64_t> history;
  std::size_t at = 0;
  Step next;
  jmp_buf out;
};
Run* running = nullptr;
struct Values {
  std::vector<std::uint64_t> places, guarded;
};
Values* initial = nullptr;

// One thread's actions, as trees: a node is reached by what the steps before gave, and knows the step that follows.
class Code {
 public:
  explicit Code(std::vector<Action> actions) : actions_(std::move(actions)) {
    for (std::size_t i = 0; i < actions_.size(); ++i) nodes_.push_back({.action = static_cast<std::uint8_t>(i)});
  }
  std::size_t actions() const { return actions_.size(); }
  // The first node of an action.
  std::uint32_t root(std::size_t action) const { return static_cast<std::uint32_t>(action); }
  // None: the action is over.
  const std::optional<Step>& next(std::uint32_t node) {
    if (!nodes_[node].is_known) explore(node);
    return nodes_[node].next;
  }
  std::uint32_t after(std::uint32_t node, std::uint64_t result) {
    const auto [found, is_new] = nodes_[node].children.try_emplace(result, static_cast<std::uint32_t>(nodes_.size()));
    const std::uint32_t child = found->second;
    if (is_new) nodes_.push_back({.action = nodes_[node].action, .parent = node, .result = result, .has_parent = true});
    return child;
  }

 private:
  struct Node {
    std::uint8_t action = 0;
    std::uint32_t parent = 0;
    std::uint64_t result = 0;
    bool has_parent = false;
    bool is_known = false;
    std::optional<Step> next{};
    std::map<std::uint64_t, std::uint32_t> children{};
  };

  void explore(std::uint32_t node) {
    static Run run;  // not on the stack: setjmp returns twice
    run.history.clear();
    run.at = 0;
    for (const Node* each = &nodes_[node]; each->has_parent; each = &nodes_[each->parent])
      run.history.push_back(each->result);
    std::reverse(run.history.begin(), run.history.end());
    running = &run;
    if (setjmp(run.out) == 0) {
      actions_[nodes_[node].action]();
      nodes_[node].next = std::nullopt;
    } else {
      nodes_[node].next = run.next;
    }
    running = nullptr;
    nodes_[node].is_known = true;
  }

  std::vector<Action> actions_;
  std::vector<Node> nodes_;
};

// --- the search

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {"load", "store",  "exchange", "add",  "compare_exchange",
                                           "lock", "unlock", "peek",     "poke", "happens"};
  return kNames[static_cast<int>(kind)];
}

class Search {
 public:
  explicit Search(const std::function<Program()>& make) {
    Values values;
    initial = &values;
    Program program = make();
    initial = nullptr;
    if (values.places.size() > kMostPlaces || values.guarded.size() > kMostGuarded ||
        program.threads.size() > kMostThreads) {
      throw std::runtime_error("too much to search");
    }
    State start;
    for (std::size_t i = 0; i < values.places.size(); ++i) {
      start.places[i].count = 1;
      start.places[i].stored[0].value = values.places[i];
    }
    std::copy(values.guarded.begin(), values.guarded.end(), start.guarded.begin());
    places_ = values.places.size();
    // The first thread begins, alone; then all others know what it did.
    program.threads.front().insert(program.threads.front().begin(), program.start);
    for (auto& actions : program.threads) codes_.emplace_back(std::move(actions));
    add(start, 0, {});
  }

  Result run(std::uint64_t most) {
    State state;
    for (std::size_t at = 0; at < states_.size() && !result_.mistake; ++at) {
      if (states_.size() > most) throw std::runtime_error("more states than are searched");
      at_ = at;
      unpack(std::exchange(waiting_.front(), {}), state);
      waiting_.pop_front();
      if (state.threads[0].action == 0) {
        step(state, 0);
        continue;
      }
      if (const std::size_t free = goes_alone(state); free < codes_.size()) {
        step(state, free);
        continue;
      }
      for (std::size_t thread = 0; thread < codes_.size() && !result_.mistake; ++thread) step(state, thread);
    }
    result_.states = states_.size();
    if (!result_.mistake) count_ways();
    return result_;
  }

 private:
  // How a state was reached first.
  struct Way {
    std::uint32_t from = 0;
    std::uint8_t thread = 0;
    std::uint8_t behind = 0;
    Step step{};
    std::uint64_t result = 0;
  };

  const std::optional<Step>& next_of(const State& state, std::size_t thread) {
    static const std::optional<Step> none;
    const Local& local = state.threads[thread];
    if (local.action == codes_[thread].actions()) return none;
    return codes_[thread].next(local.node);
  }

  // A thread whose next step nobody else can see or hinder: its place among the others makes no difference.
  std::size_t goes_alone(const State& state) {
    for (std::size_t thread = 0; thread < codes_.size(); ++thread) {
      const auto& next = next_of(state, thread);
      if (!next) continue;
      const bool is_guarded = state.holder == thread && next->place == kResume && next->kind < Kind::lock;
      if (is_guarded || next->kind == Kind::peek || next->kind == Kind::poke || next->kind == Kind::happens ||
          next->kind == Kind::unlock) {
        return thread;
      }
    }
    return codes_.size();
  }

  void step(const State& state, std::size_t thread) {
    const std::optional<Step>& wanted = next_of(state, thread);
    if (!wanted) return;
    const Step step = *wanted;
    if (step.kind < Kind::lock && step.place == kResume && state.holder != thread)
      throw std::runtime_error("resume_ is used without the lock: the search takes it to be guarded");
    const std::uint8_t seen = step.kind < Kind::lock ? state.threads[thread].view[step.place] : 0;
    switch (step.kind) {
      case Kind::load: {
        const History& history = state.places[step.place];
        for (std::size_t i = seen; i < history.count; ++i) {
          State& next = scratch(state);
          see(next, thread, step.place, i, step.order);
          done(next, thread, step, history.stored[i].value, history.count - 1 - i);
        }
        return;
      }
      case Kind::store: {
        State& next = scratch(state);
        put(next, thread, step.place, state.places[step.place].count, step.operand, step.order, nullptr);
        return done(next, thread, step, 0, 0);
      }
      case Kind::exchange:
      case Kind::add:
      case Kind::compare_exchange: {
        const History& history = state.places[step.place];
        for (std::size_t i = seen; i < history.count; ++i) {
          const Stored& before = history.stored[i];
          const std::size_t behind = history.count - 1 - i;
          State& next = scratch(state);
          if (step.kind == Kind::compare_exchange && before.value != step.expected) {
            see(next, thread, step.place, i, step.failure);
            done(next, thread, step, before.value, behind);
            continue;
          }
          if (behind > 0 && history.stored[i + 1].is_attached) continue;  // another one stands there
          see(next, thread, step.place, i, step.order);
          put(next, thread, step.place, i + 1, step.kind == Kind::add ? before.value + step.operand : step.operand,
              step.order, &before);
          done(next, thread, step, before.value, behind);
        }
        return;
      }
      case Kind::lock: {
        if (state.holder != kMostThreads) return;
        State& next = scratch(state);
        next.holder = static_cast<std::uint8_t>(thread);
        join(next.threads[thread].view, next.lock_view);
        return done(next, thread, step, 0, 0);
      }
      case Kind::unlock: {
        State& next = scratch(state);
        next.holder = kMostThreads;
        next.lock_view = next.threads[thread].view;
        return done(next, thread, step, 0, 0);
      }
      case Kind::peek:
        return done(scratch(state), thread, step, state.guarded[step.place], 0);
      case Kind::poke: {
        State& next = scratch(state);
        next.guarded[step.place] = step.operand;
        return done(next, thread, step, 0, 0);
      }
      case Kind::happens: {
        State& next = scratch(state);
        happen(next, thread, static_cast<Event>(step.place), step.operand, step.expected);
        return done(next, thread, step, 0, 0);
      }
    }
  }

  State& scratch(const State& state) { return scratch_ = state; }

  // The thread reads the store number i of a place.
  static void see(State& state, std::size_t thread, std::size_t place, std::size_t i, std::memory_order order) {
    View& view = state.threads[thread].view;
    view[place] = std::max(view[place], static_cast<std::uint8_t>(i));
    if (acquires(order)) join(view, state.places[place].stored[i].view);
  }

  template <class Move>
  static void for_each_view(State& state, Move&& move) {
    for (History& history : state.places)
      for (std::size_t i = 0; i < history.count; ++i) move(history.stored[i].view);
    for (Local& local : state.threads) move(local.view);
    move(state.lock_view);
  }

  // A store becomes the one number `at` of its place. read: of a read-modify-write, the one before.
  static void put(State& state, std::size_t thread, std::size_t place, std::size_t at, std::uint64_t value,
                  std::memory_order order, const Stored* read) {
    History& history = state.places[place];
    if (history.count == kMostStored) throw std::runtime_error("more stores than are searched");
    if (at < history.count)  // those behind it move on
      for_each_view(state, [&](View& view) { view[place] += view[place] >= at ? 1 : 0; });
    View& view = state.threads[thread].view;
    view[place] = static_cast<std::uint8_t>(at);
    Stored stored{.value = value, .is_attached = read != nullptr};
    if (releases(order)) stored.view = view;
    if (read) join(stored.view, read->view);  // it continues the release sequence
    auto* const all = history.stored.data();
    std::move_backward(all + at, all + history.count, all + history.count + 1);
    ++history.count;
    all[at] = stored;
  }

  void happen(State& state, std::size_t thread, Event event, std::uint64_t first, std::uint64_t end) {
    if (event == Event::issued) end = first + 1;
    const std::string what = end == first + 1 ? std::to_string(first)
                                              : std::to_string(first) + " to " + std::to_string(end) + " (exclusive)";
    if (first >= kNumbers || end > kNumbers) return wrong(what + " is beyond what is searched");
    Local& local = state.threads[thread];
    for (std::uint64_t n = first; n < end; ++n) {
      const std::uint64_t bit = std::uint64_t{1} << n;
      switch (event) {
        case Event::opened:
          state.ours |= bit;
          break;
        case Event::given_back:
          if (state.issued & bit) wrong(std::to_string(n) + " is given back, but was issued");
          state.ours &= ~bit;
          break;
        case Event::issued:
          if (state.issued & bit) wrong(what + " is issued twice");
          if (!(state.ours & bit)) wrong(what + " is issued, but is not ours");
          if (local.has_issued && n <= local.last) wrong(what + " is issued after " + std::to_string(local.last));
          state.issued |= bit;
          local.last = static_cast<std::uint8_t>(n);
          local.has_issued = true;
      }
    }
  }
  void wrong(const std::string& what) {
    if (!wrong_) wrong_ = what;
  }

  // The thread has taken the step, which gave `result`. `behind`: so many later stores of the place it has not seen.
  void done(State& state, std::size_t thread, const Step& step, std::uint64_t result, std::size_t behind) {
    ++result_.steps;
    Local& local = state.threads[thread];
    const bool has_begun = state.threads[0].action > 0;
    local.node = codes_[thread].after(local.node, result);
    while (local.action < codes_[thread].actions() && !codes_[thread].next(local.node)) {
      ++local.action;
      if (local.action < codes_[thread].actions()) local.node = codes_[thread].root(local.action);
    }
    if (local.action == codes_[thread].actions()) {  // what it knew no longer matters
      local.node = 0;
      local.last = 0;
      local.has_issued = false;
    }
    if (!has_begun && local.action > 0)
      for (Local& other : state.threads) other.view = local.view;
    add(state, at_,
        {static_cast<std::uint32_t>(at_), static_cast<std::uint8_t>(thread), static_cast<std::uint8_t>(behind), step,
         result});
    if (wrong_ && !result_.mistake) result_.mistake = *wrong_ + way_to(states_.size() - 1);
  }

  // Forgets what nobody can see any more, so that equal states are equal.
  void forget(State& state) const {
    for (std::size_t place = 0; place < places_; ++place) {
      History& history = state.places[place];
      std::uint8_t unseen = history.count - 1;
      for (std::size_t thread = 0; thread < codes_.size(); ++thread)
        if (state.threads[thread].action < codes_[thread].actions())
          unseen = std::min(unseen, state.threads[thread].view[place]);
      if (unseen == 0) continue;
      std::move(history.stored.begin() + unseen, history.stored.begin() + history.count, history.stored.begin());
      history.count -= unseen;
      history.stored[0].is_attached = false;
      for_each_view(
          state, [&](View& view) { view[place] = static_cast<std::uint8_t>(std::max(view[place], unseen) - unseen); });
    }
    for (std::size_t thread = 0; thread < kMostThreads; ++thread)
      if (thread >= codes_.size() || state.threads[thread].action == codes_[thread].actions())
        state.threads[thread].view = {};
  }

  void add(State& state, std::size_t from, const Way& way) {
    forget(state);
    std::string packed = pack(state);
    const auto [found, is_new] = known_.try_emplace(Hash(packed), static_cast<std::uint32_t>(states_.size()));
    if (!states_.empty()) ways_.emplace_back(static_cast<std::uint32_t>(from), found->second);
    if (!is_new && !wrong_) return;
    states_.push_back(way);
    waiting_.push_back(std::move(packed));
  }

  // How many ways lead from the first state to the last ones: what a search without memory would have walked.
  void count_ways() {
    std::vector<std::uint32_t> incoming(states_.size());
    std::sort(ways_.begin(), ways_.end());
    for (const auto& [from, to] : ways_) ++incoming[to];
    std::vector<double> ways(states_.size());
    ways[0] = 1;
    std::vector<std::uint32_t> ready{0};
    while (!ready.empty()) {
      const std::uint32_t at = ready.back();
      ready.pop_back();
      auto next = std::lower_bound(ways_.begin(), ways_.end(), std::pair(at, std::uint32_t{0}));
      if (next == ways_.end() || next->first != at) result_.interleavings += ways[at];
      for (; next != ways_.end() && next->first == at; ++next) {
        ways[next->second] += ways[at];
        if (--incoming[next->second] == 0) ready.push_back(next->second);
      }
    }
  }

  std::string way_to(std::size_t at) const {
    std::vector<std::string> lines;
    for (; at != 0; at = states_[at].from) {
      const Way& way = states_[at];
      const Step& step = way.step;
      if (step.kind == Kind::peek || step.kind == Kind::poke) continue;
      std::string line = "\n  thread " + std::to_string(way.thread + 1) + ": ";
      if (step.kind == Kind::happens) {
        static constexpr const char* kEvents[] = {"opens", "gives back", "issues"};
        line += std::string(kEvents[step.place]) + " " + text(step.operand);
        if (static_cast<Event>(step.place) != Event::issued) line += " to " + text(step.expected) + " (exclusive)";
      } else if (step.kind == Kind::lock || step.kind == Kind::unlock) {
        line += name_of(step.kind);
      } else {
        static constexpr const char* kPlaces[kMostPlaces] = {"next_", "limit_", "first_", "resume_", "version_"};
        line += std::string(kPlaces[step.place]) + "." + name_of(step.kind);
        if (step.kind == Kind::compare_exchange) line += " " + text(step.expected) + " by";
        if (step.kind != Kind::load) line += " " + text(step.operand);
        if (step.kind != Kind::store) line += " -> " + text(way.result);
        if (way.behind > 0) line += " (it is later " + std::to_string(way.behind) + " times)";
      }
      lines.push_back(line);
    }
    std::string all;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) all += *line;
    return all;
  }
  static std::string text(std::uint64_t value) {
    constexpr std::uint64_t kParked = std::uint64_t{3} << 62;
    if (value < kParked) return std::to_string(value);
    return value == kParked ? "parked" : "parked + " + std::to_string(value - kParked);
  }

  static constexpr std::uint8_t kResume = 3;  // only used under the lock: no step that others see

  std::size_t places_ = 0;
  std::vector<Code> codes_;
  std::vector<Way> states_;
  std::deque<std::string> waiting_;
  std::unordered_map<Hash, std::uint32_t, FirstHalf> known_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways_;
  State scratch_;
  std::size_t at_ = 0;
  std::optional<std::string> wrong_;
  Result result_;
};

}  // namespace

std::uint64_t take(const Step& step) noexcept {
  Run& run = *running;
  if (run.at < run.history.size()) return run.history[run.at++];
  run.next = step;
  longjmp(run.out, 1);
}

std::uint8_t new_place(std::uint64_t value) noexcept {
  initial->places.push_back(value);
  return static_cast<std::uint8_t>(initial->places.size() - 1);
}
std::uint8_t new_guarded(std::uint64_t value) noexcept {
  initial->guarded.push_back(value);
  return static_cast<std::uint8_t>(initial->guarded.size() - 1);
}

void tell(Event event, std::uint64_t first, std::uint64_t end) noexcept {
  take({.kind = Kind::happens, .place = static_cast<std::uint8_t>(event), .operand = first, .expected = end});
}
void lock() noexcept { take({.kind = Kind::lock}); }
void unlock() noexcept { take({.kind = Kind::unlock}); }

Result search(const std::function<Program()>& make, std::uint64_t most) { return Search(make).run(most); }

}  // namespace idgen::search
