// The parameters of a URL, ?key=value&..., checked: an unknown key is an error, and secrets may be in an environment
// variable.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "idgen/url.hpp"

namespace idgen {

// What `tls` and `tls_ca` say.
struct TlsTerms {
  std::string mode;  // one of kTlsModes
  std::string ca;    // a file of certificates; "": the system's

  bool is_required() const { return mode != "off" && mode != "prefer"; }
  bool is_verified() const { return is_name_verified() || mode == "verify-ca"; }
  bool is_name_verified() const { return mode == "verify"; }
  // To be added to a message that the certificate is not for the host. With the system's authorities, the name is all
  // that tells one server from another.
  std::string if_name_differs() const {
    if (!is_name_verified() || ca.empty()) return "";
    return ". If all authorities in tls_ca are your own, tls=verify-ca accepts their certificates without a look at "
           "the host's name";
  }
};

class Parameters {
 public:
  // Throws Error{value} for a key that is not known, naming the nearest.
  Parameters(const StoreUrl& url, std::span<const std::string_view> known) : shown_(url.shown()) {
    for (const auto& [key, value] : url.parameters) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        std::string all;
        for (const std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
        const std::string_view near = nearest(key, known);
        throw Error(Status::value, "store = \"" + shown_ + "\": unknown parameter " + in_quotes(key) +
                                       (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?") +
                                       "; known: " + all);
      }
      values_[key] = value;
    }
  }

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  std::string get(const std::string& key, const std::string& otherwise = "") const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : found->second;
  }
  std::string choice(const std::string& key, std::span<const std::string_view> allowed) const {
    const std::string value = get(key, std::string(allowed.front()));
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
    std::string all;
    for (const std::string_view name : allowed) all += (all.empty() ? "" : ", ") + std::string(name);
    throw Error(Status::value, "store = \"" + shown_ + "\": " + key + " = " + in_quotes(value) + "; allowed: " + all);
  }

  // `usual` without a word: "prefer" where the protocol knows it, "off" elsewhere.
  TlsTerms tls(std::string_view usual) const {
    std::vector<std::string_view> allowed = {usual};
    for (const std::string_view mode : kTlsModes)
      if (mode != usual && mode != "prefer") allowed.push_back(mode);
    TlsTerms terms{choice("tls", allowed), file("tls_ca")};
    if (terms.mode != "verify-ca" || !terms.ca.empty()) return terms;
    throw Error(Status::value, "store = \"" + shown_ +
                                   "\": tls = verify-ca needs tls_ca, a file with the certificates of your own "
                                   "authority: public authorities give everyone a certificate. With theirs, use tls = "
                                   "verify, which compares the host's name too");
  }

  // The name of a file that the client library will read. Checked, because the library may not say what it has not
  // found.
  std::string file(const std::string& key) const {
    const std::string path = get(key);
    if (path.empty() || access(path.c_str(), R_OK) == 0) return path;
    throw Error(Status::value, "store = \"" + shown_ + "\": " + key + " = " + in_quotes(path) +
                                   " cannot be read: " + std::generic_category().message(errno));
  }

  // `given`, or what is now in the file that the parameter KEY_file names, or in the environment variable that KEY_env
  // names. Asked for with each connection, so that a file can be replaced while the program runs.
  std::string secret(const std::string& key, const std::string& given) const {
    const std::string variable = get(key + "_env");
    const std::string path = get(key + "_file");
    if (!path.empty()) {
      if (given.empty() && variable.empty()) return content(key, path);
      throw Error(Status::value,
                  "store = \"" + shown_ + "\": " + key + "_file, and another " + key + " beside it; give one of them");
    }
    if (variable.empty()) return given;
    const char* const value = ::secure_getenv(variable.c_str());
    if (value != nullptr) return without_newline(value);
    // It is an easy mistake to write the secret itself instead of the name.
    const bool is_name = std::all_of(variable.begin(), variable.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    throw Error(Status::value, "store = \"" + shown_ + "\": " + key + "_env names the environment variable " +
                                   (is_name ? in_quotes(variable) : "(not shown, it may be the secret itself)") +
                                   ", which is not set. Give the name of a variable, not the value");
  }

  // Settings of the server that the URL accepts although they can lose a commit: accept_loss=a,b.
  bool accepts_loss(std::string_view setting) const {
    const std::string list = "," + get("accept_loss") + ",";
    return list.find("," + std::string(setting) + ",") != std::string::npos;
  }

 private:
  // Of a secret that a tool has written as a line.
  static std::string without_newline(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  }
  // Retrying may help, since files are also being replaced.
  std::string content(const std::string& key, const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    const bool is_open = file.is_open();
    const int why = errno;
    std::string text{std::istreambuf_iterator<char>(file), {}};
    text = without_newline(std::move(text));
    if (is_open && !file.bad() && !text.empty()) return text;
    throw Error(Status::store_permission,
                shown_ + ": " + key + "_file = " + in_quotes(path) +
                    (is_open ? file.bad() ? std::string(" cannot be read") : std::string(" is empty")
                             : " cannot be opened: " + std::generic_category().message(why)));
  }

  std::string shown_;
  std::map<std::string, std::string> values_;
};

}  // namespace idgen
