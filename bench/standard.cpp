// UUIDs, ULIDs and ObjectIds, beside a clock reading and a compare-and-set: the time, and what tells two threads apart.
// And texts of ids, and serials.
#include <idgen/standard.h>

#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

constexpr std::size_t kBatch = 1024;

void make(std::int32_t standard, std::size_t at_once, std::size_t count) {
  static std::uint8_t ids[16 * kBatch];
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::size_t i = 0; i < count; i += at_once) {
    if (const idgen_status_t status = idgen_standard_make(standard, ids, at_once, &error)) [[unlikely]]
      fail(status, error);
    keep(ids[0]);
  }
}

void write(std::int32_t encoding, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::uint64_t i = 0; i < count; ++i) {
    char text[24];
    std::size_t size = sizeof text;
    check(idgen_format(i * 0x9E3779B97F4A7C15, encoding, text, &size, &error), error);
    keep(text[0]);
  }
}

void write_standard(std::int32_t standard, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  std::uint8_t id[16] = {};
  for (std::size_t i = 0; i < count; ++i) {
    char text[40];
    std::size_t size = sizeof text;
    id[7] = static_cast<std::uint8_t>(i);
    check(idgen_standard_format(standard, id, text, &size, &error), error);
    keep(text[0]);
  }
}

// next_text of a generator.
void write_next(const Generator& generator, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::size_t i = 0; i < count; ++i) {
    char text[256];
    std::size_t size = sizeof text;
    if (const idgen_status_t status = idgen_next_text(generator.get(), text, &size, &error)) [[unlikely]]
      fail(status, error);
    keep(text[0]);
  }
}

Generator serials(const char* zone, const char* pattern) {
  return Generator({{"kind", "serial"},
                    {"store", "memory"},
                    {"store_create", "true"},
                    {"tag", std::string(zone) + pattern},
                    {"pattern", pattern},
                    {"zone", zone},
                    {"segment.step", "100000000"}});
}

}  // namespace

void standard(int rounds) {
  Shared cas;
  const Generator daily = serials("UTC", "SO{yyyyMMdd}{000000000000}");
  const Generator checked = serials("+08:00", "SO{yyyyMMdd}{000000000000}{check}");
  const Generator order({{"kind", "segment"},
                         {"store", "memory"},
                         {"store_create", "true"},
                         {"tag", "orders"},
                         {"pattern", "ORD-{base62:11}-{check}"}});
  std::vector<Subject> subjects = {
      {"clock + compare-and-set", [&](std::size_t count) { clock_and_compare_and_set(cas, count); }},
  };
  const std::pair<const char*, std::int32_t> all[] = {{"uuid4", IDGEN_STANDARD_UUID4},
                                                      {"uuid7", IDGEN_STANDARD_UUID7},
                                                      {"ulid", IDGEN_STANDARD_ULID},
                                                      {"object_id", IDGEN_STANDARD_OBJECT_ID}};
  for (const auto& [name, which] : all) {
    subjects.push_back({name, [which = which](std::size_t count) { make(which, 1, count); }});
    subjects.push_back(
        {std::string("batch, ") + name, [which = which](std::size_t count) { make(which, kBatch, count); }, kBatch});
  }
  for (const auto& [name, encoding] : {std::pair{"base62", IDGEN_TEXT_BASE62}, {"crockford", IDGEN_TEXT_CROCKFORD}})
    subjects.push_back(
        {std::string("text, ") + name, [encoding = encoding](std::size_t count) { write(encoding, count); }});
  for (const auto& [name, which] : {all[1], all[2]})
    subjects.push_back(
        {std::string("text, ") + name, [which = which](std::size_t count) { write_standard(which, count); }});
  for (const auto& [name, generator] :
       {std::pair{"serial", &daily}, {"serial, with a check", &checked}, {"next_text by a pattern", &order}})
    subjects.push_back({name, [generator = generator](std::size_t count) { write_next(*generator, count); }});
  take_turns(subjects, rounds, 5);

  Json json;
  json.open().open("ns");
  for (const Subject& subject : subjects) json.numbers(subject.name, subject.ns);
  json.close().close().print();
}

}  // namespace bench
