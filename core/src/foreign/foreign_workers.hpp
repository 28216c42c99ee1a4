// Workers' numbers by the rows of another generator: Baidu's uid-generator, CosId, Leaf. Their processes and ours never
// have one number at once, by their own rules. Between processes of idgen, uniqueness depends on windows as always.
#pragma once

#include <memory>
#include <string>

#include "workers/worker_source.hpp"

namespace idgen {

inline bool is_of_another_generator(NumberSource source) { return source >= NumberSource::uid_generator; }

// Throws Error{value, unsupported}.
void check_foreign_workers(const Config& config);
std::unique_ptr<WorkerSource> make_foreign_workers(const WorkerSourceContext& context);
// The end of a sentence.
std::string describe_foreign_workers(const Config& config, const Node& node);

}  // namespace idgen
