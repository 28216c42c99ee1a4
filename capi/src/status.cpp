#include "idgen/status.hpp"

#include "border.hpp"

// The core's numbers are the header's.
static_assert(static_cast<int>(idgen::Status::unsupported) == IDGEN_E_UNSUPPORTED);
static_assert(static_cast<int>(idgen::Status::overloaded) == IDGEN_E_OVERLOADED);
static_assert(static_cast<int>(idgen::Status::clock_before_epoch) == IDGEN_E_CLOCK_BEFORE_EPOCH);
static_assert(static_cast<int>(idgen::Status::store_unsafe) == IDGEN_E_STORE_UNSAFE);
static_assert(static_cast<int>(idgen::Status::internal) == IDGEN_E_INTERNAL);
static_assert(static_cast<int>(idgen::Status::host) == IDGEN_E_HOST);

namespace idgen::capi {

// Length of the UTF-8 character that text begins with, 0 if it begins with none.
static std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than needed, a surrogate, or beyond the last character.
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second >= 0x90))
    return 0;
  return length;
}

idgen_status_t report(idgen_error_t* err, idgen_status_t status, std::string_view message,
                      std::uint64_t retry_after_ns) noexcept {
  if (!err || err->struct_size < sizeof(idgen_error_t)) return status;
  err->status = status;
  err->retry_after_ns = retry_after_ns;
  std::size_t used = 0;
  while (!message.empty()) {
    const std::size_t length = utf8_length(message);
    if (used + std::max<std::size_t>(length, 1) > sizeof err->message - 1) break;  // cut between characters
    if (length == 0) {
      err->message[used++] = '?';
    } else {
      std::memcpy(err->message + used, message.data(), length);
      used += length;
    }
    message.remove_prefix(std::max<std::size_t>(length, 1));
  }
  err->message[used] = '\0';
  return status;
}

void write_text(const std::string& text, char* buffer, std::size_t* size) {
  require(size, "size");
  const std::size_t capacity = *size;
  *size = text.size() + 1;
  if (!buffer || capacity < *size) {
    throw Error(Status::buffer, "the buffer holds " + std::to_string(buffer ? capacity : 0) + " bytes; " +
                                    std::to_string(*size) + " are needed");
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
}

}  // namespace idgen::capi

extern "C" {

uint32_t idgen_version(void) { return IDGEN_VERSION; }
const char* idgen_version_string(void) { return IDGEN_VERSION_STRING; }
uint32_t idgen_abi_version(void) { return IDGEN_ABI_VERSION; }
void idgen_abi_1(void) {}

const char* idgen_status_name(idgen_status_t status) {
  return idgen::status_text(static_cast<idgen::Status>(status)).name;
}
const char* idgen_status_message(idgen_status_t status) {
  return idgen::status_text(static_cast<idgen::Status>(status)).message;
}
int idgen_status_is_retryable(idgen_status_t status) {
  return idgen::status_text(static_cast<idgen::Status>(status)).retryable;
}
size_t idgen_status_count(void) { return idgen::status_texts().size(); }
idgen_status_t idgen_status_at(size_t index) {
  const auto texts = idgen::status_texts();
  return index < texts.size() ? static_cast<idgen_status_t>(texts[index].status) : IDGEN_E_ARGUMENT;
}

}  // extern "C"
