// An audit's result in words, and as JSON.
#pragma once

#include <string>

#include "audit_result.hpp"
#include "terminal.hpp"

namespace idgen_tool {

std::string report_of(const AuditResult& result, const Terminal& terminal);
// One flat object per line; the member `record` says what it is about.
std::string json_of(const AuditResult& result);
// "3 times"
std::string times(std::uint64_t count);

}  // namespace idgen_tool
