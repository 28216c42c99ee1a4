// The ids of a Parquet file, read by Python's pyarrow in a process of its own and sent through a pipe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "audit_files.hpp"
#include "audit_input.hpp"

namespace idgen_tool {

class ParquetPipe {
 public:
  // Throws IoError if there is no python3 or no pyarrow, or the file cannot be read, and UsageError for the column.
  ParquetPipe(const std::string& path, const std::string& column);
  ~ParquetPipe();
  ParquetPipe(const ParquetPipe&) = delete;
  ParquetPipe& operator=(const ParquetPipe&) = delete;

  DumpFormat format() const noexcept { return format_; }  // of what read() gives: lines, or binary
  const std::string& column() const noexcept { return column_; }
  // 0 at the end.
  std::size_t read(char* to, std::size_t size);

 private:
  std::string line();

  std::string path_;
  std::string column_;
  DumpFormat format_ = DumpFormat::lines;
  Descriptor pipe_;
  pid_t python_ = -1;
};

}  // namespace idgen_tool
