-- admin lists the members, and forgets one.
--
-- ARGV: 8 the member to forget; empty: none.
-- Answers: max_processes; forgotten, there (it's running), unknown or nothing; since when
-- the server has been used all the time; members (id, how long ago it was last there,
-- "left").
local done = ''
local m = members[ARGV[8]]
if ARGV[8] ~= '' then
	if not m then
		done = 'unknown'
	elseif not gone(m) then
		done = 'there'
	else
		done = 'forgotten'
		members[ARGV[8]] = nil
		redis.call('HDEL', KEYS[2], ARGV[8])
		say('f')
	end
end
local out = {}
for id, o in pairs(members) do
	out[#out + 1] = id
	out[#out + 1] = int(math.max(now - o.ack, 0))
	out[#out + 1] = o.left and 'left' or ''
end
return { int(state.max), done, int(now - state.began), out }
