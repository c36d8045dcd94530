-- Makes a workspace not ready, and refuses loads that began before: its ledger may have gone back behind the counters.
-- KEYS  base name {w}
-- ARGV  run, the sequence from which on it is made so
-- Returns "forgotten" where it was ready and the balance has that sequence or a later one. All else stays: a load replaces what is older.
register('forget', function(keys, args)
  local account = keys[1] .. ':a'
  local readyIn, balance, sequence, reserved, due, buried = headIn(call('HGET', account, 'head'))
  local isReady = readyIn == tonumber(args[1])
  if isReady and sequence < tonumber(args[2]) then return {} end
  call('HDEL', account, 'load')
  if not isReady then return {} end
  call('HSET', account, 'head', pack(headFormat, 0, balance, sequence, reserved, due, buried))
  return { 'forgotten' }
end)
