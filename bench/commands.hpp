// What `idgen-bench COMMAND` can measure. Each prints one JSON object of samples on standard output.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench {

// ns per call on one thread, beside the floors.
void speed(int rounds);
// ids per second of 1, 2, ... threads on one generator, beside bare shared counters.
void threads(int rounds, unsigned most);
// Share of 4096 ids per millisecond, and the CPU time it takes.
void cap(int rounds);
// Latency of paced calls while segments and windows are refilled from stores, slow ones too. Files go below folder.
void refill(const std::string& folder, int seconds);
// Time of create and memory of a generator. Files go below folder.
void footprint(const std::string& folder, int rounds);
// ns per call on segments from each NAME=URL, and the CPU time of all of them when idle. `modules`: module.path.
void stores(int rounds, int seconds, const std::string& modules, std::span<char*> urls);
// Time of create with a leased worker on each NAME=URL, and the latency of calls while it is renewed, beside calls on a
// worker that is not.
void leases(int seconds, const std::string& modules, std::span<char*> urls);
// ns per id that has an owner, and ids per second of `most` threads that draw such ids.
void owners(int rounds, unsigned most);
// ns per lookup of a shard, beside reading an array.
void routes(int rounds);
// Runs one subject a given number of times and prints nothing: for a tool that counts instructions.
void count(const std::string& subject, std::size_t times);
// ns per hidden id, one by one and in batches, beside the AES rounds that it needs.
void hidden(int rounds);

// ns per UUID, ULID and ObjectId, one by one and in batches, and per text.
void standard(int rounds);

}  // namespace bench
