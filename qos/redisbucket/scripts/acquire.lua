-- acquire asks for one slot, in all windows of a call at once.
--
-- KEYS: 4 claims of the chat, 5 claims of the bot, 6 when the last call of the
-- chat's family began, 7 the bot's, 8 ring of the bot, then the chat's rings (the
-- first takes the grant), then what was learned about bot, chat and family, then the
-- chat's seats.
-- ARGV: 8 permit, 9 chat and family, 10 class, 11 weight, 12 how long until the call
-- counts as answered, 13 unguarded, 14 spare, 15 gap of the chat, 16 gap of the bot,
-- 17 margin, 18 how many rings the chat has, 19 max_processes, 20 to 22 scopes of
-- penalties; then how many windows the bot has, calls and length of each, and the same
-- for the chat; then permits that are given back.
--
-- Answers: granted, whether with a seat | wait, for how long | penalty, for how long, until when, scope,
-- multiplier | missing, for how long; or as in unfit. Second is the time always.
local no = unfit()
if no then return no end
confirm(50000)

local permit, class, hold = me .. ':' .. ARGV[8], tonumber(ARGV[10]), tonumber(ARGV[12])
local margin, rings, max = tonumber(ARGV[17]), tonumber(ARGV[18]), tonumber(ARGV[19])
local ring = KEYS[9]
if redis.call('ZSCORE', ring, permit) then return { 'granted', int(now), 0 } end

local function windows(from)
	local list = {}
	for i = 1, tonumber(ARGV[from]) do
		list[i] = { calls = tonumber(ARGV[from + 2 * i - 1]), per = tonumber(ARGV[from + 2 * i]) }
	end
	return list, from + 2 * #list + 1
end
local botWindows, nextArg = windows(23)
local chatWindows, rest = windows(nextArg)
for i = rest, #ARGV do
	if giveBack(ring, KEYS[8], KEYS[6], KEYS[7], me .. ':' .. ARGV[i]) then say('f' .. string.match(ARGV[9], '^(.*)|')) end
end

local penalties = redis.call('HMGET', KEYS[3], ARGV[20], ARGV[21], ARGV[22])
local worst
for i = 1, 3 do
	if penalties[i] then
		local till, multiplier = string.match(penalties[i], '^(%S+) (%S+)$')
		till = tonumber(till)
		if till > now and (not worst or till > worst.till) then
			worst = { till = till, multiplier = multiplier, scope = ARGV[19 + i] }
		end
	end
end
if worst then return { 'penalty', int(now), int(worst.till - now), worst.scope, worst.multiplier } end

local unguarded = ARGV[13] == '1'
local wait = missing()
if wait > 0 and not unguarded then return { 'missing', int(now), int(wait) } end

local vanished = away()

-- Who counts as a holder of a seat, if the chat has a window that can't be divided.
local seats, held, lost, mine = nil, 0, 0, false
for _, w in ipairs(chatWindows) do
	if w.calls < max then seats = math.min(seats or w.calls, w.calls - 1) end
end
if seats then
	local given = redis.call('HGETALL', KEYS[12 + rings])
	local has = {}
	for i = 1, #given, 2 do has[given[i]] = tonumber(given[i + 1]) + SEAT > now end
	mine = has[me]
	for id, m in pairs(members) do
		if id ~= me and not m.left and (has[id] or m.epoch ~= state.epoch) then
			held = held + 1
			if gone(m) then lost = lost + 1 end
		end
	end
	lost = math.min(lost, seats)
end

-- nth is the score of the nth slot, from 0, that a window holds.
local function nth(keys, since, n)
	if #keys == 1 then
		local r = redis.call('ZRANGEBYSCORE', keys[1], since, '+inf', 'WITHSCORES', 'LIMIT', n, 1)
		return tonumber(r[2])
	end
	local all = {}
	for _, key in ipairs(keys) do
		local r = redis.call('ZRANGEBYSCORE', key, since, '+inf', 'WITHSCORES')
		for i = 2, #r, 2 do all[#all + 1] = tonumber(r[i]) end
	end
	table.sort(all)
	return all[n + 1]
end

-- clamp repairs stamps that a clock which went back left further in the future than any
-- call lasts.
local function clamp(keys)
	for _, key in ipairs(keys) do
		local r = redis.call('ZRANGEBYSCORE', key, '(' .. int(now + settle), '+inf')
		for _, member in ipairs(r) do redis.call('ZADD', key, int(now + hold), member) end
	end
end

-- room is how many slots are free now, and a function that says when those for so many
-- others and one more will be.
local function room(keys, list, spare, gap, began, undivided)
	local free = 1000000
	local counted = {}
	for i, w in ipairs(list) do
		local limit = w.calls - (w.calls < max and undivided or vanished * math.floor(w.calls / max))
		if i == 1 then limit = limit - math.min(spare, math.max(limit - 1, 0)) end
		local since = '(' .. int(now - w.per - margin)
		local n = 0
		for _, key in ipairs(keys) do n = n + redis.call('ZCOUNT', key, since, '+inf') end
		counted[i] = { n = n, limit = limit, since = since, per = w.per }
		free = math.min(free, limit - n)
	end
	if gap > 0 and free > 0 then
		free = (began and began + gap > now) and 0 or 1
	end
	return free, function(others)
		local at = now
		for _, c in ipairs(counted) do
			local behind = c.n - c.limit + others
			if behind >= 0 and c.n > 0 then
				-- One in flight can be answered now at the earliest.
				local s = nth(keys, c.since, math.min(behind, c.n - 1))
				at = math.max(at, math.min(s, now) + c.per + margin + 1)
			end
		end
		if gap > 0 and began and began + gap * (others + 1) > now then
			at = math.max(at, began + gap * (others + 1))
		end
		return at
	end
end

local function beganAt(key)
	local v = redis.call('GET', key)
	return v and tonumber(string.match(v, '^(%S+)')), v
end

local chatRings, botRings = {}, { KEYS[8] }
for i = 1, rings do chatRings[i] = KEYS[8 + i] end
local chatGap, botGap = tonumber(ARGV[15]), tonumber(ARGV[16])
local chatBegan = chatGap > 0 and beganAt(KEYS[6])
local botBegan = botGap > 0 and beganAt(KEYS[7])
clamp(chatRings)
clamp(botRings)

-- Who else wants this slot. A claim is good until a little after the time its
-- process was told to come back, and while the process is there.
local SLACK = 300000
-- How many calls of weight 1 a process may be ahead of its turn for one more final to go before
-- streams; beyond that it counts as a stream. The same as qos.finalBurst.
local BURST = 2
local weight = tonumber(ARGV[11])
local function readClaims(key, id, class)
	local c = { virtual = 0, others = {}, finish = 0 }
	local all = redis.call('HGETALL', key)
	for i = 1, #all, 2 do
		local kind, who = string.sub(all[i], 1, 1), string.sub(all[i], 2)
		if kind == 'v' then
			c.virtual = tonumber(all[i + 1])
		elseif kind == 'f' then
			if who == id then c.finish = tonumber(all[i + 1]) end
		else
			local class, start, since, due, w = string.match(all[i + 1], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
			local claim = { class = tonumber(class), start = tonumber(start), since = tonumber(since), due = tonumber(due), weight = tonumber(w), id = who }
			local m = members[string.match(who, '^[^|]+')]
			if m and not gone(m) and now <= claim.due + SLACK and claim.since <= now then
				if who == id then c.own = claim else c.others[#c.others + 1] = claim end
			end
		end
	end
	if not c.own then c.own = { class = class, start = math.max(c.virtual, c.finish), since = now, id = id } end
	if c.own.class ~= class then c.own.class, c.own.since = class, now end
	c.own.weight = weight
	local function order(claim)
		claim.order = claim.class
		if claim.class == 1 and claim.start > c.virtual + BURST / claim.weight + 0.0001 then claim.order = 2 end
	end
	order(c.own)
	for _, o in ipairs(c.others) do order(o) end
	return c
end

local function before(a, b)
	if a.order ~= b.order then return a.order < b.order end
	if a.order == 2 and a.start ~= b.start then return a.start < b.start end
	if a.since ~= b.since then return a.since < b.since end
	return a.id < b.id
end

-- rank is how many claims are before one's own, and whether one is due now that goes first even where
-- there's room for both: one of a better order, or one that this is too far ahead of.
local function rank(c)
	local n, yields = 0, false
	for _, o in ipairs(c.others) do
		if before(o, c.own) then n = n + 1 end
		if o.due <= now then
			local ahead = c.own.order == 2 and o.order == 2 and c.own.start > o.start + BURST / weight
			yields = yields or o.order < c.own.order or ahead
		end
	end
	return n, yields
end

-- learned is what's left of a limit that the platform told, and until when. Of an epoch
-- before it's timed by another clock perhaps, and was told anew.
local function learned(key)
	local left, reset, known = string.match(redis.call('GET', key) or '', '^(%S+) (%S+) (%S+)$')
	if known == state.epoch then return tonumber(left), tonumber(reset) end
end

local chatClaims = readClaims(KEYS[4], me, class)
local function grant()
	for _, key in ipairs({ ring, KEYS[8] }) do
		redis.call('ZADD', key, int(now + hold), permit)
		redis.call('ZREMRANGEBYSCORE', key, '-inf', int(now - settle))
		redis.call('PEXPIRE', key, int((settle + hold) / 1000 + 60000))
	end
	local function begin(key, gap, before)
		if gap > 0 then
			redis.call('SET', key, int(now) .. ' ' .. permit .. ' ' .. int(before or 0), 'PX', int(gap / 1000 + 1000))
		end
	end
	begin(KEYS[6], chatGap, chatBegan)
	begin(KEYS[7], botGap, botBegan)
	for i = 9 + rings, 11 + rings do
		local left, reset = learned(KEYS[i])
		if left then redis.call('SET', KEYS[i], int(left - 1) .. ' ' .. int(reset) .. ' ' .. state.epoch, 'KEEPTTL') end
	end
	if class == 1 or class == 2 then
		local own, virtual = chatClaims.own, chatClaims.virtual
		if own.order == 2 then -- it passes no claim that waits: with two slots free, the second best may come first
			local least = own.start
			for _, o in ipairs(chatClaims.others) do
				if o.class > 0 then least = math.min(least, o.start) end
			end
			virtual = math.max(virtual, least)
		end
		redis.call('HSET', KEYS[4], 'v', string.format('%.6f', virtual), 'f' .. me, string.format('%.6f', own.start + 1 / weight))
		redis.call('PEXPIRE', KEYS[4], int(settle / 1000))
	end
	redis.call('HDEL', KEYS[4], 'c' .. me)
	redis.call('HDEL', KEYS[5], 'c' .. me .. '|' .. ARGV[9])
	local seat = not unguarded and seats and (mine or held < seats)
	if seat then
		redis.call('HSET', KEYS[12 + rings], me, int(now))
		redis.call('PEXPIRE', KEYS[12 + rings], int(SEAT / 1000 + 3600000))
	end
	return { 'granted', int(now), seat and 1 or 0 }
end
if unguarded then return grant() end

local at = now
for i = 9 + rings, 11 + rings do
	local left, reset = learned(KEYS[i])
	if left and left <= 0 then at = math.max(at, reset) end
end

-- The bot's claims are of several chats, whose tags can't be compared.
local botClaims = readClaims(KEYS[5], me .. '|' .. ARGV[9], chatClaims.own.order)
local chatFree, chatAt = room(chatRings, chatWindows, tonumber(ARGV[14]), chatGap, chatBegan, lost)
local botFree, botAt = room(botRings, botWindows, 0, botGap, botBegan, 0)
local chatRank, yields = rank(chatClaims)
local botRank = rank(botClaims)
if at <= now and chatFree > chatRank and botFree > botRank and not yields then return grant() end

at = math.max(at, chatAt(chatRank), botAt(botRank))
if at <= now then -- those before us have been told, and come
	at = now + 20000 * math.max(chatRank, botRank, 1)
end
if class < 3 then
	local function claim(key, c)
		redis.call('HSET', key, 'c' .. c.own.id,
			string.format('%d %.6f %.0f %.0f %.6f', c.own.class, c.own.start, c.own.since, at, weight))
		redis.call('PEXPIRE', key, int(math.max(settle, at - now) / 1000 + 1000))
	end
	claim(KEYS[4], chatClaims)
	if botFree <= botRank then claim(KEYS[5], botClaims) end
end
return { 'wait', int(now), int(at - now) }
