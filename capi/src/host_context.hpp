// What the host hands over: a table of functions, which is copied, and a context with its release.
#pragma once

#include <cstring>
#include <memory>

#include "border.hpp"
#include "idgen/host.h"
#include "idgen/log.hpp"

namespace idgen::capi {

// ctx and its release, which is called once when nothing uses ctx any more.
class HostContext {
 public:
  HostContext(void* ctx, void (*release)(void*)) : ctx_(ctx), release_(release) {}
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;
  ~HostContext() {
    if (release_) release_(ctx_);
  }
  void* get() const noexcept { return ctx_; }
  // From now on ctx is ours.
  void own(void (*release)(void*)) noexcept { release_ = release; }

 private:
  void* ctx_;
  void (*release_)(void*);
};

// `smallest`: as the first version had it. What is missing of a later one is zero.
template <class V>
V check_vtable(const V* vtable, const char* what, std::size_t smallest = sizeof(V)) {
  if (require(vtable, what)->struct_size < smallest) {
    throw Error(Status::argument, std::string(what) + ": struct_size is " + std::to_string(vtable->struct_size) +
                                      "; set it to sizeof, " + std::to_string(sizeof(V)));
  }
  if (vtable->reserved != 0) {  // or it could never get a meaning: existing programs would leave it unset
    throw Error(Status::argument,
                std::string(what) + ".reserved is " + std::to_string(vtable->reserved) + "; set it to 0");
  }
  V copy{};
  std::memcpy(&copy, vtable, std::min<std::size_t>(vtable->struct_size, sizeof copy));
  return copy;
}

// The host's log. Until own(), ctx is still the host's: call it when nothing can fail any more.
struct HostLog {
  HostLog(const idgen_log_t* given, void* ctx)
      : functions(check_vtable(given, "log")), context(std::make_shared<HostContext>(ctx, nullptr)) {
    log = std::make_shared<const Log>(
        [write = require(functions.write, "log.write"), context = context](LogLevel level, const std::string& message) {
          write(context->get(), static_cast<int32_t>(level), message.c_str());
        });
  }
  void own() const noexcept { context->own(functions.release); }

  const idgen_log_t functions;
  const std::shared_ptr<HostContext> context;
  SharedLog log;
};

}  // namespace idgen::capi
