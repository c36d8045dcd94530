-- How the counters of a workspace are stored, and what the functions share: how one is registered, the values of {w}:a, {w}:t and {w}:u, a
-- key's window, and how holds are returned. It precedes every function, after the one that reads the clock.
-- Shared code is created when the library is loaded, not in every call; Redis makes its own libraries available only while a function runs.
local call, floor, max, min, pack, read
-- The time of the call; Redis runs one call at a time.
local clock

-- The version is part of the name, so that fleets of two versions share a Redis. `run` is given KEYS and ARGV.
local function register(name, run, flags)
  local function callback(keys, args)
    call, floor, max, min, pack, read = redis.call, math.floor, math.max, math.min, struct.pack, struct.unpack
    clock = now(keys, args)
    return run(keys, args)
  end
  redis.register_function({ function_name = name .. '_' .. version, callback = callback, flags = flags or {} })
end

-- A function for workspaces in any slots declares no key: it checks each workspace before it does anything for it.
local anySlots = isOfCluster and { 'allow-cross-slot-keys' } or {}

-- Whether this node has the workspace. In a cluster a slot that is moving belongs to no node: a key missing here may be there, so Redis
-- refuses to look up a missing key, and a key that is only a base name is always missing.
local function isHere(base)
  return not isOfCluster or type(redis.pcall('EXISTS', base)) == 'number'
end

-- The values in {w}:a, {w}:t and {w}:u. Numbers are doubles, as in Lua: writing and reading digits takes five times as long.
local headFormat = '<dddddd' -- run it was loaded into, balance, its sequence, sum of holds, `due`, since when t takes tombstones
local totalFormat = '<ddd' -- spent, version of spent, held
local windowFormat = '<ddd' -- requests, times of the oldest and of the newest
local holdFormat = '<dddss' -- amount, when it was admitted, deadline, field of its key's month, fingerprint; then its budgets
local lentField = 'lent-held' -- in {w}:a, what holds without a fingerprint have: those of blocks
local countedFormat = '<sd' -- field of a budget that a hold counts against, first ms of its period
local budgetFormat = '<dddd' -- spent, version of spent, held, first ms of the period
local lendingFormat = '<dddd' -- until when blocks may count in a window and may hold credit, what was lent, until when nothing is lent
local lentFormat = '<sddd' -- in {w}:l:<key>, of each block: id, places, until when they count, amount; without id: nothing lent until then
local tombstoneFormat = '<dd' -- how and when it was resolved

-- Also for an unknown workspace. No hold has a deadline before `due`.
local function headIn(bytes)
  if not bytes then return 0, 0, -1, 0, math.huge, 0 end
  return read(headFormat, bytes)
end

local function lendingIn(bytes)
  if not bytes then return 0, 0, 0, 0 end
  return read(lendingFormat, bytes)
end

-- For a key's blocks: places that count in its window and when the first of them leave it, what they were lent, and until when nothing is
-- lent.
local function lentIn(bytes)
  local places, leaveAt, amount, pausedUntil, at = 0, math.huge, 0, 0, 1
  while bytes and at <= #bytes do
    local id, some, countsUntil, lent
    id, some, countsUntil, lent, at = read(lentFormat, bytes, at)
    if id == '' then
      pausedUntil = countsUntil
    elseif countsUntil > clock then
      places, leaveAt, amount = places + some, min(leaveAt, countsUntil), amount + lent
    end
  end
  return places, leaveAt, amount, pausedUntil
end

-- The blocks of a key without expired ones and without one of them, and that one's places and until when they count where it is there.
local function withoutBlock(bytes, block)
  local rest, found, foundUntil, at = {}, nil, nil, 1
  while bytes and at <= #bytes do
    local id, some, countsUntil, lent, from
    from = at
    id, some, countsUntil, lent, at = read(lentFormat, bytes, at)
    if id == block then
      found, foundUntil = some, countsUntil
    elseif countsUntil > clock then
      rest[#rest + 1] = string.sub(bytes, from, at - 1)
    end
  end
  return table.concat(rest), found, foundUntil
end

-- How a generation was resolved, where its tombstone has not expired.
local function resolutionIn(tombstone, lifeMs)
  if not tombstone then return nil end
  local resolution, at = read(tombstoneFormat, tombstone)
  return at + lifeMs >= clock and resolution or nil
end

-- For a minute t takes tombstones, then it is u for another: expired ones are dropped without a search. A value of more than 64 bytes makes
-- Redis store it as a hash table; the compact form would be scanned linearly. Returns since when t takes them, and whether it is new.
local function rotatedTombstones(base, buried, tombstoneMs)
  if buried <= clock and clock <= buried + tombstoneMs then return buried, false end
  if 0 < buried and buried < clock then
    call('UNLINK', base .. ':u')
    if call('EXISTS', base .. ':t') == 1 then call('RENAME', base .. ':t', base .. ':u') end
  end
  call('HSET', base .. ':t', '', string.rep('-', 65))
  return clock, true
end

-- Which generation has a claim, by the claim: c takes them for the life of a claim, then it is d for another. That is enough, since only
-- claims of generations count that are open or have a tombstone. The field '' says since when, and is long for the reason above.
local function claimHolder(base, claim)
  return call('HGET', base .. ':c', claim) or call('HGET', base .. ':d', claim)
end

local function giveClaim(base, claim, generation, lifeMs)
  local since = tonumber(call('HGET', base .. ':c', '') or 0)
  if clock < since or since + lifeMs < clock then
    if 0 < since and since < clock then
      call('UNLINK', base .. ':d')
      call('RENAME', base .. ':c', base .. ':d')
    end
    call('HSET', base .. ':c', '', string.format('%-65.0f', clock))
    call('PEXPIRE', base .. ':c', string.format('%.0f', 2 * lifeMs + 1000))
  end
  call('HSET', base .. ':c', claim, generation)
end

-- Numbers leave Lua in plain digits: its own conversion prints 14 of them and then an exponent.
local function text(number)
  return string.format('%.0f', number)
end

-- Lua unpacks some 8,000 values at once. An even number keeps fields and values together.
local chunk = 4000

-- Runs one command over values[1] to values[count].
local function callWithAll(command, key, values, count)
  for first = 1, count, chunk do
    call(command, key, unpack(values, first, min(first + chunk - 1, count)))
  end
end

-- The values of a hash at the fields texts[first] to texts[last], false where a field is missing.
local function valuesOf(key, texts, first, last)
  if last - first < chunk then return call('HMGET', key, unpack(texts, first, last)) end
  local values = {}
  for from = first, last, chunk do
    for place, value in ipairs(call('HMGET', key, unpack(texts, from, min(from + chunk - 1, last)))) do
      values[from - first + place] = value
    end
  end
  return values
end

-- The texts of an argument, each ended by a zero byte.
local function textsIn(bytes, count)
  local texts, at = {}, 1
  for first = 1, count, chunk do
    local size = min(chunk, count - first + 1)
    local some = { read(string.rep('s', size), bytes, at) }
    if size == count then return some end
    for place = 1, size do texts[first + place - 1] = some[place] end
    at = some[size + 1]
  end
  return texts
end

-- The window of a key, as its field n:<key> and the list of its times

local function timeAt(list, index)
  return tonumber(call('LINDEX', list, index) or clock)
end

-- If the oldest time has left the window and the newest has not: how many have left, and the oldest that stays. Usually few have, so the
-- search starts at the head and widens.
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

-- How holds are returned

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
