// The dumps of an audit: in which format each is, and readers for the first and for the second look at it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "audit_files.hpp"
#include "audit_input.hpp"
#include "audit_parquet.hpp"

namespace idgen_tool {

inline const std::vector<std::string>& dump_formats() {
  static const std::vector<std::string> names = {"lines", "csv", "binary", "parquet"};  // in the order of DumpKind
  return names;
}

class Dump {
 public:
  // format: "" to see for itself.
  Dump(const std::string& path, const std::string& format, const std::string& temporary_folder);

  // From its beginning; one at a time. `rules` and `broken` are used as long as it reads.
  IdReader& begin(const IdRules& rules, BrokenRows& broken, std::size_t buffer_size);
  IdReader& reader() { return *reader_; }

  const std::string& name() const noexcept { return file_.name(); }
  DumpKind kind() const noexcept { return kind_; }
  // "csv, column 2 'order_id'", once it has been read.
  std::string described() const;
  std::uint64_t size() const noexcept { return file_.size(); }  // in bytes; 0 if unknown
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  DumpFile file_;
  DumpKind kind_;
  IdRules parquet_rules_;
  std::unique_ptr<ParquetPipe> pipe_;
  std::unique_ptr<IdReader> reader_;
  bool is_begun_ = false;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace idgen_tool
