#include "shared/svg_parts.hpp"

#include <cmath>

#include "shared/text.hpp"

namespace idgen_tool {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

std::string at(const char* name, double value) { return std::string(" ") + name + "=\"" + fixed(value, 1) + '"'; }

std::string text_at(double x, double y, const std::string& css_class, const std::string& text) {
  return "<text" + at("x", x) + at("y", y) + " class=\"" + css_class + "\">" + escaped(text) + "</text>\n";
}

std::string rect(double x, double y, double width, double height, const std::string& css_class,
                 const std::string& spoken) {
  return "<rect class=\"" + css_class + '"' + at("x", x) + at("y", y) + at("width", width) + at("height", height) +
         (spoken.empty() ? "/>\n" : "><title>" + escaped(spoken) + "</title></rect>\n");
}

std::string line(double x1, double y1, double x2, double y2, const std::string& css_class) {
  return "<line class=\"" + css_class + '"' + at("x1", x1) + at("y1", y1) + at("x2", x2) + at("y2", y2) + "/>\n";
}

std::string svg_page(double width, double height, const std::string& title, const std::string& spoken,
                     const std::string& style, const std::string& body) {
  const std::string size = fixed(width, 0) + ' ' + fixed(height, 0);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" + fixed(width, 0) +
         "\" height=\"" + fixed(height, 0) + "\" role=\"img\">\n<title>" + escaped(title) + "</title>\n<desc>" +
         escaped(spoken) + "</desc>\n<style>\n" + kSvgStyle + style + "</style>\n" +
         "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + body + "</svg>\n";
}

double step_of(double most, double lines) {
  const double raw = most / lines;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

const char* const kSvgStyle =
    R"(  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; }
  .title { font-size: 16px; font-weight: bold; }
  .faint { fill: #656d76; }
  .middle { text-anchor: middle; }
  .end { text-anchor: end; }
  .grid { stroke: #d8dee4; }
  .axis { stroke: #656d76; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .faint { fill: #9198a1; }
    .grid { stroke: #262c36; }
    .axis { stroke: #9198a1; }
  }
)";

}  // namespace idgen_tool
