-- Statements of usage: of each month of a workspace one, a slice of its ledger chain that begins where the one before ends.

CREATE TABLE usage_statements (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces,
  -- The month in UTC, such as 2026-11.
  number char(7) COLLATE "C" NOT NULL CHECK (number ~ '^\d{4}-\d{2}$'),
  from_sequence bigint NOT NULL CHECK (from_sequence > 0),
  -- One less than from_sequence: nothing was entered.
  to_sequence bigint NOT NULL CHECK (to_sequence >= from_sequence - 1),
  opening_nano bigint NOT NULL,
  credits_nano bigint NOT NULL,
  refunds_nano bigint NOT NULL,
  charges_nano bigint NOT NULL,
  closing_nano bigint NOT NULL,
  -- JSON by RFC 8785, all that the statement says but its hash. A text, since its bytes are what is hashed.
  document text NOT NULL,
  -- SHA-256 of the document in UTF-8, in hexadecimal digits.
  sha256 text NOT NULL,
  closed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, number)
);

CREATE FUNCTION refuse_statement_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Usage statements are final: % refused', TG_OP;
END $$;
CREATE TRIGGER statements_are_final BEFORE UPDATE OR DELETE OR TRUNCATE ON usage_statements
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_change();
