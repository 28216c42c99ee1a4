// The queue of numbers that a buffer keeps in Redis, and the rules of its protocol.
//
// A queue belongs to one life of one tag: `label` names the life of the server (its replication id, which every rewind
// changes) and the moment when the tag was first seen in it, so that a deleted queue does not come back under its old
// label either. All of this is for one tag:
//  - take() removes what it returns; numbers that were loaded under another label are dropped.
//  - load() appends if `label` is the present one, and first is above the witness, which then becomes the end. So what
//    is delivered late, or a second time, is refused.
//  - The witness is the highest number known to have been granted. It never falls as long as the queue is remembered.
// What is removed under a label never comes back under it, and each number is loaded under one label only: it leaves
// the queue at most once.
#pragma once

#include <cstdint>
#include <string>

namespace idgen {

struct QueueRequest {
  std::uint64_t count = 0;      // numbers, at most; 0: only a look
  std::uint64_t above = 0;      // only numbers above this one; lower ones stay for other processes. Raises the witness.
  std::uint64_t least = 0;      // numbers wanted in stock whatever the rate
  std::uint64_t rate = 0;       // numbers per second of this process; used until the queue has measured the rate of all
  std::uint64_t runway_ms = 0;  // how long the stock should last at the rate of all processes
  std::uint64_t stock_max = 0;  // the stock's upper limit
};

struct QueuePart {
  std::string label;
  std::uint64_t witness = 0;
  std::uint64_t first = 0;  // of what was taken
  std::uint64_t count = 0;  // 0: there was nothing
  std::uint64_t stock = 0;  // numbers left above `above`
  std::uint64_t wanted = 0;
  bool stopped = false;  // by reset(): nothing is taken
  bool load = false;     // the stock is too low, and no other process has been told so within the last seconds
};

class Queue {
 public:
  virtual ~Queue() = default;
  // In consecutive numbers, from one load.
  virtual QueuePart take(const std::string& name_space, const std::string& tag, const QueueRequest& request) = 0;
  // False: refused. Beyond stock_max the oldest numbers are dropped.
  virtual bool load(const std::string& name_space, const std::string& tag, const std::string& label,
                    std::uint64_t first, std::uint64_t count, std::uint64_t stock_max) = 0;
  // Drops the stock and raises the witness. stopped: nothing is taken or loaded until another reset allows it.
  virtual void reset(const std::string& name_space, const std::string& tag, std::uint64_t witness, bool stopped) = 0;
  virtual std::string describe() const = 0;
  // Closes the connection; the next call opens a new one.
  virtual void disconnect() noexcept {}
};

}  // namespace idgen
