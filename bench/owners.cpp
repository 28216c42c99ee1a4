// Ids that have an owner, on one thread and on several.
#include <xxhash.h>

#include <array>
#include <cstring>
#include <vector>

#include "../tests/draws.h"
#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"
#include "rate.hpp"

namespace bench {
namespace {

constexpr std::size_t kOwners = 4096;
constexpr std::size_t kBatch = 1024;

using Key = std::array<char, 16>;

Properties business(const std::string& tag) { return with(segment(tag), "kind", "business"); }

// Owners of 16 bytes, `count` of them, all with genes in the given part of the ring.
std::vector<Key> owners_in(unsigned part, unsigned parts, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  idgen_layout_t* layout = nullptr;
  check(idgen_layout_create("business64", nullptr, &layout, &error), error);
  std::vector<Key> owners;
  for (std::uint64_t n = 0; owners.size() < count; ++n) {
    Key key{};
    std::memcpy(key.data(), &n, sizeof n);
    std::uint64_t gene = 0;
    check(idgen_layout_gene(layout, IDGEN_GENE_AUTO, key.data(), key.size(), &gene, &error), error);
    if (gene * parts >> 16 == part) owners.push_back(key);
  }
  idgen_layout_destroy(layout);
  return owners;
}

void draw_for(idgen_t* generator, const std::vector<Key>& owners, std::size_t& at, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  for (std::size_t i = 0; i < count; ++i) {
    const Key& owner = owners[at++ % kOwners];
    std::uint64_t id;
    if (const idgen_status_t status = idgen_next_for(generator, owner.data(), owner.size(), &id, &error)) [[unlikely]]
      fail(status, error);
    keep(id);
  }
}

}  // namespace

void owners(int rounds, unsigned most) {
  const std::vector<Key> any = owners_in(0, 1, kOwners);
  std::vector<idgen_owner_t> views;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < kBatch; ++i) {
    views.push_back({any[i].data(), any[i].size()});
    numbers.push_back(static_cast<std::int64_t>(i * 7919));
  }
  std::vector<std::uint64_t> ids(kBatch);
  Shared cas;
  const Generator generator(business("owners"));
  idgen_t* const g = generator.get();
  idgen_error_t error = IDGEN_ERROR_INIT;
  std::size_t at = 0, written = 0;

  std::vector<Subject> subjects = {
      {"XXH64 + compare-and-set",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           const Key& owner = any[at++ % kOwners];
           std::uint64_t hash = XXH64(owner.data(), owner.size(), 0);
           keep(hash);
           compare_and_set(cas, 1);
         }
       }},
      {"next_for, 16 bytes", [&](std::size_t count) { draw_for(g, any, at, count); }},
      {"next_for_int",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           std::uint64_t id;
           check(idgen_next_for_int(g, static_cast<std::int64_t>(i), &id, &error), error);
           keep(id);
         }
       }},
      {"batch, one owner",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; i += kBatch)
           check(draw_for(g, views.data(), nullptr, 1, ids.data(), nullptr, kBatch, &written, nullptr, nullptr, &error),
                 error);
       },
       kBatch},
      {"batch, an owner each",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; i += kBatch) {
           check(draw_for(g, views.data(), nullptr, kBatch, ids.data(), nullptr, kBatch, &written, nullptr, nullptr,
                          &error),
                 error);
         }
       },
       kBatch},
      {"batch, an integer each",
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; i += kBatch) {
           check(draw_for(g, nullptr, numbers.data(), kBatch, ids.data(), nullptr, kBatch, &written, nullptr, nullptr,
                          &error),
                 error);
         }
       },
       kBatch},
  };
  take_turns(subjects, rounds, 5);

  // Threads: each for its own part of the ring, as with a shard each; all for all owners; and so with order = relaxed.
  const Generator shared(with(business("owners-threads"), "counters", std::to_string(32 * most)));
  const Generator relaxed(with(business("owners-relaxed"), "order", "relaxed"));
  std::vector<std::vector<Key>> own;
  for (unsigned i = 0; i < most; ++i) own.push_back(owners_in(i, most, kOwners));
  struct alignas(64) Place {
    std::size_t at = 0;
    Shared own;  // nobody else's
  };
  std::vector<Place> places(most);
  struct Contest {
    const char* name;
    std::function<void(unsigned, std::size_t)> work;
    std::vector<double> one{}, many{};
  };
  std::vector<Contest> contests = {
      {"nothing shared",  // what the machine's cores do for each other
       [&](unsigned i, std::size_t count) {
         for (std::size_t n = 0; n < count; ++n) {
           const Key& owner = own[i][places[i].at++ % kOwners];
           std::uint64_t hash = XXH64(owner.data(), owner.size(), 0);
           keep(hash);
           compare_and_set(places[i].own, 1);
         }
       }},
      {"owners of its own",
       [&](unsigned i, std::size_t count) { draw_for(shared.get(), own[i], places[i].at, count); }},
      {"any owners", [&](unsigned i, std::size_t count) { draw_for(shared.get(), any, places[i].at, count); }},
      {"any owners, relaxed",
       [&](unsigned i, std::size_t count) { draw_for(relaxed.get(), any, places[i].at, count); }},
  };
  for (int round = 0; round < rounds; ++round) {
    for (Contest& contest : contests) {
      contest.one.push_back(rate(1, contest.work));
      contest.many.push_back(rate(most, contest.work));
    }
  }

  Json json;
  json.open().open("ns");
  for (const Subject& subject : subjects) json.numbers(subject.name, subject.ns);
  json.close().number("threads", most).open("one");
  for (const Contest& contest : contests) json.numbers(contest.name, contest.one);
  json.close().open("many");
  for (const Contest& contest : contests) json.numbers(contest.name, contest.many);
  json.close().close().print();
}

}  // namespace bench
