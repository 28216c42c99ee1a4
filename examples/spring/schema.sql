-- What the database holds at first. Run once, when it is made: never by a service that starts.
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer VARCHAR(255) NOT NULL);

-- The counter of their ids, as `idgen segment create --store mysql://HOST/shop --tag orders --print` prints it.
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
INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES('default', 'orders', 0, 0, 0)
  ON DUPLICATE KEY UPDATE tag = tag;
