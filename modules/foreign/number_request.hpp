// What stores with rows of another generator's workers share; the rules are in foreign/number_rules.hpp.
#pragma once

#include <chrono>
#include <string>

#include "foreign/number_rules.hpp"
#include "module.hpp"

namespace idgen::module {

// A request, at any later moment: connecting may have taken seconds.
class RequestNow {
 public:
  explicit RequestNow(const NumberRequest& request) : request_(request), begun_(Clock::now()) {}

  NumberRequest now() const {
    NumberRequest request = request_;
    request.now_ms += std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_).count();
    return request;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const NumberRequest& request_;
  const Clock::time_point begun_;
};

inline std::string number_text(std::int64_t number) { return std::to_string(number); }

// Base, a store, with such rows beside its own: Server, a connection, has numbers() with claim(), keep() and release().
template <class Base, class Server>
class WithNumbers : public Base, public NumberStore {
 public:
  using Base::Base;

  ClaimedNumber number_claim(const NumberRequest& request) override {
    const RequestNow asked(request);
    return this->use([&](Server& server) { return server.numbers().claim(server, asked); });
  }
  ClaimedNumber number_keep(const NumberRequest& request, const ClaimedNumber& held) override {
    const RequestNow asked(request);
    return this->use([&](Server& server) { return server.numbers().keep(server, asked.now(), held); });
  }
  void number_release(const NumberRequest& request, const ClaimedNumber& held,
                      std::optional<std::int64_t> used_ms) override {
    const RequestNow asked(request);
    this->use([&](Server& server) { server.numbers().release(server, asked.now(), held, used_ms); });
  }
};

}  // namespace idgen::module
