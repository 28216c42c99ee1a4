// Makes standard ids: one word for what must differ within this process, random bits for what must differ elsewhere.
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "idgen/standard.hpp"
#include "idgen/status.hpp"
#include "idgen/system_calls.hpp"
#include "idgen/time_units.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"
#include "runtime/vm_generation.hpp"
#include "standard_ids/claim.hpp"
#include "standard_ids/random.hpp"

namespace idgen {
namespace {

// Of a process image and of a machine: whoever finds another one starts over. Never freed, so that no two have one
// address, in a process and its children.
struct Identity {
  std::uint64_t machine;  // its generation, see vm_generation.hpp
  std::uint64_t process;  // 40 random bits for ObjectIds
  const Identity* before = nullptr;
};
constinit std::atomic<const Identity*> latest_identity{nullptr};  // of all that there were

// A child finds zeros, so it never goes on with its parent's numbers.
struct Image {
  std::atomic<const Identity*> identity;  // null: it has made nothing yet, or was reset
  alignas(64) Claims timed;               // of UUIDs of version 7 and ULIDs
  alignas(64) Claims object;              // of ObjectIds
};
constinit MadeOnce<ForkPage<Image>> image_page;

struct ThreadRandom {
  RandomStream stream;
  const Identity* identity = nullptr;  // whose it is; a child inherits its parent's, and must not use it

  ThreadRandom() = default;
  ThreadRandom(const ThreadRandom&) = delete;
  ThreadRandom& operator=(const ThreadRandom&) = delete;
  ~ThreadRandom() { stream.wipe(); }
};

// Neither is destroyed: host code may make ids in destructors that run after ThreadEnd's.
thread_local ThreadRandom* random_here = nullptr;
thread_local bool has_ended = false;

struct ThreadEnd {
  bool is_needed = false;
  ~ThreadEnd() {
    delete random_here;
    random_here = nullptr;
    has_ended = true;
  }
};
thread_local ThreadEnd thread_end;

std::uint64_t machine_now() noexcept { return system_vm_generation.read().value_or(0); }

const Identity* fresh_identity(Image& image, std::uint64_t machine) {
  const Identity* seen = image.identity.load(std::memory_order_acquire);
  while (seen == nullptr || seen->machine != machine) {
    auto fresh = std::make_unique<Identity>(Identity{.machine = machine, .process = 0});
    system_runtime().nonce({reinterpret_cast<std::uint8_t*>(&fresh->process), 5});
    if (!image.identity.compare_exchange_strong(seen, fresh.get(), std::memory_order_acq_rel)) continue;
    fresh->before = latest_identity.load(std::memory_order_relaxed);
    while (!latest_identity.compare_exchange_weak(fresh->before, fresh.get(), std::memory_order_acq_rel)) {
    }
    return fresh.release();
  }
  return seen;
}

[[gnu::cold, gnu::noinline]] void seed(Image& image, ThreadRandom& random) {
  RandomStream::Seed fresh;
  do {
    const Identity* const identity = fresh_identity(image, machine_now());
    system_runtime().nonce({reinterpret_cast<std::uint8_t*>(fresh.data()), sizeof fresh});
    random.stream.seed(fresh);
    random.identity = identity;
  } while (random.identity != image.identity.load(std::memory_order_acquire));  // a reset: it may be a copy's, too
  wipe_memory(fresh.data(), sizeof fresh);
}

[[gnu::cold, gnu::noinline]] ThreadRandom& fresh_random(Image& image) {
  if (random_here != nullptr) {
    seed(image, *random_here);
  } else {
    auto fresh = std::make_unique<ThreadRandom>();
    thread_end.is_needed = true;  // its destructor runs only where it was touched
    seed(image, *fresh);
    random_here = fresh.release();
  }
  return *random_here;
}

// After ThreadEnd: for one call.
[[gnu::cold, gnu::noinline]] void make_late(Image& image, Standard standard, std::uint8_t* out, std::size_t count) {
  struct Late {
    ThreadRandom random;
    ~Late() { random_here = nullptr; }
  } late;
  seed(image, late.random);
  random_here = &late.random;
  make_standard(standard, out, count);
}

[[gnu::always_inline]] inline bool is_usable(const ThreadRandom* random, const Image& image) noexcept {
  const Identity* const identity = image.identity.load(std::memory_order_acquire);
  return random != nullptr && random->identity == identity &&
         (system_vm_generation.is_missing() || identity->machine == machine_now());
}

inline std::uint64_t now_ms() noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now.tv_sec, 0)) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / std::uint64_t{kNsPerMs};
}

inline void put(std::uint8_t* out, std::uint64_t high, std::uint64_t low) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    high = __builtin_bswap64(high);
    low = __builtin_bswap64(low);
  }
  std::memcpy(out, &high, 8);
  std::memcpy(out + 8, &low, 8);
}

constexpr std::uint64_t kVariant = std::uint64_t{1} << 63;
constexpr std::uint64_t kLow62 = ~std::uint64_t{0} >> 2;

void fill_uuid4(RandomStream& random, std::uint8_t* out, std::size_t count) noexcept {
  for (; count > 0; --count, out += 16)
    put(out, (random.next() & ~std::uint64_t{0xF000}) | 0x4000, (random.next() & kLow62) | kVariant);
}

void fill_uuid7(std::uint64_t number, RandomStream& random, std::uint8_t* out, std::size_t count) noexcept {
  for (; count > 0; --count, out += 16, ++number)
    put(out, number >> kTimedCounterBits << 16 | 0x7000 | (number >> 8 & 0xFFF),
        kVariant | (number & 0xFF) << 54 | random.next() >> 10);
}

void fill_ulid(std::uint64_t number, RandomStream& random, std::uint8_t* out, std::size_t count) noexcept {
  for (; count > 0; --count, out += 16, ++number) put(out, number >> 4, number << 60 | random.next() >> 4);
}

void fill_object_id(std::uint64_t number, const Identity& identity, std::uint8_t* out, std::size_t count) noexcept {
  const std::uint64_t process = process_of(identity.process, number);
  for (; count > 0; --count, out += 12, ++number) {
    std::uint8_t id[16];
    put(id, number >> kObjectCounterBits << 32 | process >> 8, process << 56 | (number & 0xFFFFFF) << 32);
    std::memcpy(out, id, 12);
  }
}

}  // namespace

void make_standard(Standard standard, std::uint8_t* out, std::size_t count) {
  // The clock first: what follows is done while its answer is computed, and not the other way round.
  const std::uint64_t now = standard == Standard::uuid4 ? 0 : now_ms();
  Image& image = *image_page.get();
  const bool is_ready = is_usable(random_here, image);
  if (!is_ready && has_ended) [[unlikely]]
    return make_late(image, standard, out, count);
  ThreadRandom& mine = is_ready ? *random_here : fresh_random(image);
  RandomStream& random = mine.stream;
  switch (standard) {
    case Standard::uuid4:
      return fill_uuid4(random, out, count);
    case Standard::uuid7:
    case Standard::ulid: {
      const std::uint64_t number = claim_timed(image.timed, now, random, count, now_ms);
      return standard == Standard::uuid7 ? fill_uuid7(number, random, out, count)
                                         : fill_ulid(number, random, out, count);
    }
    case Standard::object_id:
      return fill_object_id(claim_object(image.object, now, random, count, now_ms), *mine.identity, out, count);
    case Standard::uuid:
      break;
  }
  throw Error(Status::argument, "a UUID of what version? Versions 4 and 7 are made");
}

void forget_standard_randomness() noexcept {
  if (ForkPage<Image>* const page = image_page.made()) (*page)->identity.store(nullptr, std::memory_order_release);
}

}  // namespace idgen
