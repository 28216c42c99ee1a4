// The scripts of workers' windows in Redis.
//
// A server that comes back after a failover, or from an older dump, or empty, has forgotten windows. It shows, since
// its replication id is another one, or since what is known of all workers is not there. Then everything that is
// granted begins above all that can have been granted before: no window ends further ahead of the server's clock than
// a fixed lead.
#pragma once

namespace idgen::module {

inline constexpr const char* kWorkerPrefix = "idgen-worker:";  // NUMBER:NAMESPACE
inline constexpr const char* kFormatPrefix = "idgen-format:";  // NAMESPACE
inline constexpr const char* kWorkerStore = "idgen-workers";   // label, from, and a field for each worker that was made

// KEYS: the worker's, that of what is known of all.
inline constexpr const char* kWorkerPrelude = R"(
local info = redis.call('INFO', 'replication')
local role = string.match(info, 'role:(%a+)')
local label = string.match(info, 'master_replid:(%x+)')
if role ~= 'master' then return {'role', role} end
local key = KEYS[1]
local store = KEYS[#KEYS]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local function row()
  return redis.call('HMGET', key, 'fence', 'owner', 'hw', 'lease_until', 'ahead', 'holder', 'label')
end
)";

// ARGV: the format, or ''.
inline constexpr const char* kFormat = R"(
if ARGV[1] ~= '' then redis.call('SETNX', key, ARGV[1]) end
return {'ok', redis.call('GET', key) or ''}
)";

// ARGV: how far ahead of this clock windows of another life may end, or of a row that was deleted. An owner of another
// life is owner no more.
inline constexpr const char* kWorkerSettle = R"(
local above = text(now + ARGV[1])
if redis.call('HGET', store, 'label') ~= label then redis.call('HSET', store, 'label', label, 'from', above) end
local from = redis.call('HGET', store, 'from')
local r = row()
if r[1] and r[7] ~= label then
  if tonumber(r[3]) < tonumber(from) then r[3] = from end
  redis.call('HSET', key, 'fence', text(r[1] + 1), 'owner', '', 'hw', r[3], 'label', label)
elseif not r[1] and redis.call('HDEL', store, key) == 1 then -- deleted
  redis.call('HSET', store, 'from', above)
end
return {'ok'}
)";

inline constexpr const char* kWorkerRead = R"(
local r = row()
if not r[1] then return {'ok', text(now), '0', '', redis.call('HGET', store, 'from') or '0'} end
return {'ok', text(now), r[1], r[2], r[3], r[4], r[5], r[6]}
)";

// ARGV: the end of the keys of a namespace; 1: only the keys. Answers 'ok' and a list: each key, or eight for each row:
// now, the columns of a row.
inline constexpr const char* kWorkerList = R"(
local found = {}
for _, name in ipairs(redis.call('HKEYS', store)) do
  if string.sub(name, -#ARGV[1]) == ARGV[1] and ARGV[2] == '1' then
    found[#found + 1] = name
  elseif string.sub(name, -#ARGV[1]) == ARGV[1] then
    local r = redis.call('HMGET', name, 'fence', 'owner', 'hw', 'lease_until', 'ahead', 'holder')
    if r[1] then
      for _, value in ipairs({name, text(now), r[1], r[2], r[3], r[4], r[5], r[6]}) do found[#found + 1] = value end
    end
  end
end
return {'ok', found}
)";

// ARGV: fence, owner and hw as they were read; those to come, and the holder; the request's now ('': nobody asks),
// max_lead and lease; the lead. Answers 'ok', 'changed' (read again), 'ahead' (the request's clock is) with this
// clock, or 'early' with the milliseconds to wait.
inline constexpr const char* kWorkerReplace = R"(
local r = row()
local seen = r[1] and r[1] .. ' ' .. r[2] .. ' ' .. r[3] or '0  ' .. (redis.call('HGET', store, 'from') or '0')
if seen ~= ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] then return {'changed'} end
if r[1] and r[7] ~= label then return {'changed'} end
local ahead = r[5] or '0'
if ARGV[8] ~= '' then
  if redis.call('HGET', store, 'label') ~= label then return {'changed'} end
  if not r[1] and redis.call('HGET', store, key) then return {'changed'} end -- made and deleted since it was settled
  if ARGV[8] - now > tonumber(ARGV[9]) then return {'ahead', text(now)} end
  local early = ARGV[6] - (now + ARGV[11])
  if early > 0 then return {'early', text(early)} end
  ahead = text(ARGV[8] - now)
end
redis.call('HSET', key, 'fence', ARGV[4], 'owner', ARGV[5], 'hw', ARGV[6], 'holder', ARGV[7], 'label', label,
  'lease_until', text(now + ARGV[10]), 'ahead', ahead)
redis.call('HSET', store, key, '1')
return {'ok'}
)";

}  // namespace idgen::module
