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
      -- As in admit.lua: admissions of the same minute do not renew it, and each of them counts for a window more.
      call('PEXPIRE', list, text(math.max(0, merged[#merged] - clock) + 2 * windowMs + 1000))
    end
  end
  return { 'merged' }
end)
