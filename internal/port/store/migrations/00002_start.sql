-- Times are milliseconds since 1970 in UTC, 0 for none. Digests of addresses are
-- 4 bytes of the SHA-256 of the host and 12 of that of the address; others its
-- first 16.
--
-- A column has one writer, a unit of the program: the one named beside the column,
-- else beside its table. Where several are named, each writes it in a transition of
-- its own: a row that one unit hands to another, a due time, a lease. test/arch
-- checks the statements against this. This file is frozen: changes are new
-- migrations.

-- What people registered (console, API, command line).
CREATE TABLE sources ( -- desk
  id             BIGINT /*rowid*/ PRIMARY KEY,
  name           TEXT NOT NULL UNIQUE,
  kind           TEXT NOT NULL,
  url            TEXT NOT NULL UNIQUE,          -- desk, robot: a move that has lasted
  host           TEXT NOT NULL,                 -- desk, robot: of the address
  title          TEXT NOT NULL,
  trusted        BOOLEAN NOT NULL,
  robots         BOOLEAN NOT NULL DEFAULT TRUE, -- robots.txt counts for the source's own address too
  absence        TEXT NOT NULL DEFAULT '',      -- of an offer from a catalogue: '' withdraws it, 'kept' means nothing
  fixed_interval BIGINT NOT NULL DEFAULT 0,     -- ms between polls, 0 to follow the source
  added          BIGINT NOT NULL
);

-- When a source is polled. One row for each source that is polled; imported files
-- have none.
CREATE TABLE polls ( -- schedule
  source        BIGINT /*rowid*/ PRIMARY KEY,
  due           BIGINT NOT NULL,           -- schedule, desk, websub: time of the next poll; brought forward when somebody adds or polls it, or when a hub pings
  poll_interval BIGINT NOT NULL DEFAULT 0, -- the interval now, ms
  reason        TEXT NOT NULL DEFAULT ''   -- of the interval
);
CREATE INDEX polls_due ON polls (due);

-- What is polled and how the source answered. desk makes the row. All that a 304
-- changes is in this one row.
CREATE TABLE answers ( -- robot
  source         BIGINT /*rowid*/ PRIMARY KEY,
  url            TEXT NOT NULL,              -- robot, desk: what is polled: the source's own address, or where it has moved
  origin         TEXT NOT NULL,              -- robot, desk: of that address: scheme, host and port
  partition      INTEGER NOT NULL,           -- robot, desk: of the origin's domain; see leases
  as_of          BIGINT NOT NULL DEFAULT 0,  -- schedule, websub, desk: the newest as-of given: to a poll, a delivery, an import
  asked          BIGINT NOT NULL DEFAULT 0,  -- schedule: as-of of the newest poll
  answered       BIGINT NOT NULL DEFAULT 0,  -- as-of of the newest answer
  checked        BIGINT NOT NULL DEFAULT 0,  -- time of the newest answer
  status         INTEGER NOT NULL DEFAULT 0, -- of the newest answer, 0 for none
  failures       INTEGER NOT NULL DEFAULT 0, -- in a row
  problem        TEXT NOT NULL DEFAULT '',   -- why the last poll failed
  redirect_url   TEXT NOT NULL DEFAULT '',   -- where redirects have led, if that host is another robot's
  redirect_hops  INTEGER NOT NULL DEFAULT 0,
  moved_url      TEXT NOT NULL DEFAULT '',   -- where permanent redirects lead
  moved_seen     INTEGER NOT NULL DEFAULT 0, -- how often
  moved_since    BIGINT NOT NULL DEFAULT 0,  -- since when
  gone_since     BIGINT NOT NULL DEFAULT 0,  -- robot, desk: the server says that it is gone; cleared when somebody polls it
  fresh_for      BIGINT NOT NULL DEFAULT 0,  -- how long the newest answer stays fresh by its header, ms
  last_body_at   BIGINT NOT NULL DEFAULT 0,  -- when a body came last
  distrust_until BIGINT NOT NULL DEFAULT 0,  -- validators are not trusted until then
  confirmed      BIGINT NOT NULL DEFAULT 0,  -- as-of of a 304 that brought other validators
  etag           TEXT NOT NULL DEFAULT '',   -- these; they count while they are newer than the reading
  modified       TEXT NOT NULL DEFAULT '',
  refused        BIGINT NOT NULL DEFAULT 0   -- as-of of a reading whose validators the server refuses
);
CREATE INDEX answers_origin ON answers (origin);
CREATE INDEX answers_asked ON answers (partition) WHERE asked > answered;

-- Downloads that wait to be read, the newest of each source. Whoever brings one
-- puts it here through table.HandOver, parse deletes it when it has read it.
CREATE TABLE pending ( -- robot, websub, desk
  source   BIGINT /*rowid*/ PRIMARY KEY,
  as_of    BIGINT NOT NULL,
  fetched  BIGINT NOT NULL,
  blob     TEXT NOT NULL,      -- '' for the bytes that were read last under new validators
  url      TEXT NOT NULL,      -- after redirects
  type     TEXT NOT NULL,      -- Content-Type
  etag     TEXT NOT NULL,
  modified TEXT NOT NULL,
  body     BYTEA,              -- digest of the bytes, unpacked
  raw      BYTEA,              -- digest of them as they came
  pushed   BOOLEAN NOT NULL,   -- a hub delivered them; the validators are those of what was read before
  hubs     TEXT NOT NULL,      -- of the answer's Link header, as hubs and self of readings
  self     TEXT NOT NULL
);

-- What was read last from a source. desk makes the row.
CREATE TABLE readings ( -- parse
  source       BIGINT /*rowid*/ PRIMARY KEY,
  as_of        BIGINT NOT NULL DEFAULT 0,      -- of the download
  fetched      BIGINT NOT NULL DEFAULT 0,      -- when it came
  url          TEXT NOT NULL DEFAULT '',       -- its address after redirects
  etag         TEXT NOT NULL DEFAULT '',       -- its validators
  modified     TEXT NOT NULL DEFAULT '',
  body         BYTEA,                          -- digest of the bytes, unpacked
  raw          BYTEA,                          -- digest of them as they came
  pushed       BOOLEAN NOT NULL DEFAULT FALSE, -- a hub delivered them
  changed      BIGINT NOT NULL DEFAULT 0,      -- when something new was found last
  rhythm       BIGINT NOT NULL DEFAULT 0,      -- usual time between changes, ms
  ttl          BIGINT NOT NULL DEFAULT 0,      -- the interval that the feed asks for, ms
  skip_hours   INTEGER NOT NULL DEFAULT 0,     -- hours of the day, UTC, in which it asks not to be polled: bits
  skip_days    INTEGER NOT NULL DEFAULT 0,     -- days of the week, Sunday first: bits
  items        INTEGER NOT NULL DEFAULT 0,     -- in the file
  progress     INTEGER NOT NULL DEFAULT 0,     -- offers read so far of a catalogue that takes long
  shrunk_since BIGINT NOT NULL DEFAULT 0,      -- since when most offers are missing from the catalogue
  report       TEXT NOT NULL DEFAULT '',       -- warnings or the error, JSON
  hubs         TEXT NOT NULL DEFAULT '',       -- that the feed names, a blank between them
  self         TEXT NOT NULL DEFAULT ''        -- the address that the feed gives as its own
);
CREATE INDEX readings_hubs ON readings (source) WHERE hubs <> '';

-- Subscriptions to hubs, by the secret part of their callback's address.
CREATE TABLE websub ( -- websub
  id       TEXT PRIMARY KEY,
  source   BIGINT NOT NULL,
  hub      TEXT NOT NULL,
  topic    TEXT NOT NULL,
  callback TEXT NOT NULL DEFAULT '',   -- as last sent to the hub
  secret   TEXT NOT NULL,              -- the hub signs by it
  previous TEXT NOT NULL DEFAULT '',   -- the one before, by which it signs until it has taken the new one
  state    TEXT NOT NULL,              -- wanted, pending, active, denied, leaving
  asked    BIGINT NOT NULL DEFAULT 0,  -- when the hub was last asked
  verified BIGINT NOT NULL DEFAULT 0,  -- when it last verified
  until    BIGINT NOT NULL DEFAULT 0,  -- the end of the lease
  attempts INTEGER NOT NULL DEFAULT 0, -- since it verified
  due      BIGINT NOT NULL,            -- time of the next request to the hub
  pinged   BIGINT NOT NULL DEFAULT 0,  -- the newest ping
  owed     BIGINT NOT NULL DEFAULT 0,  -- time of a ping for which the source must still be polled; 0 for none
  problem  TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX websub_source ON websub (source) WHERE state <> 'leaving';
CREATE INDEX websub_due ON websub (due);
CREATE INDEX websub_hub ON websub (hub, due);
CREATE INDEX websub_owed ON websub (source) WHERE owed > 0;

-- Single downloads, one row for each address however many want it. The consumer's
-- own transaction deletes it.
CREATE TABLE fetches ( -- media
  hash          BYTEA PRIMARY KEY,
  url           TEXT NOT NULL,
  origin        TEXT NOT NULL,              -- media, robot: of the address, or where redirects lead
  partition     INTEGER NOT NULL,           -- media, robot: of the origin's domain
  kind          TEXT NOT NULL,
  priority      INTEGER NOT NULL,
  wanted        BIGINT NOT NULL,            -- when it was first wanted
  due           BIGINT NOT NULL,            -- media, robot: not before
  attempts      INTEGER NOT NULL DEFAULT 0, -- robot
  status        INTEGER NOT NULL DEFAULT 0, -- robot: of the answer
  answered      BIGINT NOT NULL DEFAULT 0,  -- robot, media: when; 0 again if its body is gone
  blob          TEXT NOT NULL DEFAULT '',   -- robot, media: the body; empty again if it is gone
  type          TEXT NOT NULL DEFAULT '',   -- robot: Content-Type
  problem       TEXT NOT NULL DEFAULT '',   -- robot: why there is no body
  redirect_url  TEXT NOT NULL DEFAULT '',   -- robot: where redirects have led, if that host is another robot's
  redirect_hops INTEGER NOT NULL DEFAULT 0  -- robot: then origin and partition are that host's
);
CREATE INDEX fetches_wanted ON fetches (partition, origin, priority, wanted) WHERE answered = 0;
CREATE INDEX fetches_answered ON fetches (kind, answered) WHERE answered > 0;

-- What robot knows of a host: scheme, name and port, since each such origin has
-- a robots.txt of its own. "*." and a domain is what all its hosts wait for.
CREATE TABLE hosts ( -- robot
  origin        TEXT PRIMARY KEY,
  partition     INTEGER NOT NULL,
  robots        BYTEA,                      -- robots.txt, zstd
  robots_status INTEGER NOT NULL DEFAULT 0, -- 200 rules, 404 none, 503 nothing allowed
  robots_until  BIGINT NOT NULL DEFAULT 0,
  allowed       BIGINT NOT NULL DEFAULT 0,  -- next request not before
  failures      INTEGER NOT NULL DEFAULT 0, -- in a row
  refusals      INTEGER NOT NULL DEFAULT 0, -- answers of 403 in a row
  reason        TEXT NOT NULL DEFAULT '',   -- of the back-off
  latency       BIGINT NOT NULL DEFAULT 0,  -- ms, smoothed
  pace          BIGINT NOT NULL DEFAULT 0   -- ms between two requests, learnt from 429 responses
);
CREATE INDEX hosts_waiting ON hosts (allowed) WHERE reason <> '';

-- Rights that one process has at a time: partitions of the hosts, node prefixes.
CREATE TABLE leases ( -- store
  name  TEXT PRIMARY KEY,
  owner TEXT NOT NULL,    -- store, robot: a process; robot gives a partition up
  until BIGINT NOT NULL,  -- store, robot: the end of the lease
  epoch BIGINT NOT NULL
);

-- What each source said, and when: change is decided here.
CREATE TABLE items ( -- parse
  source    BIGINT NOT NULL,
  key       BYTEA NOT NULL,
  url       BYTEA NOT NULL,
  hash      BYTEA NOT NULL,
  as_of     BIGINT NOT NULL,
  withdrawn BOOLEAN NOT NULL,
  offer     BOOLEAN NOT NULL DEFAULT FALSE, -- of a catalogue: not looked for by address
  PRIMARY KEY (source, key)
) /*clustered*/;
CREATE INDEX items_url ON items (url) WHERE NOT offer;

-- Found, not yet live. parse writes a row, media counts its pictures, pages
-- deletes it. There is one row for each source's version of an address; pages
-- decides which is live.
CREATE TABLE documents ( -- parse, media, pages
  url           BYTEA NOT NULL,
  source        BIGINT NOT NULL,
  address       TEXT NOT NULL,
  rank          INTEGER NOT NULL,           -- of the source for this address
  as_of         BIGINT NOT NULL,
  late_arrivals INTEGER NOT NULL DEFAULT 0, -- parse, media: of pictures after the release
  state         INTEGER NOT NULL,           -- 0 found, 1 waits for media, 2 ready
  missing       INTEGER NOT NULL DEFAULT 0,
  due           BIGINT NOT NULL,            -- the sweep of the stage that comes next takes it up then
  fetched       BIGINT NOT NULL,
  content       BYTEA NOT NULL,             -- courant.Document, JSON, zstd
  trace         TEXT NOT NULL,              -- its story so far, JSON objects after each other
  PRIMARY KEY (url, source)
);
CREATE INDEX documents_found ON documents (due) WHERE state = 0;
CREATE INDEX documents_waiting ON documents (due) WHERE state = 1;
CREATE INDEX documents_ready ON documents (due) WHERE state = 2;

-- The same for what a large catalogue brings at once: many versions in a row,
-- which wait for no pictures. pages deletes them.
CREATE TABLE batches ( -- parse
  source  BIGINT NOT NULL,
  as_of   BIGINT NOT NULL,
  n       INTEGER NOT NULL,
  due     BIGINT NOT NULL,
  fetched BIGINT NOT NULL,
  content BYTEA NOT NULL,   -- []courant.Found, gob
  PRIMARY KEY (source, as_of, n)
);
CREATE INDEX batches_due ON batches (due);

-- The light pages. Listings read pages, readers read bodies.
CREATE TABLE pages ( -- pages
  id           BIGINT PRIMARY KEY,
  url          BYTEA NOT NULL UNIQUE,
  address      TEXT NOT NULL,
  host         TEXT NOT NULL,
  source       BIGINT NOT NULL,
  rank         INTEGER NOT NULL,
  as_of        BIGINT NOT NULL,
  withdrawn    BOOLEAN NOT NULL,
  hash         BYTEA NOT NULL,
  revision     INTEGER NOT NULL,
  title        TEXT NOT NULL,
  language     TEXT NOT NULL,
  picture      TEXT NOT NULL,
  published    BIGINT NOT NULL,
  updated      BIGINT NOT NULL,
  fetched      BIGINT NOT NULL,
  stored       BIGINT NOT NULL,           -- when this hash first went live
  rendered_at  BIGINT NOT NULL,
  change       BIGINT NOT NULL DEFAULT 0, -- place of its newest change in the change feed; 0 until it has one
  minhash      BYTEA NOT NULL DEFAULT '', -- sketch of the text; empty if it is too short to tell
  duplicate_of BIGINT NOT NULL DEFAULT 0  -- the first page with nearly the same text, by id; 0 if it is this one
) /*clustered*/;
CREATE INDEX pages_source ON pages (source, id);
CREATE INDEX pages_host ON pages (host, id);
CREATE INDEX pages_change ON pages (change);
CREATE INDEX pages_unnumbered ON pages (id) WHERE change = 0;
CREATE INDEX pages_withdrawn ON pages (rendered_at) WHERE withdrawn;
CREATE INDEX pages_duplicate ON pages (duplicate_of) WHERE duplicate_of <> 0;

-- The newest numbers given, each under a name.
CREATE TABLE counts ( -- pages, api, desk, robot
  name   TEXT PRIMARY KEY, -- changes, downloads; forgotten: withdrawals up to this change are gone
  number BIGINT NOT NULL
);

-- Where to look for texts that are nearly the same.
CREATE TABLE minhash_bands ( -- pages
  band INTEGER NOT NULL,
  bits BIGINT NOT NULL,
  page BIGINT NOT NULL,
  PRIMARY KEY (band, bits, page)
) /*clustered*/;
CREATE INDEX minhash_bands_page ON minhash_bands (page);

CREATE TABLE bodies ( -- pages
  page     BIGINT /*rowid*/ PRIMARY KEY,
  document BYTEA NOT NULL,               -- courant.Document, JSON, zstd
  html     BYTEA NOT NULL                -- the page, gzip; empty if the page is rendered when somebody reads it
);

-- Pictures and videos by the digest of their address.
CREATE TABLE media ( -- media
  hash     BYTEA PRIMARY KEY,
  url      TEXT NOT NULL,
  state    INTEGER NOT NULL,           -- 0 wanted, 1 stored, 2 not available
  problem  TEXT NOT NULL DEFAULT '',
  content  TEXT NOT NULL DEFAULT '',   -- SHA-256 of the bytes, hexadecimal: the file's name
  type     TEXT NOT NULL DEFAULT '',
  size     BIGINT NOT NULL DEFAULT 0,
  width    INTEGER NOT NULL DEFAULT 0,
  height   INTEGER NOT NULL DEFAULT 0,
  variants TEXT NOT NULL DEFAULT '[]', -- [{"width","height","type","file"}]
  changed  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX media_content ON media (content);

-- Which document waits for which picture.
CREATE TABLE waits ( -- media
  media    BYTEA NOT NULL,
  document BYTEA NOT NULL,
  source   BIGINT NOT NULL,
  as_of    BIGINT NOT NULL,
  PRIMARY KEY (media, document, source)
) /*clustered*/;
CREATE INDEX waits_document ON waits (document, source);

-- What happened to a document, a row for each time that it was rendered.
CREATE TABLE events ( -- pages
  page  BIGINT NOT NULL,
  as_of BIGINT NOT NULL,
  at    BIGINT NOT NULL,
  trace TEXT NOT NULL,
  PRIMARY KEY (page, at)
) /*clustered*/;

-- Messages that follow from what has committed; the relay deletes them.
CREATE TABLE outbox ( -- store
  seq      BIGINT PRIMARY KEY,
  messages BYTEA NOT NULL
);

-- Who may use the API: the SHA-256 of each token, never the token.
CREATE TABLE tokens ( -- gate
  hash  BYTEA PRIMARY KEY,
  name  TEXT NOT NULL,
  added BIGINT NOT NULL
);

-- What people clicked of the hits shown: a row for each query that led to a
-- click.
CREATE TABLE clicks ( -- search
  query      BYTEA PRIMARY KEY, -- 16 random bytes
  at         BIGINT NOT NULL,   -- of the query
  experiment TEXT NOT NULL,
  arm        TEXT NOT NULL,
  person     TEXT NOT NULL,     -- a digest of who asked
  asked      TEXT NOT NULL,     -- the query's parameters
  shown      BYTEA NOT NULL,    -- ids of pages in their order, 8 bytes each
  clicked    TEXT NOT NULL,     -- places, with blanks between
  ordered    TEXT NOT NULL,
  clicks     INTEGER NOT NULL,
  orders     INTEGER NOT NULL
);
CREATE INDEX clicks_experiment ON clicks (experiment, arm, at);

-- How many queries an experiment saw.
CREATE TABLE exposures ( -- search
  experiment TEXT NOT NULL,
  arm        TEXT NOT NULL,
  day        BIGINT NOT NULL,
  queries    BIGINT NOT NULL,
  PRIMARY KEY (experiment, arm, day)
);

-- Keys that the processes of a platform share. The first that needs one writes it.
CREATE TABLE secrets ( -- store
  name  TEXT PRIMARY KEY,
  value BYTEA NOT NULL
);

-- The processes that hold shards of the search. Each writes its own row.
CREATE TABLE nodes ( -- fleet
  name    TEXT PRIMARY KEY,
  zone    TEXT NOT NULL,
  address TEXT NOT NULL,    -- where its shards are queried
  seen    BIGINT NOT NULL
);

-- Zones that were switched.
CREATE TABLE zones ( -- desk
  name     TEXT PRIMARY KEY,
  off      BOOLEAN NOT NULL,
  switched BIGINT NOT NULL
);

-- Changed downloads, for those who subscribe to them. A row goes with its body.
CREATE TABLE downloads ( -- robot, websub, desk
  blob     TEXT PRIMARY KEY,
  file     TEXT NOT NULL,    -- that holds the blob, maybe with others
  number   BIGINT NOT NULL DEFAULT 0, -- api, desk, robot: its place in the log; 0 until somebody reads or deletes
  kind     TEXT NOT NULL,    -- feed, catalog, picture
  source   BIGINT NOT NULL,
  url      TEXT NOT NULL,
  type     TEXT NOT NULL,
  etag     TEXT NOT NULL,
  modified TEXT NOT NULL,
  fetched  BIGINT NOT NULL
);
CREATE INDEX downloads_number ON downloads (number);
CREATE INDEX downloads_file ON downloads (file);

-- Who gets them, and how far each has read.
CREATE TABLE subscriptions ( -- desk
  name     TEXT PRIMARY KEY,
  kinds    TEXT NOT NULL,             -- with commas between
  position BIGINT NOT NULL,           -- api, desk: the newest number that was acknowledged
  lost     BIGINT NOT NULL DEFAULT 0, -- robot, api: downloads that were deleted before that, until the subscriber knows
  added    BIGINT NOT NULL,
  seen     BIGINT NOT NULL            -- api, desk
);

-- Who changed what: a row for each change that a person or a program asked for.
CREATE TABLE audit ( -- desk
  id      BIGINT PRIMARY KEY,
  at      BIGINT NOT NULL,
  account TEXT NOT NULL,      -- who
  action  TEXT NOT NULL,      -- such as source.add
  subject TEXT NOT NULL,      -- what it was done to: a source, a zone, a subscription
  change  TEXT NOT NULL       -- before and after, JSON
);
CREATE INDEX audit_at ON audit (at);
