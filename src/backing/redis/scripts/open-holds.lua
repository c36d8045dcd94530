-- Precedes every function: how holds are returned.

-- Iterates over the generation and hold of each open one.
local function openHolds(account)
  local found, place = call('HGETALL', account), -1
  return function()
    repeat
      place = place + 2
      if not found[place] then return nil end
    until string.sub(found[place], 1, 4) == 'gen-'
    return found[place], found[place + 1]
  end
end

-- Appends generation, field of the key's month, fingerprint, amount, time of admission and deadline; then how many budgets it counts
-- against, and for each its field and the first ms of its period.
local function appendHold(elements, generation, hold)
  local amount, at, deadline, keyField, fingerprint, rest = read(holdFormat, hold)
  for _, element in ipairs({ generation, keyField, fingerprint, amount, at, deadline, 0 }) do elements[#elements + 1] = element end
  local countAt = #elements
  while rest <= #hold do
    local field, since
    field, since, rest = read(countedFormat, hold, rest)
    elements[countAt], elements[#elements + 1], elements[#elements + 2] = elements[countAt] + 1, field, since
  end
end
