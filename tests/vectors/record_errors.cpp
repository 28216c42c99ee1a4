// Records the core's answers to bad input: reads the input columns of bad_layouts.tsv, bad_texts.tsv, bad_patterns.tsv
// and calls.tsv, and rewrites the files with the core's present statuses and messages. A row whose status is OK stays
// as it is: its answer is given by hand. Review the difference after running it.
//
//     record_errors tests/vectors
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "temp_folder.hpp"
#include "vectors/bad_input.hpp"
#include "vectors/calls.hpp"
#include "vectors/tsv.hpp"

namespace {

using idgen::vectors::Outcome;

// The first `inputs` columns are input.
bool record(const std::string& path, const std::string& columns, std::size_t inputs,
            const std::function<Outcome(const std::vector<std::string>& row)>& answer) {
  const auto rows = idgen::vectors::read_tsv(path);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << "# Status and message are recorded from the core by record_errors; add the other columns by hand. Columns:\n# "
      << columns << '\n';
  bool is_as_wanted = true;
  for (const auto& row : rows) {
    Outcome outcome = answer(row);
    const bool must_succeed = row.size() > inputs && row[inputs] == "OK";
    std::string input;
    for (std::size_t i = 0; i < inputs; ++i) input += row.at(i) + '\t';
    if ((outcome.status == "OK") != must_succeed || (must_succeed && outcome.message != row.at(inputs + 1))) {
      std::fprintf(stderr, "%s: %sgives %s %s\n", path.c_str(), input.c_str(), outcome.status.c_str(),
                   outcome.message.c_str());
      is_as_wanted = false;
    }
    if (must_succeed) outcome = {row[inputs], row.at(inputs + 1)};
    out << input << outcome.status << '\t' << outcome.message << '\n';
  }
  return out.flush().good() && is_as_wanted;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: record_errors DIRECTORY\n"), 2;
  const std::string directory = argv[1];
  const idgen::TempFolder folder;
  idgen::vectors::Calls calls(folder.path(), directory);
  const bool layouts =
      record(directory + "/bad_layouts.tsv", "layout\tepoch\tstatus\tmessage", 2, idgen::vectors::answer_to_bad_layout);
  const bool texts =
      record(directory + "/bad_texts.tsv", "encoding\ttext\tstatus\tmessage", 2, idgen::vectors::answer_to_bad_text);
  const bool patterns = record(directory + "/bad_patterns.tsv", "pattern\tlayout\tid\ttext\tstatus\tmessage", 4,
                               idgen::vectors::answer_to_bad_pattern);
  const bool answers = record(directory + "/calls.tsv", "call\tproperties\targument\tstatus\tanswer", 3,
                              [&](const std::vector<std::string>& row) { return calls.answer(row); });
  return layouts && texts && patterns && answers ? 0 : 1;
}
