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

#include "idgen/cipher.hpp"
#include "idgen/config.hpp"
#include "idgen/handle.hpp"
#include "idgen/idgen.h"
#include "idgen/layout.hpp"
#include "idgen/mutex.hpp"
#include "idgen/router.hpp"
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

 protected:
  // Before the value, at the same place in every type, so that it can also be read in a handle of another, smaller
  // type. volatile: the destructor's store is not optimised away, so that a use after destroy is noticed until the
  // memory is reused.
  volatile std::uint32_t magic_ = kMagic;

 public:
  T value;
};

}  // namespace idgen::capi

namespace idgen::capi {

// What a test has told a generator to do: see testing.cpp.
struct Script {
  struct Part {
    std::uint64_t ids = 0;        // that a call may draw
    Status failure = Status::ok;  // of the call, after these; ok: none
    std::uint64_t cause = 0;
    std::uint64_t telling = 0;
  };
  Mutex mutex;
  Part told IDGEN_GUARDED_BY(mutex);
  std::uint64_t calls IDGEN_GUARDED_BY(mutex) = 0;  // that fail; 0: all
};

}  // namespace idgen::capi

struct idgen_generator : idgen::capi::TypedHandle<0x69646731, idgen::Handle> {
  using TypedHandle::TypedHandle;
  // A generator for tests is not intact, so that each call leaves the fast path.
  void make_scripted() noexcept { magic_ = kScripted; }
  bool is_scripted() const noexcept { return magic_ == kScripted; }
  bool is_one() const noexcept { return is_intact() || is_scripted(); }

  idgen::capi::Script script;

 private:
  static constexpr std::uint32_t kScripted = 0x69646773;
};
struct idgen_config : idgen::capi::TypedHandle<0x69646732, idgen::Config> {
  using TypedHandle::TypedHandle;
  std::int64_t test_sequence = -1;  // what idgen_test_begin was given; -1: its generators are not for tests
};
struct idgen_layout : idgen::capi::TypedHandle<0x69646733, idgen::Layout> {
  using TypedHandle::TypedHandle;
};
struct idgen_route_table : idgen::capi::TypedHandle<0x69646734, idgen::RouteTable> {
  using TypedHandle::TypedHandle;
};
struct idgen_router : idgen::capi::TypedHandle<0x69646735, std::shared_ptr<idgen::Router>> {
  using TypedHandle::TypedHandle;
};
struct idgen_cipher : idgen::capi::TypedHandle<0x69646736, idgen::Cipher> {
  using TypedHandle::TypedHandle;
};

struct idgen_pattern : idgen::capi::TypedHandle<0x69646737, idgen::TextForm> {
  using TypedHandle::TypedHandle;
};

namespace idgen::capi {

// Fills err, if there is one, and returns the status. Allocates nothing: it also runs when there is no memory. Bytes
// that are not UTF-8 (a user's own, in a value or a path) become '?'.
idgen_status_t report(idgen_error_t* err, idgen_status_t status, std::string_view message,
                      std::uint64_t retry_after_ns = 0, std::uint64_t cause = 0) noexcept;
// What report() does for a success, in less time than many a call takes.
void clear(idgen_error_t* err) noexcept;
// report() for the exception that is being handled. One for all functions: each has this path.
[[gnu::cold]] idgen_status_t report_exception(idgen_error_t* err) noexcept;

// Every exported function that can fail runs its body in this function or in one of the two below. This one is for
// bodies that do not wait, read a file or call the host.
template <class Body>
idgen_status_t guard(idgen_error_t* err, Body&& body) noexcept {
  try {
    body();
    if (err) clear(err);
    return IDGEN_OK;
  } catch (...) {
    return report_exception(err);
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

// For a body that neither waits nor throws, but for its checks, and returns a Status.
template <class Body>
idgen_status_t guard_trying(Body&& body) noexcept {
  Status status = Status::ok;
  const idgen_status_t refused = guard_uncancelled(nullptr, [&] { status = body(); });
  return refused != IDGEN_OK ? refused : static_cast<idgen_status_t>(status);
}

// The caller's cancelled(ctx). Empty if it is NULL.
inline Cancelled to_cancelled(idgen_cancelled_fn cancelled, void* ctx) {
  return cancelled ? Cancelled([=] { return cancelled(ctx) != 0; }) : Cancelled();
}

// What the checks below throw, out of line: they are in every function.
[[noreturn]] void refuse_handle(bool is_null, const char* what);
void require_scripted(const idgen_generator* generator, const char* what);  // throws as refuse_handle
[[noreturn]] void refuse_null(const char* what);
[[noreturn]] void refuse_index(std::size_t index, std::size_t count);
[[noreturn]] void refuse_struct(std::size_t size, std::size_t wanted, const char* what);

// How many of the ids that a call wants it may draw, as a test has told the generator. `done`: how many it has drawn.
class Told {
 public:
  Told(idgen_generator* generator, std::uint64_t want, const std::size_t& done) : may(want), done_(done) {
    if (!generator->is_intact()) [[unlikely]]
      take(*generator);
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  ~Told() {
    if (script_) [[unlikely]]
      put_back();
  }
  // After the ids: throws if the call is to fail then.
  void end() const {
    if (script_) [[unlikely]]
      fail();
  }

  std::uint64_t may;

 private:
  [[gnu::cold]] void take(idgen_generator& generator);  // throws if the call is to fail at once
  [[gnu::cold]] void put_back() noexcept;
  [[gnu::cold]] void fail() const;

  const std::size_t& done_;
  Script* script_ = nullptr;
  Script::Part part_;
};
// For calls that never wait: the status that the call is to fail with, which counts only for the call that may wait.
[[gnu::cold]] Status told_by_script(idgen_generator& generator, std::uint64_t want);
inline Status told_status(idgen_generator* generator, std::uint64_t want) {
  return generator->is_intact() ? Status::ok : told_by_script(*generator, want);
}
// Of a new generator: drops the ids below this sequence.
[[gnu::cold]] void begin_script(idgen_generator& generator, std::int64_t sequence);

// The value behind a handle, or Error{handle}.
template <class H>
auto& open_handle(H* handle, const char* what) {
  if (!handle || !handle->is_intact()) refuse_handle(!handle, what);
  return handle->value;
}
inline auto& open_handle(idgen_generator* handle, const char* what) {
  if (!handle || !handle->is_intact()) require_scripted(handle, what);
  return handle->value;
}
inline auto& open_handle(const idgen_generator* handle, const char* what) {
  return std::as_const(open_handle(const_cast<idgen_generator*>(handle), what));
}

template <class P>
P* require(P* pointer, const char* what) {
  if (!pointer) refuse_null(what);
  return pointer;
}

// Throws Error{argument}.
inline void check_index(std::size_t index, std::size_t count) {
  if (index >= count) refuse_index(index, count);
}

// Throws Error{argument} unless a result can be written there. Call it before doing anything that cannot be undone.
template <class S>
void check_struct(const S* out, const char* what) {
  require(out, what);
  constexpr std::uint32_t kMost = 65536;
  if (out->struct_size < sizeof(S) || out->struct_size > kMost) refuse_struct(out->struct_size, sizeof(S), what);
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
void write_text(std::string_view text, char* buffer, std::size_t* size);

}  // namespace idgen::capi
