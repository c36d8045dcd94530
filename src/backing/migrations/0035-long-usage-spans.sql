-- Sums of eight days beside those of a day, and sums of a whole workspace beside those by names, so that a year of a busy workspace is
-- some thousand rows.

-- Kind 3: by nothing, in a series of the workspace whose names are all `*`.
INSERT INTO usage_series (workspace_id, key_id, model, provider, endpoint, own_key)
SELECT DISTINCT workspace_id, '*', '*', '*', '*', false FROM usage_series WHERE key_id = '*' AND model <> '*';
INSERT INTO usage_sums
SELECT workspace, span, start, total.id, whole_sum(requests), whole_sum(errors), whole_sum(prompt_tokens), whole_sum(cached_tokens),
  whole_sum(cache_write_tokens), whole_sum(completion_tokens), whole_sum(charge_nano), whole_sum(list_nano), 3
FROM usage_sums JOIN usage_series AS series ON series.id = series_id
JOIN usage_series AS total ON total.workspace_id = series.workspace_id AND total.key_id = '*' AND total.model = '*'
WHERE kind = 2 GROUP BY workspace, span, start, total.id;

-- The last eight days are in part before summed_before, and that part is in the sums of days.
INSERT INTO usage_sums
SELECT workspace, 768, start - start % 768, series_id, whole_sum(requests), whole_sum(errors), whole_sum(prompt_tokens),
  whole_sum(cached_tokens), whole_sum(cache_write_tokens), whole_sum(completion_tokens), whole_sum(charge_nano), whole_sum(list_nano), kind
FROM usage_sums WHERE span = 96 GROUP BY workspace, kind, start - start % 768, series_id;

-- Processes of the version before would add to the other sums alone. Their readers stay right; whoever rolls up says that it knows all sums.
CREATE FUNCTION refuse_former_roll_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('weir.usage_sums', true) IS DISTINCT FROM 'with long spans' THEN
    RAISE EXCEPTION 'Usage is rolled up by processes of a newer version';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refuse_former_roll_up BEFORE UPDATE OF closed_before, summed_before ON usage_state
  FOR EACH ROW EXECUTE FUNCTION refuse_former_roll_up();

-- The sums in the key itself: those of one workspace and kind are side by side there, and in the table each where its time was.
ALTER TABLE usage_sums DROP CONSTRAINT usage_sums_pkey;
ALTER TABLE usage_sums ADD PRIMARY KEY (workspace, kind, span, start, series_id)
  INCLUDE (requests, errors, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, charge_nano, list_nano);
