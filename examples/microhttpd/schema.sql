-- What the database holds at first. Run once, when it is made: never by a service that starts.
CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL);

-- The counter of their ids, as `idgen segment create --store postgres://HOST/shop --tag orders --print` prints it.
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
INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES('default', 'orders', 0, 0, 0)
  ON CONFLICT DO NOTHING;
