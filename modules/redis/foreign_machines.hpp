// CosId's machine ids in Redis: scripts of our own on its keys, by its rules.
//
//   cosid:{NAMESPACE}:itc_idx  hash, instance -> ID|STAMP, its latest report in Unix ms
//   cosid:{NAMESPACE}:revert   hash, ID -> STAMP, of ids that were given back
//   cosid:{NAMESPACE}:adder    the highest id that anybody has had
#pragma once

namespace idgen::module {

// KEYS: itc_idx, revert, adder. Nothing of the replication id here: a server that has forgotten who has which id does
// so for CosId too. Our windows are elsewhere, and the next report finds the id gone.
inline constexpr const char* kMachinePrelude = R"(
local role = string.match(redis.call('INFO', 'replication'), 'role:(%a+)')
if role ~= 'master' then return {'role', role} end
local index, reverted, adder = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local server = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local function state_of(instance)
  local state = redis.call('HGET', index, instance)
  if not state then return nil end
  local id, stamp = string.match(state, '^(%d+)|(%d+)$')
  return id, stamp
end
local function put(instance, id, stamp) redis.call('HSET', index, instance, id .. '|' .. stamp) end
local function later(a, b) return tonumber(a) < tonumber(b) and b or a end
)";

inline constexpr const char* kMachineClock = "return {'ok', text(server)}";

// ARGV: instance, the highest id of the field, now, the stamp up to which reports are of the dead or '-1', the stamp up
// to which what was given back is usable. Answers 'ok', id, and up to when others have reported it; or 'none' and the
// oldest stamp.
inline constexpr const char* kMachineClaim = R"(
local me, most, now, expired, usable = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local id, stamp = state_of(me)
if id and tonumber(id) <= most then
  put(me, id, later(stamp, now))
  return {'ok', id, stamp}
end
if id then -- of a wider field: for others
  redis.call('HDEL', index, me)
  redis.call('HSET', reverted, id, stamp)
end
local function oldest(hash, pick)
  local found
  local all = redis.call('HGETALL', hash)
  for i = 1, #all, 2 do
    local entry = pick(all[i], all[i + 1])
    if entry and tonumber(entry.id) <= most and (not found or tonumber(entry.stamp) < tonumber(found.stamp)) then
      found = entry
    end
  end
  return found
end
local free = oldest(reverted, function(field, value)
  if not string.find(field, '^%d+$') or not string.find(value, '^%d+$') then return nil end
  return {id = field, stamp = value}
end)
local function take()
  redis.call('HDEL', reverted, free.id)
  put(me, free.id, later(free.stamp, now))
  return {'ok', free.id, free.stamp}
end
if free and tonumber(free.stamp) <= usable then return take() end
if tonumber(redis.call('GET', adder) or '-1') < most then
  redis.call('SETNX', adder, '-1')
  local fresh = text(redis.call('INCR', adder))
  put(me, fresh, now)
  return {'ok', fresh, '0'}
end
local old = oldest(index, function(field, value)
  local id, stamp = string.match(value, '^(%d+)|(%d+)$')
  if not id or stamp == '0' then return nil end -- CosId before 1.10 reports nothing
  return {id = id, stamp = stamp, instance = field}
end)
if old and tonumber(old.stamp) <= expired then
  redis.call('HDEL', index, old.instance)
  put(me, old.id, later(old.stamp, now))
  return {'ok', old.id, old.stamp}
end
if free then return take() end
return {'none', old and old.stamp or '0'}
)";

// ARGV: instance, id, now, how far that may be ahead. Answers 'ok'; 'lost' and what it has instead; or 'ahead' and the
// server's clock.
inline constexpr const char* kMachineKeep = R"(
local id, stamp = state_of(ARGV[1])
if id ~= ARGV[2] then return {'lost', id or ''} end
if ARGV[3] - server > tonumber(ARGV[4]) then return {'ahead', text(server)} end
put(ARGV[1], id, later(stamp, ARGV[3]))
return {'ok'}
)";

// ARGV: instance, id, up to when it was used; or ''; and the instance that is left with it then.
inline constexpr const char* kMachineRelease = R"(
local id, stamp = state_of(ARGV[1])
if id ~= ARGV[2] then return {'ok'} end
redis.call('HDEL', index, ARGV[1])
if ARGV[3] ~= '' then
  redis.call('HSET', reverted, id, later(stamp, ARGV[3]))
else
  put(ARGV[4], id, stamp)
end
return {'ok'}
)";

}  // namespace idgen::module
