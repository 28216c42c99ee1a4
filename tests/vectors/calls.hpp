// The answer of the C border to a row of calls.tsv. Shared by the test that compares and the tool that records.
#pragma once

#include <idgen/admin.h>
#include <idgen/host.h>
#include <idgen/idgen.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "vectors/bad_input.hpp"

namespace idgen::vectors {

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Sets what a row gives, NAME=VALUE, with "; " between. The store HOST is one of the program's own.
inline int set_properties(idgen_config_t* config, const std::string& properties, idgen_error_t* error) {
  std::istringstream parts(properties);
  for (std::string part; std::getline(parts >> std::ws, part, ';');) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    int status = IDGEN_OK;
    if (value == "HOST") {
      idgen_store_t store = {};
      store.struct_size = sizeof store;
      store.segment_take = [](auto...) -> idgen_status_t { return IDGEN_E_HOST; };
      status = idgen_config_set_store(config, &store, nullptr, error);
    } else {
      status = idgen_config_set(config, key.c_str(), value.c_str(), error);
    }
    if (status != IDGEN_OK) return status;
  }
  return IDGEN_OK;
}

// The rows are answered in their order, by one object.
class Calls {
 public:
  // An empty folder, and that of the vectors.
  Calls(std::string folder, std::string vectors) : folder_(std::move(folder)), vectors_(std::move(vectors)) {}

  Outcome answer(const std::vector<std::string>& row) {
    const std::string argument = filled(row.at(2));
    if (row.at(0) == "remove") {
      if (!std::filesystem::remove(argument)) throw std::runtime_error("there is no " + argument);
      return {"OK", ""};
    }
    if (row.at(0) == "spoil") {
      std::ofstream file(argument);
      for (int line = 0; line < 1000; ++line) file << "this is no database\n";
      return {"OK", ""};
    }
    idgen_error_t error = IDGEN_ERROR_INIT;
    idgen_config_t* config = nullptr;
    std::string answer;
    int status = idgen_config_create(&config, &error);
    if (status == IDGEN_OK) status = set_properties(config, filled(row.at(1)), &error);
    if (status == IDGEN_OK) status = call(row.at(0), config, argument, answer, error);
    idgen_config_destroy(config);
    if (status != IDGEN_OK) answer = error.message;
    return {idgen_status_name(status), replaced(replaced(answer, folder_, "FOLDER"), vectors_, "VECTORS")};
  }

 private:
  std::string filled(const std::string& text) const {
    return replaced(replaced(text, "FOLDER", folder_), "VECTORS", vectors_);
  }

  static int draw(const idgen_config_t* config, const std::string& count, std::string& answer, idgen_error_t& error) {
    idgen_t* generator = nullptr;
    if (const int status = idgen_create(config, &generator, &error)) return status;
    std::vector<std::uint64_t> ids(count.empty() ? 0 : std::stoul(count));
    std::size_t written = 0;
    const int status = ids.empty() ? IDGEN_OK : idgen_next_batch(generator, ids.data(), ids.size(), &written, &error);
    for (const std::uint64_t id : ids) answer += (answer.empty() ? "" : " ") + std::to_string(id);
    idgen_destroy(generator);
    return status;
  }

  static int call(const std::string& name, idgen_config_t* config, const std::string& argument, std::string& answer,
                  idgen_error_t& error) {
    const std::size_t blank = argument.find(' ');
    const std::string first = argument.substr(0, blank);
    const std::string second = blank == std::string::npos ? "" : argument.substr(blank + 1);
    char text[16384];
    std::size_t size = sizeof text;
    idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
    int status = IDGEN_OK;
    if (name == "open") return draw(config, argument, answer, error);
    if (name == "open_table") {
      status = idgen_config_load(config, first.c_str(), second.c_str(), &error);
      return status ? status : draw(config, "", answer, error);
    }
    if (name == "names") {
      status = idgen_config_names(argument.c_str(), text, &size, &error);
      if (status == IDGEN_OK) answer = replaced(std::string(text, size - 2), "\n", ", ");  // without the last \n and \0
    } else if (name == "create_store") {
      status = idgen_store_create(config, &error);
    } else if (name == "create") {
      status = argument.empty() ? idgen_segment_create(config, &error)
                                : idgen_segment_create_above(config, std::stoull(argument), &error);
    } else if (name == "list") {
      const auto add = [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t* row) {
        std::string& rows = *static_cast<std::string*>(to);
        rows += (rows.empty() ? "" : ", ") + std::string(name_space) + " " + tag + " " + std::to_string(row->max_id);
      };
      status = idgen_segment_list(config, add, &answer, &error);
    } else if (name == "statements") {
      status = idgen_segment_statements(config, text, &size, &error);
      answer = status == IDGEN_OK ? text : "";
      if (!answer.empty()) answer = answer.substr(answer.rfind("INSERT"), answer.rfind(", ") - answer.rfind("INSERT"));
    } else if (name == "max_of") {
      std::uint64_t most = 0;
      status = idgen_segment_max_of(config, first.c_str(), second.c_str(), &most, &error);
    } else {
      status = name == "show"       ? idgen_segment_show(config, &info, &error)
               : name == "advance"  ? idgen_segment_advance(config, std::stoull(argument), &info, &error)
               : name == "set_step" ? idgen_segment_set_step(config, std::stoull(argument), &info, &error)
                                    : throw std::runtime_error("there is no call " + name);
      answer = std::to_string(info.max_id) + " " + std::to_string(info.step);
      if (info.rate == 0 && !*info.holder) answer += " unused";
    }
    return status;
  }

  const std::string folder_, vectors_;
};

}  // namespace idgen::vectors
