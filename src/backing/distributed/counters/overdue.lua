-- KEYS  base name {w}
-- ARGV  how many at most
-- Gives generation and hold in turn, of holds whose deadline has passed, the oldest deadline first.
local overdue = {}
local generations = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':x', '-inf', text(clock), 'LIMIT', 0, ARGV[1])
for _, generation in ipairs(generations) do
  overdue[#overdue + 1], overdue[#overdue + 2] = generation, redis.call('HGET', KEYS[1] .. ':r', generation)
end
return overdue
