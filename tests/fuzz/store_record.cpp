// What stores with one value for each key hold: segments, workers, Leaf's nodes.
#include "foreign_leaf_nodes.hpp"
#include "fuzz.hpp"
#include "json_worker.hpp"
#include "record.hpp"

void idgen::fuzz::read(std::string_view input) {
  using namespace idgen::module;
  const unsigned what = take(input) % 4;
  const std::string text(input);
  if (what == 0) {
    if (const auto info = parsed([&] { return parse_record("redis://h", "shop", "orders", text); })) {
      const SegmentInfo again = parse_record("redis://h", "shop", "orders", record_of(*info));
      expect(again.max_id == info->max_id && again.grants == info->grants && again.step == info->step,
             "a segment is written and read");
    }
  } else if (what == 1) {
    if (const auto row = parsed([&] { return parse_worker("redis://h", "shop", 7, text); })) {
      const WorkerRow again = parse_worker("redis://h", "shop", 7, worker_text(*row));
      expect(again.fence == row->fence && again.hw == row->hw && again.owned == row->owned && again.owner == row->owner,
             "a worker is written and read");
    }
  } else if (what == 2) {
    if (const auto ms = leaf_report_of(text)) expect(*ms >= 0, "a report is of no time before 1970");
  } else {
    leaf_node_of(text);
  }
}
