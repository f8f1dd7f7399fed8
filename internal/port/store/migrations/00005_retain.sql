-- What the deletion of old rows walks: see internal/stage/retain.
CREATE INDEX events_at ON events (at);
CREATE INDEX items_withdrawn ON items (as_of) WHERE withdrawn;
CREATE INDEX clicks_at ON clicks (at);
CREATE INDEX exposures_day ON exposures (day);

-- Pictures that no page names, and since when: the time of the first sweep that found none.
CREATE TABLE unused_media ( -- retain
  hash  BYTEA PRIMARY KEY,
  since BIGINT NOT NULL
);

-- When the tables that are walked by key were last walked to the end.
CREATE TABLE retained ( -- retain
  name TEXT PRIMARY KEY,
  done BIGINT NOT NULL
);
