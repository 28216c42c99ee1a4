// Segment generators: consecutive numbers from ranges of a tag's counter.
#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "generator/generator.hpp"
#include "idgen/text.hpp"

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

class SegmentSource final : public Source {
 public:
  // `stride` is the configuration's; the first grant overwrites it if the store's row has its own.
  SegmentSource(std::shared_ptr<Store> store, std::string name_space, std::string tag, std::uint64_t step,
                std::shared_ptr<Stride> stride)
      : store_(std::move(store)),
        name_space_(std::move(name_space)),
        tag_(std::move(tag)),
        step_(step),
        stride_(std::move(stride)),
        holder_(holder_text()) {}

  Range draw(const Demand& demand) override {
    for (int attempt = 0; attempt < kMostEmptyGrants; ++attempt) {
      // With a stride, at least so many that one of ours is among them, whatever the row's step is.
      const std::uint64_t wanted = stride_->stride > 1 ? std::max<std::uint64_t>(demand.wanted, 1) : demand.wanted;
      const SegmentGrant grant =
          store_->segment_grant(name_space_, tag_,
                                {.step = step_ * stride_->stride,
                                 .wanted = wanted * stride_->stride,
                                 .rate = std::min<std::uint64_t>(demand.rate, std::numeric_limits<std::int64_t>::max()),
                                 .holder = holder_});
      check(grant);
      const std::uint64_t end_id = grant.first + grant.count;
      const Range range{stride_->number_from(grant.first), stride_->number_from(end_id)};
      if (range.first == range.end) continue;  // fewer than the stride: the rest of a buffer's entry, or a first grant
      if (stride_->stride > 1) ends_.push_back({range.end, end_id});
      if (ends_.size() > kMostEnds) ends_.pop_front();
      return range;
    }
    throw Error(Status::store_unavailable, "tag " + in_quotes(tag_) + ": " + std::to_string(kMostEmptyGrants) +
                                               " grants in a row held no id with " + stride_->text() +
                                               "; raise the row's step to the stride or more");
  }
  void give_back(const Range& unused) override {
    std::uint64_t end_id = unused.end;
    while (!ends_.empty() && ends_.back().number > unused.end) ends_.pop_back();
    if (stride_->stride > 1) {
      if (ends_.empty() || ends_.back().number != unused.end) return;
      end_id = ends_.back().id;
    }
    store_->segment_return(name_space_, tag_, end_id - 1, end_id - stride_->id(unused.first));
  }

  std::string name_of(std::uint64_t number) const override { return std::to_string(stride_->id(number)); }
  std::string after_regress() const override {
    return "Raise the tag above all ids in use with `idgen segment advance`, then open the generator again";
  }

 private:
  static constexpr int kMostEmptyGrants = 64;
  static constexpr std::size_t kMostEnds = 128;  // more than a supply holds ranges

  struct End {
    std::uint64_t number;  // of a grant's range
    std::uint64_t id;      // of the grant
  };

  void check(const SegmentGrant& grant) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (grant.count == 0 || grant.count > kMax || grant.first > kMax - grant.count + 1 || grant.stride == 0 ||
        grant.offset >= grant.stride) {
      throw Error(Status::store_damaged, "tag " + in_quotes(tag_) + ": the store granted " +
                                             std::to_string(grant.count) + " numbers from " +
                                             std::to_string(grant.first) + " on, stride " +
                                             std::to_string(grant.stride) + "; that is invalid");
    }
    const bool was_settled = std::exchange(stride_->is_settled, true);
    if (grant.stride == 1) return;  // the row has no stride
    const Stride row{grant.stride, grant.offset, true};
    if (*stride_ == row) return;
    if (was_settled || stride_->stride != 1) {
      throw Error(Status::format_mismatch,
                  "tag " + in_quotes(tag_) + ": its row says " + row.text() + ", this generator uses " +
                      stride_->text() +
                      ". Leave segment.stride to the row, and open the generator again after a change");
    }
    *stride_ = row;
  }

  const std::shared_ptr<Store> store_;
  const std::string name_space_;
  const std::string tag_;
  const std::uint64_t step_;
  const std::shared_ptr<Stride> stride_;
  const std::string holder_;
  std::deque<End>
      ends_;  // of the latest grants, if the stride is above 1: an id beyond the last number belongs to a grant too
};

std::string tag_of(const Config& config) { return config.get(config.get("tag").empty() ? "name" : "tag"); }

class SegmentGenerator final : public Generator {
 public:
  SegmentGenerator(const Config& config, Patience& patience)
      : Generator(config, Layout::plain_segment(), "segment tag " + in_quotes(tag_of(config)), patience) {
    if (!config.get("layout").empty()) {
      throw Error(Status::unsupported, "layout = '" + config.get("layout") +
                                           "' with kind = segment: segment ids are plain numbers in this version; "
                                           "remove it, or use kind = snowflake");
    }
    if (stride_->offset >= stride_->stride) {
      throw Error(Status::value, "segment.offset = " + std::to_string(stride_->offset) + " with segment.stride = " +
                                     std::to_string(stride_->stride) + "; allowed: 0 to stride - 1");
    }
    shape_.stripe_block = std::clamp<std::uint64_t>(step_ / 64, 1, 1024);
    take_stride();
  }
  // Once it has begun, because the row may have its own.
  void take_stride() {
    shape_.stride = stride_->stride;
    shape_.offset = stride_->offset;
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
  std::unique_ptr<Source> make_source(const Page&) override {
    return std::make_unique<SegmentSource>(store_, config_.get("namespace"), tag_of(config_), step_, stride_);
  }
  void set_options(Supply::Options& options, const Page&) override {
    options.sizing = {.prefetch = config_.number("segment.prefetch"),
                      .runway_ns = config_.duration_ms("segment.runway") * 1'000'000,
                      .stock_max = stock_max_};
    options.max_age_ns = config_.duration_ms("segment.max_age") * 1'000'000;
  }
  // A thread may still hold a number that it drew there.
  void continue_after(const Feed& ended, Supply::Options& options, HotPage&) override {
    options.claims_from = ended.supply->closed_at();
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
  const std::uint64_t step_ = config_.integer("segment.step");
  const std::uint64_t stock_max_ = config_.integer("segment.stock_max");
  // Shared with the source, which may outlive us if the store hangs.
  const std::shared_ptr<Stride> stride_ =
      std::make_shared<Stride>(Stride{config_.integer("segment.stride"), config_.integer("segment.offset")});
};

std::string SegmentGenerator::describe() const {
  const bool adapts = config_.duration_ms("segment.runway") > 0;
  std::string text =
      "kind: segment, tag " + in_quotes(tag_of(config_)) + " in namespace " + in_quotes(config_.get("namespace")) +
      ", " + std::to_string(step_) + " numbers at a time" +
      (adapts ? ", more when they last for less than segment.runway = " + config_.get("segment.runway") : "") + "\n";
  if (shape_.stride > 1)
    text += "ids: those with id % " + std::to_string(shape_.stride) + " == " + std::to_string(shape_.offset) + "\n";
  text += store_->describe();
  text += "clock: not used; no clock can cause a duplicate\n";
  if (store_->survives_fork())
    text += "crash: up to " + std::to_string(adapts ? std::max(stock_max_, 2 * step_) : 2 * step_) +
            " numbers are lost (a gap), none is issued twice\n";
  text += shape_.striped ? "order: relaxed; ids rise within a thread, not between threads\n"
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
  if (!restore.empty())
    text += "not covered: " + restore + "; advance the tag above the highest id in use before anything starts\n";
  text += "not covered: a byte-wise clone of the running machine, until " + until_copy_is_noticed() + "\n";
  return text;
}

}  // namespace

std::shared_ptr<Generator> make_segment_generator(const Config& config, Patience& patience) {
  auto generator = std::make_shared<SegmentGenerator>(config, patience);
  generator->begin(patience);
  generator->take_stride();
  return generator;
}

std::string describe_segment_generator(const Config& config) {
  const Cancelled never;
  Patience patience(config.duration_ms("wait_max") * 1'000'000, never);
  return SegmentGenerator(config, patience).describe();
}

}  // namespace idgen
