-- The one clock of a call, in ms. Two calls of TIME within one may differ, so it is asked once.
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
