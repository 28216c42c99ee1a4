// What a server must promise before it may grant anything.
#pragma once

#include "sql/dialect.hpp"
#include "sql/fault.hpp"
#include "sql/statement.hpp"
#include "store/url_parameters.hpp"

namespace idgen::sql {

// Throws Error{store_*} if this server can forget a commit, unless the URL accepts that (accept_loss), or if it cannot
// grant anything, or if the table of segments is not made for whole numbers that are kept. `dialect` is MySQL's or
// PostgreSQL's.
void check_server(Connection& connection, const Dialect& dialect, const Schema& schema, const Wording& wording,
                  const Parameters& parameters, bool is_tidb = false);

}  // namespace idgen::sql
