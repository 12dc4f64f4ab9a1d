"""The changes of an engine, one Lua script for each: all of it happens, or nothing.

A world has these keys, after the prefix: `world:NAME` (a hash: token, number of the last change,
owner, run, and the last tokens before with their last changes), `state:NAME` (its last whole
state), `log:NAME` (a stream of the commits after it), `points:NAME` (a hash of saved states),
`credentials:NAME` (a set), `nonces:NAME` (by expiry). All worlds share `worlds` (a set of names),
`token` (the last token), `fixtures:HASH`, `process:ID` (where a living process is reached; expires
with its lease) and `credential:TEXT` (the worlds that have a credential).

Every change names a token and a number. A token that is not the world's current one belongs to a
process that lost the world: nothing happens. A number that is there already is a repetition,
because the answer was lost: nothing happens a second time.

An engine that is started again may be older than it was. Tokens are moments of the engine's clock,
each higher than all before it, so none comes twice although the engine forgot it. `run` is the run
of the engine that the leases are of, and `settling` is there for the length of a lease after the
first process has found a new one. As long as it is, no process takes over a world unless its owner
has confirmed it in this run (`run` of the world) and given it back after that: a living owner,
whose claim or lease the engine may have forgotten, has the time to write both again.
"""

from __future__ import annotations

# Each change begins with this. `lost` and `done` are what the module's text describes. `ahead` and
# `behind` say that the engine's number is not the one that the process expects: it was started
# again from another moment, and the whole state has to be written before the change makes sense.
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

_TOKEN = """
local function draw_token(key)
  local now = redis.call('TIME')
  local token = tonumber(now[1]) * 1000000 + tonumber(now[2])
  local last = tonumber(redis.call('GET', key) or '') or 0
  if last >= token then token = last + 1 end
  token = string.format('%.0f', token)
  redis.call('SET', key, token)
  return token
end
"""
# Whoever comes first after a restart of the engine notices the new run, and starts the time of
# settling. A new engine that no process has known needs none: nobody can have a claim on its
# worlds.
_NOTE_RUN = """
local function note_run(key, settling, run, milliseconds, knew)
  local last = redis.call('GET', key)
  if last == run then return end
  redis.call('SET', key, run)
  if last or knew == '1' then redis.call('SET', settling, run, 'PX', milliseconds) end
end
"""

# `beat` is the moment of the last renewal of any process, by the engine's own clock. A process
# compares the one it remembers with the one that a restarted engine has: the difference is what was
# forgotten.
RENEW = f"""{_NOTE_RUN}
local before = redis.call('GET', KEYS[1])
note_run(KEYS[2], KEYS[3], ARGV[3], ARGV[2], ARGV[4])
if before == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
local beat = redis.call('GET', KEYS[4])
local now = redis.call('TIME')
now = now[1] .. '.' .. string.format('%06d', now[2])
if type(redis.pcall('SET', KEYS[4], now)) == 'table' and beat then
  local kept = redis.call('GET', KEYS[4])
  now = kept or '0'
end
return {{before and 'held' or 'ended', redis.call('PTTL', KEYS[3]), beat or '0', now}}
"""
"""process, run, settling, beat; address, length of the lease in milliseconds, run, 1 if the process
knew another run. Returns whether the lease owned, how many milliseconds the engine still settles,
and the moments of the renewal before this one, of any process, and of this one. It needs no memory
that the engine does not have, if the process had its lease: a full engine renews it."""

# `born` is the id of this call. If the answer was lost and the call is repeated, the world is there
# already; the same id shows that it is ours, and not another process's world of the same name.
ADD = f"""{_TOKEN}
if redis.call('GET', KEYS[7]) ~= ARGV[5] or redis.call('EXISTS', KEYS[9]) == 0 then
  return {{'renew'}}
end
local kept = redis.call('HMGET', KEYS[1], 'token', 'born')
if kept[1] then
  if kept[2] == ARGV[3] then return {{'ours', kept[1]}} end
  return {{'kept'}}
end
if redis.call('EXISTS', KEYS[8]) == 1 then return {{'settling'}} end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
local token = draw_token(KEYS[6])
redis.call('HSET', KEYS[1], 'token', token, 'seq', '0', 'owner', ARGV[2], 'born', ARGV[3],
           'run', ARGV[5])
redis.call('SET', KEYS[3], ARGV[4])
for i = 6, #ARGV, 2 do redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1]) end
redis.call('SADD', KEYS[5], ARGV[1])
return {{'ours', token}}
"""
"""world, log, state, points, worlds, last token, run, settling, process; name, process, id of this
call, state, run, points."""

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

# The owner's key in the engine expires with its lease. As long as it is there, its owner lives and
# the world stays with it; once it has expired, whoever comes first gets a new token, and every
# later change of the old owner is refused by its token, even if that process only slept. While the
# engine settles, a missing key proves nothing: a request may have confirmed the world before the
# owner's lease was renewed in this run.
CLAIM = f"""{_TOKEN}
if redis.call('GET', KEYS[3]) ~= ARGV[3] or redis.call('EXISTS', KEYS[5]) == 0 then
  return {{'renew'}}
end
local kept = redis.call('HMGET', KEYS[1], 'token', 'owner', 'seq', 'run', 'past')
local settles = redis.call('EXISTS', KEYS[4]) == 1
if settles and kept[4] ~= ARGV[3] then return {{'settling'}} end
if not kept[1] then return {{'none'}} end
if kept[2] and kept[2] ~= '' and kept[2] ~= ARGV[1] then
  local address = redis.call('GET', ARGV[2] .. 'process:' .. kept[2])
  if address then return {{'elsewhere', address}} end
  if settles then return {{'settling'}} end
end
local token = draw_token(KEYS[2])
local past = string.sub((kept[5] or '') .. ' ' .. kept[1] .. ':' .. (kept[3] or ''), -200)
redis.call('HSET', KEYS[1], 'token', token, 'owner', ARGV[1], 'run', ARGV[3], 'past', past)
return {{'ours', token, kept[3] or '', kept[2] or ''}}
"""
"""world, last token, run, settling, process; process, prefix, run."""

# How an owner finds out after a restart where it stands. A token other than ours has won only if it
# was given in this run, or is higher: a lower one is an older state that the engine came back with.
# The engine settles until a lease after the last world of those who are certain: thousands of
# worlds take longer than a lease.
_STAND = f"""{_NOTE_RUN}
note_run(KEYS[2], KEYS[3], ARGV[2], ARGV[3], '1')
local kept = redis.call('HMGET', KEYS[1], 'token', 'seq', 'run', 'past')
if kept[1] ~= ARGV[1] then
  local passed = tonumber(string.match(kept[4] or '', ARGV[1] .. ':(%d+)')) or -1
  local how = passed >= tonumber(ARGV[6]) and 'taken' or 'lost'
  if ARGV[4] == '1' or kept[3] == ARGV[2] then return how end
  if kept[1] and tonumber(kept[1]) > tonumber(ARGV[1]) then return how end
end
if ARGV[5] == '1' then redis.call('PEXPIRE', KEYS[3], ARGV[3]) end
local final = ARGV[5] == '1' or redis.call('EXISTS', KEYS[3]) == 0
"""

CONFIRM = f"""{_STAND}
if kept[1] ~= ARGV[1] or kept[2] ~= ARGV[6] then return 'older' end
if not final then return 'waits' end
redis.call('HSET', KEYS[1], 'run', ARGV[2])
return 'done'
"""
"""world, run, settling; token, run, length of the lease in milliseconds, 1 if the process confirmed
the world in this run before, 1 if it is certain that nobody else has a later claim, number of the
last change. `lost`: somebody else has the world in this run; `taken`: the same, and it began with
all that this process had. `older`: the engine does not have the
claim, or not all changes. `waits`: the same as `done`, but not before the engine has settled."""

RESTORE = f"""{_STAND}
if kept[1] == ARGV[1] and kept[3] == ARGV[2] and tonumber(kept[2]) > tonumber(ARGV[6]) then
  return 'late'
end
redis.call('DEL', KEYS[4], KEYS[6])
redis.call('SET', KEYS[5], ARGV[9])
for i = 10, #ARGV, 2 do redis.call('HSET', KEYS[6], ARGV[i], ARGV[i + 1]) end
redis.call('SADD', KEYS[7], ARGV[7])
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'seq', ARGV[6], 'whole', ARGV[6], 'owner', ARGV[8])
if not final then return 'waits' end
redis.call('HSET', KEYS[1], 'run', ARGV[2])
return 'done'
"""
"""The same keys, log, state, points, worlds; the same values, name, process, state, points. Puts a
world in place of whatever the engine has of it. `late`: the engine has later changes in this run,
so this is an attempt that counted as lost, and was repeated."""

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
if new == 0 and tonumber(redis.call('ZSCORE', KEYS[1], ARGV[3])) == tonumber(ARGV[2]) then
  return 1
end
return new
"""
"""nonces; now, end of this nonce, nonce, end of all of them; 1 if it is new. The fraction of its
end is of this use alone: so a repetition, because the answer was lost, finds its own nonce."""
