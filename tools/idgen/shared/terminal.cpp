#include "shared/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

namespace idgen_tool {

Terminal::Terminal(std::FILE* stream)
    : terminal_(isatty(fileno(stream)) == 1), colors_(terminal_), width_(std::numeric_limits<std::size_t>::max()) {
  if (const char* no_color = std::getenv("NO_COLOR"); no_color && *no_color) colors_ = false;
  if (const char* term = std::getenv("TERM"); !term || std::string_view(term) == "dumb") colors_ = false;
  winsize size{};
  if (terminal_ && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width_ = size.ws_col;
}

std::string Terminal::paint(const char* ink, std::string_view text) const {
  if (!colors_ || !*ink || text.empty()) return std::string(text);
  return std::string("\033[").append(ink).append("m").append(text).append("\033[0m");
}

}  // namespace idgen_tool
