-- KEYS  base name {w}
-- Returns the elements of each open hold (see `appendHold`).
register('holds', function(keys, args)
  local elements = {}
  for generation, hold in openHolds(keys[1] .. ':a') do appendHold(elements, generation, hold) end
  return elements
end)
