-- Stands before every function: how holds are told.

-- Iterates over generation and hold of all that is open.
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

-- Generation, field of the key's month, fingerprint, amount, when it was admitted and its deadline.
local function tellHold(told, generation, hold)
  local amount, at, deadline, keyField, fingerprint = read(holdFormat, hold)
  for _, word in ipairs({ generation, keyField, fingerprint, amount, at, deadline }) do told[#told + 1] = word end
end
