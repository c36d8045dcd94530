-- Sums whole numbers as whole numbers. PostgreSQL's sum(bigint) gives a decimal for every group, which takes longer than the addition when
-- groups are small, as those of usage are. Like every addition of bigint it fails rather than pass its bound.
CREATE AGGREGATE whole_sum(bigint) (SFUNC = int8pl, STYPE = bigint, INITCOND = '0', COMBINEFUNC = int8pl, PARALLEL = SAFE);
