-- A second factor of each account: codes of an app (TOTP), and codes for a lost app. Identities at an OpenID Connect provider.

CREATE TABLE second_factors (
  email text PRIMARY KEY REFERENCES accounts,
  -- The secret in use, sealed by SECRETS_KEY. NULL: none is confirmed.
  sealed bytea,
  confirmed_at timestamptz,
  -- A new secret until its first code; the one in use stays valid until then.
  pending_sealed bytea,
  pending_at timestamptz,
  -- The time step of the last accepted code: a step is accepted once.
  last_step bigint NOT NULL DEFAULT 0,
  -- Wrong codes since the last accepted one, and those of the present window.
  wrong_in_row integer NOT NULL DEFAULT 0,
  wrong_in_window integer NOT NULL DEFAULT 0,
  window_at timestamptz
);

CREATE TABLE recovery_codes (
  email text NOT NULL REFERENCES second_factors ON DELETE CASCADE,
  -- SHA-256 in hexadecimal. A used code is deleted.
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (email, hash)
);

CREATE TABLE oidc_identities (
  issuer text COLLATE "C" NOT NULL,
  -- The provider's name of the person, which never goes to another one.
  subject text COLLATE "C" NOT NULL,
  email text NOT NULL REFERENCES accounts,
  linked_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject),
  -- The next owner of an address does not become the account's owner.
  UNIQUE (issuer, email)
);

-- Sign-ins that a provider confirmed, until they could no longer be repeated.
CREATE TABLE oidc_sign_ins (
  id text COLLATE "C" PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX oidc_sign_ins_by_end ON oidc_sign_ins (expires_at);
