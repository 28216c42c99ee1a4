#include "idgen/status.hpp"

namespace idgen {

constexpr StatusText kStatusTextTable[] = {
#define STATUS(name, NAME, number, retryable, sentence, comment) {Status::name, #NAME, sentence, retryable},
#include "idgen/statuses.def"
};
constexpr std::span<const StatusText> kStatusTexts(kStatusTextTable, std::size(kStatusTextTable) - 1);
constexpr const StatusText& kHost = kStatusTextTable[kStatusTexts.size()];  // the last row
static_assert(kHost.status == Status::host);
constexpr StatusText kUnknown{Status::internal, "UNKNOWN", "this number is not a status of idgen", false};

std::span<const StatusText> status_texts() noexcept { return kStatusTexts; }

const StatusText& status_text(Status status) noexcept {
  if (status >= Status::host) return kHost;
  for (const StatusText& text : kStatusTexts) {
    if (text.status == status) return text;
  }
  return kUnknown;
}

// Bytes of the control character that the text begins with: one, two for U+0080 to U+009F, 0 if it is another
// character.
static std::size_t control_size(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x20 || byte == 0x7F) return 1;
  return byte == 0xC2 && text.size() > 1 && (text[1] & 0xE0) == 0x80 ? 2 : 0;
}

// Line ends and tabs become one space, because servers send messages of several lines. Other control characters become
// \xNN.
static std::string one_line(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  bool has_gap = false;
  while (!text.empty()) {
    const std::size_t hidden = control_size(text);
    const std::size_t size = hidden == 0 ? 1 : hidden;
    if (text[0] >= '\t' && text[0] <= '\r') {
      has_gap = true;
    } else {
      if (has_gap && !out.empty() && out.back() != ' ' && text[0] != ' ') out += ' ';
      has_gap = false;
      for (const char c : text.substr(0, size)) {
        const auto byte = static_cast<unsigned char>(c);
        if (hidden == 0) {
          out += c;
        } else {
          out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        }
      }
    }
    text.remove_prefix(size);
  }
  return out;
}

Error::Error(Status status, std::string_view message, std::uint64_t retry_after_ns, std::uint64_t cause)
    : status_(status),
      message_(std::make_shared<const std::string>(one_line(message))),
      retry_after_ns_(retry_after_ns == kEndsWaits ? 0 : retry_after_ns),
      ends_waits_(retry_after_ns == kEndsWaits),
      cause_(cause) {}

}  // namespace idgen
