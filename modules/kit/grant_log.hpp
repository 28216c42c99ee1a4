// The log of grants: what a tag's latest grants were, in the table idgen_grant, for `idgen explain`. Each is written in
// the transaction of its grant, so the log never says what did not happen. Its rows are used by turns: there are never
// more of a tag than the largest segment.grant_log of its processes.
#pragma once

#include <string>

namespace idgen::module {

inline constexpr const char* kGrantTable = "idgen_grant";

inline constexpr const char* kHowToCreateGrants =
    "The log of grants (segment.grant_log) needs it. Make it with `idgen store create`, given the same configuration, "
    "and let this user SELECT, INSERT and UPDATE it";

// The row of a grant, from idgen_segment as the grant left it. `first` and `last` in SQL.
inline std::string insert_grant(std::uint64_t log, const std::string& first, const std::string& last,
                                const std::string& from) {
  return "INSERT INTO idgen_grant(ns, tag, slot, grant_no, first_id, last_id, granted_unix_ms, holder) SELECT ns, tag, "
         "grants % " +
         std::to_string(log) + ", grants, " + first + ", " + last + ", updated_unix_ms, holder FROM " + from;
}

// What was given back is no longer of any grant: the tag stands at max_id again. `where` is its row in idgen_segment.
inline std::string cut_grants(std::uint64_t max_id, const std::string& where) {
  const std::string text = std::to_string(max_id);
  return "UPDATE idgen_grant SET last_id = " + text + where + " AND last_id > " + text;
}

// grant_no, first_id, last_id, granted_unix_ms, holder. A tag that was deleted and made again has fewer grants than the
// rows of its predecessor say.
inline std::string select_grant(std::uint64_t number, const std::string& where) {
  const std::string text = std::to_string(number);
  return "SELECT grant_no, first_id, last_id, granted_unix_ms, holder FROM idgen_grant" + where +
         " AND first_id <= " + text + " AND last_id >= " + text + " AND grant_no <= (SELECT grants FROM idgen_segment" +
         where + ") ORDER BY grant_no DESC LIMIT 1";
}

}  // namespace idgen::module
