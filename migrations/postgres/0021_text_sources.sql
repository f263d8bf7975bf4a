-- Sources that take lines of text.
ALTER TABLE ingest_sources DROP CONSTRAINT ingest_sources_format_check;
ALTER TABLE ingest_sources ADD CONSTRAINT ingest_sources_format_check CHECK (format IN ('json', 'ndjson', 'cef', 'text'));
