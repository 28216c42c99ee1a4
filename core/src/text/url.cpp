#include "idgen/url.hpp"

#include <algorithm>
#include <charconv>

#include "idgen/status.hpp"
#include "text/url_forms.hpp"

namespace idgen {
namespace {

// The characters that RFC 3986 allows in a scheme. Anything else before a colon may be part of a secret.
bool is_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
  });
}

[[noreturn]] void fail(const std::string& scheme, const std::string& what) {
  throw Error(Status::value, concat({"store = \"", scheme, "://...\": ", what, "; allowed: ", scheme,
                                     "://[USER[:PASSWORD]@]HOST[:PORT][/PATH][?KEY=VALUE&...], with %XX for special "
                                     "characters (%40 for @ in a password)"}));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(const std::string& scheme, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0)
      fail(scheme, "a % is followed by something other than two hexadecimal digits");
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

// For people: as in a URL, and cut off where a password may begin that was encoded too often, or written as others do:
// `DATABASE;password=...`.
std::string shown_part(const std::string& text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  const std::size_t end = text.find_first_of(":@;=");
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%') {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + (end == std::string::npos ? "" : "...");
}

// A name, an address or a socket's path; "" is reported separately.
bool can_be_host(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c > 0x20 && c < 0x7F && std::string_view("?#@\"'\\").find(c) == std::string_view::npos;
  });
}

StoreHost host_of(const std::string& scheme, std::string_view text) {
  StoreHost host;
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) fail(scheme, "an IPv6 address has no closing bracket");
    host.name = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':') fail(scheme, "after an IPv6 address only :PORT may follow");
  } else {
    const std::size_t colon = text.find(':');
    host.name = decoded(scheme, text.substr(0, colon));
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (!port.empty()) {
    port.remove_prefix(1);
    unsigned number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65535)
      fail(scheme, "a port is not a number from 1 to 65535");
    host.port = static_cast<std::uint16_t>(number);
  }
  return host;
}

std::string hosts_text(const std::vector<StoreHost>& hosts) {
  std::string text;
  for (const StoreHost& host : hosts) text += (text.empty() ? "" : ",") + host.text();
  return text;
}

}  // namespace

std::string StoreHost::text(std::uint16_t default_port) const {
  const std::string shown = name.find(':') == std::string::npos ? name : "[" + name + "]";
  const std::uint16_t wanted = port == 0 ? default_port : port;
  return wanted == 0 ? shown : shown + ":" + std::to_string(wanted);
}

StoreUrl StoreUrl::parse(std::string_view text) {
  StoreUrl url;
  const std::string_view scheme = plain_scheme(text);
  const bool is_encrypted = text.starts_with("rediss:");
  const std::size_t colon = text.find(':');
  if (is_scheme(scheme)) url.scheme = scheme;
  if (colon == std::string_view::npos || text.substr(colon, 3) != "://") fail(url.scheme, "it lacks ://");
  text.remove_prefix(colon + 3);
  // If a password contains a bare / or ?, its beginning would be taken for a host, and shown.
  const std::size_t behind_hosts = text.find_first_of("/?");
  if (behind_hosts != std::string_view::npos && text.find('@', behind_hosts) != std::string_view::npos)
    fail(url.scheme, "an @ follows a / or ?");

  const std::size_t question = text.find('?');
  if (question != std::string_view::npos) {
    for (std::string_view rest = text.substr(question + 1); !rest.empty();) {
      const std::size_t ampersand = std::min(rest.find('&'), rest.size());
      const std::string_view pair = rest.substr(0, ampersand);
      const std::size_t equals = pair.find('=');
      if (equals == 0 || equals == std::string_view::npos) fail(url.scheme, "a parameter is not of the form KEY=VALUE");
      url.parameters.emplace_back(decoded(url.scheme, pair.substr(0, equals)),
                                  decoded(url.scheme, pair.substr(equals + 1)));
      rest.remove_prefix(std::min(ampersand + 1, rest.size()));
    }
    text = text.substr(0, question);
  }
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    url.path = decoded(url.scheme, text.substr(slash + 1));
    text = text.substr(0, slash);
  }
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view who = text.substr(0, at);
    const std::size_t between = who.find(':');
    url.user = decoded(url.scheme, who.substr(0, between));
    if (between != std::string_view::npos) url.password = decoded(url.scheme, who.substr(between + 1));
    text.remove_prefix(at + 1);
  }
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    url.hosts.push_back(host_of(url.scheme, text.substr(0, comma)));
    if (comma + 1 == text.size()) fail(url.scheme, "a host is missing");
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  const std::pair<std::string, std::string> verify("tls", "verify"), verify_ca("tls", "verify-ca");
  if (is_encrypted && std::ranges::find(url.parameters, verify_ca) == url.parameters.end())
    url.parameters.push_back(verify);
  translate_parameters(url);
  if (url.hosts.empty()) {
    for (const auto& [key, value] : url.parameters)
      if (key == "socket") url.hosts = {{"localhost", 0}};
  }
  if (url.hosts.empty()) fail(url.scheme, "a host is missing");
  for (const StoreHost& host : url.hosts) {
    if (host.name.empty()) fail(url.scheme, "a host is missing");
    if (!can_be_host(host.name)) fail(url.scheme, "a host is neither a name nor an address nor a path");
  }
  return url;
}

std::string StoreUrl::shown() const {
  return scheme + "://" + (user.empty() ? "" : shown_part(user) + "@") + hosts_text(hosts) +
         (path.empty() ? "" : "/" + shown_part(path));
}

std::string StoreUrl::identity() const {
  const std::string server = scheme == "mariadb" ? "mysql" : scheme;
  std::string text = server + "://" + hosts_text(hosts) + (path.empty() ? "" : "/" + path);
  for (const auto& [key, value] : parameters)
    if (key == "prefix") text += "?prefix=" + value;
  return text;
}

}  // namespace idgen
