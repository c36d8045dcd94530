-- How each way of calling a model served, by the hour: measurements of real traffic, kept for a day, and no money.
CREATE TABLE route_hours (
  entry text NOT NULL,
  hour timestamptz NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  -- First tokens that were timed, and the sum of their times.
  timed bigint NOT NULL,
  first_token_ms bigint NOT NULL,
  PRIMARY KEY (entry, hour)
);
