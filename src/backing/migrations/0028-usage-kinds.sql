-- Sums by key alone and by model alone, beside those by everything: a workspace has many pairs of a key and a model, and the usual
-- questions are about one of the two. Each kind has the whole usage.

-- 0: by everything; 1: by key, in series whose model, provider and endpoint are `*`; 2: by model, provider and endpoint, in series
-- whose key is `*`. It comes early in the key, so that readers find the rows of one kind side by side.
ALTER TABLE usage_sums ADD COLUMN kind smallint NOT NULL DEFAULT 0;
ALTER TABLE usage_sums ALTER COLUMN kind DROP DEFAULT;
ALTER TABLE usage_sums DROP CONSTRAINT usage_sums_pkey;

CREATE TEMPORARY TABLE by_kind ON COMMIT DROP AS
SELECT workspace, span, start, requests, errors, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, charge_nano, list_nano,
  of_kind.kind, workspace_id, CASE of_kind.kind WHEN 2 THEN '*' ELSE key_id END AS key_id,
  CASE of_kind.kind WHEN 1 THEN '*' ELSE model END AS model, CASE of_kind.kind WHEN 1 THEN '*' ELSE provider END AS provider,
  CASE of_kind.kind WHEN 1 THEN '*' ELSE endpoint END AS endpoint
FROM usage_sums JOIN usage_series ON id = series_id CROSS JOIN (VALUES (1::smallint), (2)) AS of_kind (kind);
INSERT INTO usage_series (workspace_id, key_id, model, provider, endpoint, own_key)
SELECT DISTINCT workspace_id, key_id, model, provider, endpoint, false FROM by_kind;
INSERT INTO usage_sums
SELECT workspace, span, start, id, sum(requests), sum(errors), sum(prompt_tokens), sum(cached_tokens), sum(cache_write_tokens),
  sum(completion_tokens), sum(charge_nano), sum(list_nano), kind
FROM by_kind JOIN usage_series USING (workspace_id, key_id, model, provider, endpoint) WHERE NOT own_key
GROUP BY workspace, kind, span, start, id;

ALTER TABLE usage_sums ADD PRIMARY KEY (workspace, kind, span, start, series_id);
