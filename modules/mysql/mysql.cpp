// Segments and workers in MariaDB, MySQL and TiDB. What is sent is in core/src/sql.
#include "connection.hpp"
#include "key_producer.hpp"
#include "schema.hpp"

namespace idgen::module {
namespace {

// The tables of the others are as their makers define them.
constexpr sql::SchemaText kOthers[] = {
    {.create_table = R"(CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)) ENGINE = InnoDB)",
     .columns = "'default', biz_tag, max_id, 0, CAST(1000 * COALESCE(UNIX_TIMESTAMP(update_time), 0) AS SIGNED), step, "
                "0, '', 1, 0",
     .insert = "(biz_tag, max_id, step) VALUES({key}, {counter}, {step}) ON DUPLICATE KEY UPDATE biz_tag = biz_tag",
     .granted = "",
     .advanced = "",
     .changed = ""},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS tiny_id_info (
  id bigint(20) NOT NULL AUTO_INCREMENT,
  biz_type varchar(63) NOT NULL DEFAULT '',
  begin_id bigint(20) NOT NULL DEFAULT '0',
  max_id bigint(20) NOT NULL DEFAULT '0',
  step int(11) DEFAULT '0',
  delta int(11) NOT NULL DEFAULT '1',
  remainder int(11) NOT NULL DEFAULT '0',
  create_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
  update_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
  version bigint(20) NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  UNIQUE KEY uniq_biz_type (biz_type)) ENGINE = InnoDB DEFAULT CHARSET = utf8)",
     .columns =
         "'default', biz_type, max_id, version, CAST(1000 * COALESCE(UNIX_TIMESTAMP(update_time), 0) AS SIGNED), "
         "COALESCE(step, 0), 0, '', delta, remainder",
     .insert = "(biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version)"
               " VALUES({key}, {counter}, {counter}, {step}, 1, 0, now(), now(), 0)"
               " ON DUPLICATE KEY UPDATE biz_type = biz_type",
     .granted = ", update_time = now(), version = version + 1",
     .advanced = ", update_time = now(), version = version + 1",
     .changed = ", update_time = now(), version = version + 1"},
    {.create_table = R"(CREATE TABLE IF NOT EXISTS cosid (
  name varchar(100) NOT NULL COMMENT '{namespace}.{name}',
  last_max_id bigint unsigned NOT NULL DEFAULT 0,
  last_fetch_time bigint unsigned NOT NULL DEFAULT 0,
  CONSTRAINT cosid_pk PRIMARY KEY (name)) ENGINE = InnoDB)",
     .columns = "'', name, last_max_id, 0, 1000 * COALESCE(last_fetch_time, 0), 0, 0, '', 1, 0",
     .insert = "(name, last_max_id, last_fetch_time) VALUES({key}, {counter}, unix_timestamp())"
               " ON DUPLICATE KEY UPDATE name = name",
     .granted = ", last_fetch_time = unix_timestamp()",
     .advanced = ", last_fetch_time = unix_timestamp()",
     .changed = ", last_fetch_time = unix_timestamp()"},
};

constexpr KeyProducerDialect kKeyProducerRows = {
    .parameters = kParameters,
    .time_type = "datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
    .table_options = " ENGINE = InnoDB DEFAULT CHARSET = utf8 COLLATE = utf8_bin",
    .updated_ms = "CAST(1000 * COALESCE(UNIX_TIMESTAMP(update_time), 0) AS SIGNED)",
    .changed = "",
    .if_absent = " ON DUPLICATE KEY UPDATE TABLENAME = TABLENAME",
    .literal = literal};

const SchemaDialect kDialect = {sql::kMysql, kOthers};

class MysqlStore final : public WithNumbers<SchemaStore<MysqlConnection>, MysqlConnection> {
 public:
  using Serials = KeyProducer<MysqlConnection, kKeyProducerRows>;

  explicit MysqlStore(const Settings& settings) : WithNumbers(settings, kParameters, kDialect) {}

  static std::string statements(const Settings& settings, const std::string& name_space, const std::string& tag) {
    if (settings.schema == kKeyProducer.name) return Serials::statements(settings, name_space, tag);
    return statements_of(kDialect, settings, name_space, tag, literal);
  }
};

}  // namespace
}  // namespace idgen::module

extern "C" __attribute__((visibility("default"))) const idgen_module* idgen_module_mysql() {
  static constexpr idgen_module module = idgen::module::interface_of<idgen::module::MysqlStore>("mysql");
  return &module;
}
