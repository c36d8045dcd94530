-- Precedes every function: the window of a key, as its field n:<key> and the list of its times.

local function timeAt(list, index)
  return tonumber(call('LINDEX', list, index) or clock)
end

-- How many times have left the window when the oldest has and the newest has not, and the oldest that stays.
-- Usually few: the search starts at the head and widens.
local function countExpired(list, count, cut)
  local gone, stays = 0, 1
  local oldest = timeAt(list, stays)
  while oldest <= cut do
    gone, stays = stays, min(stays * 2, count - 1)
    oldest = timeAt(list, stays)
  end
  while stays - gone > 1 do
    local middle = floor((gone + stays) / 2)
    local time = timeAt(list, middle)
    if time <= cut then gone = middle else stays, oldest = middle, time end
  end
  return stays, oldest
end

-- Drops times that have left the window. Returns its field's value, to be written where it changed, then count of requests and the times
-- of the oldest and of the newest.
local function currentWindow(window, list, windowMs)
  local count, oldest, newest = 0, 0, 0
  if window then
    count, oldest, newest = read(windowFormat, window)
  else
    count = call('LLEN', list)
    if count > 0 then oldest, newest = timeAt(list, 0), timeAt(list, -1) end
  end
  local cut = max(clock, newest) - windowMs
  if count == 0 or oldest > cut then return window, count, oldest, newest end
  if newest <= cut then
    call('DEL', list)
    count, oldest, newest = 0, 0, 0
  else
    local expired
    expired, oldest = countExpired(list, count, cut)
    call('LTRIM', list, expired, -1)
    count = count - expired
  end
  return pack(windowFormat, count, oldest, newest), count, oldest, newest
end

-- Adds to a key's window. Its list expires by itself: its lifetime is renewed once a minute.
local function addTime(list, now, newest, windowMs)
  call('RPUSH', list, text(now))
  if floor(now / windowMs) > floor(newest / windowMs) then
    call('PEXPIRE', list, text(now - clock + 2 * windowMs + 1000))
  end
end

-- Adds ascending times of further requests, of which few are before the newest of the list.
local function insertTimes(list, times)
  local tail, merged = {}, {}
  local last = call('LINDEX', list, -1)
  while last and tonumber(last) > times[1] do
    tail[#tail + 1] = tonumber(call('RPOP', list))
    last = call('LINDEX', list, -1)
  end
  local next = 1
  for place = #tail, 1, -1 do
    while times[next] and times[next] <= tail[place] do
      merged[#merged + 1] = text(times[next])
      next = next + 1
    end
    merged[#merged + 1] = text(tail[place])
  end
  for place = next, #times do merged[#merged + 1] = text(times[place]) end
  callWithAll('RPUSH', list, merged, #merged)
end
