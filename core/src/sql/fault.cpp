#include "sql/fault.hpp"

namespace idgen::sql {
namespace {

struct ByNumber {
  unsigned number;
  Fault fault;
};
// Server errors, of MariaDB and MySQL alike (mysqld_error.h).
constexpr ByNumber kNumbers[] = {
    {1021, Fault::full},          {1044, Fault::denied},
    {1045, Fault::denied},        {1049, Fault::no_database},
    {1054, Fault::other_columns}, {1062, Fault::row_is_there},
    {1114, Fault::full},          {1130, Fault::denied},
    {1142, Fault::denied},        {1143, Fault::denied},
    {1146, Fault::no_table},      {1251, Fault::denied},
    {1290, Fault::read_only},     {1568, Fault::inside_transaction},
    {1690, Fault::damaged},       {1698, Fault::denied},
    {1792, Fault::read_only},     {1820, Fault::denied},
    {1862, Fault::denied},        {3118, Fault::denied},
    {4151, Fault::denied},
};

struct ByText {
  std::string_view text;
  Fault fault;
};
// An SQLSTATE, or its class.
constexpr ByText kStates[] = {
    {"22003", Fault::damaged},       {"23505", Fault::row_is_there},  {"23514", Fault::damaged},
    {"25006", Fault::denied},        {"28000", Fault::denied},        {"28P01", Fault::denied},
    {"3D000", Fault::no_database},   {"3F000", Fault::no_schema},     {"42501", Fault::denied},
    {"42703", Fault::other_columns}, {"42804", Fault::other_columns}, {"42846", Fault::other_columns},
    {"42883", Fault::other_columns}, {"42P01", Fault::no_table},      {"53100", Fault::full},
    {"42", Fault::other_statement},
};
// libpq has no SQLSTATE for a connection that is refused, and SQLite none at all.
constexpr ByText kTexts[] = {
    {"no such table: idgen_", Fault::no_table},
    {"no such column", Fault::other_columns},
    {"has no column named", Fault::other_columns},
    {"UNIQUE constraint failed", Fault::row_is_there},
    {"password authentication failed", Fault::denied},
    {"no pg_hba.conf entry", Fault::denied},
    {"readonly database", Fault::denied},
    {"disk is full", Fault::full},
    {"transaction within a transaction", Fault::inside_transaction},
};

}  // namespace

Fault fault_of(unsigned number, std::string_view sqlstate, std::string_view text) {
  for (const ByNumber& row : kNumbers)
    if (row.number == number) return row.fault;
  for (const ByText& row : kStates)
    if (sqlstate.starts_with(row.text)) return row.fault;
  for (const ByText& row : kTexts)
    if (number == 0 && sqlstate.empty() && text.find(row.text) != text.npos) return row.fault;
  return Fault::unknown;
}

void throw_fault(Fault fault, const std::string& why, About about, const Wording& wording, std::uint64_t retry_after_ns,
                 std::uint64_t cause) {
  const bool is_users = about == About::users_table;
  Status status = Status::store_unavailable;  // the outcome is unknown, or the error is temporary
  std::string message = why;
  switch (fault) {
    case Fault::no_table:
      status = is_users ? Status::value : Status::store_missing;
      if (about == About::segments || about == About::workers) {
        const bool is_segments = about == About::segments;
        const std::string_view table = is_segments                               ? wording.table
                                       : why.find("idgen_namespace") != why.npos ? "idgen_namespace"
                                                                                 : "idgen_worker";
        message = concat({wording.shown, ": the table ", table, " is not there. ",
                          is_segments ? wording.how_to_create : wording.how_to_create_workers});
      } else if (!is_users) {
        const bool is_log = why.find("idgen_grant") != why.npos;  // its statement has both tables
        const std::string_view how = about == About::numbers
                                         ? "Make it as its generator's own script does, or set store_create = true"
                                     : is_log ? std::string_view(wording.how_to_create_grants)
                                              : std::string_view(wording.how_to_create);
        message = concat({why, ". ", how});
      }
      break;
    case Fault::no_database:
      status = Status::store_missing;
      message = concat({why, ". Make the database first"});
      break;
    case Fault::no_schema:
      status = Status::store_missing;
      message = concat({why,
                        ". No schema of the role's search_path is there; make one, or name one: ALTER ROLE ... SET "
                        "search_path = ..."});
      break;
    case Fault::read_only:
      status = Status::store_permission;
      message = concat({why, ". Name the primary, which takes writes"});
      break;
    case Fault::denied:
      status = Status::store_permission;
      break;
    case Fault::full:
      status = Status::store_full;
      break;
    case Fault::damaged:
      status = Status::store_damaged;
      break;
    case Fault::other_columns:
      status = is_users ? Status::value : Status::store_version;
      if (about == About::numbers) {
        message = concat({why, ". The table is not as its generator's own script makes it"});
      } else if (about == About::workers) {
        message = concat({why, ". The table idgen_worker is of another version"});
      } else if (!is_users) {
        message = concat({why, ". The table ", wording.table, " is not one of segment.schema = ", wording.schema,
                          ", or of another version"});
      }
      break;
    case Fault::other_statement:
      if (is_users) status = Status::value;
      break;
    case Fault::row_is_there:
    case Fault::inside_transaction:
    case Fault::unknown:
      break;
  }
  throw Error(status, message, retry_after_ns, cause);
}

}  // namespace idgen::sql
