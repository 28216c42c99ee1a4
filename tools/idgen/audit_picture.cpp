#include "audit_picture.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "svg_parts.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

// Lengths in units of the picture, about a pixel each.
constexpr double kLeft = 96;
constexpr double kRight = 24;
constexpr double kPlot = 840;
constexpr double kRateHeight = 170;
constexpr double kStripHeight = 14;
constexpr double kCourseHeight = 240;
constexpr double kLine = 18;
constexpr std::size_t kPoints = 120;  // of a rate
constexpr std::size_t kMarkedSteps = 5;
constexpr std::size_t kListed = 6;
constexpr std::size_t kColumns = 130;  // of a line of text

constexpr const char* kStyle = R"(  .strong { font-weight: bold; }
  .area { stroke-width: 0.5; stroke: #ffffff; }
  .s0 { fill: #2f7fd1; }
  .s1 { fill: #3a9d5d; }
  .s2 { fill: #9a6bd0; }
  .s3 { fill: #27a0b3; }
  .s4 { fill: #c9a227; }
  .s5 { fill: #8c7462; }
  .others { fill: #b0b7bf; }
  .course { fill: #2f7fd1; fill-opacity: 0.85; stroke: #2f7fd1; stroke-width: 1.5; stroke-linejoin: round; }
  .twice { fill: #d1242f; }
  .copy { fill: #d1242f; stroke: #ffffff; stroke-width: 0.7; }
  .join { stroke: #d1242f; stroke-width: 0.8; stroke-opacity: 0.35; }
  .step { stroke: #c2571a; stroke-dasharray: 4 3; }
  .steptext { fill: #c2571a; }
  .bad { fill: #d1242f; font-weight: bold; }
  .good { fill: #1a7f37; font-weight: bold; }
  .strip { fill: #f0f2f4; }
  @media (prefers-color-scheme: dark) {
    .area { stroke: #0d1117; }
    .copy { fill: #ff6b66; stroke: #0d1117; }
    .join { stroke: #ff6b66; }
    .twice { fill: #ff6b66; }
    .bad { fill: #ff6b66; }
    .good { fill: #3fb950; }
    .step { stroke: #e8894f; }
    .steptext { fill: #e8894f; }
    .strip { fill: #1b222c; }
  }
)";

std::string short_count(double count) {
  if (count >= 1e9) return fixed(count / 1e9, count < 1e10 ? 1 : 0) + " G";
  if (count >= 1e6) return fixed(count / 1e6, count < 1e7 ? 1 : 0) + " M";
  if (count >= 10 || count == std::floor(count)) return grouped(static_cast<std::uint64_t>(std::llround(count)));
  return fixed(count, 1);
}

// Distances of lines in time that a person counts in.
double time_step(double ms, double lines) {
  constexpr double s = 1000, min = 60 * s, h = 60 * min, day = 24 * h;
  for (const double step :
       {1.0,    2.0,    5.0,    10.0,    20.0,    50.0,     100.0,    200.0,    500.0,     s,        2 * s, 5 * s,
        10 * s, 15 * s, 30 * s, min,     2 * min, 5 * min,  10 * min, 15 * min, 30 * min,  h,        2 * h, 3 * h,
        6 * h,  12 * h, day,    2 * day, 7 * day, 14 * day, 30 * day, 91 * day, 182 * day, 365 * day}) {
    if (ms / step <= lines) return step;
  }
  return step_of(ms / (365 * day), lines) * 365 * day;
}

// As much of the instant as lines at this distance need: "14:05", "14:05:30.250", "2026-03-01".
std::string time_label(double unix_ms, double step) {
  const std::string full = instant(static_cast<std::int64_t>(unix_ms));
  if (full.size() < 24) return full;
  if (step >= 86'400'000) return full.substr(0, 10);
  return full.substr(11, step >= 60'000 ? 5 : step >= 1000 ? 8 : 12);
}

std::string span_of_ms(double ms) {
  if (ms < 1000) return fixed(ms, 0) + " ms";
  if (ms < 120'000) return fixed(ms / 1000, 1) + " s";
  if (ms < 7'200'000) return fixed(ms / 60'000, 1) + " min";
  if (ms < 172'800'000) return fixed(ms / 3'600'000, 1) + " h";
  return fixed(ms / 86'400'000, 1) + " days";
}

class Painter {
 public:
  explicit Painter(const AuditResult& result) : result_(result), space_(result.space), sorted_(*result.sorted) {}

  std::string picture() {
    head();
    if (space_.has_time()) draw_rates();
    draw_course();
    list_findings();
    return svg_page(kLeft + kPlot + kRight, y_ + 8, title_, spoken_, kStyle, body_);
  }

 private:
  void head() {
    for (const DumpSummary& dump : result_.dumps) {
      const std::size_t slash = dump.name.rfind('/');
      title_ +=
          (title_.empty() ? "" : ", ") + one_line(slash == dump.name.npos ? dump.name : dump.name.substr(slash + 1));
    }
    if (title_.size() > 80) title_ = title_.substr(0, 78) + "..";
    body_ += text_at(24, 32, "title", title_);
    std::string counts = grouped(result_.flow.ids()) + (result_.flow.ids() == 1 ? " id" : " ids");
    if (space_.has_time()) {
      counts += " of " + grouped(sorted_.worker_count()) + (sorted_.worker_count() == 1 ? " worker" : " workers") +
                ", " + instant(space_.unix_ms_of(result_.flow.first_likely())).substr(0, 19) + " to " +
                instant(space_.unix_ms_of(result_.flow.last_likely())).substr(0, 19) + " UTC";
    } else {
      counts += ", from " + std::to_string(space_.id_of(sorted_.least())) + " to " +
                std::to_string(space_.id_of(sorted_.largest()));
    }
    const bool is_good = sorted_.duplicated() == 0;
    const std::string verdict = is_good ? "no id came twice" : grouped(sorted_.duplicated()) + " came more than once";
    body_ += "<text" + at("x", 24) + at("y", 54) + "><tspan class=\"faint\">" + escaped(counts) +
             ":</tspan> <tspan class=\"" + (is_good ? "good" : "bad") + "\">" + verdict + "</tspan></text>\n";
    spoken_ = counts + ": " + verdict;
    y_ = 78;
  }

  double x_of_ms(double ms) const {
    const double first = static_cast<double>(space_.unix_ms_of(result_.flow.first_likely()));
    const double last = static_cast<double>(space_.unix_ms_of(result_.flow.last_likely() + 1));
    return kLeft + (ms - first) / (last - first) * kPlot;
  }

  // Stretches side by side become one until they are few enough to be seen.
  static std::vector<double> thinned(const std::vector<std::uint64_t>& counts) {
    const std::size_t each = (counts.size() + kPoints - 1) / kPoints;
    std::vector<double> out;
    for (std::size_t i = 0; i + each <= counts.size(); i += each) {
      double sum = 0;
      for (std::size_t j = 0; j < each; ++j) sum += static_cast<double>(counts[i + j]);
      out.push_back(sum / static_cast<double>(each));
    }
    return out;
  }

  void draw_rates() {
    const Rates& rates = sorted_.rates();
    const double seconds = rates.ticks_per_stretch * static_cast<double>(space_.tick_ms()) / 1000;
    draw_legend();
    const double top = y_ + 8, bottom = top + kRateHeight;
    const std::vector<double> all = thinned(rates.all);
    const double most = std::max(*std::ranges::max_element(all) / seconds, 1e-9);
    const double step = step_of(most, 3), ceiling = std::ceil(most / step) * step;
    for (int i = 0; i * step <= ceiling * 1.000001; ++i) {
      const double y = bottom - i * step / ceiling * kRateHeight;
      body_ += line(kLeft, y, kLeft + kPlot, y, i == 0 ? "axis" : "grid") +
               text_at(kLeft - 8, y + 4, "faint end", short_count(i * step));
    }
    side_text((top + bottom) / 2, "ids per second");
    std::vector<double> below(all.size());
    const double width = kPlot / static_cast<double>(all.size());
    const auto area = [&](const std::vector<std::uint64_t>& counts, const std::string& css_class,
                          const std::string& who) {
      const std::vector<double> heights = thinned(counts);
      std::string path, back;
      for (std::size_t i = 0; i < heights.size(); ++i) {
        const double x = kLeft + static_cast<double>(i) * width;
        const double low = bottom - below[i] / seconds / ceiling * kRateHeight;
        below[i] += heights[i];
        const double high = bottom - below[i] / seconds / ceiling * kRateHeight;
        const std::string left = fixed(x, 1), right = fixed(x + width, 1);
        path += (i == 0 ? "M" : "L") + left + ' ' + fixed(high, 1) + " L" + right + ' ' + fixed(high, 1) + ' ';
        back = " L" + right + ' ' + fixed(low, 1) + " L" + left + ' ' + fixed(low, 1) + back;
      }
      body_ += "<path class=\"area " + css_class + "\" d=\"" + path + back + "Z\"><title>" + escaped(who) +
               "</title></path>\n";
    };
    if (has_others()) area(rates.others, "others", "other workers");
    for (std::size_t i = rates.shown.size(); i-- > 0;)
      area(rates.shown[i].counts, "s" + std::to_string(i), result_.worker(rates.shown[i].node));
    draw_strip(bottom + 8);
    time_axis(bottom + 8 + kStripHeight);
  }

  bool has_others() const { return sorted_.worker_count() > sorted_.rates().shown.size(); }

  void draw_legend() {
    double x = kLeft;
    const auto entry = [&](const std::string& css_class, const std::string& name) {
      body_ += rect(x, y_ - 10, 11, 11, css_class, "") + text_at(x + 16, y_, "faint", name);
      x += 34 + 6.6 * static_cast<double>(name.size());
    };
    const auto& shown = sorted_.rates().shown;
    for (std::size_t i = 0; i < shown.size(); ++i) entry("s" + std::to_string(i), result_.worker(shown[i].node));
    if (has_others())
      entry("others", grouped(sorted_.worker_count() - shown.size()) +
                          (sorted_.worker_count() - shown.size() == 1 ? " other" : " others"));
    if (sorted_.duplicated() > 0) entry("twice", "came more than once");
  }

  // How much of each stretch came more than once.
  void draw_strip(double top) {
    const Rates& rates = sorted_.rates();
    body_ += rect(kLeft, top, kPlot, kStripHeight, "strip", "");
    const double width = kPlot / static_cast<double>(rates.all.size());
    for (std::size_t i = 0; i < rates.all.size(); ++i) {
      if (rates.duplicated[i] == 0) continue;
      const double share =
          static_cast<double>(rates.duplicated[i]) / static_cast<double>(std::max<std::uint64_t>(rates.all[i], 1));
      body_ += "<rect class=\"twice\"" + at("x", kLeft + static_cast<double>(i) * width) + at("y", top) +
               at("width", width < 1 ? 1.5 : width) + at("height", kStripHeight) + " fill-opacity=\"" +
               fixed(0.35 + 0.65 * std::sqrt(std::min(share, 1.0)), 2) + "\"/>\n";
    }
    body_ += text_at(kLeft - 8, top + 11, "faint end", "twice");
  }

  void time_axis(double y) {
    const double first = static_cast<double>(space_.unix_ms_of(result_.flow.first_likely()));
    const double last = static_cast<double>(space_.unix_ms_of(result_.flow.last_likely() + 1));
    const double step = time_step(last - first, 8);
    for (double ms = std::ceil(first / step) * step; ms <= last; ms += step) {
      const double x = x_of_ms(ms);
      body_ += line(x, y, x, y + 5, "axis");
      if (x > kLeft + kPlot - 12) continue;
      body_ += text_at(x, y + 19, "faint middle", time_label(ms, step));
    }
    body_ += text_at(kLeft + kPlot, y + 36, "faint end", "time in the ids");
    y_ = y + 62;
  }

  void side_text(double y, const std::string& text) {
    body_ += "<text class=\"faint middle\" transform=\"translate(26 " + fixed(y, 1) + ") rotate(-90)\">" +
             escaped(text) + "</text>\n";
  }

  // ---- the course of the dump: from left to right its ids in their order, from bottom to top their times or numbers

  double height_of_key(std::uint64_t key) const {
    const std::uint64_t value = space_.has_time() ? space_.tick_of(key) : space_.place_of(key);
    return value <= low_ ? 0 : std::min(static_cast<double>(value - low_) / span_, 1.0);
  }

  void draw_course() {
    y_ += 16;
    const double top = y_, bottom = top + kCourseHeight;
    const auto ids = static_cast<double>(result_.flow.ids());
    const auto x_of = [&](double ordinal) { return kLeft + ordinal / ids * kPlot; };
    low_ = space_.has_time() ? result_.flow.first_likely() : space_.place_of(sorted_.least());
    const std::uint64_t high = space_.has_time() ? result_.flow.last_likely() + 1 : space_.place_of(sorted_.largest());
    span_ = std::max(static_cast<double>(high - low_), 1.0);
    body_ += text_at(kLeft, top - 10, "strong", "Ids in the order of the dump");
    value_lines(top);
    const auto y_of = [&](std::uint64_t key) { return bottom - height_of_key(key) * kCourseHeight; };
    std::string path, back;
    const auto& course = result_.flow.course();
    const auto each = static_cast<double>(result_.flow.ids_per_point());
    for (std::size_t i = 0; i < course.size(); ++i) {
      const double x = x_of(std::min((static_cast<double>(i) + 0.5) * each, ids));
      path += (i == 0 ? "M" : "L") + fixed(x, 1) + ' ' + fixed(y_of(course[i].largest), 1) + ' ';
      back = "L" + fixed(x, 1) + ' ' + fixed(y_of(course[i].least), 1) + ' ' + back;
    }
    body_ += "<path class=\"course\" d=\"" + path + back + "Z\"/>\n";
    draw_steps(top, x_of);
    for (const Finding& finding : result_.findings) {
      for (std::size_t i = 1; i < finding.marks.size(); ++i) {
        const Finding::Mark &a = finding.marks[i - 1], &b = finding.marks[i];
        if (a.key == b.key) {
          body_ += line(x_of(static_cast<double>(a.ordinal)), y_of(a.key), x_of(static_cast<double>(b.ordinal)),
                        y_of(b.key), "join");
        }
      }
    }
    for (std::size_t i = 0; i < result_.findings.size() && i < 50; ++i) {
      for (const Finding::Mark& mark : result_.findings[i].marks) {
        body_ += "<circle class=\"copy\"" + at("cx", x_of(static_cast<double>(mark.ordinal))) +
                 at("cy", y_of(mark.key)) + " r=\"3\"/>\n";
      }
    }
    number_findings(x_of, y_of);
    const double step = step_of(ids, 6);
    for (double ordinal = 0; ordinal <= ids; ordinal += step) {
      body_ += line(x_of(ordinal), bottom, x_of(ordinal), bottom + 5, "axis") +
               text_at(x_of(ordinal), bottom + 19, "faint middle", short_count(ordinal));
    }
    body_ += text_at(kLeft + kPlot, bottom + 36, "faint end", "ids of the dump, in their order");
    y_ = bottom + 66;
  }

  void value_lines(double top) {
    const double bottom = top + kCourseHeight;
    const auto one = [&](double share, const std::string& label) {
      const double y = bottom - share * kCourseHeight;
      body_ += line(kLeft, y, kLeft + kPlot, y, "grid") + text_at(kLeft - 8, y + 4, "faint end", label);
    };
    if (space_.has_time()) {
      const double first = static_cast<double>(space_.unix_ms_of(result_.flow.first_likely()));
      const double last = static_cast<double>(space_.unix_ms_of(result_.flow.last_likely() + 1));
      const double step = time_step(last - first, 5);
      for (double ms = std::ceil(first / step) * step; ms <= last; ms += step)
        one((ms - first) / (last - first), time_label(ms, step));
      side_text((top + bottom) / 2, "time in the id");
    } else {
      const double step = step_of(span_, 4), low = static_cast<double>(low_);
      const double first = std::ceil(low / step) * step;
      // Numbers far above their span have no round ones that can be told apart.
      for (int i = 0; low < 1e9 * span_ && first + i * step <= low + span_; ++i)
        one((first + i * step - low) / span_, short_count(first + i * step));
      side_text((top + bottom) / 2, "number");
    }
    body_ += line(kLeft, bottom, kLeft + kPlot, bottom, "axis") + line(kLeft, top, kLeft, bottom, "axis");
  }

  // The largest steps back of workers, if they can be seen at all.
  template <class X>
  void draw_steps(double top, const X& x_of) {
    std::vector<const StepBack*> steps;
    for (const auto& [node, all] : result_.flow.workers_with_steps()) {
      for (const StepBack& step : all.largest) steps.push_back(&step);
    }
    std::ranges::stable_sort(steps, std::greater{}, [this](const StepBack* step) { return size_of(*step, space_); });
    if (steps.size() > kMarkedSteps) steps.resize(kMarkedSteps);
    double last_label = -1000;
    for (const StepBack* step : steps) {
      const auto size = static_cast<double>(size_of(*step, space_));
      // Ranges of several processes step back all the time, a little.
      if (size < span_ / 100 || 4 * size < static_cast<double>(size_of(*steps.front(), space_))) continue;
      const double x = x_of(static_cast<double>(step->ordinal));
      body_ += line(x, top, x, top + kCourseHeight, "step");
      if (std::abs(x - last_label) < 130) continue;
      last_label = x;
      const std::string label =
          "back by " +
          (space_.has_time() ? span_of_ms(size * static_cast<double>(space_.tick_ms())) : short_count(size));
      const bool is_left = x > kLeft + kPlot - 140;
      body_ += text_at(is_left ? x - 6 : x + 6, top + 12, is_left ? "steptext end" : "steptext", label);
    }
  }

  template <class X, class Y>
  void number_findings(const X& x_of, const Y& y_of) {
    for (std::size_t i = 0; i < result_.findings.size() && i < kListed; ++i) {
      const auto& marks = result_.findings[i].marks;
      if (marks.empty()) continue;
      const Finding::Mark& mark = marks.front();
      const double x = x_of(static_cast<double>(mark.ordinal)), y = y_of(mark.key);
      body_ += "<circle class=\"twice\"" + at("cx", x) + at("cy", y - 14) + " r=\"8\"/><text" + at("x", x) +
               at("y", y - 10) + " class=\"middle\" style=\"fill:#ffffff;font-weight:bold;font-size:11px\">" +
               std::to_string(i + 1) + "</text>\n";
    }
  }

  void list_findings() {
    for (std::size_t i = 0; i < result_.findings.size() && i < kListed; ++i) {
      const Finding& finding = result_.findings[i];
      std::string words = grouped(finding.incident.ids) + (finding.incident.ids == 1 ? " id" : " ids");
      if (finding.workers > 1) {
        words += " of " + grouped(finding.workers) + " workers";
      } else if (space_.has_nodes()) {
        words += " of " + space_.name_of(finding.incident.node);
      }
      std::string causes;
      for (const Cause cause : finding.verdict.causes)
        causes += (causes.empty() ? "" : "; or ") + std::string(sentence_of(cause));
      words += ": " + std::string(finding.verdict.causes.size() == 1 ? "likely " : "possibly ") + causes;
      body_ += "<circle class=\"twice\"" + at("cx", 34) + at("cy", y_ - 4) + " r=\"8\"/><text" + at("x", 34) +
               at("y", y_) + " class=\"middle\" style=\"fill:#ffffff;font-weight:bold;font-size:11px\">" +
               std::to_string(i + 1) + "</text>\n";
      spoken_ += "; " + words;
      const std::string lines = wrapped(words, 0, kColumns);
      for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin);
        body_ += text_at(52, y_, "", lines.substr(begin, end - begin));
        begin = end + 1;
        y_ += kLine;
      }
      y_ += 6;
    }
    if (result_.findings.size() > kListed) {
      body_ += text_at(52, y_, "faint", "and " + grouped(result_.findings.size() - kListed) + " smaller groups");
      y_ += kLine;
    }
  }

  const AuditResult& result_;
  const IdSpace& space_;
  const SortedPass& sorted_;
  std::string title_;
  std::string spoken_;
  std::string body_;
  double y_ = 0;
  std::uint64_t low_ = 0;  // of ticks or numbers
  double span_ = 1;
};

}  // namespace

std::string picture_of(const AuditResult& result) { return Painter(result).picture(); }

}  // namespace idgen_tool
