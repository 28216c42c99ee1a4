#include "generator/registry.hpp"

#include <map>
#include <mutex>

#include "generator/snowflake.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen {
namespace {

// A worker's place. Its lock is held while the worker is being acquired or given back, which may wait for a store.
struct Place {
  std::mutex mutex;
  std::weak_ptr<Generator> generator;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Place>>*
      places;  // null in a child: it holds nothing yet, whatever the parent's map says
};

std::shared_ptr<Place> place_of(const std::string& key) {
  static constinit MadeOnce<ForkPage<Registry>> page;
  Registry& registry = *page.get();
  std::lock_guard lock(registry.mutex);
  if (!registry.places) registry.places = new std::map<std::string, std::shared_ptr<Place>>;
  std::shared_ptr<Place>& place = (*registry.places)[key];
  if (!place) place = std::make_shared<Place>();
  return place;
}

// Two configurations that make the same ids under the same promises, whatever the generators are called.
bool same_promises(Config a, Config b) {
  for (Config* config : {&a, &b}) config->set("name", "same");
  return a == b;
}

}  // namespace

std::shared_ptr<Generator> acquire_generator(const Config& config) {
  if (config.get("kind") == "segment") {
    auto generator = make_segment_generator(config);
    generator->handles = 1;
    return generator;
  }
  const std::string key = snowflake_identity(config);
  const std::shared_ptr<Place> place = place_of(key);
  std::lock_guard lock(place->mutex);
  // A generator that the parent held is not ours: the child's own attempt says what to do.
  if (auto generator = place->generator.lock(); generator && generator->handles > 0) {
    if (!same_promises(generator->config(), config)) {
      throw Error(Status::worker_busy,
                  generator->subject() +
                      " is in use in this process with another configuration; close that generator, use "
                      "the same configuration to share it, or another number");
    }
    ++generator->handles;
    return generator;
  }
  auto generator = make_snowflake_generator(config);
  generator->place = key;
  generator->handles = 1;
  place->generator = generator;
  return generator;
}

void release_generator(const std::shared_ptr<Generator>& generator) {
  if (generator->place.empty()) {  // a segment's: never shared
    if (--generator->handles == 0) generator->close();
    return;
  }
  const std::shared_ptr<Place> place = place_of(generator->place);
  std::lock_guard lock(place->mutex);
  if (--generator->handles > 0) return;
  // Else the place would keep the memory of a generator that nobody has. (In a child it may hold one of the child's own.)
  if (place->generator.lock() == generator) place->generator.reset();
  generator->close();
}

}  // namespace idgen
