// Ids as a person or a pipe gives them: decimal or 0x hex, as arguments or, for "-", from standard input.
#pragma once

#include <idgen/idgen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/output.hpp"

namespace idgen_tool {

// Throws Failure{TEXT} that quotes the text.
std::uint64_t parse_id(const std::string& text);
// The same for ids of `bytes` bytes, 8 or 16; leading zeros may be left out.
idgen_wide_id_t parse_id(const std::string& text, unsigned bytes);

// An id of 8 bytes as a number, and back.
std::uint64_t number_of(const idgen_wide_id_t& id);
idgen_wide_id_t wide_of(std::uint64_t number);

// The texts of ids, as options name them, in the order of IDGEN_TEXT_*.
const std::vector<std::string>& encoding_names();
// Of one of these names.
std::int32_t encoding_of(const std::string& name);
// One id of 8 bytes in this encoding. In decimal, 0x is hexadecimal. False: it is none, and `why` says so.
bool read_id(std::string_view text, std::int32_t encoding, std::uint64_t& id, std::string& why);

// Calls `use` with each word, in order; words of standard input in place of "-". If it throws Failure for one of those,
// the line's number is added.
void for_each_word(const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& use);
// The same with whole lines of standard input, for texts that may hold spaces.
void for_each_line(const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& use);

// A command that answers each of them: `answer` writes to `out`, until a signal asks to stop. What came before one that
// cannot be answered is valid, and is written before its Failure goes on.
void answer_each(Output& out, decltype(&for_each_word) for_each, const std::vector<std::string>& arguments,
                 const std::function<void(const std::string&)>& answer);

}  // namespace idgen_tool
