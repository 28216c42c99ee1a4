// An audit's result as an SVG: the rates of the workers over time, the course of the dump, and what is wrong with it.
#pragma once

#include <string>

#include "audit_result.hpp"

namespace idgen_tool {

std::string picture_of(const AuditResult& result);

}  // namespace idgen_tool
