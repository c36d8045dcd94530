-- Reads the counters of a workspace: balance and totals, open holds, and the holds that are overdue.

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

-- KEYS  base name {w}
-- Returns the elements of each open hold (see `appendHold`).
register('holds', function(keys, args)
  local elements = {}
  for generation, hold in openHolds(keys[1] .. ':a') do appendHold(elements, generation, hold) end
  return elements
end)

-- KEYS  base name {w} ARGV  how many at most Returns the elements of each hold whose deadline has passed (see `appendHold`), the oldest
-- deadline first. Usually there is none, which the head shows without reading the holds.
register('overdue', function(keys, args)
  local account = keys[1] .. ':a'
  local run, balance, sequence, reserved, due, buried = headIn(call('HGET', account, 'head'))
  if due > clock then return {} end

  local overdue = {}
  due = math.huge
  for generation, hold in openHolds(account) do
    local _, _, deadline = read(holdFormat, hold)
    due = min(due, deadline)
    if deadline <= clock then overdue[#overdue + 1] = { generation = generation, hold = hold, deadline = deadline } end
  end
  call('HSET', account, 'head', pack(headFormat, run, balance, sequence, reserved, due, buried))

  table.sort(overdue, function(a, b)
    if a.deadline ~= b.deadline then return a.deadline < b.deadline end
    return a.generation < b.generation
  end)
  local elements = {}
  for place = 1, min(#overdue, tonumber(args[1])) do appendHold(elements, overdue[place].generation, overdue[place].hold) end
  return elements
end)
