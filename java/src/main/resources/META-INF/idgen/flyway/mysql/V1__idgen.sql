-- The tables of idgen: segments (idgen_segment), snowflakes (idgen_namespace, idgen_worker).

CREATE TABLE IF NOT EXISTS idgen_segment (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  max_id BIGINT NOT NULL,
  grants BIGINT NOT NULL DEFAULT 0,
  updated_unix_ms BIGINT NOT NULL DEFAULT 0,
  step BIGINT NOT NULL DEFAULT 0,
  rate BIGINT NOT NULL DEFAULT 0,
  holder VARBINARY(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns VARBINARY(512) NOT NULL PRIMARY KEY,
  format VARBINARY(1024) NOT NULL) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS idgen_worker (
  ns VARBINARY(512) NOT NULL,
  worker BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  owner VARBINARY(32) NOT NULL,
  hw BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  clock_ahead BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, worker)) ENGINE = InnoDB;
