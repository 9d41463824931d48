package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxName is how many characters the name of a channel or thread has at most
// (docs.discord.com/developers/resources/channel#start-thread-without-message).
const maxName = 100

// autoArchives are the only minutes that auto_archive_duration may be.
var autoArchives = []int{60, 1440, 4320, 10080}

// threadForm is what a new thread is asked for with.
type threadForm struct {
	Name        string          `json:"name"`
	AutoArchive *int            `json:"auto_archive_duration"`
	Type        *Kind           `json:"type"`
	Tags        []string        `json:"applied_tags"`
	Message     json.RawMessage `json:"message"`
}

func (f *threadForm) check() *refusal {
	if r := checkName(f.Name); r != nil {
		return r
	}
	if f.AutoArchive != nil && !slices.Contains(autoArchives, *f.AutoArchive) {
		return invalid("auto_archive_duration", "Value must be one of {60, 1440, 4320, 10080}.")
	}
	return nil
}

func checkName(name string) *refusal {
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName || strings.TrimSpace(name) == "" {
		return invalid("name", "Must be between 1 and %d in length.", maxName)
	}
	return nil
}

// startThread makes a thread in a text channel, or a post with its first message
// in a forum.
func (s *Server) startThread(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	var form threadForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	switch in.kind {
	case KindForum:
		return s.startPost(c, in, form)
	case KindText:
		return s.startBare(c, in, form)
	default:
		return nil, errChannelType
	}
}

// startBare: without a type a thread is a private one, for which nobody asks here.
func (s *Server) startBare(c *call, in *channel, form threadForm) (any, *refusal) {
	if form.Type == nil || *form.Type != KindThread {
		return nil, invalid("type", "Value must be 11: the stand-in has public threads only.")
	}
	if r := s.mayStart(c, in, form, CreateThreads); r != nil {
		return nil, r
	}
	t := s.addThread(in, s.clock.next(), form, s.bot.ID)
	s.announce(t)
	return t.wire(), nil
}

// startPost: the first message has the post's id.
func (s *Server) startPost(c *call, in *channel, form threadForm) (any, *refusal) {
	if len(form.Message) == 0 {
		return nil, invalid("message", "This field is required")
	}
	var message messageForm
	if err := json.Unmarshal(form.Message, &message); err != nil {
		return nil, errJSON
	}
	m, r := s.draft(c, in, message, SendMessages)
	if r == nil {
		r = s.mayStart(c, in, form, SendMessages)
	}
	if r != nil {
		return nil, r
	}
	t := s.addThread(in, s.clock.next(), form, s.bot.ID)
	m.ID = t.id
	s.post(t, m)
	wire := t.wire()
	wire["message"] = s.wire(m, everyIntent, false)
	return wire, nil
}

func (s *Server) mayStart(c *call, in *channel, form threadForm, need Permission) *refusal {
	if r := in.demand(need); r != nil {
		return r
	}
	if r := form.check(); r != nil {
		return r
	}
	if in.guild.blocks(form.Name) {
		return errAutoModTitle
	}
	active := 0
	for _, t := range in.guild.channels {
		if t.parent != nil && t.there() && !t.archived {
			active++
		}
	}
	if active >= s.opts.Limits.ActiveThreads {
		return errActiveThreads
	}
	return s.guard.newThread(in.guild.ID, c.At)
}

// startThreadFromMessage makes a thread with the id of the message it begins with.
func (s *Server) startThreadFromMessage(c *call) (any, *refusal) {
	in, m, r := s.messageOf(c)
	if r != nil {
		return nil, r
	}
	var form threadForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	switch {
	case in.kind != KindText:
		return nil, errChannelType
	case s.channels[m.ID] != nil:
		return nil, errThreadThere
	}
	if r := s.mayStart(c, in, form, CreateThreads); r != nil {
		return nil, r
	}
	t := s.addThread(in, m.ID, form, s.bot.ID)
	s.post(t, &Message{ID: s.clock.next(), Kind: kindStarter, Author: s.bot, ReplyTo: m.ID})
	return t.wire(), nil
}

// addThread makes a thread and tells the bot of it.
func (s *Server) addThread(in *channel, id string, form threadForm, owner string) *channel {
	t := &channel{
		id: id, s: s, name: form.Name, kind: KindThread, guild: in.guild, parent: in, owner: owner, at: now(),
		autoArchive: 24 * time.Hour, active: now(), archiveChanged: now(), joined: owner == s.bot.ID,
	}
	if form.AutoArchive != nil {
		t.autoArchive = time.Duration(*form.AutoArchive) * time.Minute
	}
	s.addChannel(t)
	wire := t.wire()
	wire["newly_created"] = true
	s.dispatch("THREAD_CREATE", Guilds, t, wire)
	s.Touch()
	return t
}

// announce puts into the channel what people see there of a new thread.
func (s *Server) announce(t *channel) {
	s.post(t.parent, &Message{ID: s.clock.next(), Kind: kindThreadCreated, Author: s.users[t.owner], Content: t.name, ReplyTo: t.id})
}

// sweep archives the threads that nobody has used for their time. Nothing of it
// happens by itself: it's done when somebody looks.
func (s *Server) sweep() {
	for _, g := range s.guilds {
		for _, t := range g.channels {
			if t.parent != nil && t.there() && !t.archived && now().Sub(t.active) >= t.autoArchive {
				s.archive(t, true)
			}
		}
	}
}

// archive archives a thread or opens it again.
func (s *Server) archive(t *channel, archived bool) {
	if t.archived == archived {
		return
	}
	t.archived, t.archiveChanged, t.active = archived, now(), now()
	s.dispatch("THREAD_UPDATE", Guilds, t, t.wire())
	s.Touch()
}

func (s *Server) getActiveThreads(c *call) (any, *refusal) {
	g, r := s.guildOf(c)
	if r != nil {
		return nil, r
	}
	list := threadsIf(g, func(t *channel) bool { return !t.archived && t.visible() })
	return threadList(list, len(list)), nil
}

// getArchivedThreads lists those first that were archived last, "before" a time.
func (s *Server) getArchivedThreads(c *call) (any, *refusal) {
	in, r := s.channelOf(c, ReadHistory)
	if r == nil && in.kind != KindText && in.kind != KindForum {
		r = errChannelType
	}
	if r != nil {
		return nil, r
	}
	limit, r := c.limit()
	if r != nil {
		return nil, r
	}
	before := c.At.Add(time.Hour)
	if text := c.query.Get("before"); text != "" {
		var err error
		if before, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, invalid("before", "Not a timestamp.")
		}
	}
	list := threadsIf(in.guild, func(t *channel) bool { return t.parent == in && t.archived && t.archiveChanged.Before(before) })
	slices.SortStableFunc(list, func(a, b *channel) int { return b.archiveChanged.Compare(a.archiveChanged) })
	return threadList(list, limit), nil
}

// threadsIf returns threads that are there, the newest first.
func threadsIf(g *Guild, want func(*channel) bool) []*channel {
	var list []*channel
	for _, t := range slices.Backward(g.channels) {
		if t.parent != nil && t.there() && want(t) {
			list = append(list, t)
		}
	}
	return list
}

func threadList(list []*channel, limit int) map[string]any {
	threads, members := []any{}, []any{}
	for _, t := range list[:min(limit, len(list))] {
		threads = append(threads, t.wire())
		if t.joined {
			members = append(members, t.threadMember())
		}
	}
	return map[string]any{"threads": threads, "members": members, "has_more": len(list) > limit}
}

func (s *Server) joinThread(c *call) (any, *refusal) {
	t, r := s.channelOf(c, 0)
	switch {
	case r != nil:
		return nil, r
	case t.parent == nil:
		return nil, errChannelType
	case t.archived:
		return nil, errArchived
	}
	t.joined = true
	return nil, nil
}
