-- A case that is deleted is looked for among those that were merged into it: without this, in the cases of everybody.
CREATE INDEX cases_merged_idx ON cases (merged_into) WHERE merged_into IS NOT NULL;
