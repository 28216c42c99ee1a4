#include "idgen/status.hpp"

#include <cstddef>

#include "border.hpp"
#include "idgen/text.hpp"

// The core's numbers are the header's.
#define IDGEN_E_OK IDGEN_OK
#define STATUS(name, NAME, number, retryable, sentence, comment) static_assert(IDGEN_E_##NAME == (number));
#include "idgen/statuses.def"
#undef IDGEN_E_OK

namespace idgen::capi {

constexpr std::size_t kUpToMessage = offsetof(idgen_error_t, cause);  // what every caller's struct can hold

void clear(idgen_error_t* err) noexcept {
  if (err->struct_size < kUpToMessage && err->struct_size != 0) return;
  err->status = IDGEN_OK;
  err->retry_after_ns = 0;
  err->message[0] = '\0';
  if (err->struct_size >= kUpToMessage + sizeof err->cause) err->cause = 0;
}

idgen_status_t report(idgen_error_t* err, idgen_status_t status, std::string_view message, std::uint64_t retry_after_ns,
                      std::uint64_t cause) noexcept {
  if (!err) return status;
  // Zeroed instead of set to IDGEN_ERROR_INIT: there is space for a message, so say so.
  const bool is_zeroed = err->struct_size == 0;
  if (err->struct_size < kUpToMessage && !is_zeroed) return status;
  err->status = status;
  err->retry_after_ns = retry_after_ns;
  std::size_t used = 0;
  if (is_zeroed && status != IDGEN_OK)
    used = copy_text("(err.struct_size is 0: begin with idgen_error_t err = IDGEN_ERROR_INIT) ", err->message,
                     sizeof err->message);
  copy_text(message, err->message + used, sizeof err->message - used);
  if (err->struct_size >= kUpToMessage + sizeof err->cause) err->cause = cause;
  return status;
}

idgen_status_t report_exception(idgen_error_t* err) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return report(err, static_cast<idgen_status_t>(error.status()), error.message(), error.retry_after_ns(),
                  error.cause());
  } catch (const std::bad_alloc&) {
    return report(err, IDGEN_E_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return report(err, IDGEN_E_INTERNAL, error.what());
  } catch (...) {
    return report(err, IDGEN_E_INTERNAL, "unexpected exception of unknown type");
  }
}

void refuse_handle(bool is_null, const char* what) {
  if (is_null) throw Error(Status::handle, std::string(what) + " is NULL; create it first");
  throw Error(Status::handle, std::string(what) + " is not one: another type of handle, or already destroyed");
}

void refuse_null(const char* what) { throw Error(Status::argument, std::string(what) + " is NULL; it is required"); }

void refuse_index(std::size_t index, std::size_t count) {
  throw Error(Status::argument, concat({"index is ", index, "; allowed: below ", count}));
}

void refuse_struct(std::size_t size, std::size_t wanted, const char* what) {
  // Not even the size of struct_size itself, or absurdly much: it was never set.
  const bool is_unset = size < sizeof(std::uint32_t) || size > wanted;
  throw Error(Status::argument, concat({what, ": struct_size is ", size,
                                        (is_unset ? "; set it to sizeof, " : ", less than version 0.1's "), wanted}));
}

void write_text(std::string_view text, char* buffer, std::size_t* size) {
  require(size, "size");
  const std::size_t capacity = *size;
  *size = text.size() + 1;
  if (!buffer || capacity < *size) {
    throw Error(Status::buffer, "the buffer holds " + std::to_string(buffer ? capacity : 0) + " bytes; " +
                                    std::to_string(*size) + " are needed");
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
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
  return index < texts.size() ? static_cast<idgen_status_t>(texts[index].status) : -1;
}

}  // extern "C"
