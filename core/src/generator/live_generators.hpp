// The generators of this process, and whether they may reserve anything just now.
#pragma once

#include <memory>
#include <vector>

#include "generator/generator.hpp"

namespace idgen {

// Counted from here on, until it is destroyed. It has reserved nothing yet.
void add_live_generator(const std::shared_ptr<Generator>& generator);

// How often reset() was called. What was asked for before the latest is not used.
std::uint64_t resets() noexcept;

// Between quiesce() and reset(). A child inherits it.
bool is_quiesced() noexcept;

// Waits until reset(), or throws Error{store_unavailable} once patience is over. With nothing to wait for it costs a
// load.
void wait_for_reset(Runtime& runtime, const std::string& subject, Patience& patience) IDGEN_RUNS_HOST_CODE;

// This machine was copied: what the generators of this process had reserved before is the original's. As reset(), but
// waits for nobody and calls nobody; the rest is done in the background.
void abandon_in_copy();

}  // namespace idgen
