// Clocks and logs written in Python, called by the core from any of its threads.
#pragma once

#include "errors.hpp"

namespace idgen_python {

// Hands a Python clock to the configuration: a callable without arguments that returns ns since 1970-01-01 UTC as an
// int; a method sleep_ns(ns) is used for waiting if there is one. Called once here, so that a clock that cannot work
// fails at once.
void set_clock(idgen_config_t* config, const py::object& clock);

// Hands over a Python log: callable(level, message) with the levels of the logging module, so that Logger.log fits.
void set_log(idgen_config_t* config, const py::object& log);

}  // namespace idgen_python
