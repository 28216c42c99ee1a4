// idgen standard: UUIDs, ULIDs and ObjectIds, made and taken apart.
#include <idgen/standard.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "shared/command.hpp"
#include "shared/decoded.hpp"
#include "shared/handles.hpp"
#include "shared/id_input.hpp"
#include "shared/output.hpp"
#include "shared/progress.hpp"
#include "shared/stop.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kNames[] = {"uuid", "uuid4", "uuid7", "ulid", "object_id"};  // in the order of IDGEN_STANDARD_*
constexpr std::size_t kBatch = 1 << 12;

struct Arguments {
  std::string standard;
  std::uint64_t count = 1;
  bool json = false;
  std::vector<std::string> ids;
};

int make(const Arguments& arguments) {
  const auto standard =
      static_cast<std::int32_t>(std::ranges::find(kNames, arguments.standard) - std::begin(kNames));  // it is there
  const std::size_t bytes = standard == IDGEN_STANDARD_OBJECT_ID ? 12 : 16;
  catch_signals();
  Output out;
  Progress progress(arguments.count);
  std::vector<std::uint8_t> ids(kBatch * bytes);
  for (std::uint64_t done = 0; done < arguments.count && !stop_signal();) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(arguments.count - done, kBatch));
    ErrorSlot error;
    check(idgen_standard_make(standard, ids.data(), n, error), error);
    for (std::size_t i = 0; i < n; ++i) {
      constexpr std::size_t longest = 40;
      char* const line = out.reserve(longest);
      std::size_t size = longest;
      check(idgen_standard_format(standard, &ids[i * bytes], line, &size, error), error);
      line[size - 1] = '\n';  // in place of the NUL
      out.commit(size);
    }
    progress.at(done += n);
  }
  out.flush();
  return stop_signal() ? 128 + stop_signal() : kExitOk;
}

struct Found {
  std::string text;
  idgen_standard_parts_t parts = IDGEN_STANDARD_PARTS_INIT;
  bool is_uuid() const { return parts.standard <= IDGEN_STANDARD_UUID7; }
};

Found find(const std::string& word) {
  Found found;
  std::int32_t standard = 0;
  std::uint8_t id[16];
  ErrorSlot error;
  check(idgen_standard_parse(word.data(), word.size(), &standard, id, error), error);
  check(idgen_standard_decode(standard, id, &found.parts, error), error);
  found.text = read_text([&](char* buffer, std::size_t* size, idgen_error_t* slot) {
    return idgen_standard_format(standard, id, buffer, size, slot);
  });
  return found;
}

std::string as_json(const Found& found) {
  JsonObject object;
  object.text("id", found.text).text("standard", kNames[found.parts.standard]);
  if (found.is_uuid()) object.number("version", found.parts.version).boolean("is_rfc", found.parts.is_rfc != 0);
  if (found.parts.has_time) date(object, "time", found.parts.unix_ms).signed_number("unix_ms", found.parts.unix_ms);
  if (found.parts.standard == IDGEN_STANDARD_OBJECT_ID)
    object.number("process", found.parts.process).number("counter", found.parts.counter);
  return object.str();
}

std::string as_lines(const Found& found) {
  std::string out = "id          " + found.text + "\nstandard    " + kNames[found.parts.standard] + '\n';
  if (found.is_uuid())
    out += "version     " + std::to_string(found.parts.version) +
           (found.parts.is_rfc ? "" : "  (of another variant than RFC 9562's)") + '\n';
  if (found.parts.has_time)
    out +=
        "time        " + instant(found.parts.unix_ms) + "\nunix_ms     " + std::to_string(found.parts.unix_ms) + '\n';
  if (found.parts.standard == IDGEN_STANDARD_OBJECT_ID)
    out += "process     " + std::to_string(found.parts.process) + "\ncounter     " +
           std::to_string(found.parts.counter) + '\n';
  return out;
}

int decode(const Arguments& arguments) {
  Output out;
  bool first = true;
  answer_each(out, for_each_word, arguments.ids, [&](const std::string& word) {
    const Found found = find(word);
    if (!arguments.json && !first) out.line("");
    arguments.json ? out.line(as_json(found)) : out.write(as_lines(found));
    first = false;
  });
  return kExitOk;
}

Command making_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "make",
      .summary = "Make UUIDs, ULIDs or ObjectIds, one per line.",
      .usage = {"STANDARD [-n N]"},
      .details = R"(
uuid4, uuid7, ulid or object_id. All but uuid4 hold the time and rise within a run. No configuration and no
store: random bits keep them apart. Ctrl-C stops early; the ids made so far are written.
)",
      .examples = {"idgen standard make uuid7", "idgen standard make ulid -n 1000"},
      .options = {{.names = "STANDARD",
                   .help = "uuid4, uuid7, ulid or object_id.",
                   .target = &arguments->standard,
                   .value = Value::one_of,
                   .values = {std::next(std::begin(kNames)), std::end(kNames)},
                   .is_required = true},
                  {.names = "-n,--count",
                   .placeholder = "N",
                   .help = "How many ids. Default: 1.",
                   .target = &arguments->count}},
      .run = [arguments] { return make(*arguments); },
  };
}

Command decoding_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "decode",
      .summary = "Say what UUIDs, ULIDs and ObjectIds hold.",
      .usage = {"[--json] ID..."},
      .details = R"(
Which it is follows from the length: 36 characters, or 32 without hyphens, are a UUID of any version, 26 a ULID,
24 an ObjectId. `-` reads ids from standard input, separated by spaces or lines.

With --json each id is one object on a line: id, standard, and where there is one: version and is_rfc of a UUID,
time and unix_ms, process and counter of an ObjectId.
)",
      .examples = {"idgen standard decode 017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                   "psql -Atc 'select id from events' | idgen standard decode - --json | jq -r .time"},
      .options = {{.names = "ID",
                   .help = "Ids to decode; - reads standard input.",
                   .target = &arguments->ids,
                   .is_required = true},
                  {.names = "--json", .help = "One JSON object per line.", .target = &arguments->json}},
      .run = [arguments] { return decode(*arguments); },
  };
}

}  // namespace

Command standard_command() {
  return {
      .name = "standard",
      .summary = "Make and decode UUIDs, ULIDs and ObjectIds.",
      .usage = {"make STANDARD [-n N]", "decode [--json] ID..."},
      .details = R"(
Ids in published forms: UUID (RFC 9562), ULID, ObjectId.
)",
      .examples = {"idgen standard make uuid7", "idgen standard decode 01ARZ3NDEKTSV4RRFFQ69G5FAV"},
      .commands = {making_command(), decoding_command()},
  };
}

}  // namespace idgen_tool
