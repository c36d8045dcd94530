-- KEYS  base name {w}
-- ARGV  run, month, key or an empty text
-- Gives the clock, then balance, holds and sequence of a ready workspace, then what the key spent where that is known.
local known = redis.call('HMGET', KEYS[1] .. ':a', 'run', 'bal', 'resv', 'seq', 'ks:' .. ARGV[3] .. ':' .. ARGV[2])
if known[1] ~= ARGV[1] then return { text(clock) } end
return { text(clock), known[2], known[3] or '0', known[4], known[5] or nil }
