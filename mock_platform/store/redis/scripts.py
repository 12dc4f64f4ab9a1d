"""The changes of an engine, one Lua script for each: all of it happens, or nothing.

A world has these keys, after the prefix: `world:NAME` (a hash: token, number of the last change,
owner), `state:NAME` (its last whole state), `log:NAME` (a stream of the commits after it),
`points:NAME` (a hash of saved states), `credentials:NAME` (a set), `nonces:NAME` (by expiry). All
worlds share `worlds` (a set of names), `token` (the last token), `fixtures:HASH`, `process:ID`
(where a living process is reached; expires with its lease) and `credential:TEXT` (the worlds that
have a credential).

Every change names a token and a number. A token that is not the world's current one belongs to a
process that lost the world: nothing happens. A number that is there already is a repetition,
because the answer was lost: nothing happens a second time.
"""

from __future__ import annotations

_CHECK = """
local kept = redis.call('HMGET', KEYS[1], 'token', 'seq')
if kept[1] ~= ARGV[1] then return 'lost' end
if tonumber(kept[2]) == tonumber(ARGV[2]) then return 'done' end
if tonumber(kept[2]) > tonumber(ARGV[2]) then return 'ahead' end
"""

COMMIT = f"""{_CHECK}
if tonumber(kept[2]) + 1 ~= tonumber(ARGV[2]) then return 'behind' end
redis.call('XADD', KEYS[2], ARGV[2] .. '-0', 't', ARGV[1], 'b', ARGV[3])
redis.call('HSET', KEYS[1], 'seq', ARGV[2])
return 'done'
"""
"""world, log; token, number, body."""

REPLACE = f"""{_CHECK}
for i = 4, #ARGV do
  if redis.call('HEXISTS', KEYS[4], ARGV[i]) == 0 then return {{'no point', ARGV[i]}} end
end
redis.call('SET', KEYS[3], ARGV[3])
redis.call('DEL', KEYS[2])
for i = 4, #ARGV do redis.call('HDEL', KEYS[4], ARGV[i]) end
redis.call('HSET', KEYS[1], 'seq', ARGV[2], 'whole', ARGV[2])
return 'done'
"""
"""world, log, state, points; token, number, state, labels of points to delete."""

KEEP_POINT = f"""{_CHECK}
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
redis.call('HSET', KEYS[1], 'seq', ARGV[2])
return 'done'
"""
"""world, points; token, number, label, state."""

DROP_POINT = f"""{_CHECK}
if redis.call('HDEL', KEYS[2], ARGV[3]) == 0 then return {{'no point', ARGV[3]}} end
redis.call('HSET', KEYS[1], 'seq', ARGV[2])
return 'done'
"""
"""world, points; token, number, label."""

ADD = """
local kept = redis.call('HMGET', KEYS[1], 'token', 'born')
if kept[1] then
  if kept[2] == ARGV[3] then return kept[1] end
  return 'kept'
end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
local token = tostring(redis.call('INCR', KEYS[6]))
redis.call('HSET', KEYS[1], 'token', token, 'seq', '0', 'owner', ARGV[2], 'born', ARGV[3])
redis.call('SET', KEYS[3], ARGV[4])
for i = 5, #ARGV, 2 do redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1]) end
redis.call('SADD', KEYS[5], ARGV[1])
return token
"""
"""world, log, state, points, worlds, last token; name, process, id of this call, state, points."""

DROP = """
local token = redis.call('HGET', KEYS[1], 'token')
if token ~= ARGV[1] then return 'lost' end
for _, credential in ipairs(redis.call('SMEMBERS', KEYS[6])) do
  redis.call('SREM', ARGV[3] .. 'credential:' .. credential, ARGV[2])
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[6], KEYS[7])
redis.call('SREM', KEYS[5], ARGV[2])
return 'done'
"""
"""world, log, state, points, worlds, credentials, nonces; token, name, prefix."""

COMPACT = """
local kept = redis.call('HMGET', KEYS[1], 'token', 'whole')
if kept[1] ~= ARGV[1] then return 'lost' end
if tonumber(kept[2] or 0) > tonumber(ARGV[2]) then return 'done' end
redis.call('SET', KEYS[3], ARGV[3])
redis.call('HSET', KEYS[1], 'whole', ARGV[2])
redis.call('XTRIM', KEYS[2], 'MINID', (tonumber(ARGV[2]) + 1) .. '-0')
return 'done'
"""
"""world, log, state; token, number of the last change in the state, state."""

CLAIM = """
local kept = redis.call('HMGET', KEYS[1], 'token', 'owner', 'seq')
if not kept[1] then return {'none'} end
if kept[2] and kept[2] ~= '' and kept[2] ~= ARGV[1] then
  local address = redis.call('GET', ARGV[2] .. 'process:' .. kept[2])
  if address then return {'elsewhere', address} end
end
local token = tostring(redis.call('INCR', KEYS[2]))
redis.call('HSET', KEYS[1], 'token', token, 'owner', ARGV[1])
return {'ours', token, kept[3] or '', kept[2] or ''}
"""
"""world, last token; process, prefix."""

GIVE_BACK = """
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'owner', '')
return 'done'
"""
"""world; token."""

ADD_CREDENTIAL = """
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[2])
"""
REMOVE_CREDENTIAL = """
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('SREM', KEYS[2], ARGV[2])
"""
"""Both: credential, credentials of the world; world, credential."""

USE_NONCE = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1])
local new = redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[3])
redis.call('EXPIREAT', KEYS[1], ARGV[4])
return new
"""
"""nonces; now, end of this nonce, nonce, end of all of them; 1 if it is new."""
