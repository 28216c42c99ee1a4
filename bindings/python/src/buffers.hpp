// The host's memory into which ids are written: any PEP 3118 buffer of 8-byte integers, and the arrays that next_batch
// makes.
#pragma once

#include "errors.hpp"

namespace idgen_python {

// A writable, contiguous buffer of 8-byte integers in native order. Exported for as long as this object lives, so that
// it cannot be resized.
class IdBuffer {
 public:
  IdBuffer() = default;
  ~IdBuffer() { close(); }
  IdBuffer(const IdBuffer&) = delete;
  IdBuffer& operator=(const IdBuffer&) = delete;

  // False, with InvalidBufferError set, if `object` is anything else.
  bool open(PyObject* object);
  // Gives the memory back early. Does nothing the second time.
  void close() { PyBuffer_Release(&view_); }

  std::uint64_t* ids() const { return static_cast<std::uint64_t*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len) / sizeof(std::uint64_t); }

 private:
  Py_buffer view_{};
};

// A new array('q') for ids, array('Q') for unsigned ones. Never numpy's, so that a batch always has the same type, and
// no program pays for an import it did not make; numpy.asarray shares this memory.
class IdArray {
 public:
  IdArray(std::size_t n, bool is_unsigned);

  std::uint64_t* ids() const { return exported_.ids(); }
  // The array itself. Call it after the ids are written; ids() is invalid from then on.
  py::object take();

 private:
  py::object array_;
  IdBuffer exported_;
};

}  // namespace idgen_python
