// What an operator wants to know. The host's callback, or nothing. Never called with a lock of ours held.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace idgen {

enum class LogLevel { info = 1, warning = 2, error = 3 };
using Log = std::function<void(LogLevel, const std::string&)>;
// By which one log is told from another.
using SharedLog = std::shared_ptr<const Log>;

}  // namespace idgen
