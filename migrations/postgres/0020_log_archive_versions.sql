-- A number that grows whenever other files than before are read for an organisation. Whoever has read log entries by a
-- list of files asks it once more: while it is the same, no entry has left the log store for a file that is not listed.
CREATE TABLE log_archive_versions (
  organization_id integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  version         bigint NOT NULL
);

CREATE FUNCTION note_archived_files() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  before text := CASE WHEN TG_OP <> 'INSERT' AND OLD.state <> 'planned' THEN OLD.file END;
  after  text := CASE WHEN TG_OP <> 'DELETE' AND NEW.state <> 'planned' THEN NEW.file END;
BEGIN
  IF before IS DISTINCT FROM after THEN
    -- Of an organisation that is being deleted nothing is noted.
    INSERT INTO log_archive_versions AS known (organization_id, version)
    SELECT id, 1 FROM organizations
    WHERE id = CASE WHEN TG_OP = 'DELETE' THEN OLD.organization_id ELSE NEW.organization_id END
    ON CONFLICT (organization_id) DO UPDATE SET version = known.version + 1;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_archived_files AFTER INSERT OR UPDATE OR DELETE ON log_archive_units
  FOR EACH ROW EXECUTE FUNCTION note_archived_files();

INSERT INTO log_archive_versions (organization_id, version)
SELECT DISTINCT organization_id, 1 FROM log_archive_units WHERE state <> 'planned';

CALL restrict_to_organization('log_archive_versions', 'SELECT');
