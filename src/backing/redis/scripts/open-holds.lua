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

-- Appends generation, field of the key's month, fingerprint, amount, time of admission and deadline.
local function appendHold(elements, generation, hold)
  local amount, at, deadline, keyField, fingerprint = read(holdFormat, hold)
  for _, element in ipairs({ generation, keyField, fingerprint, amount, at, deadline }) do elements[#elements + 1] = element end
end
