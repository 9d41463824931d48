-- member is what a process tells: that it's there (beat), all it knows (join), that
-- it goes (leave); with what became of its calls since.
--
-- KEYS: 4 ring of the bot, then those that the operations name.
-- ARGV: 8 beat, join or leave, 9 max_processes, 10 whether the clock has moved, 11 the
-- newest epoch it has seen, 12 the version of penalties it knows, 13 when it found the
-- members that it knows, 14 how many, then these (id, 1 if it has left), then how many
-- operations, then these:
--   s KEY permit age     a call was answered so long ago (negative: will be by then)
--   r KEY BEGAN BOTBEGAN chat permit   a slot is given back
--   p scope left multiplier            a penalty
--   l KEY remaining left               what was learned about a scope
--   h KEY age                          a seat was taken so long ago
--   k FROM TO, q scope scope           a chat's ring, or a penalty, moves
--   d KEY                              claims of a chat that has moved go
-- where KEY, FROM and TO are numbers of KEYS.
--
-- Answers: ok, time, epoch, version of penalties, how long ago the server was empty,
-- members (id, how long ago it was last there, "left"), penalties (scope, left,
-- multiplier) if the version is another; full, time, members; max, time, their max; or
-- as in unfit.
local mode, max, least = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[11])

local function count()
	local n = 0
	for id, m in pairs(members) do
		if id ~= me and not m.left then n = n + 1 end
	end
	return n
end

local function list()
	local out = {}
	for id, m in pairs(members) do
		out[#out + 1] = id
		out[#out + 1] = int(math.max(now - m.ack, 0))
		out[#out + 1] = m.left and 'left' or ''
	end
	return out
end

if mode == 'join' then
	if not state.epoch then
		-- It has been empty since it was started; a little of that counts.
		-- (Not if it has run for longer: then it was emptied by somebody.)
		local up = tonumber(type(info) == 'string' and string.match(info, 'uptime_in_seconds:(%d+)') or 0)
		state.began, state.last, state.before, state.max = now, now, now, max
		state.empty = now - (up < 10 and math.min(up, 2) or 0) * 1000000
		state.epoch = int(least + 1) .. '.' .. int(now)
		redis.call('HSET', KEYS[1], 'epoch', state.epoch, 'run', run, 'began', int(now), 'last', int(now),
			'before', int(now), 'empty', int(state.empty), 'max', max, 'penalties', '1')
		state.penalties = 1
	end
	local n = tonumber(string.match(state.epoch, '^%d+'))
	if n < least then -- an old master, or an old backup: who else is here must say so
		renew(least)
	elseif ARGV[10] == '1' and epoch == state.epoch then
		renew(0)
	end
	-- Who isn't known here because the server is empty, or was restored from before they
	-- came. Those who have left matter for as long as their calls do.
	local seen = tonumber(ARGV[13])
	local stale = now < state.began + settle and seen > state.before
	if stale or state.empty + settle > now then
		for i = 15, 13 + 2 * tonumber(ARGV[14]), 2 do
			local id, left = ARGV[i], ARGV[i + 1] == '1'
			local m = members[id]
			local lacks = not m or stale and m.left and not left and m.epoch ~= state.epoch
			if id ~= me and lacks and not (left and now > seen + settle) then
				members[id] = { ack = left and now or now - GONE - 1, epoch = '0', left = left }
				keep(id)
			end
		end
	end
	local others = count()
	if others > 0 and state.max ~= max then return { 'max', int(now), int(state.max) } end
	local m = members[me]
	if (not m or m.left) and others + 1 > max then return { 'full', int(now), list() } end
	if others == 0 and state.max ~= max then
		state.max = max
		redis.call('HSET', KEYS[1], 'max', max)
	end
	-- It may never get this answer, and go on within its share: so it isn't there before
	-- it has confirmed it.
	members[me] = { ack = math.min(m and m.ack or 0, now - GONE - 1), epoch = state.epoch, left = false }
	keep(me)
	state.last = now -- who isn't known here came later
	redis.call('HSET', KEYS[1], 'last', int(now))
	say('e')
else
	local no = unfit()
	if no then return no end
	confirm(0)
end

local knows = ARGV[12]
local i = 15 + 2 * tonumber(ARGV[14])
local left = tonumber(ARGV[i])
i = i + 1
local function arg()
	i = i + 1
	return ARGV[i - 1]
end
local function key() return KEYS[tonumber(arg())] end

local function penalize(scope, till, multiplier)
	local old = redis.call('HGET', KEYS[3], scope)
	old = old and tonumber(string.match(old, '^(%S+)')) or 0
	if till <= old + 50000 then return end
	redis.call('HSET', KEYS[3], scope, int(till) .. ' ' .. multiplier)
	local ttl = math.max(redis.call('PTTL', KEYS[3]), (till - now) / 1000 + 3600000)
	redis.call('PEXPIRE', KEYS[3], int(ttl))
	state.penalties = state.penalties + 1
	redis.call('HSET', KEYS[1], 'penalties', int(state.penalties))
	say('p')
end

local operations = {
	s = function()
		local ring, permit, age = key(), me .. ':' .. arg(), tonumber(arg())
		local score = int(now - age)
		if mode == 'join' then
			redis.call('ZADD', ring, score, permit)
			redis.call('ZADD', KEYS[4], score, permit)
			for _, k in ipairs({ ring, KEYS[4] }) do
				redis.call('PEXPIRE', k, int((settle - math.min(age, 0)) / 1000 + 60000))
			end
		else
			redis.call('ZADD', ring, 'XX', score, permit)
			redis.call('ZADD', KEYS[4], 'XX', score, permit)
		end
	end,
	r = function()
		local ring, began, botBegan, chat, permit = key(), key(), key(), arg(), me .. ':' .. arg()
		if giveBack(ring, KEYS[4], began, botBegan, permit) then say('f' .. chat) end
	end,
	p = function()
		local scope, ahead, multiplier = arg(), tonumber(arg()), arg()
		penalize(scope, now + ahead, multiplier)
	end,
	l = function()
		local k, remaining, ahead = key(), tonumber(arg()), tonumber(arg())
		if ahead > 0 then
			-- Answers of several processes come in any order.
			local old, reset, known = string.match(redis.call('GET', k) or '', '^(%S+) (%S+) (%S+)$')
			if known == state.epoch and math.abs(tonumber(reset) - now - ahead) < 1000000 then
				remaining = math.min(remaining, tonumber(old))
			end
			redis.call('SET', k, int(remaining) .. ' ' .. int(now + ahead) .. ' ' .. state.epoch, 'PX', int(ahead / 1000 + 1))
		else
			redis.call('DEL', k)
		end
	end,
	h = function()
		local seats, at = key(), now - tonumber(arg())
		if at > tonumber(redis.call('HGET', seats, me) or 0) then redis.call('HSET', seats, me, int(at)) end
		redis.call('PEXPIRE', seats, int(SEAT / 1000 + 3600000))
	end,
	k = function()
		local from, to = key(), key()
		if redis.call('EXISTS', from) == 1 then
			redis.call('ZUNIONSTORE', to, 2, to, from, 'AGGREGATE', 'MAX')
			redis.call('PEXPIRE', to, int(settle / 1000 + 60000))
			redis.call('DEL', from)
		end
	end,
	q = function()
		local from, to = arg(), arg()
		local v = redis.call('HGET', KEYS[3], from)
		if v then
			redis.call('HDEL', KEYS[3], from)
			local till, multiplier = string.match(v, '^(%S+) (%S+)$')
			penalize(to, tonumber(till), multiplier)
		end
	end,
	d = function() redis.call('DEL', key()) end,
}
for _ = 1, left do operations[arg()]() end

if mode == 'leave' then
	local m = members[me]
	m.ack, m.left = now, true
	keep(me)
	say('f')
end
for id, m in pairs(members) do
	if m.left and now - m.ack > settle then
		members[id] = nil
		redis.call('HDEL', KEYS[2], id)
	end
end
redis.call('PEXPIRE', KEYS[1], KEEP)
redis.call('PEXPIRE', KEYS[2], KEEP)

local penalties = {}
if knows ~= int(state.penalties) then
	local all = redis.call('HGETALL', KEYS[3])
	for j = 1, #all, 2 do
		local till, multiplier = string.match(all[j + 1], '^(%S+) (%S+)$')
		if tonumber(till) + 3600000000 < now then
			redis.call('HDEL', KEYS[3], all[j])
		elseif tonumber(till) > now then
			penalties[#penalties + 1] = all[j]
			penalties[#penalties + 1] = int(tonumber(till) - now)
			penalties[#penalties + 1] = multiplier
		end
	end
end
local ago = state.empty > 0 and int(math.max(now - state.empty, 0)) or '-1'
return { 'ok', int(now), state.epoch, int(state.penalties), ago, list(), penalties }
