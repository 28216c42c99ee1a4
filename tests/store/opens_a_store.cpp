// A program with the core linked in, like a Go program. Prints the result of opening a store, and whether the code of
// planted_module.c has run.
#include <cstdio>
#include <cstdlib>

#include "idgen/store.hpp"

int main() {
  try {
    idgen::open_store("redis://cache.invalid", {});
    std::puts("opened");
  } catch (const idgen::Error& error) {
    std::printf("%s%s\n", error.what(), std::getenv("IDGEN_TEST_PLANTED") != nullptr ? " [ran]" : "");
  }
}
