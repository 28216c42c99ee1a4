#include "store/url_parameters.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "idgen/concat.hpp"
#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

std::string listed(std::span<const std::string_view> names) {
  std::string all;
  for (const std::string_view name : names) all += concat({all.empty() ? "" : ", ", name});
  return all;
}

// Of a secret that a tool has written as a line.
std::string without_newline(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

std::string TlsTerms::if_name_differs() const {
  if (!is_name_verified() || ca.empty()) return "";
  return ". If all authorities in tls_ca are your own, tls=verify-ca accepts their certificates without a look at "
         "the host's name";
}

Parameters::Parameters(const StoreUrl& url, std::span<const std::string_view> known)
    : shown_(url.shown()), values_(url.parameters) {
  for (const auto& parameter : values_) {
    const std::string& key = parameter.first;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string_view near = nearest(key, known);
    throw Error(Status::value, concat({"store = \"", shown_, "\": unknown parameter ", in_quotes(key),
                                       near.empty() ? "" : "; did you mean '", near, near.empty() ? "" : "'?",
                                       "; known: ", listed(known)}));
  }
}

const std::string* Parameters::find(std::string_view key) const {
  const auto found =
      std::find_if(values_.rbegin(), values_.rend(), [&](const auto& each) { return each.first == key; });
  return found == values_.rend() ? nullptr : &found->second;
}

std::string Parameters::get(std::string_view key, std::string_view otherwise) const {
  const std::string* const found = find(key);
  return std::string(found == nullptr ? otherwise : *found);
}

std::string Parameters::choice(std::string_view key, std::span<const std::string_view> allowed) const {
  const std::string value = get(key, allowed.front());
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  throw Error(Status::value,
              concat({"store = \"", shown_, "\": ", key, " = ", in_quotes(value), "; allowed: ", listed(allowed)}));
}

TlsTerms Parameters::tls(std::string_view usual) const {
  std::vector<std::string_view> allowed = {usual};
  for (const std::string_view mode : kTlsModes)
    if (mode != usual && mode != "prefer") allowed.push_back(mode);
  TlsTerms terms{choice("tls", allowed), file("tls_ca")};
  if (terms.mode != "verify-ca" || !terms.ca.empty()) return terms;
  throw Error(Status::value, concat({"store = \"", shown_,
                                     "\": tls = verify-ca needs tls_ca, a file with the certificates of your own "
                                     "authority: public authorities give everyone a certificate. With theirs, use tls "
                                     "= verify, which compares the host's name too"}));
}

std::string Parameters::file(std::string_view key) const {
  const std::string path = get(key);
  if (path.empty() || access(path.c_str(), R_OK) == 0) return path;
  throw Error(Status::value, concat({"store = \"", shown_, "\": ", key, " = ", in_quotes(path),
                                     " cannot be read: ", std::generic_category().message(errno)}));
}

std::string Parameters::secret(std::string_view key, const std::string& given) const {
  const std::string variable = get(concat({key, "_env"}));
  const std::string path = get(concat({key, "_file"}));
  if (!path.empty()) {
    if (given.empty() && variable.empty()) return content(key, path);
    throw Error(Status::value, concat({"store = \"", shown_, "\": ", key, "_file, and another ", key,
                                       " beside it; give one of them"}));
  }
  if (variable.empty()) return given;
  const char* const value = ::secure_getenv(variable.c_str());
  if (value != nullptr) return without_newline(value);
  // It is an easy mistake to write the secret itself instead of the name.
  const bool is_name = std::all_of(variable.begin(), variable.end(),
                                   [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
  throw Error(Status::value, concat({"store = \"", shown_, "\": ", key, "_env names the environment variable ",
                                     is_name ? in_quotes(variable) : "(not shown, it may be the secret itself)",
                                     ", which is not set. Give the name of a variable, not the value"}));
}

bool Parameters::accepts_loss(std::string_view setting) const {
  return concat({",", get("accept_loss"), ","}).find(concat({",", setting, ","})) != std::string::npos;
}

// Retrying may help, since files are also being replaced.
std::string Parameters::content(std::string_view key, const std::string& path) const {
  std::ifstream file(path, std::ios::binary);
  const bool is_open = file.is_open();
  const int why = errno;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = without_newline(std::move(text));
  if (is_open && !file.bad() && !text.empty()) return text;
  const std::string problem = !is_open     ? concat({" cannot be opened: ", std::generic_category().message(why)})
                              : file.bad() ? " cannot be read"
                                           : " is empty";
  throw Error(Status::store_permission, concat({shown_, ": ", key, "_file = ", in_quotes(path), problem}));
}

}  // namespace idgen
