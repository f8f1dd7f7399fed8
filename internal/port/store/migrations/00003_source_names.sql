-- What lists of sources say about a source, and what its feed says about itself.
ALTER TABLE sources ADD COLUMN site TEXT NOT NULL DEFAULT '';    -- desk: address of the site
ALTER TABLE sources ADD COLUMN folder TEXT NOT NULL DEFAULT '';  -- desk: names of the folders that it is in, a JSON array, or ''
ALTER TABLE readings ADD COLUMN title TEXT NOT NULL DEFAULT '';  -- parse: of the feed or shop
ALTER TABLE readings ADD COLUMN home TEXT NOT NULL DEFAULT '';   -- parse: address of its site
