package discordtest

import (
	"slices"
	"strconv"
)

// restIntents are what REST shows: content if the application has the intent for
// it, whatever a gateway connection asked for.
func (s *Server) restIntents() Intent {
	if s.opts.NoContentIntent {
		return everyIntent &^ MessageContent
	}
	return everyIntent
}

// getMessage returns one message.
func (s *Server) getMessage(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r == nil {
		r = in.demand(ReadHistory)
	}
	if r != nil {
		return nil, r
	}
	return s.wire(m, s.restIntents(), false), nil
}

// getMessages lists messages, newest first. With "after", they're the oldest of
// those that came after (docs.discord.com/developers/resources/message#get-channel-messages).
// Without the permission to read the history there are none.
func (s *Server) getMessages(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	if in.kind == KindForum {
		return nil, errNotText
	}
	limit, r := c.limit()
	if r != nil {
		return nil, r
	}
	var ids []string
	list := []*wireMessage{}
	if !in.permissions().has(ReadHistory) {
		return list, nil
	}
	for _, m := range in.messages {
		if m.There() && m.OnlyFor == "" {
			ids = append(ids, m.ID)
		}
	}
	for _, id := range slices.Backward(page(ids, c, limit)) {
		list = append(list, s.wire(s.messages[id], s.restIntents(), false))
	}
	return list, nil
}

func (c *call) limit() (int, *refusal) {
	text := c.query.Get("limit")
	if text == "" {
		return 50, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100 {
		return 0, invalid("limit", "Value must be between 1 and 100.")
	}
	return n, nil
}

// page takes from ids, which rise, those that a call asks for.
func page(ids []string, c *call, limit int) []string {
	at := func(name string) uint64 { return number(c.query.Get(name)) }
	first := func(than uint64) int { // the first that's at or above
		i, _ := slices.BinarySearchFunc(ids, than, func(id string, than uint64) int { return compare(number(id), than) })
		return i
	}
	switch {
	case c.query.Has("after"):
		rest := ids[first(at("after")+1):]
		return rest[:min(limit, len(rest))]
	case c.query.Has("before"):
		rest := ids[:first(at("before"))]
		return rest[max(0, len(rest)-limit):]
	case c.query.Has("around"):
		middle := first(at("around"))
		from := max(0, middle-limit/2)
		return ids[from:min(len(ids), from+limit)]
	}
	return ids[max(0, len(ids)-limit):]
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
