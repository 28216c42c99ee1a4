// Which shard an id belongs to: a ring of 2^bits virtual nodes, a table that gives ranges of nodes to shards, and a
// router that holds the table in force. Formats and rules: docs/routing.md.
//
// A node is the low bits of an id's gene. A table never changes; a router swaps one for another through one atomic
// pointer. A reader holds no reference and takes no lock, so a table that was in force is kept until its router is
// destroyed. It has a few hundred bytes, and some 12 more for each range.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idgen/gene.hpp"
#include "idgen/layout.hpp"
#include "idgen/log.hpp"
#include "idgen/mutex.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"

namespace idgen {

template <class T>
class ForkPage;

// The shard owns the nodes up to this one, inclusive, from the end of the range before.
struct RouteRange {
  std::uint32_t upto = 0;
  std::uint32_t shard = 0;  // index into RouteData::shards
  bool operator==(const RouteRange&) const = default;
};

// These nodes are in cut-over: of each node's ids, `share` ten-thousandths have moved to another shard.
struct RouteMove {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t to = 0;
  std::uint32_t share = 0;  // 0 to kWholeShare
  bool operator==(const RouteMove&) const = default;
};

struct RouteData {
  std::uint64_t version = 0;
  std::uint32_t bits = 0;
  std::vector<std::string> shards;
  std::vector<RouteRange> ranges;
  std::vector<RouteMove> moves;
  bool operator==(const RouteData&) const = default;
};

// A table that was checked: the ranges cover the ring without gaps, and neighbours of one shard are one range; the
// moves are in the order of their nodes.
class RouteTable {
 public:
  static constexpr std::uint32_t kMostBits = 23;
  static constexpr std::uint32_t kWholeShare = 10'000;
  static constexpr std::size_t kMostShards = 65'535;
  static constexpr std::size_t kLongestName = 128;
  static constexpr std::uint64_t kLastVersion = (std::uint64_t{1} << 63) - 1;  // TOML has signed numbers

  // Throws Error{value}.
  explicit RouteTable(RouteData data);

  const RouteData& data() const noexcept { return data_; }
  std::uint64_t version() const noexcept { return data_.version; }
  // The file's form: TOML. What read_route_table makes of it is equal.
  std::string text() const;

  bool operator==(const RouteTable&) const = default;

 private:
  RouteData data_;
};

// Throws Error{config_file} for anything that is not a table, half a file included; Error{unsupported} in a build
// without TOML.
RouteTable read_route_table(const std::string& path);

// Replaces the file, atomically and durably, if the table in it has this version; 0: there must be no file. The new
// table's version must be above. An exclusive lock on PATH-lock is held meanwhile, so of two writers with the same
// expectation one wins. Throws Error{stale} naming both versions; Error{value, config_file}; Error{store_unsafe} where
// locks are not reliable, Error{store_unavailable} if the lock is not free for five seconds, Error{store_permission,
// store_full}.
void write_route_table(const std::string& path, const RouteTable& table, std::uint64_t expected_version);

// "35%", "0.25%": of 10000.
std::string share_text(std::uint32_t share);
std::optional<std::uint32_t> parse_share(std::string_view text) noexcept;
// "0-1023", "7". The numbers may be out of range.
std::string nodes_text(std::uint32_t first, std::uint32_t last);
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_nodes(std::string_view text) noexcept;

// The values are IDGEN_ROUTE_* of route.h.
enum class RouteState : std::uint32_t {
  settled = 0,
  old_first = 1,   // in cut-over, this id has not moved: write to the old shard, read it first, then the new one
  new_first = 2,   // in cut-over, this id has moved: write to the new shard, read it first, then the old one
  id_decides = 3,  // in cut-over, and no id was given: `shard` is the old one, `second` the new one
};

struct Route {
  static constexpr std::uint32_t kNoShard = ~std::uint32_t{0};

  std::uint32_t shard = kNoShard;
  std::uint32_t second = kNoShard;
  RouteState state = RouteState::settled;
  std::uint32_t node = 0;
  std::uint64_t version = 0;  // of the table that said so
};

// A table as lookups want it: two steps, and nothing allocated. The first step is an index by the node's high bits,
// the second a search among the few pieces that can hold the node.
class RouteMap {
 public:
  // What all nodes of a piece have in common: of the same range, and of the same move or none.
  struct Piece {
    std::uint32_t shard;
    std::uint32_t second;  // Route::kNoShard: not in cut-over
    std::uint32_t moved;   // of 1024 values of an id's low bits, those below this one have moved
  };

  // names: all shards that the router has ever known, the table's among them; the numbers of pieces are indexes of it.
  RouteMap(RouteTable table, std::vector<std::string> names, const RouteMap* older);

  const RouteTable& table() const noexcept { return table_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  const RouteMap* older() const noexcept { return older_; }
  std::uint64_t version() const noexcept { return version_; }

  const Piece& find(std::uint32_t node) const noexcept {
    const std::uint32_t bucket = node >> shift_;
    std::uint32_t first = first_of_[bucket];
    std::uint32_t last = first_of_[bucket + 1];
    while (last - first > 8) {
      const std::uint32_t middle = first + (last - first) / 2;
      if (upto_[middle] < node) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    while (upto_[first] < node) ++first;
    return pieces_[first];
  }

 private:
  void cut();
  void index();

  const RouteTable table_;
  const std::vector<std::string> names_;
  const RouteMap* const older_;
  const std::uint64_t version_;
  std::uint32_t shift_ = 0;
  std::vector<std::uint32_t> first_of_;  // for each bucket, and one more: the first piece that reaches into it
  std::vector<std::uint32_t> upto_;      // of each piece
  std::vector<Piece> pieces_;
};

// Where the gene lies in an id, and which bits tell whether the id has moved.
struct GeneField {
  static constexpr std::uint32_t kMovedBits = 10;

  std::uint32_t shift = 0;
  std::uint32_t bits = 0;  // 0: there is none
  std::uint32_t node_mask = 0;

  // Throws Error{value} if the layout has no gene, or one that is narrower than the ring.
  static GeneField of(const Layout& layout, std::uint32_t ring_bits);

  template <class Id>
  std::uint32_t node(Id id) const noexcept {
    return static_cast<std::uint32_t>(id >> shift) & node_mask;
  }
  // The lowest ten bits of the id without its gene.
  std::uint32_t low_bits(Id128 id) const noexcept {
    constexpr std::uint32_t kMask = (1u << kMovedBits) - 1;
    if (shift >= kMovedBits) return static_cast<std::uint32_t>(id) & kMask;
    const std::uint32_t below = static_cast<std::uint32_t>(id) & ((1u << shift) - 1);
    return (static_cast<std::uint32_t>(id >> (shift + bits)) << shift | below) & kMask;
  }
};

struct RouterOptions {
  std::optional<Layout> layout;       // of ids up to 64 bits
  std::optional<Layout> wide_layout;  // of ids of 16 bytes
  std::optional<GeneRule> rule;       // of owners; empty: as a generator with this layout decides
  std::int64_t reload_ms = 1000;      // how often a router of a file looks at it; 0: only when asked
  SharedLog log;                      // null: none
  Runtime* runtime = nullptr;         // null: the system's
};

struct RouterStats {
  std::uint64_t version = 0;
  std::uint64_t swaps = 0;     // tables that came into force after the first
  std::uint64_t failures = 0;  // looks at the file that found something wrong
  Status last_status = Status::ok;
  std::int64_t last_failure_unix_ms = 0;
  std::string last_error;  // of the latest look at the file; "" if that found nothing wrong
};

// Threads: any. A lookup takes no lock, allocates nothing and does not look at files or clocks. In a forked child,
// lookups go on with the table they have; the timer starts over with the child's first reload(), swap() or stats().
class Router : public std::enable_shared_from_this<Router> {
 public:
  // Throws Error{value} if a layout does not fit the ring.
  static std::shared_ptr<Router> make(const RouteTable& table, RouterOptions options);
  // Throws what read_route_table throws, too.
  static std::shared_ptr<Router> open(const std::string& path, RouterOptions options);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router();

  const RouteMap& map() const noexcept { return *map_.load(std::memory_order_acquire); }
  std::uint32_t ring_bits() const noexcept { return ring_bits_; }

  // False where the calls below throw.
  bool find(std::uint64_t id, Route& route) const noexcept {
    if (id > most_ || narrow_.bits == 0) [[unlikely]]
      return false;
    route = route_on(map(), narrow_, id);
    return true;
  }
  bool find_node(std::uint32_t node, Route& route) const noexcept {
    if (node > node_mask_) [[unlikely]]
      return false;
    route = route_node_on(map(), node);
    return true;
  }

  // Throw Error{value} for an id with bits outside the layout, Error{unsupported} without a layout for such ids.
  Route route(std::uint64_t id) const {
    if (id > most_ || narrow_.bits == 0) [[unlikely]]
      refuse(id);
    return route_on(map(), narrow_, id);
  }
  Route route(Id128 id) const {
    if (id > most_wide_ || wide_.bits == 0) [[unlikely]]
      refuse(id);
    return route_on(map(), wide_, id);
  }
  // Throws Error{value} for a node beyond the ring.
  Route route_node(std::uint32_t node) const {
    if (node > node_mask_) [[unlikely]]
      refuse_node(node);
    return route_node_on(map(), node);
  }
  // Throws Error{value} for an owner that has no gene (gene.hpp).
  Route route_owner(std::string_view owner) const {
    return route_node_on(map(), static_cast<std::uint32_t>(gene_of(owner, rule_, ring_bits_)));
  }

  // By its length: 8 or 16 bytes.
  Route route(const WideId& id) const {
    return id.bytes == 8 ? route(static_cast<std::uint64_t>(id.value)) : route(id.value);
  }

  // All by one table. Throw as above, naming the position. seconds may be null.
  void route_batch(const std::uint64_t* ids, std::size_t count, std::uint32_t* shards, std::uint32_t* seconds) const;
  // id_at(position) is a WideId.
  void route_wide_batch(const std::function<WideId(std::size_t)>& id_at, std::size_t count, std::uint32_t* shards,
                        std::uint32_t* seconds) const;
  void route_node_batch(const std::uint32_t* nodes, std::size_t count, std::uint32_t* shards,
                        std::uint32_t* seconds) const;

  // Compare and set. Throws Error{stale} naming both versions if another one is in force, Error{value} for a version
  // that is not above, another ring, or too many shards over the router's life.
  // NOLINTNEXTLINE(bugprone-exception-escape): it is no std::swap
  void swap(const RouteTable& table, std::uint64_t expected_version);
  // Looks at the file now. Throws what is wrong with it; the table in force stays. Error{unsupported} without a file.
  void reload();
  RouterStats stats();
  // No log and no reload any more.
  void close() noexcept { closed_ = true; }

 private:
  struct Slow;
  struct FileMark;

  Router(RouterOptions options, std::string path, const RouteTable& table);

  static Route route_node_on(const RouteMap& map, std::uint32_t node) noexcept {
    const RouteMap::Piece& piece = map.find(node);
    return {piece.shard, piece.second, piece.second == Route::kNoShard ? RouteState::settled : RouteState::id_decides,
            node, map.version()};
  }
  template <class Id>
  static Route route_on(const RouteMap& map, const GeneField& gene, Id id) noexcept {
    const std::uint32_t node = gene.node(id);
    const RouteMap::Piece& piece = map.find(node);
    if (piece.second == Route::kNoShard) [[likely]]
      return {piece.shard, Route::kNoShard, RouteState::settled, node, map.version()};
    return gene.low_bits(id) < piece.moved
               ? Route{piece.second, piece.shard, RouteState::new_first, node, map.version()}
               : Route{piece.shard, piece.second, RouteState::old_first, node, map.version()};
  }
  [[noreturn]] void refuse(std::uint64_t id) const;
  [[noreturn]] void refuse(Id128 id) const;
  [[noreturn]] void refuse_node(std::uint32_t node) const;

  void install(const RouteTable& table, std::uint64_t expected_version);
  enum class Seen { unchanged, in_force };
  Seen look(bool even_if_unchanged);
  void look_and_note(bool even_if_unchanged);
  void note(const Error& error) noexcept;
  void keep_watching() noexcept;
  void say(LogLevel level, const std::string& line) noexcept;

  // What lookups read comes first, together.
  std::atomic<const RouteMap*> map_{nullptr};
  GeneField narrow_;
  std::uint64_t most_ = 0;
  std::uint32_t node_mask_ = 0;
  GeneField wide_;
  Id128 most_wide_ = 0;

  std::uint32_t ring_bits_ = 0;
  GeneRule rule_ = GeneRule::hash;
  const RouterOptions options_;
  Runtime& runtime_;
  const std::string path_;  // "": made from data
  const std::unique_ptr<ForkPage<Slow>> slow_;
  std::shared_ptr<Lane> lane_;
  std::atomic<std::uint64_t> watched_in_{0};  // the process image whose timer runs
  std::atomic<bool> closed_{false};
};

}  // namespace idgen
