// The table in force, and how another one takes its place.
#include "idgen/router.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "idgen/text.hpp"
#include "idgen/time_units.hpp"
#include "runtime/absolute_path.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/process_image.hpp"

namespace idgen {

// A file as the directory shows it. Zeros if it cannot be seen; then reading it says why.
struct Router::FileMark {
  std::uint64_t device, inode, size;
  std::int64_t modified_ns, changed_ns;

  static FileMark of(const std::string& path) noexcept {
    struct stat at {};
    if (stat(path.c_str(), &at) != 0) return {};
    return {at.st_dev, at.st_ino, static_cast<std::uint64_t>(at.st_size),
            at.st_mtim.tv_sec * 1000 * kNsPerMs + at.st_mtim.tv_nsec,
            at.st_ctim.tv_sec * 1000 * kNsPerMs + at.st_ctim.tv_nsec};
  }
  bool operator==(const FileMark&) const = default;
};

// Zeros in a child: the lock, which a thread of the parent may have held, is free, and the file is looked at anew.
// The table in force is not here: all of it hangs on one pointer, which a child finds whole.
struct Router::Slow {
  Mutex mutex;
  FileMark seen IDGEN_GUARDED_BY(mutex);
  bool has_seen IDGEN_GUARDED_BY(mutex);
  std::uint64_t swaps IDGEN_GUARDED_BY(mutex);
  std::uint64_t failures IDGEN_GUARDED_BY(mutex);
  Status last_status IDGEN_GUARDED_BY(mutex);
  std::int64_t last_failure_unix_ms IDGEN_GUARDED_BY(mutex);
  char last_error[496] IDGEN_GUARDED_BY(mutex);
};

Router::Router(RouterOptions options, std::string path, const RouteTable& table)
    : node_mask_((1u << table.data().bits) - 1),
      ring_bits_(table.data().bits),
      options_(std::move(options)),
      runtime_(options_.runtime ? *options_.runtime : system_runtime()),
      path_(std::move(path)),
      slow_(std::make_unique<ForkPage<Slow>>()) {
  const auto most_of = [](const Layout& layout) { return (Id128{1} << layout.bits()) - 1; };
  if (options_.layout) {
    if (options_.layout->is_wide()) {
      throw Error(Status::value, concat({"the layout ", quote(options_.layout->text()),
                                         " makes 128-bit ids; give it as the wide layout, and one of up to 64 bits as "
                                         "the layout"}));
    }
    narrow_ = GeneField::of(*options_.layout, ring_bits_);
    most_ = static_cast<std::uint64_t>(most_of(*options_.layout));
  }
  if (options_.wide_layout) {
    if (!options_.wide_layout->is_wide()) {
      throw Error(Status::value, concat({"the wide layout ", quote(options_.wide_layout->text()),
                                         " makes ids of up to 64 bits; give it as the layout"}));
    }
    wide_ = GeneField::of(*options_.wide_layout, ring_bits_);
    most_wide_ = most_of(*options_.wide_layout);
  }
  if (options_.rule) {
    rule_ = *options_.rule;
  } else if (options_.layout) {
    rule_ = options_.layout->gene_rule();
  }
  map_.store(new RouteMap(table, table.data().shards, nullptr), std::memory_order_release);
}

Router::~Router() {
  for (const RouteMap* map = map_.load(std::memory_order_acquire); map != nullptr;) {
    const RouteMap* const older = map->older();
    delete map;
    map = older;
  }
}

std::shared_ptr<Router> Router::make(const RouteTable& table, RouterOptions options) {
  return std::shared_ptr<Router>(new Router(std::move(options), "", table));
}

std::shared_ptr<Router> Router::open(const std::string& path, RouterOptions options) {
  if (path.empty()) throw Error(Status::value, "the path of the table's file is empty");
  std::shared_ptr<Router> router(new Router(std::move(options), absolute_path(path), read_route_table(path)));
  router->keep_watching();
  return router;
}

// ----------------------------------------------------------------------------------------------------------- swaps

void Router::swap(const RouteTable& table, std::uint64_t expected_version) {  // NOLINT(bugprone-exception-escape)
  keep_watching();
  install(table, expected_version);
  say(LogLevel::info,
      "routes: version " + std::to_string(table.version()) + " replaces " + std::to_string(expected_version));
}

void Router::install(const RouteTable& table, std::uint64_t expected_version) {
  Slow& slow = **slow_;
  const MutexLock lock(slow.mutex);
  const RouteMap* const current = map_.load(std::memory_order_relaxed);
  if (current->version() != expected_version) {
    throw Error(Status::stale,
                concat({"version ", expected_version, " was to be replaced, and version ", current->version(),
                        " is in force: somebody else was faster. Start again from the table in force"}));
  }
  if (table.version() <= expected_version) {
    throw Error(Status::value, concat({"version ", table.version(), " cannot replace version ", expected_version,
                                       "; a new table has a higher one"}));
  }
  if (table.data().bits != ring_bits_) {
    throw Error(Status::value,
                concat({"the new table has a ring of 2^", table.data().bits, " nodes, and the router one of 2^",
                        ring_bits_, "; a ring keeps its size, because ids carry their node"}));
  }
  std::vector<std::string> names = current->names();
  for (const std::string& shard : table.data().shards) {
    if (std::find(names.begin(), names.end(), shard) == names.end()) names.push_back(shard);
  }
  if (names.size() > RouteTable::kMostShards) {
    throw Error(Status::value, concat({"with this table the router would have seen ", names.size(),
                                       " shards; over a router's life at most ", RouteTable::kMostShards,
                                       " are allowed, because each keeps its index; make a new router"}));
  }
  map_.store(new RouteMap(table, std::move(names), current), std::memory_order_release);
  ++slow.swaps;
}

// ---------------------------------------------------------------------------------------------------------- the file

// Throws what is wrong with it.
Router::Seen Router::look(bool even_if_unchanged) {
  Slow& slow = **slow_;
  const FileMark mark = FileMark::of(path_);
  const std::int64_t now_ns = runtime_.wall_ns();
  {
    const MutexLock lock(slow.mutex);
    if (!even_if_unchanged && slow.has_seen && slow.seen == mark) return Seen::unchanged;
    // A file that was just written may be written again within the same tick of its clock, and look the same.
    constexpr std::int64_t kSettledNs = 2'000 * kNsPerMs;
    slow.has_seen = now_ns - mark.modified_ns > kSettledNs;
    slow.seen = mark;
  }
  const RouteTable table = read_route_table(path_);
  for (;;) {
    const RouteMap& current = map();
    if (table == current.table()) return Seen::in_force;
    if (table.version() <= current.version()) {
      throw Error(Status::stale,
                  concat({path_, ": the file has version ", table.version(),
                          (table.version() == current.version() ? " with another content, and that version"
                                                                : ", and version " + std::to_string(current.version())),
                          " is in force; give the file a higher version"}));
    }
    try {
      install(table, current.version());
    } catch (const Error& error) {
      if (error.status() == Status::stale) continue;  // a swap came between
      throw Error(error.status(), concat({path_, ": ", error.message()}));
    }
    say(LogLevel::info, "routes: version " + std::to_string(table.version()) + " of " + path_ + " replaces version " +
                            std::to_string(current.version()));
    return Seen::in_force;
  }
}

void Router::look_and_note(bool even_if_unchanged) {
  Slow& slow = **slow_;
  try {
    if (look(even_if_unchanged) == Seen::unchanged) return;
    const MutexLock lock(slow.mutex);
    slow.last_status = Status::ok;
    slow.last_error[0] = '\0';
  } catch (const Error& error) {
    note(error);
    throw;
  } catch (...) {  // no memory: look again
    const MutexLock lock(slow.mutex);
    slow.has_seen = false;
    throw;
  }
}

void Router::note(const Error& error) noexcept {
  Slow& slow = **slow_;
  const std::int64_t now_ms = runtime_.wall_ns() / kNsPerMs;
  char text[sizeof slow.last_error];
  copy_text(error.message(), text, sizeof text);
  MutexLock lock(slow.mutex);
  ++slow.failures;
  const bool is_news = std::string_view(text) != slow.last_error;
  std::copy(std::begin(text), std::end(text), slow.last_error);
  slow.last_status = error.status();
  slow.last_failure_unix_ms = now_ms;
  lock.unlock();
  if (is_news)
    say(LogLevel::warning,
        "routes: version " + std::to_string(map().version()) + " stays in force: " + error.message());
}

void Router::reload() {
  if (path_.empty()) {
    throw Error(Status::unsupported, "this router was made from data, not from a file; give it a table with swap");
  }
  keep_watching();
  look_and_note(true);
}

RouterStats Router::stats() {
  keep_watching();
  Slow& slow = **slow_;
  RouterStats stats;
  stats.version = map().version();
  char text[sizeof slow.last_error];
  {
    const MutexLock lock(slow.mutex);
    stats.swaps = slow.swaps;
    stats.failures = slow.failures;
    stats.last_status = slow.last_status;
    stats.last_failure_unix_ms = slow.last_failure_unix_ms;
    std::copy(std::begin(slow.last_error), std::end(slow.last_error), text);
  }
  stats.last_error = text;
  return stats;
}

// On a lane of its own: a file on a server that hangs must delay nobody else, least of all the watch for a copied
// machine. A child has no timer until one of its calls gets here.
void Router::keep_watching() noexcept {
  if (path_.empty() || options_.reload_ms <= 0 || closed_) return;
  try {
    const std::uint64_t image = process_image();
    if (watched_in_.exchange(image) == image) return;
    if (!lane_) lane_ = runtime_.make_lane();
    lane_->post_after(options_.reload_ms * kNsPerMs, [weak = weak_from_this()] {
      const std::shared_ptr<Router> self = weak.lock();
      if (!self || self->closed_) return;
      self->watched_in_ = 0;
      try {
        self->look_and_note(false);
      } catch (const std::exception&) {  // noted
      }
      self->keep_watching();
    });
  } catch (const std::exception&) {  // no thread can be had: reload() still looks
    watched_in_ = 0;
  }
}

void Router::say(LogLevel level, const std::string& line) noexcept {
  if (!options_.log || closed_) return;
  try {
    (*options_.log)(level, line);
  } catch (...) {  // a log must not change what happens
  }
}

}  // namespace idgen
