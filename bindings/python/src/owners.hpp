// Owners of ids as Python has them (int, str, bytes), and ids of 16 bytes as bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"

namespace idgen_python {

// One owner. Refers to the object's memory where it can, so it must not outlive the object.
class Owner {
 public:
  // False, with TypeError set: not an int, str or bytes.
  bool assign(PyObject* object) noexcept;

  const void* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  idgen_owner_t raw() const { return {data(), size()}; }

 private:
  std::string_view view_;
  std::string digits_;  // of an integer
};

// The owners of a batch, copied: the GIL is released while ids are drawn.
class Owners {
 public:
  // Any iterable of int, str and bytes; numpy's arrays of integers too. Throws TypeError.
  explicit Owners(const py::object& iterable);

  std::size_t size() const { return is_integers_ ? integers_.size() : ends_.size(); }
  bool is_integers() const { return is_integers_; }  // all of them fit in an int64
  const std::vector<std::int64_t>& integers() const { return integers_; }
  std::vector<idgen_owner_t> raw() const;

 private:
  void add(const Owner& owner);

  bool is_integers_ = true;
  std::vector<std::int64_t> integers_;
  std::string bytes_;  // of all owners, one after the other
  std::vector<std::size_t> ends_;
};

// An id of 8 bytes in the form of those that may have 16.
inline idgen_wide_id_t narrow_id(std::uint64_t id) {
  idgen_wide_id_t wide = IDGEN_WIDE_ID_INIT;
  wide.size = 8;
  for (int i = 7; i >= 0; --i, id >>= 8) wide.bytes[i] = static_cast<std::uint8_t>(id);
  return wide;
}
inline py::bytes wide_object(const idgen_wide_id_t& id) {
  return py::bytes(reinterpret_cast<const char*>(id.bytes), id.size);
}
// True and set if the object is bytes. Any length: the core refuses what is no id.
bool wide_from(const py::object& object, idgen_wide_id_t& id);

}  // namespace idgen_python
