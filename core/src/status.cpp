#include "idgen/status.hpp"

namespace idgen {

constexpr StatusText kStatusTextTable[] = {
    {Status::ok, "OK", "no error", false},
    {Status::argument, "ARGUMENT", "a pointer is NULL or a number is invalid", false},
    {Status::handle, "HANDLE", "the handle is NULL or of another type", false},
    {Status::buffer, "BUFFER", "the buffer is too small; the size needed was written back", false},
    {Status::unknown_key, "UNKNOWN_KEY", "no property has this name", false},
    {Status::value, "VALUE", "the value is not of the property's type or out of its range", false},
    {Status::layout, "LAYOUT", "the layout does not parse or does not add up", false},
    {Status::lifetime, "LIFETIME", "the layout's time is over, has not begun, or ends too soon", false},
    {Status::config_file, "CONFIG_FILE",
     "the configuration file is missing, unreadable or malformed, or lacks the table", false},
    {Status::text, "TEXT", "the text is not an id in this encoding", false},
    {Status::unsupported, "UNSUPPORTED", "not available for this kind of generator, layout or build", false},
    {Status::closed, "CLOSED", "the generator is closed", false},
    {Status::forked, "FORKED", "the generator belongs to the parent process", false},
    {Status::would_block, "WOULD_BLOCK", "no id without waiting; idgen_next waits", true},
    {Status::worker_busy, "WORKER_BUSY", "another live generator owns this worker", true},
    {Status::exhausted, "EXHAUSTED", "the layout has no ids left", false},
    {Status::cancelled, "CANCELLED", "the caller asked to stop waiting", false},
    {Status::overloaded, "OVERLOADED", "waited wait_max for the next tick of the clock", true},
    {Status::stale, "STALE", "another version of the table is in force than the caller expected", false},
    {Status::clock_back, "CLOCK_BACK", "the clock is behind the ids already issued", true},
    {Status::clock_before_epoch, "CLOCK_BEFORE_EPOCH", "the clock is before the layout's epoch", false},
    {Status::clock_leap, "CLOCK_LEAP", "the clock has leapt ahead, and it is not clear yet whether it is right", true},
    {Status::store_unavailable, "STORE_UNAVAILABLE", "the store is busy or unreachable and nothing reserved is left",
     true},
    {Status::store_missing, "STORE_MISSING", "the store does not exist", false},
    {Status::store_permission, "STORE_PERMISSION", "the store cannot be read or written", false},
    {Status::store_full, "STORE_FULL", "no space is left for the store", true},
    {Status::store_damaged, "STORE_DAMAGED", "the store is not a database of idgen, or is corrupt", false},
    {Status::store_version, "STORE_VERSION", "the store was made by another version of idgen", false},
    {Status::tag_unknown, "TAG_UNKNOWN", "the segment tag was not created", false},
    {Status::tag_exists, "TAG_EXISTS", "the segment tag already exists", false},
    {Status::store_regressed, "STORE_REGRESSED", "the store granted numbers that it had granted before", false},
    {Status::format_mismatch, "FORMAT_MISMATCH", "the namespace is in use with another layout or epoch", false},
    {Status::store_unsafe, "STORE_UNSAFE", "a setting or file system of the store can lose a commit", false},
    {Status::no_memory, "NO_MEMORY", "out of memory", false},
    {Status::internal, "INTERNAL", "a defect in idgen", false},
};
constexpr StatusText kHost{Status::host, "HOST", "a status of the host's own store", true};
constexpr StatusText kUnknown{Status::internal, "UNKNOWN", "this number is not a status of idgen", false};

std::span<const StatusText> status_texts() noexcept { return kStatusTextTable; }

const StatusText& status_text(Status status) noexcept {
  if (status >= Status::host) return kHost;
  for (const StatusText& text : kStatusTextTable) {
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
