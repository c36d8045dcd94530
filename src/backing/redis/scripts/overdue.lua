-- KEYS  base name {w}
-- ARGV  how many at most
-- Returns the elements of each hold whose deadline has passed (see `appendHold`), the oldest deadline first.
-- Usually there is none, which the head shows without a look at the holds.
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
