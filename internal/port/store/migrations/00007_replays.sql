-- Digests of the bodies that a hub has delivered under the secrets that are valid, 8 bytes
-- each, the newest last: one that comes again later is not the newest version.
ALTER TABLE websub ADD COLUMN delivered BYTEA; -- websub
