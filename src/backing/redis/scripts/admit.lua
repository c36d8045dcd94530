-- Decides admissions. Every check precedes the first counting write: a refusal drops expired times and changes nothing else.
-- ARGV  texts, numbers
-- Texts    for each workspace base name {w}, fields of its head, its month and its lending, the generations of its requests, for each key the
--          fields of its window and of its month, the fields of its budgets, the fingerprints of its requests; where requests have claims,
--          for each request its claim, or nothing
-- Numbers  how many texts and workspaces, run, first ms of the month and of the next one, life of a hold, width of the window, life
--          of a tombstone in ms; for each workspace how many requests and keys, and seven for each request (see `decide`)
--          Where requests have budgets, how many requests is below zero; how many budgets, and for each the first ms of its period and
--          of the next one, come after how many keys, and each request's own after its seven (see `readAsked`).
--          Where requests have claims, how many keys is below zero, and how long a claim is remembered follows it.
-- Returns numbers: the clock, then for each request its outcome and the numbers of that outcome.

-- Values of the call.
local texts, numbers, numbersAt, run, monthStart, monthEnd, holdMs, windowMs, tombstoneMs
local replies, replyCount
-- Outcomes, as calls.ts reads them.
local admittedNow, replayed, rateLimited, modelRefused, creditMissing, keyLimited, spaceLimited = 0, 1, 2, 3, 4, 5, 6
local resolvedBefore, inConflict, late, inOtherMonth, spaceUnknown, monthUnknown, keyUnknown = 7, 8, 9, 10, 11, 12, 13
local budgetUnknown, budgetSpent, elsewhere, claimed = 14, 15, 16, 17
local void = 2 -- the resolution

-- Values of the current workspace. known[place + shift] is the value of the field texts[place].
local base, known, shift
local balance, sequence, reserved, due, buried, spent, version, held
-- Until when blocks may count in a window and hold unused credit, what was lent, and until when lending pauses.
local lentUntil, holdsUntil, lentAmount, pausedUntil
-- The holds of this call, where a generation may come again; nil where there is only one.
local admitted
-- Its budgets, nil where no request has one: field, the assumed period from `since` to `ends`, and the known total, which is in the period
-- that begins at `begun`. Then the current request's budgets, each with its limit.
local budgets, asked
-- The claim of the current request, nil where it has none, and how long one is remembered.
local claim, claimMs
-- To be written.
local fields, fieldCount, isReserved

local function reply(...)
  for place = 1, select('#', ...) do replies[replyCount + place] = (select(place, ...)) end
  replyCount = replyCount + select('#', ...)
end

local function put(field, value)
  fields[fieldCount + 1], fields[fieldCount + 2] = field, value
  fieldCount = fieldCount + 2
end

-- The window of the key whose fields begin at texts[place]: count of requests, times of the oldest and of the newest.
local function windowAt(place, list)
  local before = known[place + shift]
  local window, count, oldest, newest = currentWindow(before, list, windowMs)
  if window ~= before then
    known[place + shift] = window
    put(texts[place], window)
  end
  return count, oldest, newest
end

-- Places lent of that window and when the first of them leave it, what the key's blocks were lent, and until when nothing is lent to it.
local function lentAt(place)
  if lentUntil <= clock then return 0, math.huge, 0, 0 end
  return lentIn(call('GET', base .. ':l:' .. string.sub(texts[place], 3)))
end

-- When the oldest request leaves the window, or lent places, if earlier.
local function leavesAt(count, oldest, leaveAt)
  return min(leaveAt, count > 0 and oldest + windowMs or math.huge)
end

-- The window as decisions reply it: how many more requests fit, and when the oldest leaves.
local function replyWindow(rpm, count, oldest, places, leaveAt)
  local at = leavesAt(count, oldest, leaveAt)
  replies[replyCount + 1], replies[replyCount + 2] = max(0, rpm - count - places), at < math.huge and at - clock or 0
  replyCount = replyCount + 2
end

local function replay(hold, fingerprint, rpm, place)
  local amount, at, _, keyField, knownFingerprint = read(holdFormat, hold)
  if knownFingerprint ~= fingerprint then return reply(inConflict) end
  local year, month = string.match(keyField, '(%d+)-(%d+)$')
  reply(replayed, at, tonumber(year), tonumber(month), amount, balance - reserved)
  local count, oldest = windowAt(place, base .. ':' .. texts[place])
  replyWindow(rpm, count, oldest, lentAt(place))
end

-- 1: the amount would fit with the unused part of blocks. After a recall they have none.
local function isLent(left, amount, lent, keyPausedUntil)
  if pausedUntil > clock or holdsUntil <= clock or keyPausedUntil > clock then return 0 end
  return left + lent >= amount and 1 or 0
end

-- Checks credit, then the key's month, then the workspace's; open holds count against all three. True: the request is refused.
local function refuseMoney(amount, keyUsed, keyLimit, spaceLimit, keyLent, keyPausedUntil)
  local available = balance - reserved
  if balance <= 0 or available < amount then
    reply(creditMissing, available, balance, balance > 0 and isLent(available, amount, lentAmount, 0) or 0)
  elseif keyUsed + amount > keyLimit then
    local left = keyLimit - keyUsed
    reply(keyLimited, max(0, left), isLent(left, amount, keyLent, keyPausedUntil))
  elseif spent + held + amount > spaceLimit then
    local left = spaceLimit - spent - held
    reply(spaceLimited, max(0, left), isLent(left, amount, lentAmount, 0))
  else
    return false
  end
  return true
end

local function openBudgets(first, count)
  budgets = {}
  for place = 1, count do
    local budget = { field = texts[first + place - 1], spent = 0, version = -1, held = 0, begun = -1 }
    budget.since, budget.ends, numbersAt = read('<dd', numbers, numbersAt)
    local value = known[first + place - 1 + shift]
    if value then budget.spent, budget.version, budget.held, budget.begun = read(budgetFormat, value) end
    budgets[place] = budget
  end
end

-- How many budgets, and for each its place from zero and its limit.
local function readAsked()
  local count
  count, numbersAt = read('<d', numbers, numbersAt)
  asked = {}
  for index = 1, count do
    local place, limit
    place, limit, numbersAt = read('<dd', numbers, numbersAt)
    asked[index] = { budget = budgets[place + 1], limit = limit }
  end
end

-- The same outcome for all requests of a workspace, whose numbers are skipped.
local function replyAll(outcome, requests, budgetCount)
  for _ = 1, requests do reply(outcome) end
  if not budgetCount then
    numbersAt = numbersAt + requests * 7 * 8
    return
  end
  numbersAt = numbersAt + budgetCount * 2 * 8
  for _ = 1, requests do
    local count = read('<d', numbers, numbersAt + 7 * 8)
    numbersAt = numbersAt + (7 + 1 + 2 * count) * 8
  end
end

local function isOutsideBudgets()
  for _, one in ipairs(asked) do
    if clock < one.budget.since or clock >= one.budget.ends then return true end
  end
  return false
end

-- The time that the request counts under: never before a period that one of its budgets has reached, so that a clock set back frees
-- nothing. Without such a time, the outcome.
local function timeInBudgets(now)
  for _, one in ipairs(asked) do
    local budget = one.budget
    if budget.begun < budget.since then return nil, budgetUnknown end
    now = max(now, budget.begun)
  end
  for _, one in ipairs(asked) do
    if one.budget.begun == one.budget.since and now >= one.budget.ends then return nil, inOtherMonth end
  end
  return now
end

local function refuseBudgets(amount)
  for place, one in ipairs(asked) do
    local used = one.budget.spent + one.budget.held
    if used + amount > one.limit then
      reply(budgetSpent, place - 1, max(0, one.limit - used))
      return true
    end
  end
  return false
end

-- Counts a hold against the budgets of its request. Returns what the hold remembers of them.
local function countInBudgets(amount)
  local counted = ''
  for _, one in ipairs(asked) do
    local budget = one.budget
    budget.held, budget.isChanged = budget.held + amount, true
    counted = counted .. pack(countedFormat, budget.field, budget.begun)
  end
  return counted
end

-- Whether another generation has the claim: it is open, or it ended lately and was not void.
local function isClaimed(generation)
  local holder = claimHolder(base, claim)
  if not holder or holder == generation then return false end
  if admitted and admitted[holder] or call('HEXISTS', base .. ':a', holder) == 1 then return true end
  local resolution = resolutionIn(call('HGET', base .. ':t', holder), tombstoneMs)
    or resolutionIn(call('HGET', base .. ':u', holder), tombstoneMs)
  return resolution ~= nil and resolution ~= void
end

local function reserve(generation, fingerprint, place, amount, now, count, oldest, keySpent, keyVersion, keyHeld)
  local hold = pack(holdFormat, amount, now, now + holdMs, texts[place + 1], fingerprint)
  if budgets then hold = hold .. countInBudgets(amount) end
  local window = pack(windowFormat, count, oldest, now)
  local total = pack(totalFormat, keySpent, keyVersion, keyHeld + amount)
  local at = fieldCount
  fields[at + 1], fields[at + 2], fields[at + 3], fields[at + 4] = generation, hold, texts[place], window
  fields[at + 5], fields[at + 6], fieldCount = texts[place + 1], total, at + 6
  known[place + shift], known[place + 1 + shift] = window, total
  if admitted then admitted[generation] = hold end
  if claim then giveClaim(base, claim, generation, claimMs) end
  reserved, held, due, isReserved = reserved + amount, held + amount, min(due, now + holdMs), true
  replies[replyCount + 1], replies[replyCount + 2], replies[replyCount + 3] = admittedNow, now, balance - reserved
  replyCount = replyCount + 3
end

local function decide(generation, fingerprint, hold, tombstone, keysFirst)
  local key, rpm, amount, keyLimit, spaceLimit, deadline, refused
  key, rpm, amount, keyLimit, spaceLimit, deadline, refused, numbersAt = read('<ddddddd', numbers, numbersAt)
  if budgets then readAsked() end
  local place = keysFirst + 2 * key
  hold = hold or admitted and admitted[generation]
  if hold then return replay(hold, fingerprint, rpm, place) end
  local resolution = resolutionIn(tombstone, tombstoneMs)
  if resolution then return reply(resolvedBefore, resolution) end
  if clock > deadline then return reply(late) end
  if clock < monthStart or clock >= monthEnd or budgets and isOutsideBudgets() then return reply(inOtherMonth) end
  if claim and isClaimed(generation) then return reply(claimed) end

  local list = base .. ':' .. texts[place]
  local count, oldest, newest = windowAt(place, list)
  local places, leaveAt, keyLent, keyPausedUntil = lentAt(place)
  if count + places >= rpm then
    local isRecallable = places > 0 and pausedUntil <= clock and keyPausedUntil <= clock
    reply(rateLimited, leavesAt(count, oldest, leaveAt) - clock, isRecallable and 1 or 0)
    return replyWindow(rpm, count, oldest, places, leaveAt)
  end
  if refused > 0 then
    reply(modelRefused)
    return replyWindow(rpm, count, oldest, places, leaveAt)
  end
  if version < 0 then return reply(monthUnknown) end
  local total, keySpent, keyVersion, keyHeld = known[place + 1 + shift], 0, -1, 0
  if total then keySpent, keyVersion, keyHeld = read(totalFormat, total) end
  if keyVersion < 0 then return reply(keyUnknown) end
  -- Never before the newest, so that a clock set back frees no place.
  local now, outcome = max(clock, newest), nil
  if budgets then now, outcome = timeInBudgets(now) end
  if outcome then return reply(outcome) end
  if refuseMoney(amount, keySpent + keyHeld, keyLimit, spaceLimit, keyLent, keyPausedUntil) or budgets and refuseBudgets(amount) then
    return replyWindow(rpm, count, oldest, places, leaveAt)
  end

  if count == 0 then oldest = now end
  reserve(generation, fingerprint, place, amount, now, count + 1, oldest, keySpent, keyVersion, keyHeld)
  addTime(list, now, newest, windowMs)
  replyWindow(rpm, count + 1, oldest, places, leaveAt)
end

-- Reads the values of the current workspace. False where it is not ready.
local function open(values)
  local readyIn
  readyIn, balance, sequence, reserved, due, buried = headIn(values[1])
  lentUntil, holdsUntil, lentAmount, pausedUntil = lendingIn(values[3])
  known, spent, version, held = values, 0, -1, 0
  if values[2] then spent, version, held = read(totalFormat, values[2]) end
  return readyIn == run
end

local function putBudgets()
  for _, budget in ipairs(budgets) do
    if budget.isChanged then put(budget.field, pack(budgetFormat, budget.spent, budget.version, budget.held, budget.begun)) end
  end
end

-- Writes the changes of the current workspace.
local function write(headField, monthField)
  if isReserved then
    put(headField, pack(headFormat, run, balance, sequence, reserved, due, buried))
    put(monthField, pack(totalFormat, spent, version, held))
  end
  if budgets then putBudgets() end
  callWithAll('HSET', base .. ':a', fields, fieldCount)
  fieldCount, isReserved = 0, false
end

register('admit', function(_, args)
  local textCount, spaces
  numbers = args[2]
  textCount, spaces, run, monthStart, monthEnd, holdMs, windowMs, tombstoneMs, numbersAt = read('<dddddddd', numbers)
  texts = textsIn(args[1], textCount)
  replies, replyCount = { clock }, 1
  fields, fieldCount, isReserved = {}, 0, false
  local first, none = 1, {}
  for _ = 1, spaces do
    local requests, keys, budgetCount
    local claims = 0
    requests, keys, numbersAt = read('<dd', numbers, numbersAt)
    if keys < 0 then
      keys, claims = -keys, math.abs(requests)
      claimMs, numbersAt = read('<d', numbers, numbersAt)
    end
    if requests < 0 then
      requests = -requests
      budgetCount, numbersAt = read('<d', numbers, numbersAt)
    end
    base, shift, admitted, budgets = texts[first], -first, requests > 1 and {} or nil, nil
    local generations = first + 4
    local keysFirst = generations + requests
    local budgetsFirst = keysFirst + 2 * keys
    local fingerprints = budgetsFirst + (budgetCount or 0)
    if not isHere(base) then
      replyAll(elsewhere, requests, budgetCount)
    elseif open(valuesOf(base .. ':a', texts, first + 1, fingerprints - 1)) then
      if budgetCount then openBudgets(budgetsFirst, budgetCount) end
      local tombstones, older = none, none
      if buried > 0 then
        tombstones = valuesOf(base .. ':t', texts, generations, keysFirst - 1)
        older = valuesOf(base .. ':u', texts, generations, keysFirst - 1)
      end
      for index = 1, requests do
        local hold, tombstone = known[3 + index], tombstones[index] or older[index]
        if claims > 0 then
          claim = texts[fingerprints + requests + index - 1]
          if claim == '' then claim = nil end
        end
        decide(texts[generations + index - 1], texts[fingerprints + index - 1], hold, tombstone, keysFirst)
      end
      write(texts[first + 1], texts[first + 2])
    else
      replyAll(spaceUnknown, requests, budgetCount)
    end
    first, claim = fingerprints + requests + claims, nil
  end
  return replies
end, anySlots)
