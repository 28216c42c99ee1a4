// Who is next at the lock of a transaction.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "store/lock_file.hpp"

namespace idgen {

// A caller that waits for the lock of a transaction. The lock has no queue: whoever asks again soonest would get it,
// and callers that have just come could keep it among them. So one of those who have waited for a while has the turn,
// which is a lock too. It asks again soon, and others do not ask before it. They ask for the turn, all of them after
// pauses of the same length, which the one who has it says: the longer it has waited the more are waiting, and a
// thousand of them must not keep the processor busy. A process that has the turn may have been stopped. So a caller
// asks all the same who has waited for a second, or who has seen at each look that nobody has the lock, for longer than
// the one who has the turn pauses. During a pause the caller has nothing else, so neither fork() nor another store has
// to wait.
template <class Clock = std::chrono::steady_clock>
class LockWait {
 public:
  explicit LockWait(std::int64_t timeout_ms)
      : deadline_(start_ + std::chrono::milliseconds(timeout_ms)),
        defers_until_(start_ + std::min<Duration>((deadline_ - start_) / 2, kDefers)),
        random_(static_cast<std::uint64_t>(start_.time_since_epoch().count() ^ getpid())) {}
  ~LockWait() { give_up_turn(); }
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  // False: somebody else has the lock, or goes first. REQUIRES: the caller has passed the fork gate.
  bool try_lock(const LockFile& file, const std::string& path) {
    if (!turn_ && !may_ask(file, path)) return false;
    const bool is_mine = file.try_lock(kTransactionByte);
    is_next_ = turn_ && !is_mine;
    return is_mine;
  }

  // False: the time is up.
  bool pause() {
    const TimePoint now = Clock::now();
    if (now >= deadline_) return false;
    if (!is_next_) give_up_turn();  // it is not our lock that it waits for, but one of SQLite's
    Duration longest = kSoon;
    if (!is_next_) longest = pause_after(now - (told_ms_ != 0 ? told_since_ : start_));
    longest = std::max<Duration>(longest, std::chrono::milliseconds(told_ms_));
    if (free_since_) longest = kSoon;
    random_ = random_ * 6364136223846793005 + 1442695040888963407;  // Knuth, MMIX
    const auto half = static_cast<std::uint64_t>(longest.count()) / 2;
    longest = Duration(static_cast<typename Clock::rep>(half + (random_ >> 32) % half));
    const TimePoint until = told_ms_ != 0 && now < defers_until_ ? defers_until_ : deadline_;
    std::this_thread::sleep_for(std::min(until - now, longest));
    return true;
  }

 private:
  using Duration = typename Clock::duration;
  using TimePoint = typename Clock::time_point;
  static constexpr std::chrono::microseconds kShortest{100};
  static constexpr std::chrono::milliseconds kSoon{1};
  static constexpr std::chrono::milliseconds kStopped{20};
  static constexpr std::chrono::milliseconds kLong{50};
  static constexpr std::chrono::milliseconds kLongest{200};
  static constexpr std::chrono::seconds kDefers{1};

  static Duration pause_after(Duration waited) { return std::clamp<Duration>(waited / 8, kShortest, kLongest); }

  // Takes the turn, if it is time for it.
  bool may_ask(const LockFile& file, const std::string& path) {
    const TimePoint now = Clock::now();
    const std::int64_t told_ms = std::min<std::int64_t>(file.locked_length(kTurnByte), kLongest.count());
    if (told_ms != told_ms_) told_since_ = now;
    told_ms_ = told_ms;
    const bool is_left = told_ms != 0 && file.locked_length(kTransactionByte) == 0;
    if (!is_left) free_since_.reset();
    if (told_ms == 0) {
      if (now - start_ < kLong) return true;
      turn_ = LockFile::open(path, true);
      if (turn_ && turn_->try_lock(kTurnByte, pause_after(now - start_) / std::chrono::milliseconds(1))) return true;
      turn_.reset();
    }
    if (is_left && !free_since_) free_since_ = now;
    return now >= defers_until_ || (free_since_ && now - *free_since_ >= kStopped);
  }

  void give_up_turn() noexcept {
    if (turn_) turn_->unlock(kTurnByte, kLongest.count());
    turn_.reset();
  }

  const TimePoint start_ = Clock::now();
  const TimePoint deadline_;
  const TimePoint defers_until_;
  std::uint64_t random_;
  std::int64_t told_ms_ = 0;  // by the one who has the turn; 0: nobody has it
  TimePoint told_since_ = start_;
  std::optional<TimePoint> free_since_;  // that nobody has had the lock, at each look, though one has the turn
  std::optional<LockFile> turn_;
  bool is_next_ = false;  // it has the turn, and waits for our lock
};

}  // namespace idgen
