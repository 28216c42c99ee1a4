#include "ids/svg.hpp"

#include <idgen/idgen.h>

#include <algorithm>

#include "shared/svg_parts.hpp"

namespace idgen_tool {
namespace {

// Lengths in units of the picture, about a pixel each.
constexpr std::size_t kMargin = 20;
constexpr std::size_t kBit = 13;       // width of a bit
constexpr std::size_t kCharacter = 8;  // a little more than one of the font takes
constexpr std::size_t kLine = 22;      // from one line of text to the next
constexpr std::size_t kBar = 28;       // height of the boxes
constexpr std::size_t kGap = 26;       // between two pictures

// Mid tones: the boxes' edges and the names are visible on white and on black.
constexpr const char* kStyle = R"(<style>
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; }
  .page { fill: #ffffff; }
  .strong { font-weight: bold; }
  .faint { font-size: 10px; fill: #656d76; }
  .field { fill: currentColor; fill-opacity: 0.18; stroke: currentColor; }
  .line { fill: none; stroke: currentColor; }
  .middle { text-anchor: middle; }
  .end { text-anchor: end; }
  .none { color: #7d8590; }
  .time { color: #1b8a9e; }
  .node { color: #c2571a; }
  .place { color: #9a57c9; }
  .count { color: #2f8f4e; }
  .mark { color: #4f7bd9; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .faint { fill: #9198a1; }
    .field { fill-opacity: 0.35; }
  }
</style>
)";

const char* class_of(std::uint32_t field_kind) {
  switch (field_kind) {
    case IDGEN_FIELD_TIME:
      return "time";
    case IDGEN_FIELD_WORKER:
      return "node";
    case IDGEN_FIELD_DATACENTER:
    case IDGEN_FIELD_PROCESS:
    case IDGEN_FIELD_SHARD:
      return "place";
    case IDGEN_FIELD_SEQUENCE:
    case IDGEN_FIELD_SEGMENT:
      return "count";
    case IDGEN_FIELD_GENE:
    case IDGEN_FIELD_VERSION:
      return "mark";
    default:
      return "none";
  }
}

std::string attribute(const char* name, std::size_t value) {
  return std::string(" ") + name + "=\"" + std::to_string(value) + '"';
}

std::string text_at(std::size_t x, std::size_t y, const std::string& css_class, const std::string& text) {
  return "<text" + attribute("x", x) + attribute("y", y) + (css_class.empty() ? "" : " class=\"" + css_class + '"') +
         '>' + escaped(text) + "</text>\n";
}

std::size_t left_of(const PictureField& field) { return kMargin + (64 - field.shift - field.bits) * kBit; }

std::string label(const PictureField& field) { return field.name + ' ' + field.value; }

// The box, its bits, and the numbers of its outermost bits above it, if there is space.
std::string box(std::uint64_t id, const PictureField& field, std::size_t top) {
  const std::size_t left = left_of(field);
  const std::size_t width = field.bits * kBit;
  std::string out = "<rect class=\"field\"" + attribute("x", left) + attribute("y", top) + attribute("width", width) +
                    attribute("height", kBar) + " rx=\"3\"/>\n";
  out += "<text class=\"middle\"" + attribute("y", top + 19) + '>';
  for (unsigned i = 0; i < field.bits; ++i) {
    const bool is_set = (id >> (field.shift + field.bits - 1 - i)) & 1;
    out += "<tspan" + attribute("x", left + i * kBit + kBit / 2) + (is_set ? ">1" : ">0") + "</tspan>";
  }
  out += "</text>\n";
  const std::string high = std::to_string(field.shift + field.bits - 1);
  if (field.bits == 1) return out + text_at(left + kBit / 2, top - 5, "faint middle", high);
  out += text_at(left + 1, top - 5, "faint", high);
  return field.bits < 4 ? out : out + text_at(left + width - 1, top - 5, "faint end", std::to_string(field.shift));
}

std::string legend(const PictureField& field, std::size_t top, std::size_t y) {
  const std::size_t x = left_of(field) + kBit / 2;
  return "<path class=\"line\" d=\"M" + std::to_string(x) + ' ' + std::to_string(top + kBar) + " V" +
         std::to_string(y - 4) + " h10\"/>\n<text" + attribute("x", x + 15) + attribute("y", y) +
         "><tspan class=\"strong\">" + escaped(field.name) + "</tspan> " + escaped(field.value) + "</text>\n";
}

std::size_t width_of(const SvgPicture& picture) {
  std::size_t width = std::max(picture.title.size() + 2 + picture.subtitle.size(), std::size_t{1}) * kCharacter;
  width = std::max(width + kMargin, kMargin + 64 * kBit);
  for (const PictureField& field : picture.fields) {
    width = std::max(width, left_of(field) + 15 + label(field).size() * kCharacter);
  }
  return width + kMargin;
}

}  // namespace

std::string draw_svg(std::uint64_t id, const std::vector<SvgPicture>& pictures) {
  std::string body = text_at(kMargin, kMargin + 13, "strong", std::to_string(id));
  std::string spoken;  // for readers who cannot see the picture
  std::size_t width = 0;
  std::size_t y = kMargin + 13;
  for (const SvgPicture& picture : pictures) {
    width = std::max(width, width_of(picture));
    y += kLine + (&picture == &pictures.front() ? 4 : kGap);
    body += "<text" + attribute("x", kMargin) + attribute("y", y) + "><tspan class=\"strong\">" +
            escaped(picture.title) + "</tspan>  " + escaped(picture.subtitle) + "</text>\n";
    spoken += (spoken.empty() ? "" : "\n") + picture.title + ':';
    const std::size_t top = y + kGap;
    y = top + kBar;
    for (const PictureField& field : picture.fields) {
      spoken += (&field == &picture.fields.front() ? " " : "; ") + label(field);
      y += kLine;
    }
    std::size_t row = y;  // the first field has the lowest line, so that no line crosses a text
    for (const PictureField& field : picture.fields) {
      body += std::string("<g class=\"") + class_of(field.kind) + "\">\n" + box(id, field, top) +
              legend(field, top, row) + "</g>\n";
      row -= kLine;
    }
  }
  const std::string size = std::to_string(width) + ' ' + std::to_string(y + kMargin);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\"" + attribute("width", width) +
         attribute("height", y + kMargin) + " role=\"img\">\n<title>The bits of " + std::to_string(id) +
         "</title>\n<desc>" + escaped(spoken) + "</desc>\n" + kStyle +
         "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + body + "</svg>\n";
}

}  // namespace idgen_tool
