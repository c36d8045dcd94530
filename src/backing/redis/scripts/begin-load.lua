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
