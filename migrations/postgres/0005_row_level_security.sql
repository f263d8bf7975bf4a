-- What the server does for one organisation it does as this role, which sees no other organisation's rows: a filter
-- somebody forgot then finds nothing instead of everything. Roles belong to the whole cluster, so another database of
-- it may have made this one already, or an administrator who lets nobody else make roles.
DO $$
BEGIN
  IF to_regrole('obs_organization') IS NULL THEN
    CREATE ROLE obs_organization NOLOGIN;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL;
  WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'the role % may not create roles; have an administrator run: CREATE ROLE obs_organization NOLOGIN; GRANT obs_organization TO %', current_user, current_user;
END
$$;
DO $$
BEGIN
  EXECUTE format('GRANT obs_organization TO %I', current_user);
EXCEPTION WHEN insufficient_privilege THEN
  -- Granted by whoever made the role, or else the first change says so.
  NULL;
END
$$;
DO $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO obs_organization', current_schema());
END
$$;

-- The organisation of the transaction; null, which equals nothing, outside of one.
CREATE FUNCTION current_organization() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('obs.organization_id', true), '')::integer;

-- Lets the role do `privileges` with the rows of its organisation in a table that has an organization_id.
CREATE PROCEDURE restrict_to_organization(restricted regclass, privileges text)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', restricted);
  EXECUTE format(
    'CREATE POLICY own_organization ON %s TO obs_organization '
    'USING (organization_id = current_organization()) WITH CHECK (organization_id = current_organization())',
    restricted
  );
  EXECUTE format('GRANT %s ON %s TO obs_organization', privileges, restricted);
END
$$;

CALL restrict_to_organization('memberships', 'SELECT, INSERT, UPDATE, DELETE');
CALL restrict_to_organization('sessions', 'SELECT, DELETE');
CALL restrict_to_organization('personal_access_tokens', 'SELECT, INSERT, UPDATE, DELETE');
CALL restrict_to_organization('tail_sessions', 'SELECT, INSERT, UPDATE, DELETE');
CALL restrict_to_organization('saved_searches', 'SELECT, INSERT, UPDATE, DELETE');

ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON organizations TO obs_organization
  USING (id = current_organization()) WITH CHECK (id = current_organization());
GRANT SELECT, UPDATE ON organizations TO obs_organization;

-- People belong to no organisation; their names are seen where they are members. The hash of a password never is.
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_members ON users FOR SELECT TO obs_organization
  USING (EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = users.id));
GRANT SELECT (id, email, created_at) ON users TO obs_organization;
