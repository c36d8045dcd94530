-- Makes a workspace unknown, as if the store had been emptied of it: its ledger went back behind what stands here.
-- KEYS  base name {w}
-- ARGV  run, the sequence that the ledger does not have
-- Gives "forgotten" where that sequence or a later one stands here. Windows and tombstones stay.
register('forget', function(keys, args)
  local account = keys[1] .. ':a'
  local readyIn, _, sequence = headIn(call('HGET', account, 'head'))
  if readyIn ~= tonumber(args[1]) or sequence < tonumber(args[2]) then return {} end
  call('DEL', account)
  return { 'forgotten' }
end)
