// Lookups of shards, beside what any router must do: read one entry of an array.
#include <idgen/idgen.h>
#include <idgen/route.h>
#include <xxhash.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "commands.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

constexpr std::uint32_t kBits = 16;
constexpr std::size_t kIds = 4096;  // asked in turn: 32 KiB, so that most come from the nearest cache
constexpr std::size_t kBatch = 1024;

void check(idgen_status_t status, const idgen_error_t& error) {
  if (status == IDGEN_OK) return;
  std::fprintf(stderr, "%s\n", error.message);
  std::exit(1);
}

// A ring in which `ranges` ranges of any size belong to 64 shards in turn.
class Ring {
 public:
  explicit Ring(std::uint32_t ranges) {
    std::mt19937_64 random(ranges);
    std::map<std::uint32_t, std::uint32_t> ends{{(1u << kBits) - 1, 0}};
    while (ends.size() < ranges) ends[static_cast<std::uint32_t>(random() % (1u << kBits))] = 0;
    std::uint32_t first = 0;
    for (auto& [upto, shard] : ends) {
      shard = static_cast<std::uint32_t>(upto_.size() % 64);
      upto_.push_back(upto);
      shard_.push_back(shard);
      for (; first <= upto; ++first) owners.push_back(shard);
    }
    ceiling = ends;
    std::vector<std::string> names;
    for (int i = 0; i < 64; ++i) names.push_back("db" + std::to_string(i));
    std::vector<const char*> shards;
    for (const std::string& name : names) shards.push_back(name.c_str());
    idgen_route_data_t data = IDGEN_ROUTE_DATA_INIT;
    data.version = 1;
    data.bits = kBits;
    data.shards = shards.data();
    data.shard_count = shards.size();
    data.range_upto = upto_.data();
    data.range_shard = shard_.data();
    data.range_count = upto_.size();
    idgen_error_t error = IDGEN_ERROR_INIT;
    idgen_route_table_t* table = nullptr;
    idgen_layout_t* layout = nullptr;
    check(idgen_route_table_create(&data, &table, &error), error);
    check(idgen_layout_create("business64", nullptr, &layout, &error), error);
    idgen_router_options_t options = IDGEN_ROUTER_OPTIONS_INIT;
    options.layout = layout;
    check(idgen_router_create(table, &options, &router, &error), error);
    idgen_route_table_destroy(table);
    idgen_layout_destroy(layout);
  }
  ~Ring() { idgen_router_destroy(router); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::vector<std::uint32_t> owners;               // of each node
  std::map<std::uint32_t, std::uint32_t> ceiling;  // a range's shard by its end
  idgen_router_t* router = nullptr;

 private:
  std::vector<std::uint32_t> upto_, shard_;
};

[[gnu::noinline]] int read_array(const std::uint32_t* owners, std::uint64_t id, std::uint32_t* shard) {
  *shard = owners[id >> 47];
  return 0;
}

}  // namespace

void routes(int rounds) {
  const Ring few(64), many(4096);
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> shards(kBatch), seconds(kBatch);
  for (std::size_t i = 0; i < kIds; ++i) ids.push_back(random() >> 1);
  char owner[16];
  const auto by_id = [&](const Ring& ring) {
    return [&](std::size_t count) {
      idgen_error_t error = IDGEN_ERROR_INIT;
      idgen_route_t route = IDGEN_ROUTE_INIT;
      for (std::size_t i = 0; i < count; ++i) {
        if (idgen_router_route(ring.router, ids[i % kIds], &route, &error)) [[unlikely]]
          check(IDGEN_E_INTERNAL, error);
        keep(route.shard);
      }
    };
  };
  const auto batch = [&](const Ring& ring) {
    return [&](std::size_t count) {
      idgen_error_t error = IDGEN_ERROR_INIT;
      for (std::size_t i = 0; i < count; i += kBatch) {
        check(idgen_router_route_batch(ring.router, &ids[i % kIds], kBatch, shards.data(), seconds.data(), &error),
              error);
      }
    };
  };
  std::vector<Subject> subjects = {
      {"array behind a call",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           std::uint32_t shard;
           if (read_array(few.owners.data(), ids[i % kIds], &shard)) [[unlikely]]
             return;
           keep(shard);
         }
       }},
      {"map, 64 ranges",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           std::uint32_t shard = few.ceiling.lower_bound(static_cast<std::uint32_t>(ids[i % kIds] >> 47))->second;
           keep(shard);
         }
       }},
      {"id, 64 ranges", by_id(few)},
      {"id, 4096 ranges", by_id(many)},
      {"node, 64 ranges",
       [&](std::size_t count) {
         idgen_error_t error = IDGEN_ERROR_INIT;
         idgen_route_t route = IDGEN_ROUTE_INIT;
         for (std::size_t i = 0; i < count; ++i) {
           if (idgen_router_route_node(few.router, static_cast<std::uint32_t>(ids[i % kIds] >> 47), &route, &error))
               [[unlikely]]
             check(IDGEN_E_INTERNAL, error);
           keep(route.shard);
         }
       }},
      {"XXH64 of 16 bytes",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           __builtin_memcpy(owner, &i, sizeof i);
           std::uint64_t hash = XXH64(owner, sizeof owner, 0);
           keep(hash);
         }
       }},
      {"owner of 16 bytes",
       [&](std::size_t count) {
         idgen_error_t error = IDGEN_ERROR_INIT;
         idgen_route_t route = IDGEN_ROUTE_INIT;
         for (std::size_t i = 0; i < count; ++i) {
           __builtin_memcpy(owner, &i, sizeof i);
           check(idgen_router_route_owner(few.router, owner, sizeof owner, &route, &error), error);
           keep(route.shard);
         }
       }},
      {"array in a loop",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; i += kBatch) {
           for (std::size_t j = 0; j < kBatch; ++j) shards[j] = few.owners[ids[(i + j) % kIds] >> 47];
           std::uint32_t* written = shards.data();
           keep(written);
         }
       },
       kBatch},
      {"batch, 64 ranges", batch(few), kBatch},
      {"batch, 4096 ranges", batch(many), kBatch},
  };
  take_turns(subjects, rounds, 5);
  Json json;
  json.open().open("ns");
  for (const Subject& subject : subjects) json.numbers(subject.name, subject.ns);
  json.close().close().print();
}

}  // namespace bench
