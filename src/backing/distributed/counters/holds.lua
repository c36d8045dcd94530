-- KEYS  base name {w}
-- Gives six words for each open hold (see `tellHold`).
local told = {}
for generation, hold in openHolds(KEYS[1] .. ':a') do tellHold(told, generation, hold) end
return told
