// Ids that have an owner, and ids of 16 bytes.
#include <algorithm>
#include <span>

#include "border.hpp"
#include "idgen/gene.hpp"
#include "idgen/handle.hpp"
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

template <class Owner, class Id>
idgen_status_t fill_batch(idgen_t* generator, const Owner* owners, size_t owner_count, Id* ids, size_t n,
                          size_t* written, idgen_cancelled_fn cancelled, void* ctx, idgen_error_t* err) {
  std::size_t done = 0;
  const idgen_status_t status = guard_waiting(err, [&] {
    require(written, "written");
    Handle& handle = open_handle(generator, "generator");
    if (owner_count != n && owner_count != 1) {
      throw Error(Status::argument,
                  concat({owner_count, " owners for ", n, " ids; give one owner for all of them, or one for each"}));
    }
    if (n == 0) return;
    require(ids, "ids");
    require(owners, "owners");
    const Cancelled is_cancelled = to_cancelled(cancelled, ctx);
    const Told told(generator, n, done);
    if (owner_count == 1) {
      const auto one = owner_of(owners[0]);
      const std::uint64_t owner = handle.owner_number(one);
      fill_all(ids, told.may, done,
               [&](std::size_t, auto to, std::size_t& count) { handle.fill_for(owner, to, count, is_cancelled); });
      return told.end();
    }
    fill_all(ids, told.may, done, [&](std::size_t begin, auto to, std::size_t& count) {
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
    told.end();
  });
  if (written) *written = done;
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

idgen_status_t idgen_next_batch_for(idgen_t* generator, const idgen_owner_t* owners, size_t owner_count, uint64_t* ids,
                                    size_t n, size_t* written, idgen_cancelled_fn cancelled, void* ctx,
                                    idgen_error_t* err) {
  return fill_batch(generator, owners, owner_count, ids, n, written, cancelled, ctx, err);
}

idgen_status_t idgen_next_batch_for_ints(idgen_t* generator, const int64_t* owners, size_t owner_count, uint64_t* ids,
                                         size_t n, size_t* written, idgen_cancelled_fn cancelled, void* ctx,
                                         idgen_error_t* err) {
  return fill_batch(generator, owners, owner_count, ids, n, written, cancelled, ctx, err);
}

idgen_status_t idgen_next_wide_for(idgen_t* generator, const idgen_owner_t* owners, size_t owner_count,
                                   idgen_wide_id_t* ids, size_t n, size_t* written, idgen_cancelled_fn cancelled,
                                   void* ctx, idgen_error_t* err) {
  return fill_batch(generator, owners, owner_count, ids, n, written, cancelled, ctx, err);
}

idgen_status_t idgen_next_wide_for_ints(idgen_t* generator, const int64_t* owners, size_t owner_count,
                                        idgen_wide_id_t* ids, size_t n, size_t* written, idgen_cancelled_fn cancelled,
                                        void* ctx, idgen_error_t* err) {
  return fill_batch(generator, owners, owner_count, ids, n, written, cancelled, ctx, err);
}

}  // extern "C"
