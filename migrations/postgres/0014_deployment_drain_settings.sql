-- How an organisation makes sure that logs come from its deployment platform, besides the token in the path.
CREATE TABLE deployment_drain_settings (
  organization_id   integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  -- Encrypted; with it every request must be signed.
  signing_secret    bytea,
  -- What the platform wants to read in answers before it sends anything; not a secret.
  verification_code text CHECK (char_length(verification_code) BETWEEN 1 AND 128),
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL
);

CALL restrict_to_organization('deployment_drain_settings', 'SELECT, INSERT, UPDATE, DELETE');
