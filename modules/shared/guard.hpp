// The border of every module: no exception passes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "idgen/module.h"
#include "idgen/status.hpp"

namespace idgen::module {

template <class F>
std::int32_t guard(idgen_module_error* err, F&& work) noexcept {
  const auto failed = [err](Status status, const char* message, std::uint64_t retry_after_ns) {
    err->status = static_cast<std::int32_t>(status);
    err->retry_after_ns = retry_after_ns;
    std::strncpy(err->message, message, sizeof err->message - 1);
    return err->status;
  };
  try {
    work();
    return 0;
  } catch (const Error& error) {
    return failed(error.status(), error.what(), error.retry_after_ns());
  } catch (const std::bad_alloc&) {
    return failed(Status::no_memory, "out of memory", 0);
  } catch (const std::exception& error) {
    return failed(Status::internal, error.what(), 0);
  }
}

}  // namespace idgen::module
