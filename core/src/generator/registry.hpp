// Which snowflake workers this process holds. A second handle on a worker shares its generator if the configurations
// are equal, and is refused otherwise; POSIX locks keep other processes out, but do not see it.
#pragma once

#include <memory>

#include "generator/generator.hpp"

namespace idgen {

// A new generator, or the existing one. Counts the handle.
std::shared_ptr<Generator> acquire_generator(const Config& config, const Cancelled& cancelled);
// One handle less; the last one closes the generator.
void release_generator(const std::shared_ptr<Generator>& generator);

}  // namespace idgen
