// What went wrong inside a script. Pure.
#pragma once

#include <string>
#include <string_view>

namespace idgen::module {

// The error of the command that failed, which begins with its code. Up to Redis 6 that is behind "Error running script
// (call to f_...): @user_script: LINE: ", sometimes after a dash; from 7 on, the script is named at the end.
inline std::string script_error(const std::string& why) {
  constexpr std::string_view kFrame = "ERR Error running script";
  constexpr std::string_view kPlace = "@user_script:";
  const std::size_t place = why.rfind(kPlace);
  if (why.rfind(kFrame, 0) != 0 || place == why.npos) return why;
  std::size_t begin = why.find(": ", place + kPlace.size() + 1);
  if (begin == why.npos) return why;
  begin += 2;
  if (begin < why.size() && why[begin] == '-') ++begin;
  return why.substr(begin);
}

}  // namespace idgen::module
