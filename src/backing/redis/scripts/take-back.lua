-- Releases what blocks do not keep, counts their requests in the windows, and pauses lending.
-- KEYS  base name {w}
-- ARGV  width of the window, life of a tombstone and of a pause in ms; the key that nothing is lent to for a while, * for the whole
--       workspace, or an empty text; then for each block its key, id, what it keeps, and the times of its requests, ascending, each as its
--       distance to the one before
-- Returns nothing. A block that was returned before is only made smaller.
register('take_back', function(keys, args)
  local base, account = keys[1], keys[1] .. ':a'
  local windowMs, tombstoneMs, pauseMs, paused = tonumber(args[1]), tonumber(args[2]), tonumber(args[3]), args[4]

  -- A time that is ahead of the clock was read from another one: it was before now. Where the clock was set back, now is the newest time.
  local function timesOf(distances, now)
    local times, time = {}, 0
    for distance in string.gmatch(distances, '%d+') do
      time = time + tonumber(distance)
      times[#times + 1] = min(time, now)
    end
    return times
  end

  local function countTimes(key, distances)
    if distances == '' then return end
    local field, list = 'n:' .. key, base .. ':n:' .. key
    local _, count, oldest, newest = currentWindow(call('HGET', account, field), list, windowMs)
    local times = timesOf(distances, max(clock, newest))
    insertTimes(list, times)
    oldest = count == 0 and times[1] or min(oldest, times[1])
    newest = max(newest, times[#times])
    call('PEXPIRE', list, text(max(0, newest - clock) + 2 * windowMs + 1000))
    call('HSET', account, field, pack(windowFormat, count + #times, oldest, newest))
  end

  local function endPlaces(key, block, distances)
    local lentKey = base .. ':l:' .. key
    local rest, places = withoutBlock(call('GET', lentKey), block)
    if not places then return end
    if rest == '' then call('DEL', lentKey) else call('SET', lentKey, rest, 'KEEPTTL') end
    countTimes(key, distances)
  end

  local function keepOf(block, keep)
    local hold = call('HGET', account, block)
    if not hold then return end
    local amount, at, deadline, keyField, fingerprint = read(holdFormat, hold)
    if keep >= amount and keep > 0 then return end
    local monthField, change = 'm:' .. string.sub(keyField, -7), keep - amount
    local known = call('HMGET', account, 'head', keyField, monthField)
    local run, balance, sequence, reserved, due, buried = headIn(known[1])
    local fields = { 'head', pack(headFormat, run, balance, sequence, reserved + change, due, buried) }
    for place, field in ipairs({ keyField, monthField }) do
      local spent, version, held = 0, -1, 0
      if known[place + 1] then spent, version, held = read(totalFormat, known[place + 1]) end
      fields[#fields + 1], fields[#fields + 2] = field, pack(totalFormat, spent, version, held + change)
    end
    if keep == 0 then
      call('HDEL', account, block)
    else
      fields[#fields + 1], fields[#fields + 2] = block, pack(holdFormat, keep, at, deadline, keyField, fingerprint)
    end
    call('HSET', account, unpack(fields))
    if fingerprint == '' then call('HINCRBY', account, lentField, text(change)) end
  end

  local function bury(block)
    local run, balance, sequence, reserved, due, buried = headIn(call('HGET', account, 'head'))
    local since, isNew = rotatedTombstones(base, buried, tombstoneMs)
    local before = resolutionIn(call('HGET', base .. ':t', block), tombstoneMs)
      or resolutionIn(call('HGET', base .. ':u', block), tombstoneMs)
    call('HSET', base .. ':t', block, pack(tombstoneFormat, before or 2, clock))
    if not isNew then return end
    call('PEXPIRE', base .. ':t', text(2 * tombstoneMs + 1000))
    call('HSET', account, 'head', pack(headFormat, run, balance, sequence, reserved, due, since))
  end

  for place = 5, #args, 4 do
    local key, block, keep = args[place], args[place + 1], tonumber(args[place + 2])
    endPlaces(key, block, args[place + 3])
    keepOf(block, keep)
    if keep == 0 then bury(block) end
  end
  if paused == '*' then
    local lentUntil, holdsUntil, amount = lendingIn(call('HGET', account, 'lending'))
    call('HSET', account, 'lending', pack(lendingFormat, lentUntil, holdsUntil, amount, clock + pauseMs))
  elseif paused ~= '' then
    local lentKey = base .. ':l:' .. paused
    local rest = withoutBlock(call('GET', lentKey), '')
    call('SET', lentKey, rest .. pack(lentFormat, '', 0, clock + pauseMs, 0), 'PX', text(pauseMs + 2 * windowMs))
  end
  return {}
end)
