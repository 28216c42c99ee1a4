// The scripts of segments: one hash a tag, or CosId's string and a label beside it.
#pragma once

namespace idgen::module {

// What a counter that was not raised says: nil if it was.
inline constexpr const char* kRefusal = R"(
local function refusal(done, number, count)
  if type(done) ~= 'table' or not done.err then return nil end
  local at_end = string.find(done.err, 'overflow') or string.find(done.err, 'not an integer')
  if not at_end then return done end -- a full disk or a missing right, say: no fault of the counter
  return {'refused', number, done.err, count}
end
)";

// How a tag is kept: row is {counter, label, step}; each may be false.
inline constexpr const char* kOwnRow = R"(
local row = redis.call('HMGET', key, 'max_id', 'label', 'step')
local function make()
  redis.call('HSET', key, 'max_id', '0', 'grants', '0', 'label', label)
  remember()
end
local function add(count) return redis.pcall('HINCRBY', key, 'max_id', count) end
local function put(number) redis.call('HSET', key, 'max_id', number) end
local function relabel() redis.call('HSET', key, 'label', label) remember() end
local function stamp(now) redis.call('HSET', key, 'updated_unix_ms', now) end
local function granted(now)
  local grants = tonumber(redis.call('HGET', key, 'grants')) or 0
  redis.call('HSET', key, 'grants', string.format('%.0f', grants + 1))
  stamp(now)
end
local function drawn_by(rate, holder) redis.call('HSET', key, 'rate', rate, 'holder', holder) end
local function answer()
  local r = redis.call('HMGET', key, 'max_id', 'grants', 'updated_unix_ms', 'step', 'rate', 'holder')
  return {'ok', r[1], r[2], r[3] or '0', r[4] or '0', r[5] or '0', r[6] or ''}
end
if row[1] and not string.find(row[1], '^%d+$') then return {'refused', row[1], 'no counter', '0'} end
)";
// If the label exists, a missing counter was forgotten: only CosId makes it again, or a person.
inline constexpr const char* kCosidRow = R"(
local row = {redis.call('GET', key), redis.call('GET', KEYS[2]), false}
local function make()
  redis.call('SETNX', key, '0')
  redis.call('SET', KEYS[2], label)
  remember()
end
local function add(count) return redis.pcall('INCRBY', key, count) end
local function put(number) redis.call('SET', key, number) end
local function relabel() redis.call('SET', KEYS[2], label) remember() end
local function stamp(now) end
local function granted(now) end
local function drawn_by(rate, holder) end
local function answer() return {'ok', redis.call('GET', key), '0', '0', '0', '0', ''} end
if row[1] and not string.find(row[1], '^%d+$') then return {'refused', row[1], 'no counter', '0'} end
)";

// ARGV: step, wanted, now, whether to make the tag, whether a rewind is accepted, rate, holder, above. The answer ends
// with the count.
inline constexpr const char* kTake = R"(
if not row[1] then
  if ARGV[4] ~= '1' then return {'unknown'} end
  if row[2] or is_forgotten(ARGV[5] == '1') then return {'forgotten'} end
  make()
elseif row[2] ~= label then
  if ARGV[5] ~= '1' then return {'label', row[1], row[2] or 'none', label} end
  relabel()
end
local count = ARGV[1]
if row[3] and row[3] ~= '0' then
  if not string.find(row[3], '^%d+$') then return {'refused', row[1], 'its step is not a number', '0'} end
  count = row[3]
end
if below(count, ARGV[2]) then count = ARGV[2] end
if below(row[1] or '0', ARGV[8]) then
  put(ARGV[8])
  row[1] = ARGV[8]
end
local refused = refusal(add(count), row[1] or '0', count)
if refused then return refused end
drawn_by(ARGV[6], ARGV[7])
granted(ARGV[3])
local a = answer()
a[#a + 1] = count
return a
)";
// ARGV: last, minus unused, now.
inline constexpr const char* kGiveBack = R"(
if not row[1] then return {'unknown'} end
if row[2] == label and row[1] == ARGV[1] then
  add(ARGV[2])
  stamp(ARGV[3])
end
return {'ok'}
)";
// ARGV: step, now. Only for idgen's own rows.
inline constexpr const char* kSetStep = R"(
if not row[1] then return {'unknown'} end
redis.call('HSET', key, 'step', ARGV[1])
stamp(ARGV[2])
return answer()
)";
// ARGV: now, what the first number is above, whether a rewind is accepted. "It exists" says that its next number is
// above all in use, which is not known after a rewind.
inline constexpr const char* kCreate = R"(
if row[1] and row[2] ~= label and ARGV[3] ~= '1' then return {'label', row[1], row[2] or 'none', label} end
if row[1] then return {'exists', row[1]} end
make()
if ARGV[2] ~= '0' then put(ARGV[2]) end
stamp(ARGV[1])
return answer()
)";
inline constexpr const char* kShow = R"(
if not row[1] then return {'unknown'} end
return answer()
)";
// ARGV: target, now. From now on the tag belongs to this life of the server.
inline constexpr const char* kAdvance = R"(
if not row[1] then return {'unknown'} end
if below(row[1], ARGV[1]) then
  put(ARGV[1])
else
  local refused = refusal(add(1), row[1], '1')
  if refused then return refused end
end
relabel()
granted(ARGV[2])
return answer()
)";

}  // namespace idgen::module
