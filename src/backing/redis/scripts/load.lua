-- Loads a workspace from its ledger: a load begins, windows are merged, and the workspace becomes ready. Until then no request is admitted.
-- `forget` makes it wait for another load.

-- KEYS  base name {w}
-- ARGV  run, a new name
-- Returns the name of the expected load, which is new after the store was emptied or restarted; nothing when it is ready.
register('begin_load', function(keys, args)
  local run, account = args[1], keys[1] .. ':a'
  local known = call('HMGET', account, 'head', 'load')
  if headIn(known[1]) == tonumber(run) then return {} end
  if known[2] and string.sub(known[2], 1, #run + 1) == run .. ' ' then return { known[2] } end
  local name = run .. ' ' .. args[2]
  call('HSET', account, 'load', name)
  return { name }
end)

-- Adds admission times that the store lacks to the windows of keys. Does nothing when the workspace is ready.
-- KEYS  base name {w}
-- ARGV  run, width of the window in ms, then (key, times) where times are ascending, each as its distance to the one before
register('merge_windows', function(keys, args)
  local run, windowMs = args[1], tonumber(args[2])
  local base, cut = keys[1], clock - windowMs
  if headIn(call('HGET', base .. ':a', 'head')) == tonumber(run) then return { 'ready' } end

  local function timesOf(distances)
    local times, time = {}, 0
    for distance in string.gmatch(distances, '%d+') do
      time = time + tonumber(distance)
      if time > cut then times[#times + 1] = time end
    end
    return times
  end

  -- Both ascending. A time in both is the same request, as often as it is in both.
  local function merge(known, reported)
    local merged, a, b = {}, 1, 1
    while known[a] or reported[b] do
      local time = math.min(known[a] or reported[b], reported[b] or known[a])
      if known[a] == time then a = a + 1 end
      if reported[b] == time then b = b + 1 end
      merged[#merged + 1] = time
    end
    return merged
  end

  for place = 3, #args, 2 do
    local list, known = base .. ':n:' .. args[place], {}
    for _, time in ipairs(call('LRANGE', list, 0, -1)) do known[#known + 1] = tonumber(time) end
    local merged = merge(known, timesOf(args[place + 1]))
    if #merged > #known then
      local texts = {}
      for index, time in ipairs(merged) do texts[index] = text(time) end
      call('DEL', list)
      callWithAll('RPUSH', list, texts, #texts)
      -- As in admit.lua: admissions of the same minute do not renew the lifetime, and each of them counts for another window.
      call('PEXPIRE', list, text(math.max(0, merged[#merged] - clock) + 2 * windowMs + 1000))
    end
  end
  return { 'merged' }
end)

-- Makes a workspace ready: its hash is rewritten from the ledger's values and the given holds.
-- KEYS  base name {w}
-- ARGV  load or an empty text, texts, numbers; then where open generations have claims, how long one is remembered in ms, and
--       (claim, generation, "ended" where the ledger has its end)
-- Texts    the fields of months and of budgets; then for each hold generation, field of its key's month, fingerprint, and the fields of
--          the budgets that it counts against
-- Numbers  how many texts, run, life of a tombstone in ms, balance, sequence, how many months and budgets; what was spent in each month;
--          spent and first ms of the period of each budget; for each hold amount, when it was admitted, its deadline, how many budgets
--          it counts against, and the first ms of the period of each
-- Returns "ready" where it already was, "stale" where another load is expected; both change nothing.
register('load', function(keys, args)
  local base, account, numbers = keys[1], keys[1] .. ':a', args[3]
  local textCount, run, tombstoneMs, ledgerBalance, ledgerSequence, months, budgetCount, numbersAt = read('<ddddddd', numbers)
  local texts = textsIn(args[2], textCount)
  local known = call('HMGET', account, 'head', 'load', 'lending')
  local readyIn, balance, sequence, _, _, buried = headIn(known[1])
  if readyIn == run then return { 'ready' } end
  if args[1] ~= '' and known[2] ~= args[1] then return { 'stale' } end

  local totals, budgets, fields, open, reserved, lent, due = {}, {}, {}, {}, 0, 0, math.huge

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

  local function hold(generation, keyField, fingerprint, amount, at, deadline, counted)
    reserved, due, open[generation] = reserved + amount, min(due, deadline), true
    if fingerprint == '' then lent = lent + amount end
    for _, field in ipairs({ keyField, 'm:' .. string.sub(keyField, -7) }) do
      totalOf(field).held = totalOf(field).held + amount
    end
    local remembered = ''
    for _, one in ipairs(counted) do
      local budget = budgets[one.field]
      if budget and budget.since == one.since then budget.held = budget.held + amount end
      remembered = remembered .. pack(countedFormat, one.field, one.since)
    end
    put(generation, pack(holdFormat, amount, at, deadline, keyField, fingerprint) .. remembered)
  end

  -- Within one period the total with the newer version stays; between two periods, the later one's.
  local function openBudget(field, spent, since)
    local budget, found = { spent = spent, version = ledgerSequence, held = 0, since = since }, call('HGET', account, field)
    if found then
      local knownSpent, version, _, begun = read(budgetFormat, found)
      if begun > since or begun == since and version > ledgerSequence then
        budget.spent, budget.version, budget.since = knownSpent, version, begun
      end
    end
    budgets[field] = budget
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
  for place = months + 1, months + budgetCount do
    local spent, since
    spent, since, numbersAt = read('<dd', numbers, numbersAt)
    openBudget(texts[place], spent, since)
  end
  -- A generation that has ended keeps its claim as if it was resolved now: its own resolution may be lost.
  for at = 5, #args, 3 do
    local settled, isNew = 1, false
    if args[at + 2] == 'ended' and not isResolved(args[at + 1]) then
      buried, isNew = rotatedTombstones(base, buried, tombstoneMs)
      call('HSET', base .. ':t', args[at + 1], pack(tombstoneFormat, settled, clock))
      if isNew then call('PEXPIRE', base .. ':t', text(2 * tombstoneMs + 1000)) end
    end
  end
  local place = months + budgetCount + 1
  while place <= textCount do
    local amount, at, deadline, count
    amount, at, deadline, count, numbersAt = read('<dddd', numbers, numbersAt)
    local counted = {}
    for index = 1, count do
      counted[index] = { field = texts[place + 2 + index] }
      counted[index].since, numbersAt = read('<d', numbers, numbersAt)
    end
    if not isResolved(texts[place]) then
      hold(texts[place], texts[place + 1], texts[place + 2], amount, at, deadline, counted)
    end
    place = place + 3 + count
  end
  for field, total in pairs(totals) do put(field, pack(totalFormat, total.spent, total.version, total.held)) end
  for field, budget in pairs(budgets) do
    put(field, pack(budgetFormat, budget.spent, budget.version, budget.held, budget.since))
  end
  put('head', pack(headFormat, run, balance, sequence, reserved, due, buried))
  if known[3] then put('lending', known[3]) end
  if lent > 0 then put(lentField, text(lent)) end
  put('loaded', text(clock))

  call('DEL', account)
  callWithAll('HSET', account, fields, #fields)
  for at = 5, #args, 3 do
    if not open[claimHolder(base, args[at])] then giveClaim(base, args[at], args[at + 1], tonumber(args[4])) end
  end
  return { 'loaded' }
end)

-- Makes a workspace not ready, and refuses loads that began before: its ledger may have gone back behind the counters, or they were loaded
-- without the report of a gateway. The rest stays: a load replaces older values.
-- KEYS  base name {w}
-- ARGV  run, the sequence from which on it is made so, and, if given, the time of an admission: counters that were loaded before it stay
--       ready. A time in the future means that the clock was set back, and proves nothing.
-- Returns "forgotten" where it was ready and the balance has that sequence or a later one.
register('forget', function(keys, args)
  local account = keys[1] .. ':a'
  local readyIn, balance, sequence, reserved, due, buried = headIn(call('HGET', account, 'head'))
  local isReady = readyIn == tonumber(args[1])
  if isReady and sequence < tonumber(args[2]) then return {} end
  local admittedAt = tonumber(args[3])
  if isReady and admittedAt and admittedAt <= clock then
    local loaded = tonumber(call('HGET', account, 'loaded') or math.huge)
    if loaded < admittedAt then return {} end
  end
  call('HDEL', account, 'load')
  if not isReady then return {} end
  call('HSET', account, 'head', pack(headFormat, 0, balance, sequence, reserved, due, buried))
  return { 'forgotten' }
end)
