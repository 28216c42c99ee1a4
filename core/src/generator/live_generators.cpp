#include "generator/live_generators.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "idgen/checkpoint.hpp"
#include "idgen/standard.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"
#include "runtime/process_image.hpp"
#include "runtime/vm_generation.hpp"

namespace idgen {
namespace {

// Replaced, never changed, so that a child forked at that moment finds either the old or the new one, intact.
using List = std::vector<std::weak_ptr<Generator>>;
constinit std::atomic<const List*> list{nullptr};
// The process image that is quiesced; 0: none. A child of that process is not.
constinit std::atomic<std::uint64_t> quiesced_in{0};
constinit std::atomic<std::uint64_t> resets_called{0};

Mutex& list_mutex() {
  static constinit MadeOnce<ForkPage<Mutex>> page;
  return *page.get();
}

std::vector<std::shared_ptr<Generator>> live_generators() {
  std::vector<std::shared_ptr<Generator>> live;
  const MutexLock lock(list_mutex());
  if (const List* const all = list.load()) {
    for (const std::weak_ptr<Generator>& each : *all)
      if (std::shared_ptr<Generator> generator = each.lock()) live.push_back(std::move(generator));
  }
  return live;
}

}  // namespace

std::uint64_t resets() noexcept { return resets_called; }

bool is_quiesced() noexcept {
  std::uint64_t image = quiesced_in.load();
  if (image == 0) return false;
  if (image == process_image_if_known()) return true;
  // A child, which has inherited this. It looks for copies of the machine again.
  if (quiesced_in.compare_exchange_strong(image, 0)) system_vm_generation.map_again();
  return false;
}

void add_live_generator(const std::shared_ptr<Generator>& generator) {
  std::unique_ptr<const List> old;  // destroyed with no lock held
  const MutexLock lock(list_mutex());
  const List* const before = list.load();
  auto next = std::make_unique<List>();
  if (before != nullptr) {
    std::copy_if(before->begin(), before->end(), std::back_inserter(*next),
                 [](const std::weak_ptr<Generator>& each) { return !each.expired(); });
  }
  next->push_back(generator);
  old.reset(list.exchange(next.release()));
}

void wait_for_reset(Runtime& runtime, const std::string& subject, Patience& patience) {
  while (is_quiesced()) {
    if (patience.left_ns() <= 0) {
      throw Error(Status::store_unavailable,
                  concat({subject, ": this process was quiesced for a checkpoint (idgen_quiesce); ",
                          patience.waited_for("idgen_reset"), ". Call that, then try again"}));
    }
    patience.sleep(runtime, patience.left_ns());
    patience.check(subject);
  }
}

void abandon_in_copy() {
  std::vector<std::shared_ptr<Generator>> live = live_generators();
  std::erase_if(live, [](const std::shared_ptr<Generator>& generator) { return !generator->seal_if_copied(); });
  for (const std::shared_ptr<Generator>& generator : live) generator->settle_soon();
}

void quiesce() {
  quiesced_in = process_image();
  abandon_in_copy();
  bool is_at_a_store = false;
  for (const std::shared_ptr<Generator>& generator : live_generators()) is_at_a_store |= !generator->rest();
  // Copies may receive the same answer: what it grants is neither used nor given back.
  if (is_at_a_store) ++resets_called;
  system_vm_generation.unmap();
}

void reset() {
  system_vm_generation.map_again();
  forget_standard_randomness();
  ++resets_called;  // first: what a thread has asked for and not yet received may be granted to the original, too
  const std::vector<std::shared_ptr<Generator>> live = live_generators();
  for (const std::shared_ptr<Generator>& generator : live) generator->seal();
  for (const std::shared_ptr<Generator>& generator : live) generator->abandon();
  quiesced_in = 0;
}

}  // namespace idgen
