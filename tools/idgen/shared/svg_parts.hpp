// The parts of which pictures are drawn as SVG. Pure.
#pragma once

#include <string>

namespace idgen_tool {

// Somebody's text between tags.
std::string escaped(const std::string& text);
// ` x="12.5"`
std::string at(const char* name, double value);
std::string text_at(double x, double y, const std::string& css_class, const std::string& text);
// `spoken`: what a pointer over it, or a reader who cannot see it, is told; may be "".
std::string rect(double x, double y, double width, double height, const std::string& css_class,
                 const std::string& spoken);
std::string line(double x1, double y1, double x2, double y2, const std::string& css_class);
// A whole document. `style` is CSS, `spoken` describes the picture.
std::string svg_page(double width, double height, const std::string& title, const std::string& spoken,
                     const std::string& style, const std::string& body);

// 1, 2 or 5 times a power of ten: the distance of about `lines` lines up to `most`.
double step_of(double most, double lines = 4);

// Text, page, grid and axis, for light and dark pages, whichever the reader prefers.
extern const char* const kSvgStyle;

}  // namespace idgen_tool
