// What an operator wants to know. The host's callback, or nothing.
#pragma once

#include <functional>
#include <string>

namespace idgen {

enum class LogLevel { info = 1, warning = 2, error = 3 };
using Log = std::function<void(LogLevel, const std::string&)>;

}  // namespace idgen
