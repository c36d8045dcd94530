-- Makes a workspace not ready, as if the store had lost it: its ledger went back behind the counters.
-- KEYS  base name {w}
-- ARGV  run, the sequence that the ledger does not have
-- Returns "forgotten" where the counters have that sequence or a later one. Windows and tombstones stay.
register('forget', function(keys, args)
  local account = keys[1] .. ':a'
  local readyIn, _, sequence = headIn(call('HGET', account, 'head'))
  if readyIn ~= tonumber(args[1]) or sequence < tonumber(args[2]) then return {} end
  call('DEL', account)
  return { 'forgotten' }
end)
