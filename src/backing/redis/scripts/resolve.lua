-- Releases holds, leaves tombstones, and stores the ledger's absolute values where they are newer.
-- ARGV  texts, numbers
-- Texts    for each workspace base name {w}, field of its head, the generations, the fields of the totals that are pushed, those of its
--          own months before those of its keys and of its budgets, and for each of its own months the oldest that is kept beside it
-- Numbers  how many texts and workspaces, life of a tombstone, width of the window and life of a budget's period in ms; for each
--          workspace how many generations, accounts, months and keys' months; how each generation was resolved; for each account
--          balance, sequence, how many months and what was spent in each; for each key's month spent, version and sequence
--          Where budgets are pushed, how many generations is -1 minus their count; how many budgets follows the four counts, and spent,
--          first ms of the period and sequence of each come last.
-- Returns numbers: for each workspace whether it is here, and if it is the amount that each resolve freed.

-- Values of the call.
local texts, numbers, numbersAt, tombstoneMs, windowMs, budgetMs
local replies, replyCount
-- Values of the current workspace. `totals` are by field; `heldIn` is the total of the month that a hold was last released from.
local base, account, totals, heldIn, heldMonth
-- known[place + shift] is the value of the field texts[place].
local known, shift
local run, balance, sequence, reserved, due, buried, isChanged, lentFreed
-- Holds whose key's total is not known yet: field and amount.
local unknown, unknownCount
-- To be written.
local fields, fieldCount, ended, endedCount, graves, graveCount
-- Keyed by resolution, as of now.
local tombstones

local function put(field, value)
  fields[fieldCount + 1], fields[fieldCount + 2] = field, value
  fieldCount = fieldCount + 2
end

local function bury(generation, tombstone)
  graves[graveCount + 1], graves[graveCount + 2] = generation, tombstone
  graveCount = graveCount + 2
end

-- The total of a month, of the workspace or a key; version -1: the spent amount is unknown.
local function rememberTotal(field, found)
  local total = { spent = 0, version = -1, held = 0, isChanged = false }
  if found then total.spent, total.version, total.held = read(totalFormat, found) end
  totals[field] = total
  return total
end

-- The total of a budget, in the period that begins at `since`.
local function rememberBudget(field, found)
  local total = { spent = 0, version = -1, held = 0, since = -1, isChanged = false }
  if found then total.spent, total.version, total.held, total.since = read(budgetFormat, found) end
  totals[field] = total
  return total
end

local function budgetOf(field)
  return totals[field] or rememberBudget(field, call('HGET', account, field))
end

local function totalOf(field)
  return totals[field] or rememberTotal(field, call('HGET', account, field))
end

local function takeBack(keyField, amount)
  local month = string.sub(keyField, -7)
  if month ~= heldMonth then heldMonth, heldIn = month, totalOf('m:' .. month) end
  local total = totals[keyField]
  total.held, total.isChanged = total.held - amount, true
  heldIn.held, heldIn.isChanged = heldIn.held - amount, true
end

-- A hold of an earlier period than the known one no longer counts.
local function takeBackBudgets(hold, at, amount)
  while at <= #hold do
    local field, since
    field, since, at = read(countedFormat, hold, at)
    local total = budgetOf(field)
    if total.since == since then total.held, total.isChanged = total.held - amount, true end
  end
end

local function release(generation, hold)
  local amount, _, _, keyField, fingerprint, rest = read(holdFormat, hold)
  if fingerprint == '' then lentFreed = lentFreed + amount end
  if rest <= #hold then takeBackBudgets(hold, rest, amount) end
  endedCount = endedCount + 1
  ended[endedCount] = generation
  reserved, isChanged = reserved - amount, true
  if totals[keyField] then
    takeBack(keyField, amount)
  else
    unknownCount = unknownCount + 1
    unknown[unknownCount], unknown[-unknownCount] = keyField, amount
  end
  return amount
end

-- Totals that are not in the push are read together.
local function takeBackUnknown()
  if unknownCount == 0 then return end
  for place, found in ipairs(valuesOf(account, unknown, 1, unknownCount)) do
    if not totals[unknown[place]] then rememberTotal(unknown[place], found) end
    takeBack(unknown[place], unknown[-place])
  end
  unknownCount = 0
end

local function rotateTombstones()
  local isNew
  buried, isNew = rotatedTombstones(base, buried, tombstoneMs)
  isChanged = isChanged or isNew
  return isNew
end

-- Only the first resolution releases the hold; a later one just renews the lifetime of the tombstone.
local function firstResolution(generation)
  return resolutionIn(call('HGET', base .. ':t', generation), tombstoneMs)
    or resolutionIn(call('HGET', base .. ':u', generation), tombstoneMs)
end

-- Resolves texts[first] to texts[last].
local function resolveAll(first, last)
  local isNew, resolved = rotateTombstones(), last > first and {} or nil
  lentFreed = 0
  for place = first, last do
    local generation, hold, freed, resolution = texts[place], known[place + shift], 0, nil
    resolution, numbersAt = read('<d', numbers, numbersAt)
    local before = resolved and resolved[generation]
    if before then
      resolution = before
    elseif hold then
      freed = release(generation, hold)
    else
      resolution = firstResolution(generation) or resolution
    end
    if resolved then resolved[generation] = resolution end
    tombstones[resolution] = tombstones[resolution] or pack(tombstoneFormat, resolution, clock)
    bury(generation, tombstones[resolution])
    replyCount = replyCount + 1
    replies[replyCount] = freed
  end
  takeBackUnknown()
  if lentFreed > 0 then call('HINCRBY', account, lentField, text(-lentFreed)) end
  callWithAll('HDEL', account, ended, endedCount)
  callWithAll('HSET', base .. ':t', graves, graveCount)
  endedCount, graveCount = 0, 0
  if isNew then call('PEXPIRE', base .. ':t', text(2 * tombstoneMs + 1000)) end
end

-- Writes the changed head and totals.
local function write()
  if isChanged then put('head', pack(headFormat, run, balance, sequence, reserved, due, buried)) end
  for field, total in pairs(totals) do
    if total.isChanged and total.since then
      put(field, pack(budgetFormat, total.spent, total.version, total.held, total.since))
    elseif total.isChanged then
      put(field, pack(totalFormat, total.spent, total.version, total.held))
    end
  end
  callWithAll('HSET', account, fields, fieldCount)
  fieldCount, isChanged, totals = 0, false, {}
end

-- For months that ended long ago only open holds stay, until they are released. Empty windows and old budgets without holds are removed,
-- too.
local function forgetMonthsBefore(oldest)
  write()
  local found, gone = call('HGETALL', account), {}
  for place = 1, #found, 2 do
    local field, month = found[place], string.match(found[place], '^[mk]:.*(%d%d%d%d%-%d%d)$')
    if month and month < oldest then
      local _, _, held = read(totalFormat, found[place + 1])
      if held == 0 then gone[#gone + 1] = field else put(field, pack(totalFormat, 0, -1, held)) end
    elseif string.sub(field, 1, 2) == 'n:' then
      local _, _, newest = read(windowFormat, found[place + 1])
      if newest + windowMs <= clock then gone[#gone + 1] = field end
    elseif string.sub(field, 1, 2) == 'b:' then
      local _, _, held, since = read(budgetFormat, found[place + 1])
      if held == 0 and since <= clock - budgetMs then gone[#gone + 1] = field end
    end
  end
  callWithAll('HDEL', account, gone, #gone)
  write()
end

-- A known total is fenced by its own version; an unknown one is not set by a push that is older than the balance.
local function setSpent(total, spent, version, ofSequence)
  if version <= total.version or (total.version < 0 and ofSequence < sequence) then return false end
  total.spent, total.version, total.isChanged = spent, version, true
  return true
end

-- The fields of its months begin at texts[first], the oldest to keep at texts[keep]. Returns the count of months.
local function pushAccount(first, keep)
  local newBalance, newSequence, months, spent, keepFrom
  newBalance, newSequence, months, numbersAt = read('<ddd', numbers, numbersAt)
  if newSequence > sequence then balance, sequence, isChanged = newBalance, newSequence, true end
  for month = 0, months - 1 do
    spent, numbersAt = read('<d', numbers, numbersAt)
    local total, oldest = totalOf(texts[first + month]), texts[keep + month]
    local wasKnown = total.version >= 0
    if setSpent(total, spent, newSequence, newSequence) and not wasKnown and oldest > (keepFrom or '') then keepFrom = oldest end
  end
  if keepFrom then forgetMonthsBefore(keepFrom) end
  return months
end

local function pushKeyMonth(field)
  local spent, version, ofSequence
  spent, version, ofSequence, numbersAt = read('<ddd', numbers, numbersAt)
  setSpent(totalOf(field), spent, version, ofSequence)
end

-- Known periods are never replaced by earlier ones, and forgotten ones stay unknown: holds that count in them would take back what they
-- do not hold.
local function pushBudget(field)
  local spent, since, ofSequence
  spent, since, ofSequence, numbersAt = read('<ddd', numbers, numbersAt)
  local total = budgetOf(field)
  if since > total.since and since > clock - budgetMs and ofSequence >= sequence then
    total.spent, total.version, total.held, total.since, total.isChanged = spent, ofSequence, 0, since, true
  elseif since == total.since and ofSequence > total.version then
    total.spent, total.version, total.isChanged = spent, ofSequence, true
  end
end

-- Reads the values of the workspace whose texts begin at `first`; its totals and budgets are from texts[monthsFirst] to texts[keep - 1].
local function open(first, monthsFirst, budgetsFirst, keep)
  base, account, totals, heldMonth = texts[first], texts[first] .. ':a', {}, nil
  known, shift = valuesOf(account, texts, first + 1, keep - 1), -first
  for place = monthsFirst, budgetsFirst - 1 do rememberTotal(texts[place], known[place + shift]) end
  for place = budgetsFirst, keep - 1 do rememberBudget(texts[place], known[place + shift]) end
  run, balance, sequence, reserved, due, buried = headIn(known[1])
end

register('resolve', function(_, args)
  local textCount, spaces
  numbers = args[2]
  textCount, spaces, tombstoneMs, windowMs, budgetMs, numbersAt = read('<ddddd', numbers)
  texts = textsIn(args[1], textCount)
  unknown, unknownCount, tombstones = {}, 0, {}
  fields, fieldCount, ended, endedCount, graves, graveCount = {}, 0, {}, 0, {}, 0
  replies, replyCount, isChanged = {}, 0, false
  local first = 1
  for _ = 1, spaces do
    local generations, accounts, months, keyMonths
    generations, accounts, months, keyMonths, numbersAt = read('<dddd', numbers, numbersAt)
    local budgets = 0
    if generations < 0 then
      generations = -1 - generations
      budgets, numbersAt = read('<d', numbers, numbersAt)
    end
    local monthsFirst = first + 2 + generations
    local keysFirst = monthsFirst + months
    local budgetsFirst = keysFirst + keyMonths
    local keep = budgetsFirst + budgets
    replyCount = replyCount + 1
    replies[replyCount] = isHere(texts[first]) and 1 or 0
    if replies[replyCount] == 0 then
      numbersAt = numbersAt + (generations + 3 * (accounts + keyMonths + budgets) + months) * 8
    else
      open(first, monthsFirst, budgetsFirst, keep)
      if generations > 0 then resolveAll(first + 2, monthsFirst - 1) end
      local month, kept = monthsFirst, keep
      for _ = 1, accounts do
        local count = pushAccount(month, kept)
        month, kept = month + count, kept + count
      end
      for place = keysFirst, budgetsFirst - 1 do pushKeyMonth(texts[place]) end
      for place = budgetsFirst, keep - 1 do pushBudget(texts[place]) end
      write()
    end
    first = keep + months
  end
  return replies
end, anySlots)
