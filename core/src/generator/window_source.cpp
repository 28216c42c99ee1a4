#include "generator/window_source.hpp"

#include <algorithm>
#include <utility>

#include "generator/fast_path.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"

namespace idgen {

std::uint64_t usable_ticks(const Layout& layout) {
  return std::min(std::uint64_t{1} << layout.find(FieldKind::time)->bits,
                  Counter::kEnd >> layout.find(FieldKind::sequence)->bits);
}
std::int64_t last_usable_ms(const Layout& layout) {
  return std::min(layout.last_unix_ms(), layout.tick_start_unix_ms(usable_ticks(layout)) - 1);
}

WindowSource::WindowSource(std::shared_ptr<Store> store, Runtime& runtime, const Layout& layout, WindowRequest request,
                           std::int64_t max_ahead_ms, Leasing leasing)
    : store_(std::move(store)),
      runtime_(runtime),
      epoch_ms_(layout.epoch_unix_ms()),
      tick_ms_(layout.tick_ms()),
      ticks_end_(usable_ticks(layout)),
      last_ms_(last_usable_ms(layout)),
      sequence_bits_(layout.find(FieldKind::sequence)->bits),
      max_ahead_ms_(max_ahead_ms),
      leasing_(std::move(leasing)),
      has_worker_(leasing_.numbers == nullptr),
      request_(std::move(request)) {
  runtime_.nonce(request_.owner);
}

Range WindowSource::draw(const Demand&) {
  const std::int64_t now_ns = runtime_.wall_ns();
  const std::int64_t now_ms = floor_div(now_ns, kNsPerMs);
  if (now_ms < epoch_ms_) {
    throw Error(Status::clock_before_epoch, concat({"the clock says ", format_instant(now_ms), ", before the epoch ",
                                                    format_instant(epoch_ms_), "; set the clock"}));
  }
  const std::int64_t mono_ns = runtime_.mono_ns();
  // Where the store has a clock that machines share, it judges by that.
  if (store_->is_durable() && !has_leases(*store_)) clock_.check(now_ns, mono_ns);
  request_.now_ms = epoch_ms_ + (now_ms - epoch_ms_) / tick_ms_ * tick_ms_;
  request_.max_start_ms =
      max_ahead_ms_ < 0 ? std::numeric_limits<std::int64_t>::max() : request_.now_ms + max_ahead_ms_;
  if (leasing_.numbers && has_worker_) leasing_.numbers->confirm(request_.now_ms + request_.width_ms);
  Window window;
  try {
    window = has_worker_ ? windows_of(*store_).window_take(request_) : lease();
  } catch (const Error& error) {
    if (error.status() != Status::worker_busy) throw;
    // Lost to another owner: what we hold stays ours to its end; then we acquire again.
    request_.fence = 0;
    if (!has_worker_ || !leasing_.loss_is_final) throw;
    throw Error(error.status(), error.message(), Error::kEndsWaits);
  }
  request_.fence = window.fence;
  latest_ = window;
  if (leasing_.numbers) leasing_.numbers->confirm(window.end_ms);
  clock_.trust(now_ns, mono_ns);
  // Whole ticks inside the window. The start is rounded up: the tick in which a window begins may be another owner's.
  const std::int64_t start = std::max(window.start_ms, epoch_ms_) - epoch_ms_;
  const auto first_tick = static_cast<std::uint64_t>((start + tick_ms_ - 1) / tick_ms_);
  const auto end_tick =
      std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(window.end_ms - epoch_ms_, 0) / tick_ms_), ticks_end_);
  if (first_tick >= ticks_end_) {
    throw Error(Status::exhausted, "the layout's time is over: its last tick ended " + format_instant(last_ms_));
  }
  return {first_tick << sequence_bits_, end_tick << sequence_bits_};
}

// A worker that nobody holds, and its first window. Who else chooses the same at this moment finds it busy and chooses
// again. So does who meets a row that a wrong clock has pushed far ahead.
Window WindowSource::lease() {
  constexpr int kMostAttempts = 100;
  for (int attempt = 0;; ++attempt) {
    request_.worker = leasing_.numbers->propose(request_, attempt);
    try {
      const Window window = windows_of(*store_).window_take(request_);
      leasing_.chosen(request_.worker);
      leasing_.numbers->begin();
      has_worker_ = true;
      return window;
    } catch (const Error& error) {
      const bool is_ahead = error.status() == Status::clock_back;
      const bool is_others = is_ahead || error.status() == Status::worker_busy;
      if (is_others) {
        leasing_.numbers->leave();
      } else {
        leasing_.numbers->release(0);
      }
      if (!is_others || attempt == kMostAttempts || !leasing_.numbers->has_others()) throw;
      if (is_ahead) leasing_.skipped(error);
    }
  }
}

// Only what reaches the end of our latest window: if we lost the worker in between, another owner's time lies between
// an older window and that one.
void WindowSource::give_back(const Range& unused) {
  if (to_ms(unused.end) != std::min(returned_to_ms_, latest_.end_ms)) return;
  const std::uint64_t mask = (std::uint64_t{1} << sequence_bits_) - 1;
  returned_to_ms_ = to_ms(unused.first + mask);
}

void WindowSource::release() {
  const std::int64_t used_ms = std::min(returned_to_ms_, latest_.end_ms);
  const auto release_number = [&] {
    if (leasing_.numbers) leasing_.numbers->release(used_ms);
  };
  try {
    if (request_.fence != 0) {  // else the worker is not ours
      windows_of(*store_).window_return(request_.name_space, request_.worker, request_.fence, latest_.end_ms, used_ms);
    }
  } catch (...) {
    release_number();
    throw;
  }
  release_number();
}

// Where a lease says who is alive, it may be the original's. Where a lock of this process does, it is ours to give up.
void WindowSource::abandon() {
  if (leasing_.numbers) leasing_.numbers->abandon();
  if (has_leases(*store_)) return;
  returned_to_ms_ = std::numeric_limits<std::int64_t>::max();
  release();
}

std::string WindowSource::name_of(std::uint64_t number) const { return format_instant(to_ms(number)); }

std::string WindowSource::after_regress() const {
  return "Check that all use the same store; open the generator again once the clock has passed that time";
}

std::int64_t WindowSource::to_ms(std::uint64_t number) const {
  return epoch_ms_ + static_cast<std::int64_t>(number >> sequence_bits_) * tick_ms_;
}

}  // namespace idgen
