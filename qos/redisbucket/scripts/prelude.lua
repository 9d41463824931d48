-- What every script begins with: the time, the state, who's there.
--
-- KEYS: 1 state, 2 members, 3 penalties; then the script's own.
-- ARGV: 1 member, 2 its epoch, 3 the time of the last answer it got, 4 settle: W plus
-- a call's deadline and 5 s (of what it asks about), 5 and 6 the earliest and latest
-- time it can be now by the member's own clock (0: it doesn't know), 7 channel.
-- All times are microseconds.
local GONE = 800000 -- a member that confirmed no answer for so long has vanished
local GAP = 1000000 -- nobody was served for so long: the server was away
local ROW = 600000000 -- an epoch that was shorter didn't bring everybody together
local BACK = 20000 -- the clock went back by more than two processes can differ
local SEAT = 90000000000 -- a seat counts for 25 h; see hasShare
local KEEP = 2592000000 -- ms: all is forgotten after 30 days without a member

local me, epoch, settle, channel = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[7]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
if type(info) == 'table' and string.find(info.err or '', "can't run", 1, true) then
	return redis.error_reply('ERR this user must be allowed INFO: else nobody sees that redis was restarted')
end

local function int(x) return string.format('%.0f', x) end
local function say(text) redis.call('PUBLISH', channel, text) end

local got = redis.call('HMGET', KEYS[1], 'epoch', 'run', 'last', 'began', 'empty', 'max', 'penalties', 'before')
local state = {
	epoch = got[1], run = got[2], last = tonumber(got[3] or 0), began = tonumber(got[4] or 0),
	empty = tonumber(got[5] or 0), max = tonumber(got[6] or 0), penalties = tonumber(got[7] or 0),
	before = tonumber(got[8] or 0), -- when it was last used before the epoch
}

local members = {}
local flat = redis.call('HGETALL', KEYS[2])
for i = 1, #flat, 2 do
	local ack, ep, left = string.match(flat[i + 1], '^(%S+) (%S+) (%S+)$')
	members[flat[i]] = { ack = tonumber(ack), epoch = ep, left = left == '1' }
end

local function keep(id)
	local m = members[id]
	redis.call('HSET', KEYS[2], id, int(m.ack) .. ' ' .. m.epoch .. ' ' .. (m.left and '1' or '0'))
end

local function gone(m) return m.left or now - m.ack > GONE end

-- renew begins a new epoch: what's written here may lack grants, or be timed by
-- another clock, so every member has to merge what it knows. Ages stay what they were
-- when this server was last used.
local function renew(least)
	local n = math.max(tonumber(string.match(state.epoch or '0', '^%d+')), least) + 1
	for id, m in pairs(members) do
		m.ack = now - math.max(state.last - m.ack, 0)
		keep(id)
	end
	if now < state.last then
		local p = redis.call('HGETALL', KEYS[3])
		for i = 1, #p, 2 do
			local till, rest = string.match(p[i + 1], '^(%S+) (.*)$')
			redis.call('HSET', KEYS[3], p[i], int(tonumber(till) - state.last + now) .. ' ' .. rest)
		end
	end
	state.empty = now - math.max(state.last - state.empty, 0)
	-- Of several epochs in a row the first says what this server lacks.
	state.before = state.last - state.began < ROW and math.min(state.before, state.last) or state.last
	state.epoch, state.run, state.began, state.last = int(n) .. '.' .. int(now), run, now, now
	redis.call('HSET', KEYS[1], 'epoch', state.epoch, 'run', run, 'began', int(now), 'last', int(now),
		'empty', int(state.empty), 'before', int(state.before))
	say('e')
end

if state.epoch then
	if state.run ~= run or now - state.last > GAP or now < state.last - BACK then
		renew(0)
	elseif now - state.last > 50000 then
		state.last = now
		redis.call('HSET', KEYS[1], 'last', int(now))
	end
end

-- unfit says why a question can't be answered: the server is empty, the member must
-- merge first, or the question is too late or timed by another clock.
local function unfit()
	if not state.epoch then return { 'empty', int(now), '0' } end
	local m = members[me]
	if not m or m.left or epoch ~= state.epoch or m.epoch ~= state.epoch then
		return { 'join', int(now), state.epoch }
	end
	local earliest, latest = tonumber(ARGV[5]), tonumber(ARGV[6])
	if latest > 0 and (now < earliest or now > latest) then
		return { 'clock', int(now), state.epoch }
	end
end

-- confirm takes in that the member got an answer.
local function confirm(least)
	local m = members[me]
	local ack = math.min(tonumber(ARGV[3]), now)
	if ack - m.ack > least then
		local back = gone(m)
		m.ack = ack
		keep(me)
		if back and not gone(m) then say('f') end -- its share isn't held back any more
	end
end

-- missing is how long grants must wait for members that haven't merged what they
-- know; one that has been away for longer than what it knows matters isn't waited for. (It
-- may have been granted something shortly after it last confirmed an answer.)
local function missing()
	if now >= state.began + settle then return 0 end
	for id, m in pairs(members) do
		if m.epoch ~= state.epoch and m.ack + GAP + settle > state.began then
			return state.began + settle - now
		end
	end
	return 0
end

-- away is how many other members have vanished: each may be sending within its share.
local function away()
	local n = 0
	for id, m in pairs(members) do
		if id ~= me and not m.left and gone(m) then n = n + 1 end
	end
	return n
end

-- unbegin restores when the last call began, if that was the one that isn't made.
local function unbegin(k, permit)
	local v = redis.call('GET', k)
	if not v then return end
	local _, by, before = string.match(v, '^(%S+) (%S+) (%S+)$')
	if by ~= permit then return end
	if before == '0' then
		redis.call('DEL', k)
	else
		redis.call('SET', k, before .. ' - 0', 'KEEPTTL')
	end
end

-- giveBack frees a slot whose call was never made.
local function giveBack(ring, botRing, began, botBegan, permit)
	if redis.call('ZREM', ring, permit) == 0 then return false end
	redis.call('ZREM', botRing, permit)
	unbegin(began, permit)
	unbegin(botBegan, permit)
	return true
end
