-- Decides admissions. Every check precedes the first counting write: a refusal removes expired timestamps and nothing else.
-- KEYS  base name {w} of each workspace
-- ARGV  run, month, its first ms, the next month's first ms, life of a hold and width of the window in ms;
--       then for each workspace the number of its requests, and nine values for each request (see `decide`)
-- Gives the clock and a line for each request: outcome|values, in the order of ARGV.
local run, month = ARGV[1], ARGV[2]
local monthStart, monthEnd = tonumber(ARGV[3]), tonumber(ARGV[4])
local holdMs, windowMs = tonumber(ARGV[5]), tonumber(ARGV[6])

local function openSpace(base)
  local account = base .. ':a'
  local known = redis.call('HMGET', account, 'run', 'bal', 'resv', 'ws:' .. month, 'wr:' .. month)
  return {
    base = base, account = account, ready = known[1] == run,
    balance = tonumber(known[2]), reserved = tonumber(known[3] or '0'),
    spent = tonumber(known[4]), held = tonumber(known[5] or '0'),
    keys = {}, admitted = {}, holds = {}, deadlines = {},
  }
end

-- How many timestamps of the list have left the window. Usually few, so the search starts at the head and widens.
local function countExpired(list, count, cut)
  local function left(index) return tonumber(redis.call('LINDEX', list, index)) <= cut end
  if not left(0) then return 0 end
  local gone, stays = 0, 1
  while stays < count and left(stays) do gone, stays = stays, stays * 2 end
  if stays > count then stays = count end
  while stays - gone > 1 do
    local middle = math.floor((gone + stays) / 2)
    if left(middle) then gone = middle else stays = middle end
  end
  return stays
end

-- A key with its window as of now. `now` never precedes the newest timestamp, so that a clock set back frees no place.
local function openKey(space, id)
  local key = space.keys[id]
  if key then return key end
  local list = space.base .. ':n:' .. id
  key = { id = id, list = list, now = clock, count = redis.call('LLEN', list), added = 0 }
  space.keys[id] = key
  if key.count == 0 then return key end
  key.now = math.max(clock, tonumber(redis.call('LINDEX', list, -1)))
  local expired = countExpired(list, key.count, key.now - windowMs)
  if expired > 0 then
    redis.call('LTRIM', list, expired, -1)
    key.count = key.count - expired
  end
  if key.count > 0 then key.oldest = tonumber(redis.call('LINDEX', list, 0)) end
  return key
end

local function untilOldestLeaves(key)
  if key.count == 0 then return 0 end
  return key.oldest + windowMs - clock
end

-- What every decision past the window tells of it: how many more requests fit, and when the oldest leaves.
local function window(key, rpm)
  return '|' .. text(math.max(0, rpm - key.count)) .. '|' .. text(untilOldestLeaves(key))
end

local function reserve(space, key, generation, fingerprint, amount)
  key.count, key.added = key.count + 1, key.added + 1
  key.oldest = key.oldest or key.now
  key.held = key.held + amount
  space.reserved, space.held = space.reserved + amount, space.held + amount
  local deadline = text(key.now + holdMs)
  local hold = fingerprint .. '|' .. text(amount) .. '|' .. key.id .. '|' .. month .. '|' .. text(key.now) .. '|' .. deadline
  space.admitted[generation] = hold
  local holds, deadlines = space.holds, space.deadlines
  holds[#holds + 1], holds[#holds + 2] = generation, hold
  deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, generation
end

local function replay(space, key, hold, fingerprint, rpm)
  if string.sub(hold, 1, #fingerprint + 1) ~= fingerprint .. '|' then return 'conflict' end
  local amount, booked, at = string.match(hold, '|(%d+)|[^|]+|([^|]+)|(%d+)|')
  return 'replay|' .. at .. '|' .. booked .. '|' .. amount .. '|' .. text(space.balance - space.reserved) .. window(key, rpm)
end

-- Credit, then the key's month, then the workspace's; open holds count against all three. nil: it can be afforded.
local function refuseMoney(space, key, amount, keyLimit, spaceLimit)
  local available = space.balance - space.reserved
  if space.balance <= 0 or available < amount then
    return 'insufficient_credit|' .. text(available) .. '|' .. text(space.balance)
  end
  if keyLimit and key.spent + key.held + amount > keyLimit then
    return 'key_spend_limit_exceeded|' .. text(math.max(0, keyLimit - key.spent - key.held))
  end
  if spaceLimit and space.spent + space.held + amount > spaceLimit then
    return 'account_spend_limit_exceeded|' .. text(math.max(0, spaceLimit - space.spent - space.held))
  end
end

local function loadMoney(space, key)
  if not space.spent then return 'not_ready|month' end
  if key.spent then return end
  local known = redis.call('HMGET', space.account, 'ks:' .. key.id .. ':' .. month, 'kr:' .. key.id .. ':' .. month)
  if not known[1] then return 'not_ready|key' end
  key.spent, key.held = tonumber(known[1]), tonumber(known[2] or '0')
end

local function decide(space, generation, id, fingerprint, rpm, amount, keyLimit, spaceLimit, refused, deadline)
  if not space.ready then return 'not_ready|workspace' end
  local hold = space.admitted[generation] or redis.call('HGET', space.base .. ':r', generation)
  if hold then return replay(space, openKey(space, id), hold, fingerprint, rpm) end
  local resolved = redis.call('GET', space.base .. ':t:' .. generation)
  if resolved then return 'already_resolved|' .. resolved end
  if deadline and clock > deadline then return 'late' end
  if clock < monthStart or clock >= monthEnd then return 'wrong_month' end
  local key = openKey(space, id)
  if key.count >= rpm then return 'rate_limited|' .. text(untilOldestLeaves(key)) .. window(key, rpm) end
  if refused ~= '' then return 'model_refused' .. window(key, rpm) end
  local missing = loadMoney(space, key)
  if missing then return missing end
  local refusal = refuseMoney(space, key, amount, keyLimit, spaceLimit)
  if refusal then return refusal .. window(key, rpm) end
  reserve(space, key, generation, fingerprint, amount)
  return 'admitted|' .. text(key.now) .. '|' .. text(space.balance - space.reserved) .. window(key, rpm)
end

-- Writes what the requests of one workspace reserved, each name once however many they were.
local function write(space)
  if #space.holds == 0 then return end
  local fields = { 'resv', text(space.reserved), 'wr:' .. month, text(space.held) }
  for _, key in pairs(space.keys) do
    if key.added > 0 then
      fields[#fields + 1], fields[#fields + 2] = 'kr:' .. key.id .. ':' .. month, text(key.held)
      local times, now = {}, text(key.now)
      for place = 1, key.added do times[place] = now end
      callWithAll('RPUSH', key.list, times)
      redis.call('PEXPIRE', key.list, text(key.now - clock + windowMs + 1000))
    end
  end
  callWithAll('HSET', space.account, fields)
  callWithAll('HSET', space.base .. ':r', space.holds)
  callWithAll('ZADD', space.base .. ':x', space.deadlines)
end

local replies, at = { text(clock) }, 7
for _, base in ipairs(KEYS) do
  local space = openSpace(base)
  local last = at + 9 * tonumber(ARGV[at])
  for first = at + 1, last, 9 do
    local generation, id, fingerprint, rpm, amount, keyLimit, spaceLimit, refused, deadline = unpack(ARGV, first, first + 8)
    replies[#replies + 1] = decide(space, generation, id, fingerprint, tonumber(rpm), tonumber(amount),
      tonumber(keyLimit), tonumber(spaceLimit), refused, tonumber(deadline))
  end
  at = last + 1
  write(space)
end
return replies
