-- Releases holds, leaves tombstones, and takes over the ledger's absolute values where they are newer.
-- KEYS  base name {w} of each workspace
-- ARGV  life of a tombstone in ms; then for each workspace three counted lists: (generation, how it was resolved),
--       (balance, sequence, counted list of (month, spent, oldest month to keep)), (key, month, spent, version, sequence)
-- Gives what each resolve freed, in the order of ARGV.
local tombstoneMs, at = ARGV[1], 1

local function take()
  at = at + 1
  return ARGV[at]
end

local function release(space, generation)
  local hold = redis.call('HGET', space.base .. ':r', generation)
  if not hold then return '0' end
  local amount, key, month = string.match(hold, '|(%d+)|([^|]+)|([^|]+)|')
  redis.call('HDEL', space.base .. ':r', generation)
  redis.call('ZREM', space.base .. ':x', generation)
  for _, field in ipairs({ 'resv', 'wr:' .. month, 'kr:' .. key .. ':' .. month }) do
    space.freed[field] = (space.freed[field] or 0) + tonumber(amount)
  end
  return amount
end

-- The first resolution is the one that did something; a later one only renews the life of its tombstone.
local function bury(space, generation, resolution)
  local name = space.base .. ':t:' .. generation
  if not redis.call('SET', name, resolution, 'PX', tombstoneMs, 'NX') then redis.call('PEXPIRE', name, tombstoneMs) end
end

-- The version that `field` holds, before all others where there is none.
local function version(space, field)
  return tonumber(redis.call('HGET', space.account, field) or -1)
end

-- Months that ended long ago would otherwise stay for ever; what still has a hold stays until that is released.
local function forgetMonthsBefore(space, oldest)
  local known, gone = redis.call('HGETALL', space.account), {}
  for place = 1, #known, 2 do
    local kind, month = string.match(known[place], '^[wk]([sqr]):.*(%d%d%d%d%-%d%d)$')
    if kind and month < oldest and (kind ~= 'r' or known[place + 1] == '0') then gone[#gone + 1] = known[place] end
  end
  callWithAll('HDEL', space.account, gone)
end

-- What is known is fenced by its own version; what is not known is not learnt from what is older than the balance.
local function isNews(version, known, sequence, head)
  return tonumber(version) > known and (known >= 0 or tonumber(sequence) >= head)
end

local function pushAccount(space)
  local balance, sequence, fields, keepFrom = take(), take(), {}, ''
  local head = version(space, 'seq')
  if tonumber(sequence) > head then fields = { 'bal', balance, 'seq', sequence } end
  for _ = 1, tonumber(take()) do
    local month, spent, oldest = take(), take(), take()
    local known = version(space, 'wq:' .. month)
    if isNews(sequence, known, sequence, head) then
      if known < 0 and oldest > keepFrom then keepFrom = oldest end
      for _, word in ipairs({ 'ws:' .. month, spent, 'wq:' .. month, sequence }) do fields[#fields + 1] = word end
    end
  end
  callWithAll('HSET', space.account, fields)
  if keepFrom ~= '' then forgetMonthsBefore(space, keepFrom) end
end

local function pushKeyMonth(space)
  local key, month, spent, news, sequence = take(), take(), take(), take(), take()
  local name = key .. ':' .. month
  if isNews(news, version(space, 'kq:' .. name), sequence, version(space, 'seq')) then
    redis.call('HSET', space.account, 'ks:' .. name, spent, 'kq:' .. name, news)
  end
end

local replies = {}
for _, base in ipairs(KEYS) do
  local space = { base = base, account = base .. ':a', freed = {} }
  for _ = 1, tonumber(take()) do
    local generation, resolution = take(), take()
    replies[#replies + 1] = release(space, generation)
    bury(space, generation, resolution)
  end
  for field, amount in pairs(space.freed) do
    if amount > 0 then redis.call('HINCRBY', space.account, field, text(-amount)) end
  end
  for _ = 1, tonumber(take()) do pushAccount(space) end
  for _ = 1, tonumber(take()) do pushKeyMonth(space) end
end
return replies
