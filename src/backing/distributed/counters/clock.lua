-- The one clock of a script, in ms. Two calls of TIME within a script may differ, so it is asked once.
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
