-- Whose time is over is asked for all rules together, of which most have nothing to look at.
CREATE INDEX rule_groups_woken_idx ON rule_groups (wake_at);
