// For what an operator wants to know. The host's callback, or nothing. Never called while a lock of ours is held.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace idgen {

enum class LogLevel { info = 1, warning = 2, error = 3 };
using Log = std::function<void(LogLevel, const std::string&)>;
// Distinguishes one log from another.
using SharedLog = std::shared_ptr<const Log>;

}  // namespace idgen
