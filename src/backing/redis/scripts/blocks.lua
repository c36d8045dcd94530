-- Blocks: credit and places lent to gateways and returned by them.

-- Lends a block: a hold, and places that count in a key's window until the times of its requests are known.
-- KEYS  base name {w}
-- ARGV  fields of the month, of the key's window and of the key's month, block, numbers
-- Numbers  run, first ms of the month and of the next one, life of a hold, width of the window and life of a tombstone in ms; how many
--          blocks at least must be free, the lowest limit and the fewest places that are lent, how long a block may be returned in ms;
--          the key's limit, least amount, amount, places, the key's and the workspace's limit of the month, deadline, life of the block
-- Returns the clock; if it is lent then since when, amount, places, life and the window as decisions reply it.
register('lend', function(keys, args)
  local base, block = keys[1], args[4]
  local account, list, lentKey = base .. ':a', base .. ':' .. args[2], base .. ':l:' .. string.sub(args[2], 3)
  local run, monthStart, monthEnd, holdMs, windowMs, tombstoneMs, share, rateMin, placesMin, returnMs, at = read('<dddddddddd', args[5])
  local rpm, least, wanted, places, keyLimit, spaceLimit, deadline, lifeMs = read('<dddddddd', args[5], at)
  local known = call('HMGET', account, 'head', args[1], 'lending', args[2], args[3], block)
  local readyIn, balance, sequence, reserved, due, buried = headIn(known[1])
  if readyIn ~= run or clock > deadline or clock < monthStart or clock >= monthEnd then return { clock } end
  if resolutionIn(call('HGET', base .. ':t', block) or call('HGET', base .. ':u', block), tombstoneMs) then return { clock } end
  lifeMs = min(lifeMs, monthEnd - clock)

  local window, count, oldest, newest = currentWindow(known[4], list, windowMs)
  if window and window ~= known[4] then call('HSET', account, args[2], window) end
  -- The clock was set back: requests of a block would count at times that the window has already passed.
  if newest > clock and not known[6] then return { clock } end
  local blocks = call('GET', lentKey)

  local function lent(since, amount, some, life)
    local lentPlaces, leaveAt = lentIn(blocks)
    local leavesAt = min(leaveAt, count > 0 and oldest + windowMs or math.huge)
    return { clock, since, amount, some, life, max(0, rpm - count - lentPlaces), leavesAt < math.huge and leavesAt - clock or 0 }
  end

  -- A worker that asks again may know a newer record than the first one did. The block ends when the first one said.
  if known[6] then
    local amount, since, _, keyField = read(holdFormat, known[6])
    local _, some, countsUntil = withoutBlock(blocks, block)
    return some and keyField == args[3] and lent(since, amount, some, max(0, countsUntil - windowMs - since)) or { clock }
  end
  local lentUntil, holdsUntil, lentAmount, pausedUntil = lendingIn(known[3])
  local already, _, _, keyPausedUntil = lentIn(blocks)
  if pausedUntil > clock or keyPausedUntil > clock or rpm < rateMin or balance <= 0 then return { clock } end
  local used = count + already
  places = min(places, floor(rpm / 2) - used, floor((rpm - used) / share))
  local spent, version, held, keySpent, keyVersion, keyHeld = 0, -1, 0, 0, -1, 0
  if known[2] then spent, version, held = read(totalFormat, known[2]) end
  if known[5] then keySpent, keyVersion, keyHeld = read(totalFormat, known[5]) end
  local room = min(balance - reserved, keyLimit - keySpent - keyHeld, spaceLimit - spent - held)
  if places < placesMin or version < 0 or keyVersion < 0 or room < 0 then return { clock } end
  local amount = min(wanted, floor(room / share))
  if amount < least then return { clock } end

  local countsUntil = clock + lifeMs + windowMs
  blocks = withoutBlock(blocks, block) .. pack(lentFormat, block, places, countsUntil, amount)
  call('SET', lentKey, blocks, 'PX', text(lifeMs + 2 * windowMs))
  if holdsUntil <= clock then lentAmount = 0 end
  lentUntil, holdsUntil = max(lentUntil, countsUntil), max(holdsUntil, clock + lifeMs + returnMs)
  call('HSET', account,
    'head', pack(headFormat, run, balance, sequence, reserved + amount, min(due, clock + holdMs), buried),
    'lending', pack(lendingFormat, lentUntil, holdsUntil, lentAmount + amount, pausedUntil),
    args[1], pack(totalFormat, spent, version, held + amount),
    args[3], pack(totalFormat, keySpent, keyVersion, keyHeld + amount),
    block, pack(holdFormat, amount, clock, clock + holdMs, args[3], ''))
  call('HINCRBY', account, lentField, text(amount))
  return lent(clock, amount, places, lifeMs)
end)

-- Releases what blocks do not keep, counts their requests in the windows, and pauses lending.
-- KEYS  base name {w}
-- ARGV  width of the window, life of a tombstone and of a pause in ms; the key that nothing is lent to for a while, * for the whole
--       workspace, or an empty text; then for each block its key, id, what it keeps, and the times of its requests, ascending, each as its
--       distance to the one before
-- Returns nothing. A block that was returned before is only made smaller.
register('take_back', function(keys, args)
  local base, account = keys[1], keys[1] .. ':a'
  local windowMs, tombstoneMs, pauseMs, paused = tonumber(args[1]), tonumber(args[2]), tonumber(args[3]), args[4]

  -- A time ahead of the clock was read from another clock, and is before now. If the clock was set back, now is the newest time.
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
