// One flat JSON object, written member by member. This command prints only flat objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace idgen_tool {

class JsonObject {
 public:
  JsonObject& text(std::string_view member, std::string_view value);
  // A number up to 2^53 - 1, which every JSON reader keeps exactly; a string above.
  JsonObject& number(std::string_view member, std::uint64_t value);
  JsonObject& signed_number(std::string_view member, std::int64_t value);
  JsonObject& real(std::string_view member, double value);  // null if not finite
  JsonObject& boolean(std::string_view member, bool value);
  JsonObject& null(std::string_view member);
  std::string str() const { return body_ + "}"; }

 private:
  void name(std::string_view name);
  std::string body_ = "{";
};

}  // namespace idgen_tool
