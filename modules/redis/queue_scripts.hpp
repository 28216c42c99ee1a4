// The queue of a buffer: one hash per tag, one script per operation. Contracts: class Queue in store/queue.hpp.
//
//   life     the label: the server's replication id, and when the tag was first seen under it
//   entries  "first:count:database first:count:database ...", rising; database: a hash of its name. Whoever
//            counts in another one takes none of them
//   witness  the highest number known to have been granted
//   stopped  1: nothing is taken or loaded
//   loader   until when (Unix s) somebody has been told to load
//   since, taken, rate: numbers requested since then (Unix s); numbers per second over the ten seconds or more before
#pragma once

namespace idgen::module {

// Lua's numbers are doubles: what may be above 2^53 is text, and split in two halves for arithmetic.
inline constexpr const char* kQueuePrelude = R"(
local info = redis.call('INFO', 'replication')
local role = string.match(info, 'role:(%a+)')
local label = string.match(info, 'master_replid:(%x+)')
if role ~= 'master' then return {'role', role} end
local key = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1])
local row = redis.call('HMGET', key, 'life', 'entries', 'witness', 'stopped')
local life, witness, stopped = row[1], row[3] or '0', row[4] == '1'
local entries = {}
if life and string.sub(life, 1, #label + 1) ~= label .. '-' then life = false end
if life then
  for first, count, database in string.gmatch(row[2] or '', '(%d+):(%d+):(%x+)') do
    entries[#entries + 1] = {first, tonumber(count), database}
  end
end
local function hash(name) return string.sub(redis.sha1hex(name), 1, 12) end
local function halves(a) return tonumber(string.sub(a, 1, -10)) or 0, tonumber(string.sub(a, -9)) end
local function text(number) return string.format('%.0f', number) end
local function add(a, n)
  local high, low = halves(a)
  low = low + n
  high, low = high + math.floor(low / 1e9), low % 1e9
  if high == 0 then return text(low) end
  return text(high) .. string.format('%09.0f', low)
end
local function difference(a, b)
  local ah, al = halves(a)
  local bh, bl = halves(b)
  return (ah - bh) * 1e9 + al - bl
end
local function below(a, b) return #a < #b or (#a == #b and a < b) end
local function lift(to)
  if not below(witness, to) then return end
  witness = to
  redis.call('HSET', key, 'witness', to)
end
local function begin_life()
  life = label .. '-' .. time[1] .. '-' .. time[2]
  redis.call('HSET', key, 'life', life, 'entries', '')
end
local function save()
  local words = {}
  for i, e in ipairs(entries) do words[i] = e[1] .. ':' .. text(e[2]) .. ':' .. e[3] end
  redis.call('HSET', key, 'entries', table.concat(words, ' '))
end
)";

// ARGV: count, above, least, rate, runway_ms, stock_max, database.
inline constexpr const char* kQueueTake = R"(
if stopped then return {'ok', life or '', witness, '0', '0', '0', '0', '0', '1'} end
if not life then begin_life() end
lift(ARGV[2])
local count, above, limit = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[6]) * 0.8
local stock, chosen, skip, usable, database = 0, nil, 0, 0, hash(ARGV[7])
for i, e in ipairs(entries) do
  local passed = below(above, e[1]) and 0 or math.min(e[2], difference(above, e[1]) + 1)
  local left = e[3] == database and e[2] - passed or 0
  stock = stock + left
  if left > 0 and (not chosen or (usable < count and left >= count)) then chosen, skip, usable = i, passed, left end
end
local first, got = '0', math.min(count, usable)
if got > 0 then
  local e = entries[chosen]
  first = add(e[1], skip)
  table.remove(entries, chosen)
  if usable > got then table.insert(entries, chosen, {add(first, got), usable - got, database}) end
  if skip > 0 then table.insert(entries, chosen, {e[1], skip, database}) end
  stock = stock - got
  save()
end
local known = redis.call('HMGET', key, 'since', 'taken', 'rate', 'loader')
local since, taken, rate = tonumber(known[1]) or now, (tonumber(known[2]) or 0) + count, tonumber(known[3])
if now < since then since = now end
if now - since >= 10 then since, taken, rate = now, 0, taken / (now - since) end
redis.call('HSET', key, 'since', since, 'taken', text(taken))
if rate then redis.call('HSET', key, 'rate', string.format('%.3f', rate)) end
local wanted = math.max(tonumber(ARGV[3]), (rate or tonumber(ARGV[4])) * tonumber(ARGV[5]) / 1000)
wanted = math.floor(math.min(wanted, limit))
local loader, load = tonumber(known[4]) or 0, '0'
if stock < wanted and (loader <= now or loader > now + 5) then
  redis.call('HSET', key, 'loader', now + 5)
  load = '1'
end
return {'ok', life, witness, first, text(got), text(stock), text(wanted), load, '0'}
)";

// ARGV: label, first, count, stock_max, database. More than 64 entries would make every take slow.
inline constexpr const char* kQueueLoad = R"(
if stopped or not life or life ~= ARGV[1] or not below(witness, ARGV[2]) then return {'ok', '0'} end
local first, count, excess = ARGV[2], tonumber(ARGV[3]), -tonumber(ARGV[4])
local last, database = entries[#entries], hash(ARGV[5])
if last and last[3] == database and add(last[1], last[2]) == first then
  last[2] = last[2] + count
else
  entries[#entries + 1] = {first, count, database}
end
lift(add(first, count - 1))
if #entries > 64 then table.remove(entries, 1) end
for _, e in ipairs(entries) do excess = excess + e[2] end
while excess > 0 do
  local e = entries[1]
  local dropped = math.min(excess, e[2])
  e[1], e[2], excess = add(e[1], dropped), e[2] - dropped, excess - dropped
  if e[2] == 0 then table.remove(entries, 1) end
end
redis.call('HDEL', key, 'loader')
save()
return {'ok', '1'}
)";

// ARGV: witness, stopped.
inline constexpr const char* kQueueReset = R"(
begin_life()
lift(ARGV[1])
redis.call('HSET', key, 'stopped', ARGV[2])
redis.call('HDEL', key, 'loader')
return {'ok'}
)";

}  // namespace idgen::module
