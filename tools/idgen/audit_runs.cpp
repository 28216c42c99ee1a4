#include "audit_runs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <future>
#include <mutex>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "audit_sort.hpp"

namespace idgen_tool {
namespace {

constexpr std::size_t kBlock = 256;                              // keys whose differences have one width
constexpr std::size_t kHeader = 3;                               // of a block: width, and count - 1 in two bytes
constexpr std::size_t kLargestBlock = kHeader + 8 * kBlock + 8;  // differences are stored and loaded by 8 bytes
constexpr std::size_t kWriteSize = 1 << 16;
constexpr std::size_t kSmallestRead = 1 << 14;
constexpr std::size_t kMostRead = 1 << 20;
constexpr std::size_t kMostMerged = 128;

std::uint64_t load(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);  // of a file of this process: no byte order to care for
  return value;
}

}  // namespace

// ---- writing

void RunFile::begin_run() {
  buffer_.resize(kWriteSize + kLargestBlock);
  run_ = {.offset = written_, .size = 0, .count = 0};
  last_ = 0;
}

void RunFile::append(const std::uint64_t* keys, std::size_t count) {
  run_.count += count;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t n = std::min(kBlock, count - begin);
    std::array<std::uint64_t, kBlock> differences;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < n; ++i) {
      differences[i] = keys[begin + i] - (i == 0 ? last_ : keys[begin + i - 1]);
      bits |= differences[i];
    }
    last_ = keys[begin + n - 1];
    const auto width = static_cast<std::size_t>((std::bit_width(bits) + 7) / 8);
    std::uint8_t* to = buffer_.data() + used_;
    to[0] = static_cast<std::uint8_t>(width);
    to[1] = static_cast<std::uint8_t>(n - 1);
    to[2] = static_cast<std::uint8_t>((n - 1) >> 8);
    to += kHeader;
    for (std::size_t i = 0; i < n; ++i) std::memcpy(to + i * width, &differences[i], 8);
    used_ += kHeader + n * width;
    if (used_ >= kWriteSize) flush();
  }
}

void RunFile::flush() {
  write_all(file_.get(), buffer_.data(), used_, "a temporary file");
  written_ += used_;
  used_ = 0;
}

SortedRun RunFile::end_run() {
  flush();
  run_.size = written_ - run_.offset;
  return run_;
}

namespace {

// ---- reading

class RunReader {
 public:
  RunReader(int file, const SortedRun& run, std::size_t buffer_size)
      : file_(file), offset_(run.offset), left_(run.size), buffer_(buffer_size + kLargestBlock) {}

  // Decodes the next block; false at the end.
  bool next_block() {
    if (end_ - begin_ < kLargestBlock && left_ > 0) refill();
    if (begin_ == end_) return false;
    const std::uint8_t* from = buffer_.data() + begin_;
    const std::size_t width = from[0];
    count_ = (from[1] | std::size_t{from[2]} << 8) + 1;
    from += kHeader;
    const std::uint64_t mask = width == 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * width) - 1;
    std::uint64_t key = last_;
    for (std::size_t i = 0; i < count_; ++i) keys_[i] = key += load(from + i * width) & mask;
    last_ = key;
    begin_ += kHeader + count_ * width;
    at_ = 0;
    return true;
  }

  std::uint64_t key() const noexcept { return keys_[at_]; }
  bool step() noexcept { return ++at_ < count_; }
  const std::uint64_t* rest() const noexcept { return keys_.data() + at_; }
  std::size_t rest_count() const noexcept { return count_ - at_; }
  std::uint64_t last_of_block() const noexcept { return last_; }
  void skip(std::size_t count) noexcept { at_ += count; }

 private:
  void refill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer_.size() - 8 - end_));
    const std::size_t n = read_at(file_, buffer_.data() + end_, wanted, offset_);
    offset_ += n;
    left_ = n < wanted ? 0 : left_ - n;
    end_ += n;
  }

  int file_;
  std::uint64_t offset_;
  std::uint64_t left_;
  std::vector<std::uint8_t> buffer_;  // 8 bytes more than are read, for the last load
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<std::uint64_t, kBlock> keys_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::uint64_t last_ = 0;
};

// ---- merging

// Runs of one file, by a tree of losers: each inner node holds the run that lost there.
class Merge : public SortedKeys {
 public:
  Merge(std::shared_ptr<RunFile> file, const SortedRun* runs, std::size_t count, std::size_t memory)
      : file_(std::move(file)) {
    const std::size_t each = std::clamp(memory / std::max<std::size_t>(count, 1), kSmallestRead, kMostRead);
    for (std::size_t i = 0; i < count; ++i) {
      auto reader = std::make_unique<RunReader>(file_->descriptor(), runs[i], each);
      if (reader->next_block()) readers_.push_back(std::move(reader));
    }
    build();
  }

  std::size_t read(std::uint64_t* keys, std::size_t most) override {
    std::size_t done = 0;
    while (done < most && !readers_.empty()) {
      RunReader& winner = *readers_[winner_];
      // All that is left of its block, if no other run has anything smaller.
      if (is_new_block_ && winner.last_of_block() <= runner_up()) {
        const std::size_t n = std::min(most - done, winner.rest_count());
        std::copy_n(winner.rest(), n, keys + done);
        done += n;
        winner.skip(n);
        if (winner.rest_count() > 0) continue;
        next_block();
        continue;
      }
      is_new_block_ = false;
      keys[done++] = heads_[winner_];
      if (winner.step()) {
        heads_[winner_] = winner.key();
        replay();
      } else {
        next_block();
      }
    }
    return done;
  }

 private:
  void next_block() {
    RunReader& winner = *readers_[winner_];
    if (winner.next_block()) {
      heads_[winner_] = winner.key();
      replay();
    } else {
      readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(winner_));
      build();
    }
    is_new_block_ = true;
  }

  void build() {
    const std::size_t count = readers_.size();
    heads_.resize(count);
    losers_.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) heads_[i] = readers_[i]->key();
    // Leaves stand behind the inner nodes, in one heap.
    std::vector<std::size_t> winners(2 * count);
    for (std::size_t i = 0; i < count; ++i) winners[count + i] = i;
    for (std::size_t node = count; node-- > 1;) {
      const std::size_t a = winners[2 * node], b = winners[2 * node + 1];
      winners[node] = heads_[b] < heads_[a] ? b : a;
      losers_[node] = winners[node] == a ? b : a;
    }
    winner_ = count > 1 ? winners[1] : 0;
    is_new_block_ = true;
  }

  void replay() {
    std::size_t winner = winner_;
    std::uint64_t key = heads_[winner];
    for (std::size_t node = (winner + heads_.size()) / 2; node > 0; node /= 2) {
      const std::size_t other = losers_[node];
      const std::uint64_t other_key = heads_[other];
      const bool is_lost = other_key < key;
      losers_[node] = is_lost ? winner : other;
      winner = is_lost ? other : winner;
      key = is_lost ? other_key : key;
    }
    winner_ = winner;
  }

  // The least key of all other runs.
  std::uint64_t runner_up() const {
    std::uint64_t least = UINT64_MAX;
    for (std::size_t node = (winner_ + heads_.size()) / 2; node > 0; node /= 2)
      least = std::min(least, heads_[losers_[node]]);
    return least;
  }

  std::shared_ptr<RunFile> file_;
  std::vector<std::unique_ptr<RunReader>> readers_;
  std::vector<std::uint64_t> heads_;
  std::vector<std::size_t> losers_;
  std::size_t winner_ = 0;
  bool is_new_block_ = true;
};

// What another source gives, read ahead on a thread.
class Ahead {
 public:
  explicit Ahead(std::unique_ptr<SortedKeys> source) : source_(std::move(source)) {
    for (auto& buffer : buffers_) buffer.resize(kAhead);
    begin();
  }
  ~Ahead() {
    if (pending_.valid()) pending_.wait();
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  // The next keys, which last until the next call; none at the end.
  std::span<const std::uint64_t> next() {
    if (is_over_) return {};
    const std::size_t count = pending_.get();
    current_ ^= 1;
    is_over_ = count == 0;
    if (!is_over_) begin();
    return {buffers_[current_].data(), count};
  }

 private:
  static constexpr std::size_t kAhead = 1 << 15;
  void begin() {
    std::vector<std::uint64_t>& next = buffers_[current_ ^ 1];
    pending_ = std::async(std::launch::async, [this, &next] { return source_->read(next.data(), next.size()); });
  }

  std::unique_ptr<SortedKeys> source_;
  std::array<std::vector<std::uint64_t>, 2> buffers_;
  std::size_t current_ = 0;
  bool is_over_ = false;
  std::future<std::size_t> pending_;
};

// Two sources, each read ahead on its own thread.
class Pair : public SortedKeys {
 public:
  Pair(std::unique_ptr<SortedKeys> one, std::unique_ptr<SortedKeys> other) : a_(std::move(one)), b_(std::move(other)) {}
  std::size_t read(std::uint64_t* keys, std::size_t most) override {
    std::size_t done = 0;
    while (done < most) {
      if (a_at_ == a_end_) std::tie(a_at_, a_end_) = part_of(a_);
      if (b_at_ == b_end_) std::tie(b_at_, b_end_) = part_of(b_);
      if (a_at_ == a_end_ && b_at_ == b_end_) break;
      if (a_at_ == a_end_ || b_at_ == b_end_) {
        const std::uint64_t*& at = a_at_ == a_end_ ? b_at_ : a_at_;
        const std::uint64_t* const end = a_at_ == a_end_ ? b_end_ : a_end_;
        const std::size_t n = std::min(most - done, static_cast<std::size_t>(end - at));
        std::copy_n(at, n, keys + done);
        at += n;
        done += n;
        continue;
      }
      // As many steps as none of the three can end in.
      const auto a_left = static_cast<std::size_t>(a_end_ - a_at_), b_left = static_cast<std::size_t>(b_end_ - b_at_);
      const std::size_t n = std::min({most - done, a_left, b_left});
      const std::uint64_t* a = a_at_;
      const std::uint64_t* b = b_at_;
      for (std::size_t i = 0; i < n; ++i) {
        const bool is_b = *b < *a;
        keys[done + i] = is_b ? *b : *a;
        b += is_b;
        a += !is_b;
      }
      a_at_ = a;
      b_at_ = b;
      done += n;
    }
    return done;
  }

 private:
  static std::pair<const std::uint64_t*, const std::uint64_t*> part_of(Ahead& source) {
    const std::span<const std::uint64_t> keys = source.next();
    return {keys.data(), keys.data() + keys.size()};
  }
  Ahead a_, b_;
  const std::uint64_t *a_at_ = nullptr, *a_end_ = nullptr, *b_at_ = nullptr, *b_end_ = nullptr;
};

// What fitted in memory.
class InMemory : public SortedKeys {
 public:
  InMemory(std::unique_ptr<std::uint64_t[]> owner, const std::uint64_t* keys, std::size_t count)
      : owner_(std::move(owner)), keys_(keys), left_(count) {}
  std::size_t read(std::uint64_t* keys, std::size_t most) override {
    const std::size_t n = std::min(most, left_);
    std::copy_n(keys_, n, keys);
    keys_ += n;
    left_ -= n;
    return n;
  }

 private:
  std::unique_ptr<std::uint64_t[]> owner_;
  const std::uint64_t* keys_;
  std::size_t left_;
};

// ---- all of it

struct Part {  // of a thread
  std::shared_ptr<RunFile> file;
  std::vector<SortedRun> runs;
};

class Sorter {
 public:
  Sorter(const FillKeys& fill, std::size_t memory, const std::string& folder)
      : fill_(fill), memory_(memory), folder_(folder) {
    threads_ = std::clamp(std::thread::hardware_concurrency(), 1U, 2U);
    // Each thread has keys and as much again to sort them into.
    keys_ = std::max<std::size_t>(memory / (threads_ * 2 * sizeof(std::uint64_t)), 1 << 12);
    parts_.resize(threads_);
  }

  std::unique_ptr<SortedKeys> sort() {
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < threads_; ++i)
      others.push_back(std::async(std::launch::async, [this, i] { sort_pieces(parts_[i]); }));
    try {
      sort_pieces(parts_[0]);
    } catch (...) {
      is_over_ = true;
      for (auto& other : others) other.wait();
      throw;
    }
    for (auto& other : others) other.get();
    if (whole_) return std::move(whole_);
    return merged();
  }

 private:
  void sort_pieces(Part& part) {
    std::unique_ptr<std::uint64_t[]> space;
    for (;;) {
      Filled filled;
      bool is_all = false;
      {
        const std::lock_guard lock(mutex_);
        if (is_over_) return;
        if (!space) space = std::make_unique_for_overwrite<std::uint64_t[]>(2 * keys_);
        const bool is_first = !is_begun_;
        is_begun_ = true;
        try {
          filled = fill_(space.get(), keys_);
        } catch (...) {
          is_over_ = true;
          throw;
        }
        if (filled.count < keys_) is_over_ = true;
        is_all = is_first && is_over_;
      }
      if (filled.count == 0 && !is_all) return;
      const std::uint64_t* const sorted = sort_keys(space.get(), filled.count, space.get() + keys_, filled.from_bit);
      if (is_all) {
        whole_ = std::make_unique<InMemory>(std::move(space), sorted, filled.count);
        return;
      }
      if (!part.file) part.file = std::make_shared<RunFile>(folder_);
      part.file->begin_run();
      part.file->append(sorted, filled.count);
      part.runs.push_back(part.file->end_run());
    }
  }

  // Several runs into one, until there are few enough to read side by side.
  void reduce(Part& part, std::size_t memory) {
    const std::size_t most = std::clamp<std::size_t>(memory / kSmallestRead, 4, kMostMerged);
    while (part.runs.size() > most) {
      Part next;
      next.file = std::make_shared<RunFile>(folder_);
      std::vector<std::uint64_t> keys(1 << 13);
      for (std::size_t begin = 0; begin < part.runs.size(); begin += most) {
        const std::size_t n = std::min(most, part.runs.size() - begin);
        Merge merge(part.file, &part.runs[begin], n, memory);
        next.file->begin_run();
        // Whole blocks: short ones would take more space.
        while (const std::size_t count = merge.read(keys.data(), keys.size())) next.file->append(keys.data(), count);
        next.runs.push_back(next.file->end_run());
      }
      part = std::move(next);
    }
  }

  std::unique_ptr<SortedKeys> merged() {
    std::vector<std::unique_ptr<SortedKeys>> merges;
    for (Part& part : parts_) {
      if (part.runs.empty()) continue;
      reduce(part, memory_ / 2);
      merges.push_back(std::make_unique<Merge>(part.file, part.runs.data(), part.runs.size(), memory_ / 2));
    }
    if (merges.size() == 2) return std::make_unique<Pair>(std::move(merges[0]), std::move(merges[1]));
    return std::move(merges.at(0));
  }

  const FillKeys& fill_;
  std::size_t memory_;
  std::string folder_;
  std::size_t threads_;
  std::size_t keys_;
  std::mutex mutex_;  // held while filling
  bool is_begun_ = false;
  std::atomic<bool> is_over_ = false;
  std::vector<Part> parts_;
  std::unique_ptr<SortedKeys> whole_;
};

}  // namespace

std::unique_ptr<SortedKeys> sort_all(const FillKeys& fill, std::size_t memory, const std::string& folder) {
  return Sorter(fill, memory, folder).sort();
}

}  // namespace idgen_tool
