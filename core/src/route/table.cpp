// Tables: what makes one valid, and its text.
#include <algorithm>
#include <charconv>
#include <set>

#include "idgen/router.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

[[noreturn]] void refuse(std::initializer_list<Part> reason) { throw Error(Status::value, concat(reason)); }

void check_header(const RouteData& data) {
  if (data.version == 0 || data.version > RouteTable::kLastVersion) {
    refuse({"version ", data.version, " is out of range; 1 to ", RouteTable::kLastVersion,
            " are allowed, and each table has a higher one than the table before"});
  }
  if (data.bits == 0 || data.bits > RouteTable::kMostBits) {
    refuse({"bits ", data.bits, " is out of range; a ring has 2^1 to 2^", RouteTable::kMostBits,
            " nodes, as many as an id's gene has values"});
  }
}

void check_shards(const std::vector<std::string>& shards) {
  if (shards.empty()) refuse({"there are no shards; name at least one"});
  if (shards.size() > RouteTable::kMostShards) {
    refuse({"there are ", shards.size(), " shards; at most ", RouteTable::kMostShards, " are allowed"});
  }
  std::set<std::string_view> seen;
  for (const std::string& name : shards) {
    if (name.empty()) refuse({"a shard has an empty name; give it one of 1 to 128 bytes"});
    if (name.size() > RouteTable::kLongestName) {
      refuse({"the name of shard ", quote(name), " has ", name.size(), " bytes; at most ", RouteTable::kLongestName,
              " are allowed"});
    }
    const bool is_plain =
        std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7F && c != '"' && c != '\\'; });
    if (!is_plain) {
      refuse({"the name of shard ", quote(name),
              " has a blank, a quote, a backslash or a character that is not ASCII; use letters, digits and signs "
              "such as - _ . : /"});
    }
    if (!seen.insert(name).second) refuse({"shard ", quote(name), " is named twice; each has a name of its own"});
  }
}

void check_shard(const RouteData& data, std::uint32_t shard, const std::string& where) {
  if (shard < data.shards.size()) return;
  refuse({where, " has shard number ", shard, "; there are ", data.shards.size(), ", numbered from 0"});
}

void check_ranges(const RouteData& data) {
  const std::uint32_t last_node = (1u << data.bits) - 1;
  if (data.ranges.empty()) refuse({"there are no ranges; the last one must end at node ", last_node});
  for (std::size_t i = 0; i < data.ranges.size(); ++i) {
    const RouteRange& range = data.ranges[i];
    const std::string where = "range " + std::to_string(i + 1) + ", up to node " + std::to_string(range.upto) + ",";
    check_shard(data, range.shard, where);
    if (range.upto > last_node) {
      refuse({where, " is beyond the ring of 2^", data.bits, " nodes, whose last is ", last_node});
    }
    if (i == 0) continue;
    const std::uint32_t before = data.ranges[i - 1].upto;
    if (range.upto == before) refuse({where, " ends where the one before ends; each node has one owner"});
    if (range.upto < before) {
      refuse({where, " comes after one up to node ", before, "; write the ranges in ascending order"});
    }
  }
  const std::uint32_t end = data.ranges.back().upto;
  if (end != last_node) {
    refuse({"the ring has a gap: the last range ends at node ", end, ", and nodes ", nodes_text(end + 1, last_node),
            " have no shard; the last range of a ring of 2^", data.bits, " nodes ends at ", last_node});
  }
}

void check_move(const RouteData& data, const RouteMove& move) {
  const std::uint32_t last_node = (1u << data.bits) - 1;
  const std::string where = "the move of nodes " + nodes_text(move.first, move.last);
  if (move.first > move.last) refuse({where, " ends before it begins"});
  if (move.last > last_node) refuse({where, " goes beyond the ring, whose last node is ", last_node});
  check_shard(data, move.to, where);
  if (move.share > RouteTable::kWholeShare) {
    refuse({where, " has a share of ", move.share, " ten-thousandths; 0 to 10000 are allowed"});
  }
  const auto from = [](const RouteRange& range, std::uint32_t node) { return range.upto < node; };
  auto range = std::lower_bound(data.ranges.begin(), data.ranges.end(), move.first, from);
  for (;; ++range) {
    if (range->shard == move.to) {
      const std::uint32_t first = range == data.ranges.begin() ? 0 : std::prev(range)->upto + 1;
      refuse({where, " goes to ", quote(data.shards[move.to]), ", which already owns nodes ",
              nodes_text(std::max(first, move.first), std::min(range->upto, move.last)),
              "; name only nodes of other shards"});
    }
    if (range->upto >= move.last) return;
  }
}

void check_moves(const RouteData& data) {
  for (std::size_t i = 0; i < data.moves.size(); ++i) {
    const RouteMove& move = data.moves[i];
    check_move(data, move);
    if (i == 0) continue;
    const RouteMove& before = data.moves[i - 1];
    if (move.first <= before.last) {
      refuse({"the moves of nodes ", nodes_text(before.first, before.last), " and ", nodes_text(move.first, move.last),
              " overlap; a node moves to one shard at a time"});
    }
  }
}

}  // namespace

RouteTable::RouteTable(RouteData data) : data_(std::move(data)) {
  check_header(data_);
  check_shards(data_.shards);
  check_ranges(data_);
  std::sort(data_.moves.begin(), data_.moves.end(),
            [](const RouteMove& a, const RouteMove& b) { return a.first < b.first; });
  check_moves(data_);
  // Of neighbours of one shard the last stays: it is the one whose end counts.
  std::vector<RouteRange> merged;
  for (const RouteRange& range : data_.ranges) {
    if (!merged.empty() && merged.back().shard == range.shard) {
      merged.back().upto = range.upto;
    } else {
      merged.push_back(range);
    }
  }
  data_.ranges = std::move(merged);
}

std::string RouteTable::text() const {
  std::string out =
      "# Which shard has which nodes of the ring: docs/routing.md of idgen. Each change raises the version.\n";
  out += "version = " + std::to_string(data_.version) + "\nbits = " + std::to_string(data_.bits) + "\nshards = [";
  for (std::size_t i = 0; i < data_.shards.size(); ++i)
    out.append(i == 0 ? "\"" : ", \"").append(data_.shards[i]).append("\"");
  out += "]\n";
  for (const RouteMove& move : data_.moves) {
    out += "\n[[move]]\nnodes = \"" + nodes_text(move.first, move.last) + "\"\nto = \"" + data_.shards[move.to] +
           "\"\nshare = \"" + share_text(move.share) + "\"\n";
  }
  for (const RouteRange& range : data_.ranges) {
    out += "\n[[range]]\nupto = " + std::to_string(range.upto) + "\nshard = \"" + data_.shards[range.shard] + "\"\n";
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ shares and nodes

std::string share_text(std::uint32_t share) {
  std::string out = std::to_string(share / 100);
  if (const std::uint32_t rest = share % 100; rest != 0) {
    out += '.';
    out += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) out += static_cast<char>('0' + rest % 10);
  }
  return out + "%";
}

std::optional<std::uint32_t> parse_share(std::string_view text) noexcept {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  std::uint32_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [point, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole > 100 || point - text.data() > 3) return std::nullopt;
  std::uint32_t share = whole * 100;
  if (point != end) {
    const std::string_view digits(point, static_cast<std::size_t>(end - point));
    if (digits.size() < 2 || digits.size() > 3 || digits[0] != '.') return std::nullopt;
    for (std::size_t i = 1, worth = 10; i < digits.size(); ++i, worth /= 10) {
      if (digits[i] < '0' || digits[i] > '9') return std::nullopt;
      share += static_cast<std::uint32_t>((digits[i] - '0') * static_cast<int>(worth));
    }
  }
  return share <= RouteTable::kWholeShare ? std::optional(share) : std::nullopt;
}

std::string nodes_text(std::uint32_t first, std::uint32_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_nodes(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  std::uint64_t first = 0;
  const auto [dash, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc()) return std::nullopt;
  if (dash == end) return std::pair(first, first);
  if (*dash != '-') return std::nullopt;
  std::uint64_t last = 0;
  const auto [stop, wrong] = std::from_chars(dash + 1, end, last);
  if (wrong != std::errc() || stop != end) return std::nullopt;
  return std::pair(first, last);
}

}  // namespace idgen
