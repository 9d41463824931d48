package telegramtest

import "slices"

// The states of a member (core.telegram.org/bots/api#chatmember).
const (
	creator       = "creator"
	administrator = "administrator"
	ordinary      = "member"
	restricted    = "restricted" // may read, but not write
	left          = "left"
	kicked        = "kicked"
)

// Rights are an administrator's.
type Rights struct {
	ManageTopics    bool `json:"can_manage_topics"`
	DeleteMessages  bool `json:"can_delete_messages"`
	PinMessages     bool `json:"can_pin_messages"`
	ChangeInfo      bool `json:"can_change_info"`
	InviteUsers     bool `json:"can_invite_users"`
	RestrictMembers bool `json:"can_restrict_members"`
	PromoteMembers  bool `json:"can_promote_members"`
}

// AllRights returns every right there is.
func AllRights() Rights {
	return Rights{true, true, true, true, true, true, true}
}

type member struct {
	user   int64
	status string
	rights Rights
}

// status returns a user's state in the chat.
func (c *chat) status(user int64) string {
	if m := c.members[user]; m != nil {
		return m.status
	}
	return left
}

// rights returns what a user may do; an owner may do everything.
func (c *chat) rights(user int64) Rights {
	if c.kind == Private {
		return Rights{PinMessages: true, DeleteMessages: true, ManageTopics: c.forum}
	}
	switch m := c.members[user]; {
	case m == nil:
		return Rights{}
	case m.status == creator:
		return AllRights()
	case m.status == administrator:
		return m.rights
	}
	return Rights{}
}

// isAdmin reports whether a user is more than an ordinary member.
func (c *chat) isAdmin(user int64) bool {
	status := c.status(user)
	return status == creator || status == administrator
}

// isIn reports whether a user is in the chat at all.
func (c *chat) isIn(user int64) bool {
	if c.kind == Private {
		return true
	}
	return slices.Contains([]string{creator, administrator, ordinary, restricted}, c.status(user))
}

// wireMember is a member in any of its states; fields that a state doesn't have
// are left out.
type wireMember struct {
	Status              string `json:"status"`
	User                User   `json:"user"`
	IsAnonymous         *bool  `json:"is_anonymous,omitempty"`
	CanBeEdited         *bool  `json:"can_be_edited,omitempty"`
	CanManageChat       *bool  `json:"can_manage_chat,omitempty"`
	CanManageVideoChats *bool  `json:"can_manage_video_chats,omitempty"`
	*Rights
	IsMember        *bool  `json:"is_member,omitempty"`
	CanSendMessages *bool  `json:"can_send_messages,omitempty"`
	UntilDate       *int64 `json:"until_date,omitempty"`
}

func (s *Server) wireMember(c *chat, user int64) wireMember {
	w := wireMember{Status: c.status(user), User: s.users[user]}
	yes, no, never := true, false, int64(0)
	switch w.Status {
	case creator:
		w.IsAnonymous = &no
	case administrator:
		rights := c.rights(user)
		w.Rights, w.IsAnonymous, w.CanBeEdited = &rights, &no, &no
		w.CanManageChat, w.CanManageVideoChats = &yes, &no
	case restricted:
		w.IsMember, w.CanSendMessages, w.UntilDate = &yes, &no, &never
	case kicked:
		w.UntilDate = &never
	}
	return w
}

func (s *Server) getChatMember(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, reads)
	if r != nil {
		return nil, r
	}
	id := c.number("user_id")
	if id <= 0 {
		return nil, badRequest("invalid user_id specified")
	}
	if _, ok := s.users[id]; !ok {
		return nil, badRequest("member not found")
	}
	if chat.kind == Private {
		return wireMember{Status: ordinary, User: s.users[id]}, nil
	}
	return s.wireMember(chat, id), nil
}

func (s *Server) getChatAdministrators(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, reads)
	if r != nil {
		return nil, r
	}
	if chat.kind == Private {
		return nil, badRequest("there are no administrators in the private chat")
	}
	admins := []wireMember{}
	for _, id := range sortedKeys(chat.members) {
		if chat.isAdmin(id) {
			admins = append(admins, s.wireMember(chat, id))
		}
	}
	return admins, nil
}

func (s *Server) leaveChat(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, r
	}
	if chat.kind == Private {
		return nil, badRequest("chat member status can't be changed in private chats")
	}
	chat.members[s.opts.Bot.ID] = &member{user: s.opts.Bot.ID, status: left}
	s.Touch()
	return true, nil
}

// wireFullChat is what getChat answers
// (core.telegram.org/bots/api#chatfullinfo), as far as there's anything to say.
type wireFullChat struct {
	wireChat
	AccentColorID     int             `json:"accent_color_id"`
	MaxReactionCount  int             `json:"max_reaction_count"`
	AcceptedGiftTypes map[string]bool `json:"accepted_gift_types"`
	Permissions       map[string]bool `json:"permissions,omitempty"`
	PinnedMessage     *wireMessage    `json:"pinned_message,omitempty"`
}

func (s *Server) getChat(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, reads)
	if r != nil {
		return nil, r
	}
	full := wireFullChat{wireChat: s.wireChat(chat), MaxReactionCount: 11, AcceptedGiftTypes: map[string]bool{}}
	if chat.kind != Private {
		full.Permissions = map[string]bool{"can_send_messages": true, "can_send_documents": true, "can_send_photos": true}
	}
	if n := len(chat.pinned); n > 0 {
		full.PinnedMessage = s.wire(chat, chat.byID[chat.pinned[n-1]], false)
	}
	return full, nil
}
