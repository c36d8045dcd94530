-- A member is the caller of the requests that they send from the Workbench. Wherever the id of a key stands for the caller (counters,
-- journal, generations, totals), this id stands for the member. It begins with mbr-, as no key's id does.
ALTER TABLE members ADD COLUMN caller_id text COLLATE "C" NOT NULL UNIQUE
  DEFAULT 'mbr-' || translate(left(encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 26), '0189', 'ghij');

-- Gateways name a caller by a SHA-256: that of the key, or that of the caller id.
CREATE UNIQUE INDEX members_by_caller_hash ON members (sha256(caller_id::bytea));
