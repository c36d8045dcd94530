-- Sign-in of people to the Console.

-- An argon2id hash in its own notation; NULL: no password was set.
ALTER TABLE accounts ADD COLUMN password_hash text;

CREATE TABLE sessions (
  id text COLLATE "C" PRIMARY KEY,
  -- SHA-256 of the cookie's value.
  token_hash bytea NOT NULL UNIQUE,
  -- NULL: the holder of the operator token.
  email text REFERENCES accounts,
  way text NOT NULL CHECK (way IN ('password', 'link', 'operator token', 'oidc')),
  -- The browser, as it calls itself.
  agent text NOT NULL,
  created_at timestamptz NOT NULL,
  -- The last proof of who it is; some actions need a recent one.
  proved_at timestamptz NOT NULL,
  used_at timestamptz NOT NULL
);
CREATE INDEX sessions_of_account ON sessions (email);

-- Links that sign a person in once.
CREATE TABLE sign_in_links (
  token_hash bytea PRIMARY KEY,
  email text NOT NULL REFERENCES accounts,
  purpose text NOT NULL CHECK (purpose IN ('sign in', 'invitation', 'password')),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Tries to sign in, counted before they are checked. A subject is the digest of an address with a network, or of a network.
CREATE TABLE sign_in_tries (
  subject bytea PRIMARY KEY,
  since timestamptz NOT NULL,
  tries integer NOT NULL
);
CREATE INDEX sign_in_tries_since ON sign_in_tries (since);
