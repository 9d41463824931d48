package discordtest

import (
	"slices"
	"time"
)

// channelForm is what may be changed of a channel or thread; what's absent stays.
type channelForm struct {
	Name        *string `json:"name"`
	Topic       *string `json:"topic"`
	Archived    *bool   `json:"archived"`
	Locked      *bool   `json:"locked"`
	AutoArchive *int    `json:"auto_archive_duration"`
}

// editChannel changes a channel or a thread.
func (s *Server) editChannel(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	var form channelForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if r := s.mayEdit(in, form); r != nil {
		return nil, r
	}
	if r := form.check(); r != nil {
		return nil, r
	}
	if form.Name != nil && in.guild.blocks(*form.Name) {
		return nil, errAutoModTitle
	}
	if form.Name != nil && *form.Name != in.name || form.Topic != nil && *form.Topic != in.topic {
		if r := s.guard.rename(in.id, c.At); r != nil {
			return nil, r
		}
	}
	s.change(in, form, s.bot)
	return in.wire(), nil
}

func (f *channelForm) check() *refusal {
	if f.Name != nil {
		if r := checkName(*f.Name); r != nil {
			return r
		}
	}
	if f.Topic != nil && len([]rune(*f.Topic)) > 1024 {
		return invalid("topic", "Must be 1024 or fewer in length.")
	}
	if f.AutoArchive != nil && !slices.Contains(autoArchives, *f.AutoArchive) {
		return invalid("auto_archive_duration", "Value must be one of {60, 1440, 4320, 10080}.")
	}
	return nil
}

// mayEdit: a thread's creator may do all but lock it; who may send there may also
// open it again. An archived thread can't be changed but by opening it
// (github.com/discord/discord-api-docs/issues/6928).
func (s *Server) mayEdit(in *channel, f channelForm) *refusal {
	if in.guild == nil {
		return errDMOnly
	}
	if in.parent == nil {
		return in.demand(ManageChannels)
	}
	manages := in.permissions().has(ManageThreads)
	opens := f.Archived != nil && !*f.Archived
	switch {
	case in.archived && !opens:
		return errArchived
	case manages:
		return nil
	case f.Locked != nil || in.locked:
		return errNoPermission
	case opens && f.Name == nil:
		return in.demand(SendInThreads)
	case in.owner != s.bot.ID:
		return errNoPermission
	}
	return nil
}

// change makes the changes, whoever asks for them, and tells everybody.
func (s *Server) change(in *channel, f channelForm, by User) {
	renamed := f.Name != nil && *f.Name != in.name
	if renamed {
		in.names = append(in.names, in.name)
		in.name = *f.Name
	}
	if f.Topic != nil {
		in.topic = *f.Topic
	}
	if f.Locked != nil {
		in.locked = *f.Locked
	}
	if f.AutoArchive != nil {
		in.autoArchive = time.Duration(*f.AutoArchive) * time.Minute
	}
	if f.Archived != nil && *f.Archived != in.archived {
		in.archived, in.archiveChanged, in.active = *f.Archived, now(), now()
	}
	event := "CHANNEL_UPDATE"
	if in.parent != nil {
		event = "THREAD_UPDATE"
	}
	s.dispatch(event, Guilds, in, in.wire())
	if renamed && in.parent != nil {
		s.post(in, &Message{ID: s.clock.next(), Kind: kindRenamed, Author: by, Content: in.name})
	}
	s.Touch()
}
