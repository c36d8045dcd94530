-- KEYS  base name {w}
-- Gives six words for each open hold (see `tellHold`).
register('holds', function(keys, args)
  local told = {}
  for generation, hold in openHolds(keys[1] .. ':a') do tellHold(told, generation, hold) end
  return told
end)
