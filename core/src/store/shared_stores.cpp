// One store per URL and process, however many generators use it: one connection, one lane.
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"
#include "runtime/slots.hpp"
#include "runtime/waiting.hpp"

namespace idgen {

static std::string shared_store_key(const std::string& url, const StoreOptions& options) {
  std::string key;
  const auto add = [&](const std::string& part) { key += std::to_string(part.size()) + ":" + part; };
  add(url);
  add(options.directory);
  add(options.module_path);
  add(options.schema);
  add(options.pattern);
  add(options.buffer.redis);
  add(options.buffer.database);
  add(options.buffer.identity);
  for (const std::uint64_t number :
       {std::uint64_t{options.create}, static_cast<std::uint64_t>(options.timeout_ms), options.step, options.grant_log,
        static_cast<std::uint64_t>(options.buffer.runway_ms), options.buffer.stock_max,
        std::uint64_t{options.buffer.errors}, static_cast<std::uint64_t>(options.buffer.pause_ms),
        static_cast<std::uint64_t>(options.buffer.timeout_ms), reinterpret_cast<std::uint64_t>(options.runtime.get())})
    add(std::to_string(number));
  return key;
}

std::shared_ptr<Store> shared_store(const std::string& url, const StoreOptions& options) {
  static constinit Slots<Store> slots;
  // Relative paths start from the folder in which the store was opened, which may no longer be the current one.
  const std::string key = store_identity(url, options) + "\n" + shared_store_key(url, options);
  const std::shared_ptr<Slot<Store>> slot = slots.at(key);
  Runtime& runtime = options.runtime ? *options.runtime : system_runtime();
  MutexLock lock(slot->mutex);
  for (;;) {
    if (std::shared_ptr<Store> store = slot->value.lock()) return store;
    if (!slot->is_busy) break;
    runtime.wait(lock, slot->changed, kSliceNs);
  }
  SlotTurn turn(*slot);
  lock.unlock();
  std::shared_ptr<Store> store = open_store(url, options);
  turn.set(store);
  return store;
}

Store::~Store() { delete lane_.load(); }

std::shared_ptr<Lane> Store::lane(Runtime& runtime) {
  if (const auto* const made = lane_.load()) return *made;
  auto fresh = std::make_unique<const std::shared_ptr<Lane>>(runtime.make_lane());
  const std::shared_ptr<Lane>* found = nullptr;
  return lane_.compare_exchange_strong(found, fresh.get()) ? *fresh.release() : *found;
}

}  // namespace idgen
