// A worker's row in stores that keep one value a key:
// {"fence":3,"owner":"00112233445566778899aabbccddeeff","hw":1767225600000,"holder":"process 4711 on db-3"}; owner ""
// is nobody.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "idgen/text.hpp"
#include "store/nonce_text.hpp"
#include "store/worker_rows.hpp"

namespace idgen::module {

inline std::string worker_text(const WorkerRow& row) {
  return "{\"fence\":" + std::to_string(row.fence) + ",\"owner\":\"" + (row.owned ? hex_of(row.owner) : "") +
         "\",\"hw\":" + std::to_string(row.hw) +
         ",\"holder\":" + nlohmann::json(row.holder).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "}";
}

// Throws Error{store_damaged}.
inline WorkerRow parse_worker(const std::string& shown, const std::string& name_space, std::uint64_t worker,
                              const std::string& text) {
  const auto fail = [&](const char* what) {
    throw Error(Status::store_damaged, shown + ": " + worker_name(name_space, worker) + " holds " + in_quotes(text) +
                                           ", in which " + what + ". Set it right by hand");
  };
  const auto record = nlohmann::json::parse(text, nullptr, false);
  if (!record.is_object()) fail("there is no object");
  WorkerRow row;
  const auto fence = record.find("fence");
  if (fence == record.end() || !fence->is_number_unsigned() || fence->get<std::uint64_t>() == 0 ||
      fence->get<std::uint64_t>() >= kLargestNumber)
    fail("\"fence\" is no number from 1 to 2^63 - 2");
  row.fence = fence->get<std::uint64_t>();
  const auto hw = record.find("hw");
  if (hw == record.end() || !hw->is_number_integer() ||
      (hw->is_number_unsigned() && hw->get<std::uint64_t>() > kLargestNumber))
    fail("\"hw\" is no whole number of 64 bits");
  row.hw = hw->get<std::int64_t>();
  const auto owner = record.find("owner");
  if (owner == record.end() || !owner->is_string()) fail("\"owner\" is no text");
  if (const std::string hex = owner->get<std::string>(); !hex.empty()) {
    const std::optional<Nonce> nonce = nonce_of(hex);
    if (!nonce) fail("\"owner\" is no text of 32 hexadecimal digits");
    row.owner = *nonce;
    row.owned = true;
  }
  if (const auto holder = record.find("holder"); holder != record.end() && holder->is_string())
    row.holder = holder->get<std::string>();
  return row;
}

// A server's clock that shows only in some of its answers.
class ServerClock {
 public:
  void saw(std::int64_t unix_ms) { seen_ = Reading{unix_ms, Clock::now()}; }
  std::optional<std::int64_t> now_ms() const {
    if (!seen_) return std::nullopt;
    return seen_->unix_ms + std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - seen_->at).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Reading {
    std::int64_t unix_ms;
    Clock::time_point at;
  };
  std::optional<Reading> seen_;
};

}  // namespace idgen::module
