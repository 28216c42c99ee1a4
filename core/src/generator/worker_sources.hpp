// The sources of numbers that `worker_source` can name.
#pragma once

#include <memory>
#include <string>

#include "workers/worker_source.hpp"

namespace idgen {

// For a node whose number is leased. Throws Error{value, store_unsafe, store_missing, store_permission}.
std::unique_ptr<WorkerSource> make_worker_source(const WorkerSourceContext& context);

// Throws Error{value, unsupported} for settings of worker_source that cannot be right. Nothing is opened.
void check_worker_source(const Config& config, const Node& node);

// What describe() says of it: the end of a sentence.
std::string describe_worker_source(const Config& config, const Node& node);

}  // namespace idgen
