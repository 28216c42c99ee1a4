// Ids as a person or a pipe gives them: decimal or 0x hex, as arguments or, for "-", from standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace idgen_tool {

// Throws Failure{TEXT} that quotes the text.
std::uint64_t parse_id(const std::string& text);
// Calls `use` with each id, in order; words of standard input in place of "-". A bad one is an error with its line
// number.
void for_each_id(const std::vector<std::string>& arguments, const std::function<void(std::uint64_t)>& use);

}  // namespace idgen_tool
