-- KEYS  base name {w}
-- ARGV  how many at most
-- Gives six words for each hold whose deadline has passed (see `tellHold`), the oldest deadline first.
-- Most times there is none, and that is seen without looking at any.
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
  local told = {}
  for place = 1, min(#overdue, tonumber(args[1])) do tellHold(told, overdue[place].generation, overdue[place].hold) end
  return told
end)
