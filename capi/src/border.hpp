// The border: typed handles, and one guard that turns every exception into a status. No logic lives in capi/.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "idgen/config.hpp"
#include "idgen/handle.hpp"
#include "idgen/idgen.h"
#include "idgen/layout.hpp"
#include "idgen/status.hpp"

namespace idgen::capi {

// A handle carries its type, so that one of the wrong type is an error and not a crash.
template <std::uint32_t kMagic, class T>
class TypedHandle {
 public:
  template <class... Args>
  explicit TypedHandle(Args&&... args) : value(std::forward<Args>(args)...) {}
  TypedHandle(const TypedHandle&) = delete;
  TypedHandle& operator=(const TypedHandle&) = delete;
  ~TypedHandle() { magic_ = 0; }

  bool is_intact() const noexcept { return magic_ == kMagic; }

 private:
  // Before the value, at the same place in every type, so that it can also be read in a handle of another, smaller
  // type. volatile: the destructor's store is not optimised away, so that a use after destroy is noticed until the
  // memory is reused.
  volatile std::uint32_t magic_ = kMagic;

 public:
  T value;
};

}  // namespace idgen::capi

struct idgen_generator : idgen::capi::TypedHandle<0x69646731, idgen::Handle> {
  using TypedHandle::TypedHandle;
};
struct idgen_config : idgen::capi::TypedHandle<0x69646732, idgen::Config> {
  using TypedHandle::TypedHandle;
};
struct idgen_layout : idgen::capi::TypedHandle<0x69646733, idgen::Layout> {
  using TypedHandle::TypedHandle;
};

namespace idgen::capi {

// Fills err, if there is one, and returns the status. Allocates nothing: it also runs when there is no memory. Bytes
// that are not UTF-8 (a user's own, in a value or a path) become '?'.
idgen_status_t report(idgen_error_t* err, idgen_status_t status, std::string_view message,
                      std::uint64_t retry_after_ns = 0, std::uint64_t cause = 0) noexcept;

// Every exported function that can fail runs its body in this function or in one of the two below. This one is for
// bodies that do not wait, read a file or call the host.
template <class Body>
idgen_status_t guard(idgen_error_t* err, Body&& body) noexcept {
  try {
    body();
    if (err) report(err, IDGEN_OK, "");
    return IDGEN_OK;
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

// While it exists, the thread cannot be cancelled (pthread_cancel): for calls that may contain a cancellation point. A
// call cancelled in the middle would leave locks behind, and the cancellation is not an exception that could become a
// status: it ends the process.
class NotCancellable {
 public:
  NotCancellable() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancellable() { pthread_setcancelstate(before_, nullptr); }
  NotCancellable(const NotCancellable&) = delete;
  NotCancellable& operator=(const NotCancellable&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// guard() for a body that calls the host: a clock, or the release of a context.
template <class Body>
idgen_status_t guard_uncancelled(idgen_error_t* err, Body&& body) noexcept {
  const NotCancellable here;
  return guard(err, body);
}

// guard() for a body that may wait, or reads a file. Not noexcept: a pending cancellation takes effect here, before
// anything was done.
template <class Body>
idgen_status_t guard_waiting(idgen_error_t* err, Body&& body) {
  pthread_testcancel();
  return guard_uncancelled(err, body);
}

// The caller's cancelled(ctx). Empty if it is NULL.
inline Cancelled to_cancelled(idgen_cancelled_fn cancelled, void* ctx) {
  return cancelled ? Cancelled([=] { return cancelled(ctx) != 0; }) : Cancelled();
}

// The value behind a handle, or Error{handle}.
template <class H>
auto& open_handle(H* handle, const char* what) {
  if (!handle) throw Error(Status::handle, std::string(what) + " is NULL; create it first");
  if (!handle->is_intact())
    throw Error(Status::handle, std::string(what) + " is not one: another type of handle, or already destroyed");
  return handle->value;
}

template <class P>
P* require(P* pointer, const char* what) {
  if (!pointer) throw Error(Status::argument, std::string(what) + " is NULL; it is required");
  return pointer;
}

// Throws Error{argument}.
inline void check_index(std::size_t index, std::size_t count) {
  if (index < count) return;
  throw Error(Status::argument, "index is " + std::to_string(index) + "; allowed: below " + std::to_string(count));
}

// Throws Error{argument} unless a result can be written there. Call it before doing anything that cannot be undone.
template <class S>
void check_struct(const S* out, const char* what) {
  require(out, what);
  if (out->struct_size < sizeof(out->struct_size) || out->struct_size > 65536) {
    throw Error(Status::argument, std::string(what) + ": struct_size is " + std::to_string(out->struct_size) +
                                      "; set it to sizeof, " + std::to_string(sizeof(S)));
  }
  if (out->struct_size < sizeof(S)) {
    throw Error(Status::argument, std::string(what) + ": struct_size is " + std::to_string(out->struct_size) +
                                      ", less than version 0.1's " + std::to_string(sizeof(S)));
  }
}

// Copies as much of a result as the caller's struct can hold; the first version's size is the minimum.
template <class S>
void write_struct(S* out, S result, const char* what) {
  check_struct(out, what);
  result.struct_size = out->struct_size;
  const std::size_t theirs = out->struct_size;
  std::memcpy(static_cast<void*>(out), &result, sizeof(S));
  if (theirs > sizeof(S)) std::memset(reinterpret_cast<char*>(out) + sizeof(S), 0, theirs - sizeof(S));
}

// Writes a text result: see rule 4 of idgen.h.
void write_text(const std::string& text, char* buffer, std::size_t* size);

}  // namespace idgen::capi
