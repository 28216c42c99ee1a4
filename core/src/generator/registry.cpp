#include "generator/registry.hpp"

#include "generator/live_generators.hpp"
#include "generator/snowflake.hpp"
#include "idgen/time_units.hpp"
#include "runtime/slots.hpp"

namespace idgen {
namespace {

std::shared_ptr<Slot<Generator>> slot_of(const std::string& key) {
  static constinit Slots<Generator> slots;
  return slots.at(key);
}

// True for two configurations that make the same ids under the same promises. Their stores are already known to be the
// same, however they are written. A generator's name, how its ids are written, and what only segments have make no
// difference to a worker.
bool same_promises(Config a, Config b) {
  for (Config* config : {&a, &b}) {
    for (const Property& property : properties()) {
      const std::string_view name = property.name;
      if (name == "name" || name == "directory" || name == "tag" || name == "module.path" || name == "pattern" ||
          name == "zone" || name == "witness" || name.starts_with("segment.") || name.starts_with("buffer."))
        config->set(name, property.default_value);
    }
    if (!config->store) config->set("store", "memory");
  }
  return a == b;
}

std::shared_ptr<Generator> shared(const std::shared_ptr<Generator>& generator, const Config& config) {
  if (!same_promises(generator->config(), config)) {
    throw Error(Status::worker_busy,
                generator->subject() +
                    " is in use in this process with another configuration or clock; close that generator, use "
                    "the same configuration to share it, or another number");
  }
  generator->logs().join(config.log);
  ++generator->handles;
  return generator;
}

}  // namespace

std::shared_ptr<Generator> acquire_generator(const Config& given, const Cancelled& cancelled) {
  const Config config = given.with_absolute_directory();
  Patience patience(config.duration_ms("wait_max") * kNsPerMs, cancelled);
  wait_for_reset(config.runtime ? *config.runtime : system_runtime(), config.get("name"), patience);
  if (config.get("kind") != "snowflake") return make_segment_generator(config, patience);
  Runtime& runtime = config.runtime ? *config.runtime : system_runtime();
  const std::string key = snowflake_identity(config);
  const std::shared_ptr<Slot<Generator>> slot = slot_of(key);
  MutexLock lock(slot->mutex);
  for (;;) {
    // A generator that the parent held is not ours: the child's own attempt decides.
    if (auto generator = slot->value.lock(); generator && generator->handles > 0) return shared(generator, config);
    if (!slot->is_busy) break;
    if (patience.left_ns() <= 0) {
      throw Error(Status::worker_busy,
                  patience.waited_for("another thread of this process, which opens or closes a generator on the same "
                                      "worker; try again"));
    }
    patience.wait(runtime, lock, slot->changed, config.get("name"));
  }
  SlotTurn turn(*slot);
  lock.unlock();
  auto generator = make_snowflake_generator(config, patience);
  generator->place = key;
  turn.set(generator);
  return generator;
}

void release_generator(const std::shared_ptr<Generator>& generator) {
  if (generator->place.empty()) {  // a segment's: never shared
    if (--generator->handles == 0) generator->close();
    return;
  }
  const std::shared_ptr<Slot<Generator>> slot = slot_of(generator->place);
  MutexLock lock(slot->mutex);
  if (--generator->handles > 0) return;
  // In a child the slot may be empty, or hold a generator of the child's own.
  if (slot->value.lock() != generator) {
    lock.unlock();
    generator->close();
    return;
  }
  slot->value.reset();
  const SlotTurn turn(*slot);  // others who want the worker wait until it has been given back
  lock.unlock();
  generator->close();
}

}  // namespace idgen
