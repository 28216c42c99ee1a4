#include "shared/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "shared/text.hpp"

namespace idgen_tool {

Progress::Progress(std::uint64_t total)
    : total_(total), terminal_(stderr), wanted_(terminal_.is_terminal() && isatty(STDOUT_FILENO) == 0) {}

void Progress::at(std::uint64_t done) {
  if (!wanted_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const double rate = static_cast<double>(done) / seconds;
  std::string tail =
      ' ' + right_aligned(fixed(share * 100, 0), 3) + " %  " + grouped(done) + " ids  " + approximate(rate) + "/s";
  if (rate > 0) tail += "  " + fixed(static_cast<double>(total_ - done) / rate, 0) + " s left";

  // Eighths of a cell, so that the bar moves smoothly.
  constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t width = terminal_.width() > 1000 ? 80 : terminal_.width();
  const std::size_t cells = width > tail.size() + 10 ? std::min<std::size_t>(width - tail.size() - 2, 40) : 0;
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(cells) * 8);
  std::string bar;
  for (std::size_t i = 0; i < filled / 8; ++i) bar += "█";
  std::size_t drawn = filled / 8;
  if (filled % 8) {
    bar += eighths[filled % 8];
    ++drawn;
  }
  std::string rest;
  for (; drawn < cells; ++drawn) rest += "·";
  const std::string out = "\r" + terminal_.paint(ink::green, bar) + terminal_.paint(ink::dim, rest) + tail + "\033[K";
  std::fwrite(out.data(), 1, out.size(), stderr);
  drawn_ = true;
}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

}  // namespace idgen_tool
