package telegramtest

import (
	"slices"
	"time"
)

// draftLasts: a draft is a preview of about 30 seconds; the message itself must
// still be sent (core.telegram.org/bots/api#sendmessagedraft).
const draftLasts = 30 * time.Second

type draftKey struct {
	id     int64
	thread int
}

// Draft is a message that's being written before a person's eyes.
type Draft struct {
	ID       int64
	Text     string // empty: "Thinking…"
	Entities []Entity
	Until    time.Time
}

// sendMessageDraft is for private chats only; an empty text is allowed there.
func (s *Server) sendMessageDraft(c *call) (any, *refusal) {
	f, r := s.format(c.text("text"), c.text("parse_mode"), c.text("entities"))
	switch {
	case r != nil:
		return nil, r
	case utf16Len(f.text) > maxText:
		return nil, badRequest("message is too long")
	}
	id := c.number("draft_id")
	if id == 0 {
		return nil, badRequest("invalid draft identifier specified")
	}
	chat, thread, r := s.destination(c)
	if r != nil {
		return nil, r
	}
	if chat.kind != Private {
		return nil, badRequest("TEXTDRAFT_PEER_INVALID")
	}
	chat.drafts[draftKey{id, thread}] = Draft{id, f.text, f.entities, now().Add(draftLasts)}
	s.Touch()
	return true, nil
}

// forgetDrafts: the message that was being written is there.
func (c *chat) forgetDrafts(thread int) {
	for key := range c.drafts {
		if key.thread == thread {
			delete(c.drafts, key)
		}
	}
	delete(c.actions, thread)
}

// Drafts returns the drafts a person sees at a place now.
func (s *Server) Drafts(at Place) []Draft {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(at.Chat)
	var list []Draft
	for key, d := range c.drafts {
		if key.thread == at.Thread && now().Before(d.Until) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Draft) int { return a.Until.Compare(b.Until) })
	return list
}

var chatActions = []string{
	"cancel", "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
	"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note",
}

// sendChatAction is core.telegram.org/bots/api#sendchataction. Unlike messages,
// an action is shown in General only when it's sent to topic 1.
func (s *Server) sendChatAction(c *call) (any, *refusal) {
	if !slices.Contains(chatActions, c.text("action")) {
		return nil, badRequest("wrong parameter action in request")
	}
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, r
	}
	thread := int(c.number("message_thread_id"))
	if chat.forum && thread == generalTopic {
		thread = 0
	} else if thread, r = s.sendThread(chat, thread); r != nil {
		return nil, r
	}
	chat.actions[thread] = Action{c.text("action"), now().Add(actionLasts)}
	s.Touch()
	return true, nil
}

// Doing returns the chat action a person sees at a place now; empty if none.
func (s *Server) Doing(at Place) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.mustChat(at.Chat).actions[at.Thread]
	if a.Name == "cancel" || !now().Before(a.Until) {
		return ""
	}
	return a.Name
}
