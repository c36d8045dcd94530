-- KEYS  base name {w}
-- ARGV  run, field of a key's month, blocks
-- Returns the clock; of a ready workspace then balance, holds, sequence, what blocks hold, what the key spent or an empty text where that
-- is not known, and what each of the blocks holds.
register('read', function(keys, args)
  local account = keys[1] .. ':a'
  local known = call('HMGET', account, 'head', args[2], lentField)
  local readyIn, balance, sequence, reserved = headIn(known[1])
  if readyIn ~= tonumber(args[1]) then return { clock } end
  local spent, version = 0, -1
  if known[2] then spent, version = read(totalFormat, known[2]) end
  local elements = { clock, balance, reserved, sequence, tonumber(known[3] or 0), version >= 0 and spent or '' }
  if #args < 3 then return elements end
  for _, hold in ipairs(valuesOf(account, args, 3, #args)) do elements[#elements + 1] = hold and read(holdFormat, hold) or 0 end
  return elements
end)
