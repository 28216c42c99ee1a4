// URLs of databases as other programs write them: JDBC, SQLAlchemy, libpq, the drivers of MySQL. What they say is
// brought into idgen's own words; what has no meaning for idgen is passed over by name, never by accident.
#pragma once

#include <string_view>

#include "idgen/url.hpp"

namespace idgen {

// What is before the colon, in idgen's words: "postgres" for jdbc:postgresql://..., postgresql+psycopg://... Cuts a
// leading "jdbc:" from `url`.
std::string_view plain_scheme(std::string_view& url);

// The parameters of a URL that was parsed. Throws Error{value} for a value that has no counterpart.
void translate_parameters(StoreUrl& url);

}  // namespace idgen
