// URLs of stores, whose passwords are in no message.
#include "fuzz.hpp"
#include "idgen/url.hpp"

void idgen::fuzz::read(std::string_view input) {
  constexpr std::string_view kSecret = "c0rrectHorse";
  if (input.find(kSecret) != input.npos) return;  // its user, or a host, may be called that
  std::string text(input);
  if (const std::size_t at = text.find('@'); at != std::string::npos) text.insert(at, kSecret);
  std::optional<StoreUrl> url;
  try {
    url = StoreUrl::parse(text);
  } catch (const Error& error) {
    expect_message(error.message());
    expect(error.message().find(kSecret) == std::string::npos, "a refused URL is not shown");
    return;
  }
  expect(!url->hosts.empty(), "a URL has a host");
  if (url->password.find(kSecret) == std::string::npos) return;  // what comes before the @ is all a user
  expect(url->shown().find(kSecret) == std::string::npos, "no password in messages");
  expect(url->identity().find(kSecret) == std::string::npos, "no password in what a store is recognised by");
}
