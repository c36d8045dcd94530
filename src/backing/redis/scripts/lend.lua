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
  -- The clock was set back. Requests of a block would count for times that the window has left behind.
  if newest > clock and not known[6] then return { clock } end
  local blocks = call('GET', lentKey)

  local function lent(since, amount, some)
    local lentPlaces, leaveAt = lentIn(blocks)
    local leavesAt = min(leaveAt, count > 0 and oldest + windowMs or math.huge)
    local life = max(0, lifeMs - (clock - since))
    return { clock, since, amount, some, life, max(0, rpm - count - lentPlaces), leavesAt < math.huge and leavesAt - clock or 0 }
  end

  if known[6] then
    local amount, since, _, keyField = read(holdFormat, known[6])
    local _, some = withoutBlock(blocks, block)
    return some and keyField == args[3] and lent(since, amount, some) or { clock }
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
  return lent(clock, amount, places)
end)
