-- Makes a workspace ready: its hash is written anew from the ledger's values and the given holds.
-- KEYS  base name {w}
-- ARGV  load or an empty text, texts, numbers
-- Texts    the fields of months; then for each hold generation, field of its key's month and fingerprint
-- Numbers  how many texts, run, life of a tombstone in ms, balance, sequence, how many months and what was spent in each; for each hold
--          amount, when it was admitted, and its deadline
-- Returns "ready" where it already was, "stale" where another load is expected; both change nothing.
register('load', function(keys, args)
  local base, account, numbers = keys[1], keys[1] .. ':a', args[3]
  local textCount, run, tombstoneMs, ledgerBalance, ledgerSequence, months, numbersAt = read('<dddddd', numbers)
  local texts = textsIn(args[2], textCount)
  local known = call('HMGET', account, 'head', 'load')
  local readyIn, balance, sequence, _, _, buried = headIn(known[1])
  if readyIn == run then return { 'ready' } end
  if args[1] ~= '' and known[2] ~= args[1] then return { 'stale' } end

  local totals, fields, reserved, due = {}, {}, 0, math.huge

  local function put(field, value)
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end

  local function totalOf(field)
    totals[field] = totals[field] or { spent = 0, version = -1, held = 0 }
    return totals[field]
  end

  local function isResolved(generation)
    local tombstone = call('HGET', base .. ':t', generation) or call('HGET', base .. ':u', generation)
    return resolutionIn(tombstone, tombstoneMs) ~= nil
  end

  local function hold(generation, keyField, fingerprint, amount, at, deadline)
    reserved, due = reserved + amount, min(due, deadline)
    for _, field in ipairs({ keyField, 'm:' .. string.sub(keyField, -7) }) do
      totalOf(field).held = totalOf(field).held + amount
    end
    put(generation, pack(holdFormat, amount, at, deadline, keyField, fingerprint))
  end

  -- A push may have arrived after the loader read the ledger: of two values the one with the newer version stays.
  if sequence <= ledgerSequence then balance, sequence = ledgerBalance, ledgerSequence end
  for place = 1, months do
    local total, found, version = totalOf(texts[place]), call('HGET', account, texts[place]), -1
    if found then total.spent, version = read(totalFormat, found) end
    local spent
    spent, numbersAt = read('<d', numbers, numbersAt)
    if version <= ledgerSequence then total.spent, version = spent, ledgerSequence end
    total.version = version
  end
  for place = months + 1, textCount, 3 do
    local amount, at, deadline
    amount, at, deadline, numbersAt = read('<ddd', numbers, numbersAt)
    if not isResolved(texts[place]) then hold(texts[place], texts[place + 1], texts[place + 2], amount, at, deadline) end
  end
  for field, total in pairs(totals) do put(field, pack(totalFormat, total.spent, total.version, total.held)) end
  put('head', pack(headFormat, run, balance, sequence, reserved, due, buried))

  call('DEL', account)
  callWithAll('HSET', account, fields, #fields)
  return { 'loaded' }
end)
