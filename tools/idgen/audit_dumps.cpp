#include "audit_dumps.hpp"

#include <algorithm>

#include "failure.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

const char* word_for(char separator) {
  return separator == ';' ? ", separated by ;" : separator == '\t' ? ", separated by tabs" : "";
}

}  // namespace

Dump::Dump(const std::string& path, const std::string& format, const std::string& temporary_folder)
    : file_(path, temporary_folder) {
  if (format.empty()) {
    kind_ = kind_of(path, file_.head());
  } else {
    const auto found = std::ranges::find(dump_formats(), format);  // the parser has checked that it is one of them
    kind_ = static_cast<DumpKind>(found - dump_formats().begin());
  }
  if (kind_ == DumpKind::parquet && !file_.is_regular())
    throw UsageError("Parquet is read from a file, not from " + file_.name());
}

IdReader& Dump::begin(const IdRules& rules, BrokenRows& broken, std::size_t buffer_size) {
  if (kind_ == DumpKind::parquet) {
    pipe_ = std::make_unique<ParquetPipe>(file_.path(), rules.column);
    parquet_rules_ = rules;
    parquet_rules_.is_big_endian = false;  // what pyarrow sends
    const auto bytes = [this](char* to, std::size_t size) { return pipe_->read(to, size); };
    reader_ = std::make_unique<IdReader>(name(), pipe_->format(), bytes, parquet_rules_, broken, buffer_size);
    return *reader_;
  }
  if (is_begun_) file_.rewind();
  is_begun_ = true;
  bytes_read_ = 0;
  const auto bytes = [this](char* to, std::size_t size) {
    const std::size_t n = file_.read(to, size);
    bytes_read_ += n;
    return n;
  };
  const DumpFormat format = kind_ == DumpKind::binary ? DumpFormat::binary
                            : kind_ == DumpKind::csv  ? DumpFormat::csv
                                                      : DumpFormat::lines;
  reader_ = std::make_unique<IdReader>(name(), format, bytes, rules, broken, buffer_size);
  return *reader_;
}

std::string Dump::described() const {
  switch (kind_) {
    case DumpKind::parquet:
      return "Parquet, column '" + one_line(pipe_->column()) + "'";
    case DumpKind::binary:
      return "binary, 8 bytes per id";
    case DumpKind::lines:
      return "one id per line";
    case DumpKind::csv: {
      const auto& header = reader_->header();
      const std::size_t column = reader_->column();
      return "CSV, column " + std::to_string(column + 1) +
             (column < header.size() ? " '" + one_line(header[column]) + "'" : "") + word_for(reader_->separator());
    }
  }
  return "";
}

}  // namespace idgen_tool
