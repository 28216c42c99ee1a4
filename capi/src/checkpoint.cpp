#include "idgen/checkpoint.hpp"

#include "border.hpp"
#include "idgen/admin.h"

using namespace idgen;
using namespace idgen::capi;

extern "C" {

idgen_status_t idgen_quiesce(idgen_error_t* err) {
  return guard_waiting(err, [] { quiesce(); });
}

idgen_status_t idgen_reset(idgen_error_t* err) {
  return guard_waiting(err, [] { reset(); });
}

}  // extern "C"
