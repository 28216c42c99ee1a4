#include "runtime/process_image.hpp"

#include <atomic>

#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen {
namespace {

using Number = ForkPage<std::atomic<std::uint64_t>>;

constinit MadeOnce<Number> number_of_image;
constinit std::atomic<std::uint64_t> latest{0};  // a child continues its parent's count

std::uint64_t number_in(const Number& page) noexcept {
  std::uint64_t number = page->load(std::memory_order_acquire);
  if (number != 0) return number;
  const std::uint64_t mine = latest.fetch_add(1, std::memory_order_relaxed) + 1;
  return page->compare_exchange_strong(number, mine, std::memory_order_acq_rel) ? mine : number;
}

}  // namespace

std::uint64_t process_image() { return number_in(number_of_image.get()); }

std::uint64_t process_image_if_known() noexcept {
  const Number* const page = number_of_image.made();
  return page == nullptr ? 0 : number_in(*page);
}

}  // namespace idgen
