// idgen next: draws ids, one per line.
#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "command.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "settings.hpp"
#include "stop.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
The generator is configured by a table of a TOML file, by options, or by both: options override the file,
--set overrides options. `idgen properties` lists all properties. `idgen store create` makes a missing
store, `idgen segment create` a missing tag, and --set store_create=true both.

Ids are drawn in batches, and all of them are written. Ctrl-C stops early: the ids drawn so far are written, and
the rest of the reservation goes back to the store. With -n and standard error on a terminal, a long run shows a
progress bar.

At most N segment ids are reserved, if N is less than segment.step. A step in the tag's row, and
--set segment.step=N, override this.
)";

constexpr std::size_t kBatch = 1 << 16;

struct Arguments {
  Settings settings;
  std::uint64_t count = 1;
  std::string format = "decimal";
};

constexpr const char* kEncodings[] = {"decimal", "hex", "crockford", "base58",
                                      "base62"};  // in the order of IDGEN_TEXT_*

std::int32_t encoding_of(const std::string& name) {
  std::int32_t encoding = 0;
  while (name != kEncodings[encoding]) ++encoding;  // the parser has checked that it is one of them
  return encoding;
}

// Two digits at a time from a table: printing a hundred million ids spends all its time here.
struct DigitPairs {
  char text[200];
  constexpr DigitPairs() : text() {
    for (int i = 0; i < 100; ++i) {
      text[2 * i] = static_cast<char>('0' + i / 10);
      text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
  }
};
constexpr DigitPairs kPairs;

void eight_digits(std::uint32_t value, char* out) {
  const std::uint32_t high = value / 10000;
  const std::uint32_t low = value % 10000;
  std::copy_n(kPairs.text + 2 * (high / 100), 2, out);
  std::copy_n(kPairs.text + 2 * (high % 100), 2, out + 2);
  std::copy_n(kPairs.text + 2 * (low / 100), 2, out + 4);
  std::copy_n(kPairs.text + 2 * (low % 100), 2, out + 6);
}

std::size_t decimal(std::uint64_t id, char* out) {
  char digits[24];
  eight_digits(static_cast<std::uint32_t>(id % 100'000'000), digits + 16);
  eight_digits(static_cast<std::uint32_t>(id / 100'000'000 % 100'000'000), digits + 8);
  eight_digits(static_cast<std::uint32_t>(id / 10'000'000'000'000'000), digits);
  std::size_t begin = 0;
  while (begin < 23 && digits[begin] == '0') ++begin;
  std::copy(digits + begin, digits + 24, out);
  return 24 - begin;
}

void write_ids(Output& out, const std::uint64_t* ids, std::size_t count, std::int32_t encoding) {
  constexpr std::size_t longest = 24;
  for (std::size_t i = 0; i < count; ++i) {
    char* const line = out.reserve(longest);
    std::size_t size = longest;
    if (encoding == IDGEN_TEXT_DECIMAL) {
      size = decimal(ids[i], line);
    } else {
      check(idgen_format(ids[i], encoding, line, &size, nullptr));
      --size;  // the NUL
    }
    line[size] = '\n';
    out.commit(size + 1);
  }
}

// Draws and writes until all are written. A failure of the library comes after the ids that were drawn before it.
void draw(idgen_t* generator, std::uint64_t count, std::int32_t encoding) {
  Output out;
  Progress progress(count);
  std::vector<std::uint64_t> ids(static_cast<std::size_t>(std::min<std::uint64_t>(count, kBatch)));
  for (std::uint64_t done = 0; done < count && !stop_signal();) {
    ErrorSlot error;
    std::size_t written = 0;
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, ids.size()));
    const idgen_status_t status =
        idgen_next_batch_wait(generator, ids.data(), want, &written, stop_requested, nullptr, error);
    write_ids(out, ids.data(), written, encoding);
    done += written;
    if (status == IDGEN_E_CANCELLED) break;
    if (status != IDGEN_OK) {
      out.flush();
      check(status, error);
    }
    progress.at(done);
  }
  out.flush();
}

int next(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  reserve_only(config, arguments.settings, arguments.count);
  const std::int32_t encoding = encoding_of(arguments.format);
  catch_signals();
  const Generator generator = make_generator(config);
  draw(generator.get(), arguments.count, encoding);
  ErrorSlot error;
  check(idgen_close(generator.get(), error), error);
  return stop_signal() ? 128 + stop_signal() : kExitOk;
}

}  // namespace

Command next_command() {
  auto arguments = std::make_shared<Arguments>();
  const std::vector<std::string> formats(std::begin(kEncodings), std::end(kEncodings));
  return {
      .name = "next",
      .summary = "Draw ids, one per line.",
      .usage = {"[--config FILE [--name NAME]] [OPTIONS] [-n N]"},
      .details = kDetails,
      .examples = {"idgen next --store memory --worker 1",
                   "idgen next --config idgen.toml --name orders -n 1000 --format base62",
                   "idgen next --kind segment --tag orders --store sqlite:ids.db -n 10",
                   "idgen next --layout js53 --worker 7 --store sqlite:ids.db --set on_clock_back=fail"},
      .options =
          joined({{.names = "-n,--count",
                   .placeholder = "N",
                   .help = "How many ids. Default: 1.",
                   .target = &arguments->count},
                  {.names = "--format",
                   .placeholder = "FORMAT",
                   .help = "How the ids are written: " + listed(formats) +
                           ". All but decimal have a fixed width and sort like the ids. Default: decimal.",
                   .target = &arguments->format,
                   .value = Value::one_of,
                   .values = formats}},
                 arguments->settings.options({"kind", "layout", "epoch", "worker", "store", "namespace", "tag"})),
      .run = [arguments] { return next(*arguments); },
  };
}

}  // namespace idgen_tool
