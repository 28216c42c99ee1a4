// Serials from the rows of key_producer, beside its own processes: segment.schema = key_producer. One row is one
// series, with its latest serial as text, which is read as a serial's id; so all else holds that holds of a counter. A
// grant replaces the text that it has read, or tries again.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "java_format.hpp"
#include "schema.hpp"
#include "serial_text.hpp"
#include "store/grant_rules.hpp"

namespace idgen::module {

// The longest of its columns.
inline constexpr std::size_t kLongestName = 80, kLongestSerial = 80, kLongestFormat = 20;

// And what a row says of the pattern.
class RowText : public SerialText {
 public:
  // Throws Error{value, unsupported}.
  explicit RowText(const std::string& pattern) : SerialText(pattern), formats_(java_formats(this->pattern())) {
    if (this->pattern().most_bytes() > kLongestSerial && this->pattern().last_number() != ~Id128{0})
      fail_long("texts", kLongestSerial);
    if (formats_.date.size() > kLongestFormat) fail_long("a DATEFMT, " + in_quotes(formats_.date), kLongestFormat);
    if (formats_.number.size() > kLongestFormat) fail_long("a NOFMT, " + in_quotes(formats_.number), kLongestFormat);
  }

  const JavaFormats& formats() const noexcept { return formats_; }
  // What stands in front of the number in the serials of a period.
  std::string prefix(std::uint64_t id) const {
    std::string text = write(period_begin(id));
    text.resize(text.size() - formats_.number.size());
    return text;
  }

 private:
  [[noreturn]] void fail_long(const std::string& what, std::size_t most) const {
    throw Error(Status::unsupported, concat({"pattern ", quote(pattern().text()), " makes ", what, " of more than ",
                                             most, " characters, more than a row of key_producer holds"}));
  }

  const JavaFormats formats_;
};

// TABLE.COLUMN, as the tag has it.
struct Business {
  std::string table, column;
};

// Throws Error{value}.
inline Business business_of(const std::string& name_space, const std::string& tag) {
  if (name_space != "default") {
    throw Error(Status::value, concat({"namespace = ", quote(name_space),
                                       " with segment.schema = key_producer: its rows have no namespace. Leave "
                                       "namespace at \"default\""}));
  }
  const std::size_t dot = tag.rfind('.');
  if (dot == tag.npos || dot == 0 || dot + 1 == tag.size() || dot > kLongestName ||
      tag.size() - dot > kLongestName + 1) {
    throw Error(Status::value,
                concat({"tag = ", quote(tag),
                        " with segment.schema = key_producer: the tag is TABLE.COLUMN, the table and the "
                        "column that the serials are for, of at most ",
                        kLongestName, " characters each"}));
  }
  if (std::ranges::any_of(tag, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    throw Error(Status::unsupported, concat({"tag = ", quote(tag),
                                             " with segment.schema = key_producer: its rows have names in upper case, "
                                             "and only those of letters from A to Z are known to be the original's"}));
  }
  return {tag.substr(0, dot), tag.substr(dot + 1)};
}

// What differs between databases.
struct KeyProducerDialect {
  std::span<const std::string_view> parameters;  // of the URL
  std::string_view time_type;                    // of update_time
  std::string_view table_options;                // behind the columns
  std::string_view updated_ms;                   // an expression: update_time in whole Unix milliseconds
  std::string_view changed;                      // what is set besides MAXSERIALNO, with a comma in front
  std::string_view if_absent;                    // after an INSERT: nothing happens if the row is there
  std::string (*literal)(const std::string&);    // for people
};

// Connection has run(sql); segment_rows(sql) and users_rows(sql), all rows as texts, "" for NULL;
// change_segments(sql), the number of rows that were inserted or changed; quoted(text), identifier(name), describe().
template <class Connection, const KeyProducerDialect& dialect>
class KeyProducer final : public ConnectedStore<Connection> {
  using ConnectedStore<Connection>::settings_;
  using ConnectedStore<Connection>::use;

 public:
  static constexpr std::string_view kSchema = kKeyProducer.name;

  explicit KeyProducer(const Settings& settings) : ConnectedStore<Connection>(settings, dialect.parameters) {
    if (!settings_.pattern.empty()) text_.emplace(settings_.pattern);
    use([&](Connection& server) {
      if (settings_.create) create_table(server);
      server_ = server.describe();
    });
  }

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    if (settings.pattern.empty()) throw_no_pattern();
    const Row row = new_row(RowText(settings.pattern), name_space, tag);
    return table_text() + ";\n" + insert_text(row, dialect.literal) + ";\n";
  }

  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) override {
    return use([&](Connection& server) {
      for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
        const Row row = settings_.create ? find_or_make(server, name_space, tag) : find(server, name_space, tag);
        const std::uint64_t from = std::max(latest_of(server, row, name_space, tag, request.above), request.above);
        const std::uint64_t left = text().last_of(from) - from;
        if (left == 0) throw_used_up(tag, from);
        const std::uint64_t count = std::min(std::max({request.step, request.wanted, std::uint64_t{1}}), left);
        if (change(server, row, from + count)) return SegmentGrant{.first = from + 1, .count = count};
      }
      throw_too_many_others(tag);
    });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) override {
    check_segment_return(last, unused);
    if (unused == 0) return;
    use([&](Connection& server) {
      const Row row = find(server, name_space, tag);
      if (row.latest == text().write(last)) (void)change(server, row, last - unused);
    });
  }
  void create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    refuse_above(above);
    const Row row = new_row(text(), name_space, tag);
    use([&](Connection& server) {
      create_table(server);
      std::optional<Row> found = look(server, name_space, tag);
      if (!found && insert(server, row)) return;
      throw_tag_exists(name_space, tag, info_of(found ? *found : find(server, name_space, tag), tag).max_id);
    });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) override {
    return use([&](Connection& server) { return info_of(find(server, name_space, tag), tag); });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    check_advance(target);
    return use([&](Connection& server) {
      for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
        const Row row = find(server, name_space, tag);
        if (row.latest == kInitial) throw_not_drawn_from(tag);
        const std::uint64_t latest = id_of(row, tag);
        if (target <= latest && latest == text().last_of(latest)) throw_used_up(tag, latest);
        if (change(server, row, std::max(latest + 1, target))) return info_of(find(server, name_space, tag), tag);
      }
      throw_too_many_others(tag);
    });
  }
  SegmentInfo set_step(const std::string&, const std::string&, std::uint64_t) override {
    throw Error(
        Status::unsupported,
        "a row of key_producer has no step: each generator uses its own segment.step, and the original its own");
  }
  void list(const std::function<void(const SegmentInfo&)>& found) override {
    use([&](Connection& server) {
      for (const Row& row : rows(server, "")) {
        found(row_or_damage([&] { return info_of(row, row.table + "." + row.column); }));
      }
    });
  }
  std::string describe() override { return server_ + schema_sentence(kKeyProducer); }

 private:
  static constexpr int kMostAttempts = 100;             // others were faster, each of them with a grant of its own
  static constexpr std::string_view kInitial = "INIT";  // in a row that nobody has drawn from

  struct Row {
    std::string table, column;  // in upper case
    std::string date_format, number_format;
    std::optional<std::string> latest{};
    std::int64_t updated_unix_ms = 0;
  };

  static std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
  }
  static Row new_row(const RowText& text, const std::string& name_space, const std::string& tag) {
    const Business business = business_of(name_space, tag);
    return {.table = upper(business.table),
            .column = upper(business.column),
            .date_format = text.formats().date,
            .number_format = text.formats().number};
  }
  template <class Quoted>
  static std::string insert_text(const Row& row, Quoted&& quoted) {
    return "INSERT INTO key_producer (TABLENAME, COLUMNNAME, MAXSERIALNO, DATEFMT, NOFMT) VALUES(" + quoted(row.table) +
           ", " + quoted(row.column) + ", '" + std::string(kInitial) + "', " + quoted(row.date_format) + ", " +
           quoted(row.number_format) + ")";
  }

  [[noreturn]] static void throw_no_pattern() {
    throw Error(Status::value,
                "segment.schema = key_producer has serials: set kind = serial, and the pattern that the row's DATEFMT "
                "and NOFMT say, such as \"SO{yyyyMMdd}{000000}\" for 'SO'yyyyMMdd and 000000");
  }
  const RowText& text() const {
    if (!text_) throw_no_pattern();
    return *text_;
  }
  bool is_ours(const Row& row) const {
    return row.number_format == text().formats().number &&
           canonical_date_format(row.date_format) == text().formats().date;
  }

  static std::string table_text() {
    return concat(
        {"CREATE TABLE IF NOT EXISTS key_producer (\n"
         "  TABLENAME varchar(80) NOT NULL,\n"
         "  COLUMNNAME varchar(80) NOT NULL,\n"
         "  MAXSERIALNO varchar(80) DEFAULT NULL,\n"
         "  DATEFMT varchar(20) NOT NULL,\n"
         "  NOFMT varchar(20) NOT NULL,\n"
         "  update_time ",
         dialect.time_type,
         ",\n"
         "  PRIMARY KEY (TABLENAME, COLUMNNAME, DATEFMT, NOFMT))",
         dialect.table_options});
  }
  static void create_table(Connection& server) { server.run(table_text()); }
  static std::vector<Row> rows(Connection& server, const std::string& where) {
    std::vector<Row> found;
    for (const std::vector<std::string>& row : server.segment_rows(
             "SELECT TABLENAME, COLUMNNAME, DATEFMT, NOFMT, MAXSERIALNO, CASE WHEN MAXSERIALNO IS NULL THEN 1 ELSE 0"
             " END, " +
             std::string(dialect.updated_ms) + " FROM key_producer" + where +
             " ORDER BY TABLENAME, COLUMNNAME, DATEFMT, NOFMT")) {
      found.push_back(
          {.table = row[0],
           .column = row[1],
           .date_format = row[2],
           .number_format = row[3],
           .updated_unix_ms = static_cast<std::int64_t>(stored_number("the table key_producer", row[6].c_str()))});
      if (row[5] == "0") found.back().latest = row[4];
    }
    return found;
  }
  // Throws Error{format_mismatch} if another row of the column might write the same serials: two widths of one number,
  // for example, or a date that is read otherwise.
  std::optional<Row> look(Connection& server, const std::string& name_space, const std::string& tag) const {
    const Row ours = new_row(text(), name_space, tag);
    std::optional<Row> found;
    for (Row& row : rows(server, " WHERE TABLENAME = " + server.quoted(ours.table) +
                                     " AND COLUMNNAME = " + server.quoted(ours.column))) {
      const bool is_first = is_ours(row) && !found;
      if (!is_first && may_write_alike(row.date_format, ours.date_format)) {
        throw Error(Status::format_mismatch,
                    concat({"tag ", quote(tag), ": key_producer has another row for this column, with DATEFMT ",
                            quote(row.date_format), " and NOFMT ", quote(row.number_format),
                            ", and its serials could be the same as those of the pattern. Draw by its pattern, or "
                            "remove it if nobody does, with MAXSERIALNO of the other row at or above all in use"}));
      }
      if (is_first) found = std::move(row);
    }
    return found;
  }
  Row find(Connection& server, const std::string& name_space, const std::string& tag) const {
    std::optional<Row> found = look(server, name_space, tag);
    if (found) return std::move(*found);
    throw Error(Status::tag_unknown,
                concat({"tag ", quote(tag), " has no row in key_producer with DATEFMT ", quote(text().formats().date),
                        " and NOFMT ", quote(text().formats().number), ". ", kHowToCreate,
                        "; if the series has another pattern there, take that one"}));
  }
  Row find_or_make(Connection& server, const std::string& name_space, const std::string& tag) const {
    if (std::optional<Row> found = look(server, name_space, tag)) return std::move(*found);
    (void)insert(server, new_row(text(), name_space, tag));
    return find(server, name_space, tag);
  }
  // False: it is there.
  static bool insert(Connection& server, const Row& row) {
    return server.change_segments(insert_text(row, [&](const std::string& text) { return server.quoted(text); }) +
                                  std::string(dialect.if_absent)) == 1;
  }
  // False, and nothing is changed, if the row's latest serial is another one by now.
  bool change(Connection& server, const Row& seen, std::uint64_t id) const {
    return server.change_segments("UPDATE key_producer SET MAXSERIALNO = " + server.quoted(text().write(id)) +
                                  std::string(dialect.changed) + " WHERE TABLENAME = " + server.quoted(seen.table) +
                                  " AND COLUMNNAME = " + server.quoted(seen.column) +
                                  " AND DATEFMT = " + server.quoted(seen.date_format) +
                                  " AND NOFMT = " + server.quoted(seen.number_format) +
                                  " AND MAXSERIALNO = " + server.quoted(seen.latest.value_or(""))) == 1;
  }
  // The highest text in the business's own column that begins with `prefix`; "" if there is none. As the original does
  // it, but for the order: as text, 9 digits are more than 10.
  static std::string largest(Connection& server, const Business& business, const std::string& prefix) {
    const std::string name = server.identifier(business.column);
    std::string like;
    for (const char c : prefix) {
      if (c == '%' || c == '_' || c == '|') like += '|';
      like += c;
    }
    const auto found = server.users_rows(
        "SELECT " + name + " FROM " + path_of(server, "table", business.table) + " WHERE " + name + " LIKE " +
        server.quoted(like + "%") + " ESCAPE '|' ORDER BY CHAR_LENGTH(" + name + ") DESC, " + name + " DESC LIMIT 1");
    return found.empty() ? "" : found.front()[0];
  }

  // The id of the row's latest serial; of a row that nobody has drawn from: of the highest in the business's table in
  // the period that begins with `begin`.
  std::uint64_t latest_of(Connection& server, const Row& row, const std::string& name_space, const std::string& tag,
                          std::uint64_t begin) const {
    if (row.latest != kInitial) return id_of(row, tag);
    const Business business = business_of(name_space, tag);
    const std::string highest = largest(server, business, text().prefix(begin));
    if (highest.empty()) return begin;
    try {
      return text().read(highest);
    } catch (const Error& error) {
      throw Error(
          Status::store_damaged,
          concat({"tag ", quote(tag), ": the highest ", business.column, " of ", business.table, ": ", error.message(),
                  ". Set MAXSERIALNO in the row of key_producer by hand, at or above all numbers in use"}));
    }
  }
  std::uint64_t id_of(const Row& row, const std::string& tag) const {
    std::string why = "it is NULL";
    try {
      if (row.latest) return text().read(*row.latest);
    } catch (const Error& error) {
      why = error.message();
    }
    throw Error(Status::store_damaged, concat({"tag ", quote(tag), ": MAXSERIALNO in key_producer: ", why,
                                               ". Set it to the latest serial in use, or to INIT"}));
  }
  // Without the number of another pattern's.
  SegmentInfo info_of(const Row& row, const std::string& tag) const {
    SegmentInfo info;
    info.name_space = "default";
    info.tag = tag;
    info.updated_unix_ms = row.updated_unix_ms;
    if (text_ && is_ours(row) && row.latest != kInitial) info.max_id = id_of(row, tag);
    return info;
  }

  [[noreturn]] void throw_used_up(const std::string& tag, std::uint64_t latest) const {
    throw Error(Status::exhausted, concat({"tag ", quote(tag), ": all serials up to ", quote(text().write(latest)),
                                           " are used up, the last that the pattern holds",
                                           text().has_date() ? ". It goes on with the next period" : ""}));
  }
  [[noreturn]] static void throw_not_drawn_from(const std::string& tag) {
    throw Error(Status::unsupported,
                concat({"tag ", quote(tag),
                        ": nobody has drawn from its row yet (INIT). It begins by itself above the highest number of "
                        "its period in the business table, and would not if it were advanced; draw once before"}));
  }
  [[noreturn]] static void throw_too_many_others(const std::string& tag) {
    throw Error(Status::store_unavailable,
                concat({"tag ", quote(tag), ": others drew from its row ", kMostAttempts,
                        " times in a row, each between our reading and our writing; raise segment.step, or the "
                        "original's cache"}));
  }

  std::optional<RowText> text_;
  std::string server_;  // what describe() says of it
};

}  // namespace idgen::module
