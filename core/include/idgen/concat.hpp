// a + b of texts, as functions of the library and not as templates of the standard library.
//
// Messages are put together with + in several hundred places. Since std::string can be constexpr (C++20), compilers
// instantiate its operators anew in each file, although the standard library has them compiled, and inline them in each
// place: that was an eighth of libidgen.so. Code in namespace idgen prefers these, because they are no templates.
#pragma once

#include <string>

namespace idgen {

std::string operator+(const std::string& a, const std::string& b);
std::string operator+(const std::string& a, std::string&& b);
std::string operator+(const std::string& a, const char* b);
std::string operator+(std::string&& a, const std::string& b);
std::string operator+(std::string&& a, std::string&& b);
std::string operator+(std::string&& a, const char* b);
std::string operator+(const char* a, const std::string& b);
std::string operator+(const char* a, std::string&& b);

}  // namespace idgen
