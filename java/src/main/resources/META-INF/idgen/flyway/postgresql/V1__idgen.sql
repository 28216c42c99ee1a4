-- The tables of idgen: segments (idgen_segment), snowflakes (idgen_namespace, idgen_worker).

CREATE TABLE IF NOT EXISTS idgen_segment (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  max_id bigint NOT NULL CHECK (max_id >= 0),
  grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
  updated_unix_ms bigint NOT NULL DEFAULT 0,
  step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  rate bigint NOT NULL DEFAULT 0,
  holder varchar(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag));

CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns varchar(128) NOT NULL PRIMARY KEY,
  format varchar(1024) NOT NULL);

CREATE TABLE IF NOT EXISTS idgen_worker (
  ns varchar(128) NOT NULL,
  worker bigint NOT NULL CHECK (worker >= 0),
  fence bigint NOT NULL CHECK (fence > 0),
  owner varchar(32) NOT NULL,
  hw bigint NOT NULL,
  lease_until bigint NOT NULL,
  clock_ahead bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, worker));
