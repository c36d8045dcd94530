-- Makes a workspace ready: its hash is written anew from the ledger's values and the holds given.
-- KEYS  base name {w}
-- ARGV  run, balance, sequence, load or an empty text, counted list of (month, spent), counted list of (generation, hold)
-- Gives "ready" where it already was, "stale" where another load is waited for, and then changes nothing.
local run, balance, sequence, at = ARGV[1], ARGV[2], ARGV[3], 4
local base, account = KEYS[1], KEYS[1] .. ':a'
if redis.call('HGET', account, 'run') == run then return { 'ready' } end
if ARGV[4] ~= '' and redis.call('HGET', account, 'load') ~= ARGV[4] then return { 'stale' } end

local function take()
  at = at + 1
  return ARGV[at]
end

-- A push may have come after the loader read the ledger: of two values the one with the newer version stays.
local function newest(valueField, value, versionField)
  local known = redis.call('HMGET', account, valueField, versionField)
  if known[1] and tonumber(known[2]) > tonumber(sequence) then return known[1], known[2] end
  return value, sequence
end

local fields, held = { 'run', run }, {}
local function keep(valueField, value, versionField)
  local chosen, version = newest(valueField, value, versionField)
  for _, word in ipairs({ valueField, chosen, versionField, version }) do fields[#fields + 1] = word end
end

local function hold(generation, record)
  local amount, key, month, deadline = string.match(record, '|(%d+)|([^|]+)|([^|]+)|%d+|(%d+)$')
  for _, field in ipairs({ 'resv', 'wr:' .. month, 'kr:' .. key .. ':' .. month }) do
    held[field] = (held[field] or 0) + tonumber(amount)
  end
  return deadline
end

keep('bal', balance, 'seq')
for _ = 1, tonumber(take()) do
  local month, spent = take(), take()
  keep('ws:' .. month, spent, 'wq:' .. month)
end
local holds, deadlines = {}, {}
for _ = 1, tonumber(take()) do
  local generation, record = take(), take()
  if redis.call('EXISTS', base .. ':t:' .. generation) == 0 then
    local deadline = hold(generation, record)
    holds[#holds + 1], holds[#holds + 2] = generation, record
    deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, generation
  end
end
for field, amount in pairs(held) do fields[#fields + 1], fields[#fields + 2] = field, text(amount) end

redis.call('DEL', account, base .. ':r', base .. ':x')
callWithAll('HSET', account, fields)
callWithAll('HSET', base .. ':r', holds)
callWithAll('ZADD', base .. ':x', deadlines)
return { 'loaded' }
