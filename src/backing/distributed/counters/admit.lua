-- Decides admissions. Every check precedes the first counting write: a refusal removes expired timestamps and nothing else.
-- KEYS  base name {w} of each workspace
-- ARGV  run, month, its first ms, the next month's first ms, life of a hold and width of the window in ms;
--       then for each workspace the number of its requests, and nine values for each request (see `decide`)
-- Gives the clock and a line for each request: outcome|values, in the order of ARGV.
local call, format = redis.call, string.format
local run, month = ARGV[1], ARGV[2]
local monthStart, monthEnd = tonumber(ARGV[3]), tonumber(ARGV[4])
local holdMs, windowMs = tonumber(ARGV[5]), tonumber(ARGV[6])
local clockText, deadlineText, lifeText = text(clock), text(clock + holdMs), text(windowMs + 1000)

local function hasLeft(list, index, cut)
  return tonumber(call('LINDEX', list, index)) <= cut
end

-- How many timestamps have left the window when the oldest has. Usually few: the search starts at the head and widens.
local function countExpired(list, count, cut)
  local gone, stays = 0, 1
  while stays < count and hasLeft(list, stays, cut) do gone, stays = stays, stays * 2 end
  if stays > count then stays = count end
  while stays - gone > 1 do
    local middle = math.floor((gone + stays) / 2)
    if hasLeft(list, middle, cut) then gone = middle else stays = middle end
  end
  return stays
end

-- A key with its window as of now. `now` never precedes the newest timestamp, so that a clock set back frees no place.
local function openKey(space, id)
  local list = space.base .. ':n:' .. id
  local key = { id = id, list = list, count = call('LLEN', list), added = 0,
    now = clock, oldest = clock, nowText = clockText, deadlineText = deadlineText, lifeText = lifeText }
  space.keys[id] = key
  if key.count == 0 then return key end
  local newest = tonumber(call('LINDEX', list, -1))
  if newest > clock then
    key.now, key.nowText = newest, text(newest)
    key.deadlineText, key.lifeText = text(newest + holdMs), text(newest - clock + windowMs + 1000)
  end
  key.oldest = tonumber(call('LINDEX', list, 0))
  if key.oldest <= key.now - windowMs then
    local expired = countExpired(list, key.count, key.now - windowMs)
    call('LTRIM', list, expired, -1)
    key.count = key.count - expired
    key.oldest = key.count > 0 and tonumber(call('LINDEX', list, 0)) or key.now
  end
  return key
end

-- What every decision past the window tells of it: how many more requests fit, and when the oldest leaves.
local function window(key, rpm)
  if key.count == 0 then return format('|%.0f|0', rpm) end
  return format('|%.0f|%.0f', math.max(0, rpm - key.count), key.oldest + windowMs - clock)
end

local function replay(space, id, hold, fingerprint, rpm)
  if string.sub(hold, 1, #fingerprint + 1) ~= fingerprint .. '|' then return 'conflict' end
  local key = space.keys[id] or openKey(space, id)
  local amount, booked, at = string.match(hold, '|(%d+)|[^|]+|([^|]+)|(%d+)|')
  return format('replay|%s|%s|%s|%.0f', at, booked, amount, space.balance - space.reserved) .. window(key, rpm)
end

local function loadMoney(space, key)
  if not space.spent then return 'not_ready|month' end
  if key.spent then return end
  local name = key.id .. ':' .. month
  local known = call('HMGET', space.account, 'ks:' .. name, 'kr:' .. name)
  if not known[1] then return 'not_ready|key' end
  key.spent, key.held = tonumber(known[1]), tonumber(known[2] or 0)
end

-- Credit, then the key's month, then the workspace's; open holds count against all three. Nothing: it can be afforded.
local function refuseMoney(space, key, amount, keyLimit, spaceLimit)
  local available = space.balance - space.reserved
  if space.balance <= 0 or available < amount then
    return format('insufficient_credit|%.0f|%.0f', available, space.balance)
  end
  if keyLimit and key.spent + key.held + amount > keyLimit then
    return format('key_spend_limit_exceeded|%.0f', math.max(0, keyLimit - key.spent - key.held))
  end
  if spaceLimit and space.spent + space.held + amount > spaceLimit then
    return format('account_spend_limit_exceeded|%.0f', math.max(0, spaceLimit - space.spent - space.held))
  end
end

local function reserve(space, key, generation, fingerprint, amountText)
  local amount, holds, deadlines = tonumber(amountText), space.holds, space.deadlines
  key.count, key.added, key.held = key.count + 1, key.added + 1, key.held + amount
  space.reserved, space.held = space.reserved + amount, space.held + amount
  local hold = fingerprint .. '|' .. amountText .. '|' .. key.id .. '|' .. month .. '|' .. key.nowText .. '|' .. key.deadlineText
  space.admitted[generation] = hold
  local last = #holds
  holds[last + 1], holds[last + 2] = generation, hold
  deadlines[last + 1], deadlines[last + 2] = key.deadlineText, generation
end

local function decide(space, generation, id, fingerprint, rpm, amount, keyLimit, spaceLimit, refused, deadline)
  if not space.ready then return 'not_ready|workspace' end
  local hold = space.admitted[generation] or call('HGET', space.base .. ':r', generation)
  if hold then return replay(space, id, hold, fingerprint, rpm) end
  local resolved = call('GET', space.base .. ':t:' .. generation)
  if resolved then return 'already_resolved|' .. resolved end
  if deadline and clock > deadline then return 'late' end
  if clock < monthStart or clock >= monthEnd then return 'wrong_month' end
  local key = space.keys[id] or openKey(space, id)
  if key.count >= rpm then return format('rate_limited|%.0f', key.oldest + windowMs - clock) .. window(key, rpm) end
  if refused ~= '' then return 'model_refused' .. window(key, rpm) end
  local refusal = loadMoney(space, key)
  if refusal then return refusal end
  refusal = refuseMoney(space, key, tonumber(amount), keyLimit, spaceLimit)
  if refusal then return refusal .. window(key, rpm) end
  reserve(space, key, generation, fingerprint, amount)
  return format('admitted|%s|%.0f', key.nowText, space.balance - space.reserved) .. window(key, rpm)
end

local function openSpace(base)
  local account = base .. ':a'
  local known = call('HMGET', account, 'run', 'bal', 'resv', 'ws:' .. month, 'wr:' .. month)
  return {
    base = base, account = account, ready = known[1] == run,
    balance = tonumber(known[2]), reserved = tonumber(known[3] or 0),
    spent = tonumber(known[4]), held = tonumber(known[5] or 0),
    keys = {}, admitted = {}, holds = {}, deadlines = {},
  }
end

-- Writes what the requests of a workspace reserved, each name once however many they were.
local function write(space)
  if #space.holds == 0 then return end
  local fields = { 'resv', text(space.reserved), 'wr:' .. month, text(space.held) }
  for id, key in pairs(space.keys) do
    if key.added > 0 then
      local last = #fields
      fields[last + 1], fields[last + 2] = 'kr:' .. id .. ':' .. month, text(key.held)
      for _ = 1, key.added do call('RPUSH', key.list, key.nowText) end
      call('PEXPIRE', key.list, key.lifeText)
    end
  end
  callWithAll('HSET', space.account, fields)
  callWithAll('HSET', space.base .. ':r', space.holds)
  callWithAll('ZADD', space.base .. ':x', space.deadlines)
end

local replies, at = { clockText }, 7
for _, base in ipairs(KEYS) do
  local space = openSpace(base)
  local last = at + 9 * tonumber(ARGV[at])
  for first = at + 1, last, 9 do
    local generation, id, fingerprint, rpm, amount, keyLimit, spaceLimit, refused, deadline = unpack(ARGV, first, first + 8)
    replies[#replies + 1] = decide(space, generation, id, fingerprint, tonumber(rpm), amount,
      tonumber(keyLimit), tonumber(spaceLimit), refused, tonumber(deadline))
  end
  at = last + 1
  write(space)
end
return replies
