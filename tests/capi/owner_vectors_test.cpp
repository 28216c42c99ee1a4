// The golden vectors for ids that have an owner, through the C border. Columns: tests/vectors/README.md.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "idgen/admin.h"
#include "idgen/host.h"
#include "idgen/idgen.h"
#include "vectors/calls.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

using Row = std::vector<std::string>;
using ConfigOwner = std::unique_ptr<idgen_config_t, decltype(&idgen_config_destroy)>;

std::int64_t the_first_of_2026(void*) { return 1'767'225'600'000'000'000; }

// Of a row, in a new store.
ConfigOwner configured(const Row& row) {
  static int stores = 0;
  idgen_config_t* config = nullptr;
  EXPECT_EQ(idgen_config_create(&config, nullptr), IDGEN_OK);
  const std::string more = "; tag=orders; store_create=true; store=memory:owners" + std::to_string(++stores);
  EXPECT_EQ(vectors::set_properties(config, row[0] + more, nullptr), IDGEN_OK) << row[0];
  const idgen_clock_t clock = {sizeof clock, 0, the_first_of_2026, nullptr, nullptr};
  EXPECT_EQ(idgen_config_set_clock(config, &clock, nullptr, nullptr), IDGEN_OK);
  if (row[1] != "0") {
    EXPECT_EQ(idgen_segment_create(config, nullptr), IDGEN_OK);
    EXPECT_EQ(idgen_segment_advance(config, std::stoull(row[1]), nullptr, nullptr), IDGEN_OK);
  }
  return {config, idgen_config_destroy};
}

std::string text_of(std::uint64_t id) { return std::to_string(id); }
std::string text_of(const idgen_wide_id_t& id) {
  std::uint64_t number = 0;
  std::string digits;
  for (std::size_t i = 0; i < id.size; ++i) {
    number = number << 8 | id.bytes[i];
    for (const int digit : {id.bytes[i] >> 4, id.bytes[i] & 15}) digits += "0123456789abcdef"[digit];
  }
  return id.size == 8 ? std::to_string(number) : digits;
}

void put(idgen_draw_t& draw, const idgen_owner_t* owners) { draw.owners = owners; }
void put(idgen_draw_t& draw, const std::int64_t* owners) { draw.int_owners = owners; }
void put(idgen_draw_t& draw, std::uint64_t* ids) { draw.ids = ids; }
void put(idgen_draw_t& draw, idgen_wide_id_t* ids) { draw.wide_ids = ids; }

template <class Owner, class Id>
idgen_status_t batch(idgen_t* of, const Owner* owners, std::size_t owner_count, Id* ids, std::size_t n,
                     std::size_t* written, idgen_error_t* error) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n;
  draw.owner_count = owner_count;
  put(draw, owners);
  put(draw, ids);
  const idgen_status_t status = idgen_draw(of, &draw, error);
  *written = draw.written;
  return status;
}

idgen_status_t next(idgen_t* of, const idgen_owner_t& owner, std::uint64_t& id, idgen_error_t& error) {
  const idgen_status_t status = idgen_next_for(of, owner.data, owner.size, &id, &error);
  if (status != IDGEN_OK && idgen_try_next_for(of, owner.data, owner.size, &id) != status) ADD_FAILURE();
  return status;
}
idgen_status_t next(idgen_t* of, std::int64_t owner, std::uint64_t& id, idgen_error_t& error) {
  return idgen_next_for_int(of, owner, &id, &error);
}
template <class Owner>
idgen_status_t next(idgen_t* of, const Owner& owner, idgen_wide_id_t& id, idgen_error_t& error) {
  std::size_t written = 0;
  return batch(of, &owner, 1, &id, 1, &written, &error);
}

// What a row's generator makes, as the row says it. owner_count: of a batch; 0: one by one.
template <class Id, class Owner>
std::string drawn(const Row& row, const Owner& owner, std::size_t owner_count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  idgen_t* made = nullptr;
  const ConfigOwner config = configured(row);
  idgen_status_t status = idgen_create(config.get(), &made, &error);
  std::vector<Id> ids(std::stoul(row[5]));
  std::size_t written = 0;
  if (status == IDGEN_OK && owner_count > 0) {
    const std::vector<Owner> owners(owner_count, owner);
    status = batch(made, owners.data(), owner_count, ids.data(), ids.size(), &written, &error);
  }
  while (status == IDGEN_OK && written < ids.size()) {
    status = next(made, owner, ids[written], error);
    written += status == IDGEN_OK;
  }
  idgen_destroy(made);
  std::string text;
  for (std::size_t i = 0; i < written; ++i) text += (i > 0 ? "," : "") + text_of(ids[i]);
  return text + (status == IDGEN_OK ? "\t\t" : std::string("\t") + idgen_status_name(status) + "\t" + error.message);
}

template <class Owner>
void check(const Row& row, const Owner& owner) {
  const std::string wanted = row[6] + "\t" + row[7] + "\t" + row[8];
  for (const std::size_t owner_count : {std::size_t{0}, std::size_t{1}, std::stoul(row[5])}) {
    const std::string about = row[0] + ", used " + row[1] + ", owner " + row[4];
    if (row[2] != "wide") {
      EXPECT_EQ(drawn<std::uint64_t>(row, owner, owner_count), wanted) << about;
    }
    if (row[2] != "narrow") {
      EXPECT_EQ(drawn<idgen_wide_id_t>(row, owner, owner_count), wanted) << about;
    }
  }
}

TEST(OwnerVectors, EveryCallThatTakesAnOwnerMakesTheIdsAndTheRefusalsOfTheReference) {
  for (const Row& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/owners.tsv")) {
    ASSERT_EQ(row.size(), 9u) << row[0];
    std::string bytes = row[4];
    if (row[3] == "bytes") {
      bytes.clear();
      for (std::size_t i = 0; i < row[4].size(); i += 2)
        bytes += static_cast<char>(std::stoi(row[4].substr(i, 2), nullptr, 16));
    }
    check(row, idgen_owner_t{bytes.data(), bytes.size()});
    if (row[3] == "integer") check(row, static_cast<std::int64_t>(std::stoll(row[4])));
  }
}

}  // namespace
}  // namespace idgen
