// idgen.Layout: the bit fields of an id, without a generator.
#pragma once

#include <vector>

#include "errors.hpp"

namespace idgen_python {

// Owns an idgen_layout_t. Immutable, so any number of threads may share it.
class Layout {
 public:
  explicit Layout(idgen_layout_t* raw);
  ~Layout() { idgen_layout_destroy(raw_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  const idgen_layout_t* raw() const { return raw_; }
  const idgen_layout_info_t& info() const { return info_; }
  const std::vector<idgen_field_t>& fields() const { return fields_; }

  bool has(std::uint32_t kind) const { return (info_.fields & kind) != 0; }
  // An idgen.Parts with this layout's fields, in their order.
  py::object parts_object(const py::object& id, const idgen_parts_t& parts) const;

 private:
  idgen_layout_t* raw_;
  idgen_layout_info_t info_{};
  std::vector<idgen_field_t> fields_;
};

// A Python int as the 64 bits of an id. Throws TypeError, or InvalidValueError outside of 0 to 2^64 - 1.
std::uint64_t id_bits(const py::object& id);

void bind_layout(py::module_& module);

}  // namespace idgen_python
