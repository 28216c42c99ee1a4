#include "shard/picture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/svg_parts.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

double sum(const std::vector<double>& loads) { return std::accumulate(loads.begin(), loads.end(), 0.0); }

double largest(const LoadPicture& picture) {
  double most = 0;
  for (const double load : picture.before) most = std::max(most, load);
  for (const double load : picture.after) most = std::max(most, load);
  return most;
}

std::string percent_of(double load, double total) { return fixed(total > 0 ? load / total * 100 : 0, 1) + " %"; }

std::string bar(double load, double most, std::size_t cells) {
  constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eights =
      static_cast<std::size_t>(most > 0 ? std::lround(load / most * static_cast<double>(cells) * 8) : 0);
  std::string out;
  for (std::size_t i = 0; i < eights / 8; ++i) out += "█";
  return out + eighths[eights % 8];
}

constexpr const char* kStyle = R"(  .value { font-size: 11px; text-anchor: middle; }
  .before { fill: #b0b7bf; }
  .after { fill: #2f7fd1; }
  .mean { stroke: #c2571a; stroke-dasharray: 5 4; }
  .meantext { fill: #c2571a; }
  @media (prefers-color-scheme: dark) {
    .before { fill: #59616b; }
    .after { fill: #4b97e6; }
    .mean { stroke: #e8894f; }
    .meantext { fill: #e8894f; }
  }
)";

}  // namespace

std::string load_label(double load) {
  if (load >= 10 || load == std::floor(load)) return grouped(static_cast<std::uint64_t>(std::llround(load)));
  return fixed(load, 2);
}

std::string draw_load(const LoadPicture& picture, const Terminal& terminal, std::size_t width) {
  std::size_t name_width = 0, value_width = 0;
  for (std::size_t i = 0; i < picture.shards.size(); ++i) {
    name_width = std::max(name_width, picture.shards[i].size());
    value_width = std::max({value_width, load_label(picture.before[i]).size(), load_label(picture.after[i]).size()});
  }
  const std::size_t other =
      name_width + value_width + std::string("  before   ").size() + std::string("  100.0 %").size();
  const std::size_t cells = std::clamp<std::size_t>(width > other ? width - other : 0, 10, 50);
  const double most = largest(picture);
  std::string out = terminal.paint(ink::bold, picture.title) + "  (" + picture.unit + " of each shard)\n";
  const auto line = [&](const std::string& name, const char* when, const char* ink, double load, double total) {
    const std::string blocks = bar(load, most, cells);
    out += padded(name, name_width) + "  " + padded(when, 7) + terminal.paint(ink, blocks) + "  " +
           right_aligned(load_label(load), value_width) + "  " + percent_of(load, total) + '\n';
  };
  for (std::size_t i = 0; i < picture.shards.size(); ++i) {
    line(picture.shards[i], "before", ink::dim, picture.before[i], sum(picture.before));
    line("", "after", ink::blue, picture.after[i], sum(picture.after));
  }
  return out;
}

std::string draw_load_svg(const LoadPicture& picture) {
  constexpr double kLeft = 80, kTop = 76, kHeight = 240, kGap = 36;
  // Wide enough for the numbers above the bars, which stand side by side.
  std::size_t longest = 0;
  for (const auto& loads : {picture.before, picture.after}) {
    for (const double load : loads) longest = std::max(longest, load_label(load).size());
  }
  const double bar_width = std::max(34.0, 7.0 * static_cast<double>(longest) + 4);
  const double group = 2 * bar_width + kGap;
  const auto count = static_cast<double>(picture.shards.size());
  const double plot_width = std::max(count * group + 24, 320.0);
  const double mean = sum(picture.after) / std::max(count, 1.0);
  const std::string mean_label = "mean " + load_label(mean);
  const double width = kLeft + plot_width + 7.5 * static_cast<double>(mean_label.size()) + 20,
               height = kTop + kHeight + 66;
  const double most = std::max(largest(picture), 1e-9);
  const double step = step_of(most);
  const double top = std::ceil(most / step) * step;
  const auto y_of = [&](double load) { return kTop + kHeight - load / top * kHeight; };

  std::string body = text_at(kLeft, 28, "title", picture.title);
  body += rect(kLeft, 44, 12, 12, "before", "") + text_at(kLeft + 18, 54, "faint", "before");
  body += rect(kLeft + 78, 44, 12, 12, "after", "") + text_at(kLeft + 96, 54, "faint", "after");
  for (int i = 0; i * step <= top * 1.000001; ++i) {
    const double y = y_of(i * step);
    body += line(kLeft, y, kLeft + plot_width, y, i == 0 ? "axis" : "grid") +
            text_at(kLeft - 8, y + 4, "faint end", load_label(i * step));
  }
  body += line(kLeft, kTop, kLeft, kTop + kHeight, "axis");
  body += "<text class=\"faint middle\" transform=\"translate(18 " + fixed(kTop + kHeight / 2, 1) + ") rotate(-90)\">" +
          escaped(picture.unit) + "</text>\n";
  std::string spoken;
  for (std::size_t i = 0; i < picture.shards.size(); ++i) {
    const double x = kLeft + 24 + static_cast<double>(i) * group;
    const auto column = [&](double left, double load, const char* when) {
      const std::string label = load_label(load);
      body += rect(left, y_of(load), bar_width, kTop + kHeight - y_of(load), when,
                   picture.shards[i] + ", " + when + ": " + label + ' ' + picture.unit);
      body += text_at(left + bar_width / 2, y_of(load) - 5, "value", label);
    };
    column(x, picture.before[i], "before");
    column(x + bar_width + 2, picture.after[i], "after");
    const std::string& name = picture.shards[i];
    body +=
        text_at(x + bar_width + 1, kTop + kHeight + 20, "middle", name.size() > 15 ? name.substr(0, 13) + ".." : name);
    spoken += (spoken.empty() ? "" : "; ") + name + ' ' + load_label(picture.before[i]) + " before, " +
              load_label(picture.after[i]) + " after";
  }
  body += line(kLeft, y_of(mean), kLeft + plot_width, y_of(mean), "mean") +
          text_at(kLeft + plot_width + 6, y_of(mean) + 4, "meantext", mean_label);
  body += text_at(kLeft + plot_width / 2, kTop + kHeight + 46, "faint middle", "shard");
  return svg_page(width, height, picture.title, spoken, kStyle, body);
}

}  // namespace idgen_tool
