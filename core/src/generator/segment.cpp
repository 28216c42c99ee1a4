// Segment generators: consecutive numbers from ranges of a tag's counter.
#include <algorithm>

#include "generator/generator.hpp"

namespace idgen {
namespace {

class SegmentSource final : public Source {
 public:
  SegmentSource(std::shared_ptr<Store> store, std::string name_space, std::string tag, std::uint64_t step)
      : store_(std::move(store)), name_space_(std::move(name_space)), tag_(std::move(tag)), step_(step) {}

  Range draw() override {
    const std::uint64_t first = store_->segment_take(name_space_, tag_, step_);
    return {first, first + step_};
  }
  void give_back(const Range& unused) override {
    store_->segment_return(name_space_, tag_, unused.end - 1, unused.size());
  }

  std::string after_regress() const override {
    return "Lift the tag above all ids in use with `idgen segment advance`, then open the generator again";
  }

 private:
  const std::shared_ptr<Store> store_;
  const std::string name_space_;
  const std::string tag_;
  const std::uint64_t step_;
};

std::string tag_of(const Config& config) { return config.get(config.get("tag").empty() ? "name" : "tag"); }

class SegmentGenerator final : public Generator {
 public:
  explicit SegmentGenerator(const Config& config)
      : Generator(config, Layout::plain_segment(), "segment tag '" + tag_of(config) + "'") {
    if (!config.get("layout").empty()) {
      throw Error(Status::unsupported, "layout = '" + config.get("layout") +
                                           "' with kind = segment: segment ids are plain numbers in this version; "
                                           "remove it, or use kind = snowflake");
    }
    shape_.stripe_block = std::clamp<std::uint64_t>(config.integer("segment.step") / 64, 1, 1024);
    begin();
  }

  bool make_room(Patience& patience) override {
    if (!ensure_alive(patience)) return false;
    return supply_->refill(0, patience);
  }

  std::string describe() const override;

 protected:
  std::unique_ptr<Source> make_source() override {
    return std::make_unique<SegmentSource>(store_, config_.get("namespace"), tag_of(config_),
                                           config_.integer("segment.step"));
  }
  double prefetch() const override { return config_.number("segment.prefetch"); }
  void lifted(std::uint64_t) override {}
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
};

std::string SegmentGenerator::describe() const {
  const std::string step = config_.get("segment.step");
  std::string text = "kind: segment, tag '" + tag_of(config_) + "' in namespace '" + config_.get("namespace") + "', " +
                     step + " numbers at a time\n";
  text += store_->describe();
  text += "clock: not used; no clock can cause a duplicate\n";
  if (store_->survives_fork())
    text += "crash: up to " + std::to_string(2 * config_.integer("segment.step")) +
            " numbers are lost (a gap), none is issued twice\n";
  text += shape_.striped ? "order: relaxed; ids rise within a thread, not between threads\n"
                         : "order: strict; every id of this generator is above all it issued before; between processes "
                           "only the ranges are ordered\n";
  text += fork_obstacle().empty() ? "fork: a child draws a segment of its own\n"
                                  : "fork: a child gets FORKED: " + fork_obstacle() + "\n";
  text += "store outage: ids go on until what is reserved is used up, then calls wait up to wait_max = " +
          config_.get("wait_max") + "\n";
  text +=
      "not covered: a store restored from a backup while this process is down (advance the tag above the highest id in "
      "use), and a byte-wise "
      "clone of the running machine\n";
  return text;
}

}  // namespace

std::shared_ptr<Generator> make_segment_generator(const Config& config) {
  return std::make_shared<SegmentGenerator>(config);
}

}  // namespace idgen
