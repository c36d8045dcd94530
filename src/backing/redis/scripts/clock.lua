-- The clock of a call, in ms. Two calls of TIME may differ, so it is called once.
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
