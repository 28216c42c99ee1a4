// Segment generators: consecutive numbers from ranges of a tag's counter.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "calendar/calendar.hpp"
#include "calendar/period.hpp"
#include "config/paths.hpp"
#include "generator/fast_path.hpp"
#include "generator/generator.hpp"
#include "idgen/text.hpp"
#include "idgen/text_form.hpp"
#include "idgen/time_units.hpp"
#include "idgen/url.hpp"
#include "store/host_memory.hpp"

namespace idgen {
namespace {

// Which ids of a grant are issued: number * stride + offset.
struct Stride {
  std::uint64_t stride = 1;
  std::uint64_t offset = 0;
  bool is_settled = false;  // there was a grant: handles have copied it
  bool operator==(const Stride& other) const { return stride == other.stride && offset == other.offset; }
  std::uint64_t id(std::uint64_t number) const { return number * stride + offset; }
  // The smallest number whose id is not below `id`.
  std::uint64_t number_from(std::uint64_t id) const { return id <= offset ? 0 : (id - offset + stride - 1) / stride; }
  std::string text() const { return "stride " + std::to_string(stride) + ", offset " + std::to_string(offset); }
};

// What serials have beside a segment.
struct Serials {
  std::shared_ptr<const TextForm> form;
  std::shared_ptr<const Calendar> calendar;  // null: their pattern has no date
  std::shared_ptr<Runtime> runtime;          // whose clock says the period
  std::uint64_t last_number = kLastSerial;   // in a period

  explicit operator bool() const { return form != nullptr; }
  std::int64_t now_ms() const IDGEN_RUNS_HOST_CODE { return floor_div(runtime->wall_ns(), kNsPerMs); }
  const Calendar::Span& period() const IDGEN_RUNS_HOST_CODE { return calendar->learn(now_ms()); }
  // The last one of the same period.
  std::uint64_t last_of(std::uint64_t id) const {
    return (calendar != nullptr ? id >> kSerialBits << kSerialBits : 0) + last_number;
  }
  // So that one process does not take what is left for all, and loses it.
  std::uint64_t most_at_once() const { return std::max<std::uint64_t>(last_number / 100, 1); }
  // For messages, also of a number that the pattern does not hold.
  std::string text_of(std::uint64_t id) const {
    try {
      char text[TextPattern::kMostText];
      return in_quotes({text, form->write({id, 8}, text)});
    } catch (const Error&) {
      return "number " + std::to_string(calendar != nullptr ? id & kLastSerial : id);
    }
  }
};

class SegmentSource final : public Source {
 public:
  // `stride` is the configuration's; the first grant overwrites it if the store's row has its own.
  SegmentSource(std::shared_ptr<Store> store, std::string name_space, std::string tag, std::uint64_t step,
                std::shared_ptr<Stride> stride, std::uint64_t last_id, Serials serials,
                std::optional<HostMemory> witness)
      : store_(std::move(store)),
        name_space_(std::move(name_space)),
        tag_(std::move(tag)),
        step_(step),
        last_id_(last_id),
        serials_(std::move(serials)),
        witness_(std::move(witness)),
        stride_(std::move(stride)),
        holder_(holder_text()) {}

  Range draw(const Demand& demand) override {
    if (serials_) return draw_serials(demand);
    for (int attempt = 0; attempt < kMostEmptyGrants; ++attempt) {
      // With a stride, at least so many that one of ours is among them, whatever the row's step is.
      const std::uint64_t wanted = stride_->stride > 1 ? std::max<std::uint64_t>(demand.wanted, 1) : demand.wanted;
      const SegmentGrant grant =
          granted({.step = step_ * stride_->stride,
                   .wanted = wanted * stride_->stride,
                   .rate = std::min<std::uint64_t>(demand.rate, std::numeric_limits<std::int64_t>::max()),
                   .holder = holder_},
                  demand.highest_end);
      if (grant.first > last_id_) {
        throw Error(Status::exhausted,
                    concat({"tag ", quote(tag_), ": all ids up to ", last_id_,
                            " are used up, the last that the layout's segment field holds. Set on_full "
                            "= widen to go on with ids of 16 bytes, or use another tag"}));
      }
      // What the field does not hold is left to nobody.
      const std::uint64_t end_id = std::min(grant.first + grant.count, last_id_ + 1);
      const Range range{stride_->number_from(grant.first), stride_->number_from(end_id)};
      if (range.first == range.end) continue;  // fewer than the stride: the rest of a buffer's entry, or a first grant
      if (stride_->stride > 1) ends_.push_back({range.end, end_id});
      if (ends_.size() > kMostEnds) ends_.erase(ends_.begin());
      return range;
    }
    throw Error(Status::store_unavailable,
                concat({"tag ", quote(tag_), ": ", kMostEmptyGrants, " grants in a row held no id with ",
                        stride_->text(), "; raise the row's step to the stride or more"}));
  }
  void give_back(const Range& unused) override {
    std::uint64_t end_id = unused.end;
    while (!ends_.empty() && ends_.back().number > unused.end) ends_.pop_back();
    if (stride_->stride > 1) {
      if (ends_.empty() || ends_.back().number != unused.end) return;
      end_id = ends_.back().id;
    }
    const std::uint64_t first = stride_->id(unused.first);
    if (witness_) witness_->take(first, end_id - 1);
    store_->segment_return(name_space_, tag_, end_id - 1, end_id - first);
  }

  std::string name_of(std::uint64_t number) const override {
    return serials_ ? serials_.text_of(number) : std::to_string(stride_->id(number));
  }
  std::string after_regress() const override {
    return "Raise the tag above all ids in use with `idgen segment advance`, then open the generator again";
  }

 private:
  static constexpr int kMostEmptyGrants = 64;
  static constexpr std::size_t kMostEnds = 128;  // more than a supply holds ranges

  // One grant of the store. Throws Error{store_regressed} if it is not above all that this host had when it was asked
  // for, and has not begun to give back since. One below `highest_end` is the supply's to refuse, which stops for good.
  SegmentGrant granted(const SegmentRequest& request, std::uint64_t highest_end) {
    while (true) {
      const HostMemory::Look before = witness_ ? witness_->look() : HostMemory::Look{};
      const SegmentGrant grant = store_->segment_grant(name_space_, tag_, request);
      check(grant);
      if (!witness_ || stride_->number_from(grant.first) < highest_end) return grant;
      const std::uint64_t last = grant.first + grant.count - 1;
      // If this throws, it may have noted the grant, which then must not be given back: it is a gap.
      if (grant.first > before.highest && witness_->add(grant.first, last)) return grant;
      try {
        const HostMemory::Look now = witness_->look();
        if (now.times_taken == before.times_taken) throw_regressed(grant.first, now.highest);
      } catch (const Error&) {
        give_back_unused(last, grant.count);
        throw;
      }
      give_back_unused(last, grant.count);
    }
  }
  // Of a grant that is not used. If it is lost, it is a gap.
  void give_back_unused(std::uint64_t last, std::uint64_t count) {
    try {
      store_->segment_return(name_space_, tag_, last, count);
    } catch (const Error&) {
    }
  }
  [[noreturn]] void throw_regressed(std::uint64_t first, std::uint64_t known) const {
    throw Error(Status::store_regressed,
                concat({"tag ", quote(tag_), ": the store granted ", first, ", but this host has had numbers up to ",
                        known, " (", quote(witness_->path()),
                        "): the store was restored from a backup, or set by hand. ", after_regress(),
                        ". If this is another store in its place, or only the folder of that file was copied or "
                        "restored, delete that file"}));
  }

  // Numbers of one period: the present one, or the next if the store's clocks are a little ahead of ours. The store's
  // counter only rises, so a period that has begun there never begins again, whatever a clock says.
  Range draw_serials(const Demand& demand) {
    const std::int64_t now_ms = serials_.now_ms();
    const Calendar::Span* const present = serials_.calendar ? &serials_.calendar->learn(now_ms) : nullptr;
    const std::uint64_t above = present != nullptr ? present->period << kSerialBits : 0;
    if (!std::exchange(has_looked_, true)) look();
    const bool was_agreed = is_agreed_ || agree("");
    if (present != nullptr) check_period(*present, now_ms);
    const SegmentGrant grant =
        granted({.step = std::min(step_, serials_.most_at_once()),
                 .wanted = std::min(demand.wanted, serials_.most_at_once()),
                 .rate = std::min<std::uint64_t>(demand.rate, std::numeric_limits<std::int64_t>::max()),
                 .holder = holder_,
                 .above = above},
                demand.highest_end);
    if (grant.stride != 1) {
      throw Error(Status::format_mismatch, concat({"tag ", quote(tag_), ": its row has a stride of ", grant.stride,
                                                   ", and serials count one by one; use another tag"}));
    }
    if (grant.first <= above) {
      throw Error(Status::unsupported,
                  concat({"tag ", quote(tag_), ": the store granted ", grant.first, " where numbers above ", above,
                          " were asked for; it cannot count from 1 in each period"}));
    }
    // Whatever is refused from here on is burned: only the supply knows whether it may still be given back.
    known_ = std::max(known_, grant.first);
    if (!was_agreed) agree(serials_.form->pattern().shape());
    if (present != nullptr) check_period(*present, now_ms);
    const std::uint64_t last = serials_.last_of(grant.first);
    if (grant.first > last) {
      throw Error(Status::exhausted,
                  concat({"tag ", quote(tag_), ": all serials up to ", serials_.text_of(last),
                          " are used up, the last that the pattern holds. ",
                          present != nullptr ? "It goes on with the next period. " : "",
                          "Give the number more digits, or let it widen with a '+' behind its width"}));
    }
    return {grant.first, std::min(grant.first + grant.count, last + 1)};
  }

  // The first pattern that a tag was drawn with is the tag's, but for the number's width: two patterns could write
  // different numbers alike. `shape`: kept if there is none yet. False: there is none. Where a store keeps no such
  // record, it is the user's part.
  bool agree(const std::string& shape) {
    const std::string& own = serials_.form->pattern().shape();
    std::string kept;
    try {
      kept = store_->namespace_format(record_name(), shape);
    } catch (const Error& error) {
      if (error.status() != Status::unsupported && error.status() != Status::store_missing) throw;
      return is_agreed_ = true;
    }
    if (!kept.empty() && kept != own) {
      throw Error(Status::format_mismatch,
                  concat({"tag ", quote(tag_), " has serials of the pattern ", quote(kept),
                          ", and this generator's is ", quote(own),
                          " (both without widths). Only the width may change; take another tag for another pattern"}));
    }
    return is_agreed_ = !kept.empty();
  }
  std::string record_name() const {
    constexpr std::size_t kLongest = 100;
    // The length tells tag b/c of namespace a from tag c of namespace a/b.
    const std::string name = concat({std::to_string(name_space_.size()), ":", name_space_, "/", tag_});
    if (name.size() <= kLongest) return "serial " + name;
    return "serial " + format_id(xxh64(name), Encoding::hex) + format_id(murmur64a(name), Encoding::hex);
  }
  // Where the tag stands, so that a wrong clock is noticed before anything is asked for. Not every store can tell.
  void look() {
    try {
      known_ = std::max(known_, store_->segment_show(name_space_, tag_).max_id);
    } catch (const Error&) {  // the grant says what is wrong
    }
  }

  // Throws if the tag has come to a period that is far ahead of this clock's.
  void check_period(const Calendar::Span& present, std::int64_t now_ms) const {
    constexpr std::int64_t kMostEarlyMs = 3'600'000;
    const std::uint64_t reached = known_ >> kSerialBits;
    if (reached <= present.period) return;
    const bool is_next =
        present.until_ms - now_ms <= kMostEarlyMs && serials_.calendar->learn(present.until_ms).period == reached;
    if (is_next) return;
    throw Error(
        Status::clock_back,
        concat({"tag ", quote(tag_), " has come to ", serials_.text_of(known_), ", and this process's clock says ",
                format_instant(now_ms),
                ": this clock is behind, or a process whose clock was ahead has drawn from the tag. Set the clock "
                "right; or, if that was the other one, see docs/serials.md"}),
        Error::kEndsWaits);
  }

  struct End {
    std::uint64_t number;  // of a grant's range
    std::uint64_t id;      // of the grant
  };

  void check(const SegmentGrant& grant) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (grant.count == 0 || grant.count > kMax || grant.first > kMax - grant.count + 1 || grant.stride == 0 ||
        grant.offset >= grant.stride) {
      throw Error(Status::store_damaged,
                  concat({"tag ", quote(tag_), ": the store granted ", grant.count, " numbers from ", grant.first,
                          " on, stride ", grant.stride, "; that is invalid"}));
    }
    const bool was_settled = stride_->is_settled;
    if (!was_settled) stride_->is_settled = true;
    if (grant.stride == 1) return;  // the row has no stride
    const Stride row{grant.stride, grant.offset, true};
    if (*stride_ == row) return;
    if (was_settled || stride_->stride != 1) {
      throw Error(Status::format_mismatch,
                  concat({"tag ", quote(tag_), ": its row says ", row.text(), ", this generator uses ", stride_->text(),
                          ". Leave segment.stride to the row, and open the generator again after a change"}));
    }
    *stride_ = row;
  }

  const std::shared_ptr<Store> store_;
  const std::string name_space_;
  const std::string tag_;
  const std::uint64_t step_;
  const std::uint64_t last_id_;  // that may be issued
  const Serials serials_;
  const std::optional<HostMemory> witness_;
  bool has_looked_ = false;  // see look()
  bool is_agreed_ = false;   // the tag's pattern is ours
  std::uint64_t known_ = 0;  // of a tag of serials: it has come at least so far
  const std::shared_ptr<Stride> stride_;
  const std::string holder_;
  // Of the latest grants, if the stride is above 1: an id beyond the last number belongs to a grant too.
  std::vector<End> ends_;
};

std::string tag_of(const Config& config) { return config.get(config.get("tag").empty() ? "name" : "tag"); }

// What tells rows apart that are in stores of one identity: servers of one machine have sockets, and a user of
// PostgreSQL may have a schema, and tables, of its own.
std::string socket_and_user_of(const std::string& url, Runtime& runtime) {
  if (url.find("://") == std::string::npos) return "";
  const StoreUrl parsed = StoreUrl::parse(url);
  std::string text = parsed.user;
  for (const auto& [key, value] : parsed.parameters) {
    if (key == "socket") text += value;
    if (key == "user_env") text += runtime.environment(value).value_or("");
  }
  return text;
}

// The file of the tag in the folder `witness`; nothing without that. Of two files for one row each knows less.
std::optional<HostMemory> witness_of(const Config& config, Runtime& runtime) {
  if (config.get("witness").empty()) return std::nullopt;
  const std::string& url = config.get("store");
  if (config.store || url == "buffer" || url.starts_with("memory")) {
    throw Error(Status::unsupported,
                "witness needs a store that lasts and grants in order: sqlite or a server, not memory, a buffer or a "
                "store of the program's own");
  }
  const std::string& name_space = config.get("namespace");
  const std::string tag = tag_of(config);
  constexpr std::string_view kEnd("\0", 1);
  const std::string name = concat({store_identity(url, config.store_options()), kEnd, socket_and_user_of(url, runtime),
                                   kEnd, config.get("segment.schema"), kEnd, name_space, kEnd, tag});
  return HostMemory(path_of(config, "witness") + "/idgen-witness-" + format_id(xxh64(name), Encoding::hex),
                    concat({"tag ", quote(tag), " of namespace ", quote(name_space)}),
                    config.duration_ms("store_timeout"));
}

bool is_business(const Config& config) { return config.get("kind") == "business"; }

Serials serials_of(const Config& config, const std::shared_ptr<Runtime>& runtime) {
  if (config.get("kind") != "serial") return {};
  if (config.get("order") == "relaxed" || config.integer("segment.stride") != 1) {
    throw Error(Status::value,
                "kind = serial counts one by one: order = relaxed and segment.stride cannot be used with it");
  }
  Serials serials{
      .form = std::make_shared<const TextForm>(TextForm::of(config)), .calendar = nullptr, .runtime = runtime};
  const TextPattern& pattern = serials.form->pattern();
  const bool has_date = pattern.finest() != TimeUnit::none;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  serials.last_number =
      static_cast<std::uint64_t>(std::min<Id128>(pattern.last_number(), has_date ? kLastSerial : kLargest - 1));
  if (has_date) serials.calendar = std::make_shared<const Calendar>(serials.form->zone(), pattern);
  return serials;
}

Layout segment_layout(const Config& config) {
  const std::string& text = config.get("layout");
  if (!is_business(config)) {
    if (text.empty()) return Layout::plain_segment();
    throw Error(
        Status::unsupported,
        concat({"layout = ", quote(text), " with kind = ", config.get("kind"),
                ": its ids are plain numbers; remove it, or use kind = business (a layout with gene and segment) "
                "or snowflake (with time)"}));
  }
  Layout layout = Layout::parse(text.empty() ? "business64" : text);
  for (const FieldKind kind : {FieldKind::gene, FieldKind::segment}) {
    if (!layout.find(kind)) {
      throw Error(Status::unsupported,
                  concat({"layout '", layout.text(), "' has no ", field_name(kind),
                          " field, which kind = business needs; 'gene:16 version:5 segment:42' has"}));
    }
  }
  for (const Field& field : layout.fields()) {
    if (field.kind != FieldKind::gene && field.kind != FieldKind::version && field.kind != FieldKind::segment) {
      throw Error(Status::unsupported, concat({"layout '", layout.text(), "' has a field '", field_name(field.kind),
                                               "', which ids of kind = business have no value for; they have gene, "
                                               "version and segment"}));
    }
  }
  if (layout.is_wide() && layout.find(FieldKind::segment)->shift != 0) {
    throw Error(Status::unsupported,
                concat({"layout '", layout.text(), "': in an id of 16 bytes the segment comes last"}));
  }
  return layout;
}

// Kinds segment and business: the latter's ids also say who owns them.
class SegmentGenerator final : public Generator {
 public:
  SegmentGenerator(const Config& config, Patience& patience)
      : Generator(config, segment_layout(config), config.get("kind") + " tag " + in_quotes(tag_of(config)), patience) {
    if (stride_.offset >= stride_.stride) {
      throw Error(Status::value, concat({"segment.offset = ", stride_.offset, " with segment.stride = ", stride_.stride,
                                         "; allowed: 0 to stride - 1"}));
    }
    shape_.is_lasting = config.duration_ms("segment.max_age") == 0;
    shape_.calendar = serials_.calendar.get();
    if (serials_ && !runtime_->is_system_clock()) shape_.host_clock = runtime_.get();
    if (is_business(config)) shape_for_owners();
    shape_.stripe_block = std::clamp<std::uint64_t>(step_ / 64, 1, 1024);
    shape_stride();
  }
  // Once it is open, because the row may have its own.
  void take_stride() {
    stride_ = *learned_;
    shape_stride();
  }

  bool make_room(Patience& patience) override {
    if (!ensure_alive(patience)) return false;
    const Feed& feed = this->feed();
    try {
      if (!feed.has_ended) return feed.supply->refill(patience);
    } catch (const Error& error) {
      if (!has_just_ended(feed, error)) throw;
    }
    return replace(feed, patience);
  }

  [[gnu::cold]] std::string describe() const override;

 protected:
  std::string place_text() const override { return "tag " + in_quotes(tag_of(config_)); }
  void complete(Stats& stats, const SupplyStats& supply) const override;
  std::unique_ptr<Source> make_source(const Page&) override {
    learned_ = std::make_shared<Stride>(stride_);
    return std::make_unique<SegmentSource>(store_, config_.get("namespace"), tag_of(config_), step_, learned_,
                                           shape_.widens ? kLastId : narrow_last_id_, serials_,
                                           witness_of(config_, *runtime_));
  }
  void set_options(Supply::Options& options, const Page&) override {
    options.sizing = {.prefetch = config_.number("segment.prefetch"),
                      .runway_ns = config_.duration_ms("segment.runway") * kNsPerMs,
                      .stock_max = stock_max_};
    options.max_age_ns = config_.duration_ms("segment.max_age") * kNsPerMs;
    // A process that ends badly loses what it holds: not a large part of the digits.
    if (serials_) options.sizing.stock_max = std::min(options.sizing.stock_max, 2 * serials_.most_at_once());
    if (serials_.calendar == nullptr) return;
    options.leaves_rest = true;
    options.present = [serials = serials_] {
      return Present{.need = serials.period().period << kSerialBits, .tick = 0};
    };
  }
  // A thread may still hold a number that it drew there, or before.
  void continue_after(const Feed& ended, Supply::Options& options, HotPage&) override {
    options.claims_from = std::max(ended.supply->claims_from(), ended.supply->closed_at());
    // Also in a copy, whose original may have given back what the copy issued before it knew: to stop is safe, and the
    // store may have gone back as well.
    options.used_end = ended.supply->used_end();
  }
  std::string fork_obstacle() const override {
    if (!store_->survives_fork()) {
      return "its store is the parent's (memory, or one of the host's own); use a store that both can reach "
             "(sqlite:PATH), or create the generator "
             "after the fork";
    }
    if (config_.get("on_fork") == "error")
      return "on_fork = error; create the generator after the fork, or set on_fork = reacquire";
    return "";
  }

 private:
  void shape_stride() {
    shape_.stride = stride_.stride;
    shape_.offset = stride_.offset;
    if (narrow_last_id_ < kLastId) shape_.last_number = stride_.number_from(narrow_last_id_ + 1) - 1;
  }
  void shape_for_owners() {
    const Field& segment = *layout_.find(FieldKind::segment);
    shape_.segment_shift = segment.shift;
    shape_.wide = layout_.is_wide();
    shape_.widens = !shape_.wide && config_.get("on_full") == "widen";
    if (segment.bits < 63) narrow_last_id_ = (std::uint64_t{1} << segment.bits) - 1;
    const Layout wide_layout = shape_.wide ? layout_ : Layout::parse(kWideLayout);
    const Field& wide = *wide_layout.find(FieldKind::gene);
    shape_.wide_gene = {wide.bits, wide.shift, shape_.gene.rule};
  }

  static constexpr std::uint64_t kLastId = std::numeric_limits<std::int64_t>::max();
  std::uint64_t narrow_last_id_ = kLastId;
  const std::uint64_t step_ = config_.integer("segment.step");
  const std::uint64_t stock_max_ = config_.integer("segment.stock_max");
  const Serials serials_ = serials_of(config_, runtime_);
  Stride stride_{config_.integer("segment.stride"), config_.integer("segment.offset")};
  // The latest source's, which learns it from its first grant. An earlier source may still be at the store, with its
  // own.
  std::shared_ptr<Stride> learned_;
};

[[gnu::cold]] void SegmentGenerator::complete(Stats& stats, const SupplyStats& supply) const {
  // Whoever draws and finds nothing asks the store.
  const bool is_idle = supply.remaining == 0 && !supply.is_failing && !supply.is_loading;
  if (stats.rate > 0 && stats.handles > 0 && !is_idle)
    stats.stock_seconds = static_cast<double>(stats.remaining) / static_cast<double>(stats.rate);
  const Stride stride{shape_.stride, shape_.offset};
  const std::uint64_t end = supply.highest_end;
  stats.tag_left = stride.number_from(kLastId + 1) - end;
  const bool is_exhausted = supply.is_failing && supply.failure->status() == Status::exhausted;
  if (serials_) {
    stats.layout_left = serials_.last_of(end - 1) + 1 - end;
  } else {
    stats.layout_left = stride.number_from((shape_.widens ? kLastId : narrow_last_id_) + 1) - end;
  }
  if (is_exhausted) stats.layout_left = 0;
}

std::string SegmentGenerator::describe() const {
  const bool adapts = config_.duration_ms("segment.runway") > 0;
  std::string text =
      "kind: " + config_.get("kind") + ", tag " + in_quotes(tag_of(config_)) + " in namespace " +
      in_quotes(config_.get("namespace")) + ", " + std::to_string(step_) + " numbers at a time" +
      (adapts ? ", more when they last for less than segment.runway = " + config_.get("segment.runway") : "") + "\n";
  if (shape_.stride > 1)
    text += "ids: those with id % " + std::to_string(shape_.stride) + " == " + std::to_string(shape_.offset) + "\n";
  text += store_->describe();
  text += serials_.calendar == nullptr
              ? "clock: not used; no clock can cause a duplicate\n"
              : concat({"clock: says which period it is, in the zone ", config_.get("zone"),
                        config_.get("segment.schema") == "key_producer"
                            ? "; an original whose clock is behind, or in another zone, begins a day again\n"
                        : config_.get("segment.schema") == "incr"
                            ? "; idgen begins no period again, but a program that counts in an expired key does\n"
                            : "; no clock can cause a duplicate: the store's counter rises from period to period\n"});
  if (store_->survives_fork())
    text += "crash: up to " + std::to_string(adapts ? std::max(stock_max_, 2 * step_) : 2 * step_) +
            " numbers are lost (a gap), none is issued twice\n";
  if (shape_.gene.bits > 0) {
    text += "layout: " + layout_.text() + "\n" + gene_text() + "full: " +
            (shape_.widens ? "ids of 16 bytes follow those of 8, which end with segment "
                           : "ids end with EXHAUSTED after segment ") +
            std::to_string(narrow_last_id_) + "\n";
  }
  text += shape_.by_thread ? "order: relaxed; ids rise within a thread, not between threads\n"
          : shape_.gene.bits > 0
              ? "order: ids of one virtual node rise; " + std::to_string(shape_.stripes) +
                    " counters, each for neighbouring nodes\n"
              : "order: strict; every id of this generator is above all it issued before; between processes "
                "only the ranges are ordered\n";
  text += fork_obstacle().empty() ? "fork: a child draws its own segment\n"
                                  : "fork: a child gets FORKED: " + fork_obstacle() + "\n";
  text += "store outage: ids continue until the reserve is used up" +
          (adapts ? ", in steady use for segment.runway = " + config_.get("segment.runway") +
                        " if that is at most segment.stock_max = " + config_.get("segment.stock_max") + " numbers"
                  : std::string()) +
          ", then calls wait up to wait_max = " + config_.get("wait_max") + "\n";
  const std::string restore = store_->unnoticed_restore();
  if (!config_.get("witness").empty()) {
    text += "restore: a store that was restored from a backup is noticed where it grants what this host has had, as " +
            in_quotes(config_.get("witness")) +
            " says\nnot covered: what only other hosts have had; advance the tag above the highest id in use before "
            "anything starts\n";
  } else if (!restore.empty())
    text += "not covered: " + restore + "; advance the tag above the highest id in use before anything starts\n";
  text += "not covered: a byte-wise clone of the running machine, until " + until_copy_is_noticed() + "\n";
  return text;
}

}  // namespace

std::shared_ptr<Generator> make_segment_generator(const Config& config, Patience& patience) {
  auto generator = std::make_shared<SegmentGenerator>(config, patience);
  generator->open(patience);
  generator->take_stride();
  return generator;
}

std::string describe_segment_generator(const Config& config) {
  const Cancelled never;
  Patience patience(config.duration_ms("wait_max") * kNsPerMs, never);
  return SegmentGenerator(config, patience).describe();
}

}  // namespace idgen
