// The calls that draw ids: the only code of the border that is compiled for speed.
#include "border.hpp"
#include "generator/draw.hpp"
#include "idgen/handle.hpp"
#include "idgen/view.h"

using namespace idgen;
using namespace idgen::capi;

namespace {

// idgen_next in three functions, from the leanest to the most general, because every call pays for all that its
// function may have to do.
[[gnu::noinline]] idgen_status_t next_slowly(idgen_t* generator, uint64_t* id, idgen_error_t* err, uint64_t drawn) {
  return guard_waiting(err, [&] {
    Handle& handle = open_handle(generator, "generator");
    require(id, "id");  // before an id is drawn and lost
    std::size_t done = 0;
    Told told(generator, 1, done);
    *id = handle.next(drawn);
    done = 1;
  });
}

[[gnu::noinline]] idgen_status_t next_of_other_kind(idgen_t* generator, uint64_t* id, idgen_error_t* err) {
  if (generator->value.draw_other(*id)) [[likely]]
    return IDGEN_OK;
  return next_slowly(generator, id, err, Handle::kNothing);
}

std::size_t longest_text(const Handle& handle) { return handle.text_form().pattern().most_bytes() + 1; }

void put_text(const Handle& handle, std::uint64_t id, char* buffer, size_t& size) {
  const std::size_t count = handle.write_text(id, buffer);
  buffer[count] = '\0';
  size = count + 1;
}

// Neither waits nor calls the host.
idgen_status_t put_drawn(const Handle& handle, std::uint64_t id, char* buffer, size_t& size, idgen_error_t* err) {
  return guard(err, [&] { put_text(handle, id, buffer, size); });
}

[[gnu::noinline]] idgen_status_t next_text_slowly(idgen_t* generator, char* buffer, size_t* size, idgen_error_t* err,
                                                  uint64_t drawn) {
  return guard_waiting(err, [&] {
    Handle& handle = open_handle(generator, "generator");
    require(size, "size");
    const std::size_t most = longest_text(handle);
    if (buffer == nullptr || *size < most) {
      *size = most;
      throw Error(Status::buffer, concat({"the longest text of the generator's pattern needs ", most,
                                          " bytes with its NUL; no id was drawn"}));
    }
    std::size_t done = 0;
    Told told(generator, 1, done);
    put_text(handle, handle.next(drawn), buffer, *size);
    done = 1;
  });
}

[[gnu::noinline]] idgen_status_t try_next_slowly(Handle& handle, uint64_t& id, uint64_t drawn) {
  const NotCancellable here;
  return static_cast<idgen_status_t>(handle.try_next(drawn, id));
}

// On a handle that is not intact: of a generator for tests, or none.
[[gnu::cold, gnu::noinline]] idgen_status_t try_next_as_told(idgen_t* generator, uint64_t* id, uint64_t drawn) {
  return guard_trying([&] {
    Handle& handle = open_handle(generator, "generator");
    require(id, "id");
    std::size_t done = 0;
    if (const Status wanted = told_status(generator, 1); wanted != Status::ok) return wanted;
    const Told told(generator, 1, done);
    const Status status = handle.try_next(drawn, *id);
    done = status == Status::ok;
    return status;
  });
}

[[gnu::noinline]] idgen_status_t try_next_of_other_kind(Handle& handle, uint64_t& id) {
  if (handle.draw_other(id)) [[likely]]
    return IDGEN_OK;
  return try_next_slowly(handle, id, Handle::kNothing);
}

}  // namespace

namespace idgen {

// Where HotPage has what idgen_words_t promises.
struct WordsOfView {
  static_assert(offsetof(HotPage, counter) + offsetof(Counter, next_) == offsetof(idgen_words_t, next));
  static_assert(offsetof(HotPage, counter) + offsetof(Counter, skipped_) == offsetof(idgen_words_t, skipped));
  static_assert(offsetof(HotPage, counter) + offsetof(Counter, limit_) == offsetof(idgen_words_t, limit));
  static_assert(offsetof(HotPage, counter) + offsetof(Counter, first_) == offsetof(idgen_words_t, first));
  static_assert(offsetof(HotPage, counter) + offsetof(Counter, version_) == offsetof(idgen_words_t, version));
  static_assert(offsetof(HotPage, slack) == offsetof(idgen_words_t, slack));
  static_assert(offsetof(HotPage, fixed) == offsetof(idgen_words_t, fixed));
};

}  // namespace idgen

extern "C" {

// Not of the path that the others are on, but it says what that is.
idgen_status_t idgen_view(const idgen_t* generator, idgen_view_t* view, idgen_error_t* err) {
  return guard(err, [&] {
    const Handle& handle = open_handle(generator, "generator");
    check_struct(view, "view");
    if (generator->is_scripted())
      throw Error(Status::unsupported, handle.summary() + ": a generator for tests has no view");
    const auto [page, shape] = handle.view();
    idgen_view_t found = IDGEN_VIEW_INIT;
    found.protocol = shape->timed ? IDGEN_VIEW_CLOCK : IDGEN_VIEW_COUNTER;
    found.flags = shape->is_lasting ? IDGEN_VIEW_LASTING : 0;
    found.words = reinterpret_cast<idgen_words_t* const*>(page);
    if (shape->timed) {
      found.epoch_unix_ms = shape->epoch_ms;
      found.tick_ms = static_cast<uint64_t>(shape->tick_ms);
      found.max_tick = shape->max_tick;
      found.carry_mask = shape->start_mask;
      found.sequence_bits = shape->sequence_bits;
      found.sequence_shift = shape->sequence_shift;
      found.time_shift = shape->time_shift;
    }
    write_struct(view, found, "view");
  });
}

idgen_status_t idgen_try_next(idgen_t* generator, uint64_t* id) {
  if (!generator || !generator->is_intact()) [[unlikely]]
    return generator ? try_next_as_told(generator, id, Handle::kNothing) : IDGEN_E_HANDLE;
  if (!id) [[unlikely]]
    return IDGEN_E_ARGUMENT;
  if (!generator->value.is_plain()) return try_next_of_other_kind(generator->value, *id);
  uint64_t drawn;
  if (!generator->value.draw_plain(drawn)) [[unlikely]]
    return try_next_slowly(generator->value, *id, drawn);
  *id = drawn;
  return IDGEN_OK;
}

idgen_status_t idgen_next(idgen_t* generator, uint64_t* id, idgen_error_t* err) {
  // The common cases first: no guard, and err is left alone.
  if (!generator || !generator->is_intact() || !id) [[unlikely]]
    return next_slowly(generator, id, err, Handle::kNothing);
  if (!generator->value.is_plain()) return next_of_other_kind(generator, id, err);
  uint64_t drawn;
  if (!generator->value.draw_plain(drawn)) [[unlikely]]
    return next_slowly(generator, id, err, drawn);
  *id = drawn;
  return IDGEN_OK;
}

idgen_status_t idgen_next_text(idgen_t* generator, char* buffer, size_t* size, idgen_error_t* err) {
  uint64_t id = Handle::kNothing;
  if (!generator || !generator->is_intact() || !buffer || !size || *size < longest_text(generator->value)) [[unlikely]]
    return next_text_slowly(generator, buffer, size, err, id);
  Handle& handle = generator->value;
  if (!(handle.is_plain() ? handle.draw_plain(id) : handle.draw_other(id))) [[unlikely]]
    return next_text_slowly(generator, buffer, size, err, id);
  return put_drawn(handle, id, buffer, *size, err);
}

idgen_status_t idgen_next_batch(idgen_t* generator, uint64_t* ids, size_t n, size_t* written, idgen_error_t* err) {
  std::size_t done = 0;
  const idgen_status_t status = guard_waiting(err, [&] {
    require(written, "written");
    Handle& handle = open_handle(generator, "generator");
    if (n > 0) require(ids, "ids");
    const Told told(generator, n, done);
    handle.fill({ids, told.may}, done);
    told.end();
  });
  if (written) *written = done;
  return status;
}

}  // extern "C"
