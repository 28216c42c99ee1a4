// URLs of stores that are reached over a network:
//
//     scheme://[user[:password]@]host[:port][,host[:port]...][/path][?key=value[&key=value...]]
//
// after RFC 3986, with several hosts; user, password, path and values are percent-decoded. IPv6 addresses are in
// [brackets].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idgen {

// The words of the parameter `tls`, from the weakest.
inline constexpr std::string_view kTlsModes[] = {"off", "prefer", "require", "verify-ca", "verify"};

struct StoreHost {
  std::string name;
  std::uint16_t port = 0;  // 0: the scheme's own

  // "name:port", an IPv6 address in brackets; without a port if there is none and no default is given.
  std::string text(std::uint16_t default_port = 0) const;
};

struct StoreUrl {
  std::string scheme;
  std::string user;
  std::string password;
  std::vector<StoreHost> hosts;
  std::string path;  // without the slash
  std::vector<std::pair<std::string, std::string>> parameters;

  // Throws Error{value}, whose message shows only the scheme of the URL: the rest may be a secret.
  static StoreUrl parse(std::string_view text);

  // For messages: no password, no parameters.
  std::string shown() const;
  // The same for two URLs of the same store: without user and parameters, but for a prefix.
  std::string identity() const;
};

}  // namespace idgen
