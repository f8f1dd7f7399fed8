-- Pages whose price changes without a download, since a sale begins or ends. A row may
-- be left over from an earlier version of the offer.
CREATE TABLE price_changes ( -- pages
  url BYTEA PRIMARY KEY,
  due BIGINT NOT NULL
);
CREATE INDEX price_changes_due ON price_changes (due);
