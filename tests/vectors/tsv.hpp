// Reads a file of golden vectors. The format: README.md in this folder.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace idgen::vectors {

inline std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> columns;
  for (std::size_t start = 0;;) {
    const std::size_t tab = line.find('\t', start);
    columns.push_back(line.substr(start, tab - start));
    if (tab == std::string::npos) return columns;
    start = tab + 1;
  }
}

// Throws if the file is missing or has no row, so that a test over its rows cannot pass by testing nothing.
inline std::vector<std::vector<std::string>> read_tsv(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '#') rows.push_back(split_tabs(line));
  }
  if (rows.empty()) throw std::runtime_error(path + " has no rows");
  return rows;
}

}  // namespace idgen::vectors
