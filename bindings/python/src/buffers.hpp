// Memory of the host that ids are written into: any PEP 3118 buffer of 8-byte integers, and the arrays that next_batch
// makes.
#pragma once

#include <memory>

#include "errors.hpp"

namespace idgen_python {

// A writable, contiguous buffer of 8-byte integers in native order. Exported for as long as this object lives, so that
// it cannot be resized.
class IdBuffer {
 public:
  IdBuffer() = default;
  ~IdBuffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }
  IdBuffer(const IdBuffer&) = delete;
  IdBuffer& operator=(const IdBuffer&) = delete;

  // False with InvalidBufferError set, if `object` is anything else.
  bool open(PyObject* object);

  std::uint64_t* ids() const { return static_cast<std::uint64_t*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len) / sizeof(std::uint64_t); }

 private:
  Py_buffer view_{};
};

// A new array for ids: numpy's, of int64 (uint64), not yet written; without numpy an array('q') (array('Q')) of zeros.
class IdArray {
 public:
  IdArray(std::size_t n, bool is_unsigned);

  std::uint64_t* ids() const { return ids_; }
  // The array itself. Call it when the ids are written; ids() is invalid from then on.
  py::object take();

 private:
  py::object array_;
  std::uint64_t* ids_ = nullptr;
  std::unique_ptr<IdBuffer>
      exported_;  // of an array('q'); numpy's memory needs no export, which would cost more than 1000 ids
};

}  // namespace idgen_python
