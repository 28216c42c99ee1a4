#include "audit_shards.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr int kMostTerms = 100'000;
constexpr double kEnough = 1e-15;  // relative change of a sum that is near its limit

// P(a, x) by its power series, which converges fast below a + 1 (DLMF 8.7.1).
double lower_by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostTerms && term > sum * kEnough; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// Q(a, x) by its continued fraction, which converges fast above a + 1 (DLMF 8.9.2), evaluated from the front (Lentz).
double upper_by_fraction(double a, double x) {
  constexpr double tiny = std::numeric_limits<double>::min() / kEnough;
  const auto never_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double b = x + 1 - a;
  double c = 1 / tiny;
  double d = 1 / never_zero(b);
  double value = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / never_zero(b + numerator * d);
    c = never_zero(b + numerator / c);
    value *= c * d;
    if (std::abs(c * d - 1) < kEnough) break;
  }
  return value * std::exp(a * std::log(x) - x - std::lgamma(a));
}

}  // namespace

double chance_of(double chi_squared, std::uint64_t degrees) {
  if (degrees == 0 || chi_squared <= 0) return 1;
  const double a = static_cast<double>(degrees) / 2, x = chi_squared / 2;
  const double q = x < a + 1 ? 1 - lower_by_series(a, x) : upper_by_fraction(a, x);
  return std::clamp(q, 0.0, 1.0);
}

Evenness evenness_of(const std::vector<std::uint64_t>& counts, const std::vector<double>& weights) {
  Evenness out;
  const double ids = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (ids == 0 || weight <= 0) return out;
  out.fullest = 0;
  out.emptiest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = ids * weights[i] / weight;
    const double difference = static_cast<double>(counts[i]) - expected;
    out.is_enough = out.is_enough && expected >= 5;
    out.chi_squared += difference * difference / expected;
    out.fullest = std::max(out.fullest, static_cast<double>(counts[i]) / expected);
    out.emptiest = std::min(out.emptiest, static_cast<double>(counts[i]) / expected);
  }
  out.degrees = counts.size() - 1;
  out.p = chance_of(out.chi_squared, out.degrees);
  return out;
}

std::string sentence_of(const Evenness& evenness) {
  if (evenness.degrees == 0) return "there is only one shard";
  if (!evenness.is_enough) return "too few ids to say: fewer than five for a shard";
  if (evenness.p > 0.999) return "more even than chance would make it";
  if (evenness.p >= 0.001) return "as even as chance would make it";
  if (evenness.fullest < 1.1 && evenness.emptiest > 0.9)
    return "not by chance, but no shard is off by a tenth: harmless";
  return "uneven, and not by chance";
}

}  // namespace idgen_tool
