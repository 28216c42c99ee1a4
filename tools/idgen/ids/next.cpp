// idgen next: draws ids, one per line.
#include <algorithm>
#include <memory>
#include <vector>

#include "shared/command.hpp"
#include "shared/id_input.hpp"
#include "shared/output.hpp"
#include "shared/progress.hpp"
#include "shared/settings.hpp"
#include "shared/stop.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
The generator is configured by a table of a TOML file, by options, or by both: options override the file,
--set overrides options. `idgen properties` lists all properties. `idgen store create` makes a missing
store, `idgen segment create` a missing tag, and --set store_create=true both.

Ids are drawn in batches, and all of them are written. Ctrl-C stops early: the ids drawn so far are written, and
the rest of the reservation goes back to the store. With -n and standard error on a terminal, a long run shows a
progress bar.

With a pattern (`--pattern`, or in the file) ids are written by it, unless --format says otherwise; serials, which are
for people, always have one.

Where the layout has a gene (kind = business, layout = order), ids have an owner: --owner gives it. Those of 16 bytes
have 39, 32, 26, 22 and 22 digits, those of 8 bytes up to 20, 16, 13, 11 and 11.

At most N segment ids are reserved, if N is less than segment.step. A step in the tag's row, and
--set segment.step=N, override this.
)";

constexpr std::size_t kBatch = 1 << 16;

struct Arguments {
  Settings settings;
  std::uint64_t count = 1;
  std::string format;
  std::string owner;
};

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

// How they are written: by the pattern, if there is one.
struct Form {
  std::int32_t encoding = IDGEN_TEXT_DECIMAL;
  Pattern pattern;
};

void write_by(Output& out, const idgen_wide_id_t& id, const Pattern& pattern) {
  constexpr std::size_t longest = 256;
  char* const line = out.reserve(longest);
  std::size_t size = longest;
  ErrorSlot error;
  check(idgen_pattern_format(pattern.get(), &id, line, &size, error), error);
  line[size - 1] = '\n';  // in place of the NUL
  out.commit(size);
}

void write_ids(Output& out, const idgen_wide_id_t* ids, std::size_t count, const Form& form) {
  constexpr std::size_t longest = 48;
  for (std::size_t i = 0; i < count; ++i) {
    if (form.pattern) {
      write_by(out, ids[i], form.pattern);
      continue;
    }
    char* const line = out.reserve(longest);
    std::size_t size = longest;
    check(idgen_format_wide(&ids[i], form.encoding, line, &size, nullptr));
    line[size - 1] = '\n';  // in place of the NUL
    out.commit(size);
  }
}

void write_ids(Output& out, const std::uint64_t* ids, std::size_t count, const Form& form) {
  constexpr std::size_t longest = 24;
  for (std::size_t i = 0; i < count; ++i) {
    if (form.pattern) {
      write_by(out, wide_of(ids[i]), form.pattern);
      continue;
    }
    char* const line = out.reserve(longest);
    std::size_t size = longest;
    if (form.encoding == IDGEN_TEXT_DECIMAL) {
      size = decimal(ids[i], line);
    } else {
      check(idgen_format(ids[i], form.encoding, line, &size, nullptr));
      --size;  // the NUL
    }
    line[size] = '\n';
    out.commit(size + 1);
  }
}

// Draws and writes until all are written. A failure of the library comes after the ids that were drawn before it.
template <class Id, class Batch>
void draw(std::uint64_t count, const Form& form, Batch&& batch) {
  Output out;
  Progress progress(count);
  std::vector<Id> ids(static_cast<std::size_t>(std::min<std::uint64_t>(count, kBatch)));
  for (std::uint64_t done = 0; done < count && !stop_signal();) {
    ErrorSlot error;
    std::size_t written = 0;
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, ids.size()));
    const idgen_status_t status = batch(ids.data(), want, &written, error);
    write_ids(out, ids.data(), written, form);
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

idgen_status_t draw_until_stopped(const Generator& generator, idgen_draw_t& draw, std::size_t* written,
                                  idgen_error_t* error) {
  draw.cancelled = stop_requested;
  const idgen_status_t status = idgen_draw(generator.get(), &draw, error);
  *written = draw.written;
  return status;
}

int next(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  reserve_only(config, arguments.settings, arguments.count);
  Form form{.encoding = arguments.format.empty() ? IDGEN_TEXT_DECIMAL : encoding_of(arguments.format),
            .pattern = nullptr};
  if (arguments.format.empty() && (!value(config, "pattern").empty() || value(config, "kind") == "serial"))
    form.pattern = pattern_of(config);
  catch_signals();
  const Generator generator = make_generator(config);
  if (arguments.owner.empty()) {
    draw<std::uint64_t>(arguments.count, form,
                        [&](std::uint64_t* ids, std::size_t n, std::size_t* written, idgen_error_t* error) {
                          idgen_draw_t draw = IDGEN_DRAW_INIT;
                          draw.n = n;
                          draw.ids = ids;
                          return draw_until_stopped(generator, draw, written, error);
                        });
  } else {
    const idgen_owner_t owner{arguments.owner.data(), arguments.owner.size()};
    draw<idgen_wide_id_t>(arguments.count, form,
                          [&](idgen_wide_id_t* ids, std::size_t n, std::size_t* written, idgen_error_t* error) {
                            idgen_draw_t draw = IDGEN_DRAW_INIT;
                            draw.n = n;
                            draw.wide_ids = ids;
                            draw.owners = &owner;
                            draw.owner_count = 1;
                            return draw_until_stopped(generator, draw, written, error);
                          });
  }
  ErrorSlot error;
  check(idgen_close(generator.get(), error), error);
  return stop_signal() ? 128 + stop_signal() : kExitOk;
}

}  // namespace

Command next_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "next",
      .summary = "Draw ids, one per line.",
      .usage = {"[--config FILE [--name NAME]] [OPTIONS] [-n N]"},
      .details = kDetails,
      .examples = {"idgen next --store memory --worker 1",
                   "idgen next --config idgen.toml --name orders -n 1000 --format base62",
                   "idgen next --kind segment --tag orders --store sqlite:ids.db -n 10",
                   "idgen next --kind business --tag orders --owner customer-42 --store sqlite:ids.db -n 3",
                   "idgen next --kind serial --tag orders --pattern 'SO{yyyyMMdd}{000000}' --store sqlite:ids.db -n 3",
                   "idgen next --layout js53 --worker 7 --store sqlite:ids.db --set on_clock_back=fail"},
      .options = joined(
          {{.names = "-n,--count",
            .placeholder = "N",
            .help = "How many ids. Default: 1.",
            .target = &arguments->count},
           {.names = "--owner",
            .placeholder = "OWNER",
            .help = "Who the ids belong to, where the layout has a gene: a text, or an integer.",
            .target = &arguments->owner},
           {.names = "--format",
            .placeholder = "FORMAT",
            .help = "How the ids are written: " + listed(encoding_names()) +
                    ". All but decimal have a fixed width and sort like the ids. Default: the pattern, else decimal.",
            .target = &arguments->format,
            .value = Value::one_of,
            .values = encoding_names()}},
          arguments->settings.options(
              {"kind", "layout", "epoch", "worker", "store", "namespace", "tag", "pattern", "zone"})),
      .run = [arguments] { return next(*arguments); },
  };
}

}  // namespace idgen_tool
