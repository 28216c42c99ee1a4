// Records the core's answers to bad input: reads the input columns of bad_layouts.tsv, bad_texts.tsv and
// bad_patterns.tsv, and rewrites the files with the core's present statuses and messages. Review the difference after
// running it.
//
//     record_errors tests/vectors
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "vectors/bad_input.hpp"
#include "vectors/tsv.hpp"

namespace {

using idgen::vectors::Outcome;

bool record(const std::string& path, const std::string& columns,
            Outcome (*answer)(const std::vector<std::string>& row)) {
  const auto rows = idgen::vectors::read_tsv(path);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << "# Status and message are recorded from the core by record_errors; add the other columns by hand. Columns:\n# "
      << columns << '\n';
  for (const auto& row : rows) {
    const Outcome outcome = answer(row);
    out << row.at(0) << '\t' << row.at(1) << '\t' << outcome.status << '\t' << outcome.message << '\n';
    if (outcome.status == "OK") {
      std::fprintf(stderr, "%s: '%s' '%s' is accepted\n", path.c_str(), row.at(0).c_str(), row.at(1).c_str());
      return false;
    }
  }
  return out.flush().good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: record_errors DIRECTORY\n"), 2;
  const std::string directory = argv[1];
  const bool layouts =
      record(directory + "/bad_layouts.tsv", "layout\tepoch\tstatus\tmessage", idgen::vectors::answer_to_bad_layout);
  const bool texts =
      record(directory + "/bad_texts.tsv", "encoding\ttext\tstatus\tmessage", idgen::vectors::answer_to_bad_text);
  const bool patterns =
      record(directory + "/bad_patterns.tsv", "pattern\ttext\tstatus\tmessage", idgen::vectors::answer_to_bad_pattern);
  return layouts && texts && patterns ? 0 : 1;
}
