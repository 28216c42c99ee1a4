// "Did you mean": the nearest of a few known names.
#include <algorithm>
#include <array>
#include <cstddef>

#include "idgen/text.hpp"

namespace idgen {
namespace {

// Names are short; a longer text is not a misspelling of one, and must not cost a table of its length squared.
constexpr std::size_t kLongestName = 64;

}  // namespace

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t edit_distance(std::string_view a, std::string_view b) {
  if (a.size() > kLongestName || b.size() > kLongestName) return a == b ? 0 : std::max(a.size(), b.size());
  // Three rows of the table: two characters swapped look back two rows.
  std::array<std::size_t, kLongestName + 1> before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> names) {
  if (text.size() > kLongestName) return {};
  std::string folded(text);
  std::transform(folded.begin(), folded.end(), folded.begin(), lower);
  std::string_view best;
  std::size_t best_distance = kLongestName;
  for (std::string_view name : names) {
    const std::size_t distance = edit_distance(folded, name);
    // A text with half the name wrong is another word, not a typo.
    if (distance < best_distance && 2 * distance < std::max(name.size(), folded.size())) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

bool may_hold_secret(std::string_view text) noexcept {
  return text.find_first_of("@;=") != std::string_view::npos || text.find("//") != std::string_view::npos;
}

// Where a password begins, as in mysql://app:PASSWORD@host/db or "host=db password=PASSWORD": the text may be any that
// was given by mistake in the place of another.
static std::size_t secret_in(std::string_view text) {
  const std::size_t user = text.find("://");
  if (user != text.npos && text.find('@', user) != text.npos) return user + 3;
  constexpr std::string_view kWord = "password=";
  const auto found =
      std::search(text.begin(), text.end(), kWord.begin(), kWord.end(), [](char a, char b) { return lower(a) == b; });
  return found == text.end() ? text.npos : static_cast<std::size_t>(found - text.begin()) + kWord.size();
}

std::string in_quotes(std::string_view text) {
  // Limit of the result, so that a message with two quotes still fits idgen_error_t if every byte is escaped.
  constexpr std::size_t kLongest = 80;
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "'";
  const std::string_view shown = text.substr(0, secret_in(text));
  for (char c : shown) {
    if (out.size() > kLongest) return out + "...'";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + (shown.size() < text.size() ? "...'" : "'");
}

}  // namespace idgen
