// The parameters of a URL, ?key=value&..., checked: an unknown key is an error, and secrets may be in an environment
// variable.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  std::string if_name_differs() const;
};

class Parameters {
 public:
  // Throws Error{value} for a key that is not known, naming the nearest.
  Parameters(const StoreUrl& url, std::span<const std::string_view> known);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::string get(std::string_view key, std::string_view otherwise = {}) const;
  std::string choice(std::string_view key, std::span<const std::string_view> allowed) const;

  // `usual` without a word: "prefer" where the protocol knows it, "off" elsewhere.
  TlsTerms tls(std::string_view usual) const;
  // The name of a file that the client library will read. Checked, because the library may not say what it has not
  // found.
  std::string file(std::string_view key) const;
  // `given`, or what is now in the file that the parameter KEY_file names, or in the environment variable that KEY_env
  // names. Asked for with each connection, so that a file can be replaced while the program runs.
  std::string secret(std::string_view key, const std::string& given) const;
  // Settings of the server that the URL accepts although they can lose a commit: accept_loss=a,b.
  bool accepts_loss(std::string_view setting) const;

 private:
  const std::string* find(std::string_view key) const;
  std::string content(std::string_view key, const std::string& path) const;

  std::string shown_;
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace idgen
