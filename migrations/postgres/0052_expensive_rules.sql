-- Whether every entry of its organisation has to be looked at for a rule: there may be few of those. Of rules that there are
-- already, those without any condition are known to be; of the others it is found out when they are changed.
ALTER TABLE log_alerts ADD COLUMN expensive boolean NOT NULL DEFAULT false;
UPDATE log_alerts SET expensive = true
  WHERE kind <> 'scheduled' AND query IS NULL AND kql IS NULL AND service IS NULL AND level IS NULL;
