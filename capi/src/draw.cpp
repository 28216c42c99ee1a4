// Ids by a request, and those that have an owner.
#include <algorithm>
#include <span>

#include "border.hpp"
#include "idgen/gene.hpp"
#include "idgen/handle.hpp"
#include "idgen/host.h"
#include "wide.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

std::string_view owner_of(const void* data, std::size_t size) {
  if (size > 0) require(data, "owner");
  return {static_cast<const char*>(data), size};
}
std::string_view owner_of(const idgen_owner_t& owner) { return owner_of(owner.data, owner.size); }
IntegerOwner owner_of(std::int64_t owner) { return IntegerOwner(owner); }

[[gnu::noinline]] idgen_status_t next_slowly(idgen_t* generator, const void* owner, size_t size, uint64_t* id,
                                             idgen_error_t* err) {
  return guard_waiting(err, [&] {
    Handle& handle = open_handle(generator, "generator");
    require(id, "id");  // before an id is drawn and lost
    std::size_t done = 0;
    Told told(generator, 1, done);
    *id = handle.next_for(owner_of(owner, size));
    done = 1;
  });
}

[[gnu::cold, gnu::noinline]] idgen_status_t try_next_for_as_told(idgen_t* generator, std::string_view owner,
                                                                 uint64_t& id) {
  return guard_trying([&] {
    std::size_t done = 0;
    if (const Status wanted = told_status(generator, 1); wanted != Status::ok) return wanted;
    const Told told(generator, 1, done);
    const Status status = generator->value.try_next_for(owner, id);
    done = status == Status::ok;
    return status;
  });
}

// Ids of 8 bytes go to the caller's memory; those of either length pass through some of ours. fill(first, ids, written)
// is one of Handle's.
template <class Fill>
void fill_all(uint64_t* ids, std::size_t n, std::size_t& done, Fill&& fill) {
  fill(0, std::span(ids, n), done);
}
template <class Fill>
void fill_all(idgen_wide_id_t* ids, std::size_t n, std::size_t& done, Fill&& fill) {
  WideId drawn[256];
  while (done < n) {
    std::size_t count = 0;
    const auto write = [&] {
      for (std::size_t i = 0; i < count; ++i) ids[done + i] = capi::to_c(drawn[i]);  // not layout.cpp's, in Go's units
      done += count;
    };
    try {
      fill(done, std::span(drawn).first(std::min(n - done, std::size(drawn))), count);
    } catch (...) {
      write();
      throw;
    }
    write();
  }
}

// `may` of the request's n ids.
template <class Owner, class Id>
void fill_for(Handle& handle, const Owner* owners, const idgen_draw_t& draw, std::size_t may, Id* ids,
              std::size_t& done, const Cancelled& is_cancelled) {
  if (draw.owner_count == 1) {
    const auto one = owner_of(owners[0]);
    const std::uint64_t owner = handle.owner_number(one);
    return fill_all(ids, may, done,
                    [&](std::size_t, auto to, std::size_t& count) { handle.fill_for(owner, to, count, is_cancelled); });
  }
  fill_all(ids, may, done, [&](std::size_t begin, auto to, std::size_t& count) {
    handle.fill_for_each(
        [&](std::size_t first, std::span<std::uint64_t> numbers) {
          std::size_t found = 0;
          for (; found < numbers.size(); ++found) {
            const auto owner = owner_of(owners[begin + first + found]);
            if (handle.find_owner_number(owner, numbers[found])) continue;
            if (found == 0) static_cast<void>(handle.owner_number(owner));  // says why
            break;
          }
          return found;
        },
        to, count, is_cancelled);
  });
}

bool has_owners(const idgen_draw_t& draw) {
  return draw.owners != nullptr || draw.int_owners != nullptr || draw.owner_count > 0;
}

// The handle, if the members of the request go together.
Handle& checked(idgen_t* generator, const idgen_draw_t& draw) {
  Handle& handle = open_handle(generator, "generator");
  const auto refuse_if = [](bool refused, std::string_view why) {
    if (refused) throw Error(Status::argument, std::string(why));
  };
  refuse_if(draw.flags & ~7u, "flags has bits that this library does not know; allowed: IDGEN_DRAW_*");
  const bool is_block = draw.flags & IDGEN_DRAW_BLOCK, is_drawn = draw.flags & IDGEN_DRAW_DRAWN;
  if (has_owners(draw)) {
    refuse_if(draw.flags != 0 || draw.waited_ns != 0, "flags and waited_ns are for ids without an owner");
    refuse_if(draw.owners && draw.int_owners, "owners and int_owners are both set; give one of them");
    refuse_if(draw.ids && draw.wide_ids, "ids and wide_ids are both set; give one of them");
    if (draw.owner_count != draw.n && draw.owner_count != 1) {
      throw Error(Status::argument, concat({draw.owner_count, " owners for ", draw.n,
                                            " ids; give one owner for all of them, or one for each"}));
    }
    if (draw.n > 0 && !draw.wide_ids) require(draw.ids, "ids");
    if (draw.n > 0 && !draw.int_owners) require(draw.owners, "owners");
    return handle;
  }
  refuse_if(draw.wide_ids, "wide_ids is for ids with an owner");
  if (is_block) {
    refuse_if(is_drawn || draw.waited_ns != 0, "a block takes neither IDGEN_DRAW_DRAWN nor waited_ns");
    refuse_if(draw.n == 0, "n is 0; ask for at least one id");
  } else if (draw.n > 0) {
    require(draw.ids, "ids");
  }
  refuse_if(is_drawn && draw.n != 1, "IDGEN_DRAW_DRAWN is for one id; set n to 1");
  refuse_if(is_drawn && !handle.is_plain(), "no number is drawn ahead of the call: there is no counter");
  return handle;
}

void put(const Block& block, idgen_draw_t& draw) {
  draw.first = block.first, draw.written = block.count, draw.stride = block.stride;
}

// Half of the largest, so that nobody's sum overflows.
std::int64_t to_ns(std::uint64_t ns) { return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX / 2)); }

void draw_waiting(idgen_t* generator, Handle& handle, idgen_draw_t& draw) {
  const Cancelled is_cancelled = to_cancelled(draw.cancelled, draw.ctx);
  const Told told(generator, draw.n, draw.written);
  if (draw.flags & IDGEN_DRAW_BLOCK) return put(handle.next_block(told.may, is_cancelled), draw);
  if (draw.flags & IDGEN_DRAW_DRAWN) {
    *draw.ids = handle.next(draw.drawn);
    draw.written = 1;
    return;
  }
  const auto fill = [&](auto* owners) {
    draw.wide_ids ? fill_for(handle, owners, draw, told.may, draw.wide_ids, draw.written, is_cancelled)
                  : fill_for(handle, owners, draw, told.may, draw.ids, draw.written, is_cancelled);
  };
  if (draw.n == 0) return;
  if (!has_owners(draw)) {
    handle.fill({draw.ids, told.may}, draw.written, is_cancelled, to_ns(draw.waited_ns));
  } else {
    draw.int_owners ? fill(draw.int_owners) : fill(draw.owners);
  }
  told.end();
}

Status try_draw(idgen_t* generator, Handle& handle, idgen_draw_t& draw) {
  const bool is_block = draw.flags & IDGEN_DRAW_BLOCK;
  if (const Status wanted = told_status(generator, is_block ? 1 : draw.n); wanted != Status::ok) return wanted;
  const Told told(generator, draw.n, draw.written);
  if (draw.flags & IDGEN_DRAW_DRAWN) {
    const Status status = handle.try_next(draw.drawn, *draw.ids);
    draw.written = status == Status::ok ? 1 : 0;
    return status;
  }
  if (!is_block) return handle.try_fill({draw.ids, told.may}, draw.written);
  Block block;
  const Status status = handle.try_next_block(told.may, block);
  if (status == Status::ok) put(block, draw);
  return status;
}

}  // namespace

extern "C" {

idgen_status_t idgen_next_for(idgen_t* generator, const void* owner, size_t size, uint64_t* id, idgen_error_t* err) {
  if (generator && generator->is_intact() && id && owner &&
      generator->value.draw_for({static_cast<const char*>(owner), size}, *id)) [[likely]]
    return IDGEN_OK;
  return next_slowly(generator, owner, size, id, err);
}

idgen_status_t idgen_next_for_int(idgen_t* generator, int64_t owner, uint64_t* id, idgen_error_t* err) {
  const IntegerOwner digits(owner);
  const std::string_view text = digits;
  return idgen_next_for(generator, text.data(), text.size(), id, err);
}

idgen_status_t idgen_try_next_for(idgen_t* generator, const void* owner, size_t size, uint64_t* id) {
  if (!generator || !generator->is_one()) return IDGEN_E_HANDLE;
  if (!id || (!owner && size > 0)) return IDGEN_E_ARGUMENT;
  const std::string_view of(static_cast<const char*>(owner), size);
  if (generator->is_intact() && generator->value.draw_for(of, *id)) [[likely]]
    return IDGEN_OK;
  if (generator->is_scripted()) return try_next_for_as_told(generator, of, *id);
  const NotCancellable here;
  return static_cast<idgen_status_t>(generator->value.try_next_for(of, *id));
}

idgen_status_t idgen_draw(idgen_t* generator, idgen_draw_t* draw, idgen_error_t* err) {
  const auto begin = [&]() -> Handle& {
    check_struct(draw, "draw");
    draw->written = 0;
    return checked(generator, *draw);
  };
  if (!draw || !(draw->flags & IDGEN_DRAW_TRY)) {
    return guard_waiting(err, [&] {
      Handle& handle = begin();
      draw_waiting(generator, handle, *draw);
    });
  }
  Status tried = Status::ok;
  const idgen_status_t refused = guard_uncancelled(err, [&] {
    Handle& handle = begin();
    tried = try_draw(generator, handle, *draw);
  });
  if (refused != IDGEN_OK || tried == Status::ok) return refused;
  return report(err, static_cast<idgen_status_t>(tried), status_text(tried).message);
}

idgen_status_t idgen_wait_for_room(idgen_t* generator, uint64_t waited_ns, idgen_cancelled_fn cancelled, void* ctx,
                                   idgen_error_t* err) {
  return guard_waiting(
      err, [&] { open_handle(generator, "generator").wait_for_room(to_cancelled(cancelled, ctx), to_ns(waited_ns)); });
}

uint64_t idgen_wait_max_ns(const idgen_t* generator) {
  return generator && generator->is_one() ? static_cast<uint64_t>(generator->value.wait_max_ns()) : 0;
}

}  // extern "C"
