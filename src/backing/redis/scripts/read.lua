-- KEYS  base name {w}
-- ARGV  run, field of a key's month
-- Returns the clock, then balance, holds and sequence of a ready workspace, then what the key spent where that is known.
register('read', function(keys, args)
  local known = call('HMGET', keys[1] .. ':a', 'head', args[2])
  local readyIn, balance, sequence, reserved = headIn(known[1])
  if readyIn ~= tonumber(args[1]) then return { clock } end
  local spent, version = 0, -1
  if known[2] then spent, version = read(totalFormat, known[2]) end
  return { clock, balance, reserved, sequence, version >= 0 and spent or nil }
end)
