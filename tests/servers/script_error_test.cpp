#include "../../modules/redis/script_error.hpp"

#include <gtest/gtest.h>

namespace idgen::module {
namespace {

TEST(ScriptError, begins_with_the_code_in_every_version_of_the_server) {
  EXPECT_EQ("WRONGTYPE Operation against a key", script_error("WRONGTYPE Operation against a key"));
  EXPECT_EQ("WRONGTYPE Operation script: 3f2a, on @user_script:35.",
            script_error("WRONGTYPE Operation script: 3f2a, on @user_script:35."));
  EXPECT_EQ(
      "WRONGTYPE Operation against a key",
      script_error("ERR Error running script (call to f_3f2a): @user_script:35: WRONGTYPE Operation against a key"));
  EXPECT_EQ("OOM command not allowed",
            script_error("ERR Error running script (call to f_3f2a): @user_script: 54: -OOM command not allowed"));
}

TEST(ScriptError, is_what_the_server_says_if_that_is_something_else) {
  for (const char* const text :
       {"", "ERR unknown command", "ERR Error running script", "ERR Error running script (@user_script",
        "ERR Error running script (call to f): @user_script:", "NOSCRIPT No matching script"}) {
    EXPECT_EQ(text, script_error(text));
  }
}

}  // namespace
}  // namespace idgen::module
