// The golden vectors for configurations and for the calls that take one, through the C border.
#include "vectors/calls.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "idgen/runtime.hpp"
#include "temp_folder.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

TEST(CallVectors, EveryCallHasTheRecordedAnswer) {
  const TempFolder folder;
  vectors::Calls calls(folder.path(), IDGEN_VECTORS_DIR);
  for (const auto& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/calls.tsv")) {
    ASSERT_EQ(row.size(), 5u) << row[0];
    const auto outcome = calls.answer(row);
    EXPECT_EQ(outcome.status, row[3]) << row[0] << " " << row[1] << " " << row[2];
    EXPECT_EQ(outcome.message, row[4]) << row[0] << " " << row[1] << " " << row[2];
  }
}

TEST(CallVectors, TheTextOfTheMetricsHasItsSamples) {
  std::map<std::string, std::string> samples;
  std::vector<idgen_t*> generators;
  for (const auto& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/metrics.tsv")) {
    ASSERT_EQ(row.size(), 3u) << row[0];
    if (row[0] != "sample") {
      idgen_config_t* config = nullptr;
      ASSERT_EQ(idgen_config_create(&config, nullptr), IDGEN_OK);
      ASSERT_EQ(vectors::set_properties(config, row[1] + "; store=memory:calls; store_create=true", nullptr), IDGEN_OK);
      ASSERT_EQ(idgen_create(config, &generators.emplace_back(), nullptr), IDGEN_OK);
      idgen_config_destroy(config);
      std::vector<std::uint64_t> ids(std::stoul(row[2]));
      std::size_t written = 0;
      ASSERT_EQ(idgen_next_batch(generators.back(), ids.data(), ids.size(), &written, nullptr), IDGEN_OK);
      if (row[0] == "closed") {
        ASSERT_EQ(idgen_close(generators.back(), nullptr), IDGEN_OK);
      }
      continue;
    }
    if (samples.empty()) {
      generators.push_back(generators[0]);
      std::string text(65'536, ' ');
      std::size_t size = text.size();
      ASSERT_EQ(idgen_metrics(generators.data(), generators.size(), text.data(), &size, nullptr), IDGEN_OK);
      generators.pop_back();
      std::istringstream lines(text.substr(0, size - 1));
      for (std::string line; std::getline(lines, line);) {
        samples[line.substr(0, line.rfind(' '))] = line.substr(line.rfind(' ') + 1);
      }
    }
    const std::string process = std::to_string(getpid()) + "@" + system_runtime().host_name();
    const auto found = samples.find(vectors::replaced(row[1], "PROCESS", process));
    ASSERT_EQ(found == samples.end(), row[2] == "-") << row[1];
    if (row[2].ends_with('+')) {
      EXPECT_GE(std::stod(found->second), std::stod(row[2])) << row[1];
    } else if (row[2] != "-") {
      EXPECT_EQ(found->second, row[2]) << row[1];
    }
  }
  for (idgen_t* generator : generators) idgen_destroy(generator);
  char none[1] = {'x'};
  std::size_t size = sizeof none;
  EXPECT_EQ(idgen_metrics(nullptr, 0, none, &size, nullptr), IDGEN_OK);
  EXPECT_EQ(none[0], '\0');
}

}  // namespace
}  // namespace idgen
