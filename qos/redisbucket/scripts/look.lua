-- look says how a chat's ring stands: how long ago each call was answered
-- (negative: in flight, until then at the latest), oldest first, of all given rings.
--
-- KEYS: 4 and on: rings. ARGV: as always.
local out = {}
for i = 4, #KEYS do
	local r = redis.call('ZRANGEBYSCORE', KEYS[i], '(' .. int(now - settle), '+inf', 'WITHSCORES')
	for j = 2, #r, 2 do out[#out + 1] = int(now - tonumber(r[j])) end
end
return out
