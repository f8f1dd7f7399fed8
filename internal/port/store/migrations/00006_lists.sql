-- Each list of pages reads an index in the order of the list, without withdrawn pages.
-- withdrawn is a column of those that are also counted, so that SQLite reads no page then.
DROP INDEX pages_source;
DROP INDEX pages_host;
CREATE INDEX pages_source ON pages (source, id, withdrawn) WHERE NOT withdrawn;
CREATE INDEX pages_host ON pages (host, id, withdrawn) WHERE NOT withdrawn;
CREATE INDEX pages_live ON pages (id) WHERE NOT withdrawn;
CREATE INDEX pages_language ON pages (language, id) WHERE NOT withdrawn;
CREATE INDEX pages_stored ON pages (stored, id, withdrawn) WHERE NOT withdrawn;

-- What a source still waits for.
CREATE INDEX documents_source ON documents (source);
CREATE INDEX waits_source ON waits (source, document);

-- Origins of a host on all its ports.
CREATE INDEX hosts_origin ON hosts (origin /*bytes*/);
DROP INDEX answers_origin;
CREATE INDEX answers_origin ON answers (origin /*bytes*/);

-- Removed sources whose items are still to be deleted.
CREATE TABLE removals ( -- desk
  source BIGINT /*rowid*/ PRIMARY KEY
);
