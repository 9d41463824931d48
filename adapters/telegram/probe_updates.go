package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// Heard is what somebody did that shows the bot a chat: a message, or that the bot was
// added to a group.
type Heard struct {
	Update int64 // its number
	Person int64 // 0: Telegram doesn't say who, as of anonymous administrators
	Name   string
	User   string // without @; "": none
	Chat   int64
	Title  string // of a group
	// Private says that it was in a private chat with the bot.
	Private bool
	Text    string // the beginning of it; "": there's none
}

// Waiting are the bot's updates that nobody has acknowledged yet.
type Waiting struct {
	Heard   []Heard         // the oldest first
	Updates []intake.Update // all of them, the oldest first, as the daemon's journal takes them
	Numbers []int64         // of these
	Full    bool            // there may be more, which can't be seen before these are acknowledged
	Last    int64           // the number of the newest update; 0: none
}

// Look reads the updates that wait, and acknowledges none, so that the daemon gets
// them, too. If there are none it waits for some, for as long as that (50 s at most).
// The poll of another reader ends by it, and another's may end it (IsConflict).
func (p *Probe) Look(ctx context.Context, wait time.Duration) (Waiting, error) {
	list, err := p.look(ctx, wait, map[string]any{"limit": maxUpdates, "allowed_updates": allowedUpdates})
	w := Waiting{Full: len(list) >= maxUpdates}
	for _, raw := range list {
		if u, number, err := readUpdate(raw); err == nil {
			w.Updates, w.Numbers = append(w.Updates, u), append(w.Numbers, number)
		}
		h, ok := readHeard(raw)
		w.Last = max(w.Last, h.Update)
		if ok {
			w.Heard = append(w.Heard, h)
		}
	}
	return w, err
}

// look calls getUpdates without an offset, which acknowledges nothing.
func (p *Probe) look(ctx context.Context, wait time.Duration, params map[string]any) (list []json.RawMessage, err error) {
	wait = min(max(wait, 0), pollFor)
	ctx, cancel := context.WithTimeout(ctx, wait+pollSlack)
	defer cancel()
	params["timeout"] = int(wait.Seconds())
	err = p.client.raw(ctx, "getUpdates", params, &list)
	return list, err
}

// Forget acknowledges updates up to a number: nobody gets them any more.
func (p *Probe) Forget(ctx context.Context, last int64) error {
	var list []json.RawMessage
	return p.client.raw(ctx, "getUpdates", map[string]any{"offset": last + 1, "limit": 1, "timeout": 0}, &list)
}

// Rival looks for that long whether another program reads the bot's updates. One that
// polls shows up when it calls again, and ends our call.
func (p *Probe) Rival(ctx context.Context, watch time.Duration) (bool, error) {
	for end := time.Now().Add(watch); ; {
		_, err := p.look(ctx, time.Until(end), map[string]any{"limit": 1}) // the kinds stay as that program wants them
		if IsConflict(err) {
			return true, nil
		}
		if err != nil || !time.Now().Before(end) {
			return false, err
		}
		_ = intake.Pause(ctx, min(time.Until(end), 500*time.Millisecond)) // updates that wait come at once
	}
}

// heardChat is a chat as an update has it.
type heardChat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
}

// heardUser is somebody as an update has them.
type heardUser struct {
	userJSON
	User string `json:"username"`
}

// readHeard reads an update; false: it tells nothing of a person in a chat. The
// number is set in any case, if there's one.
func readHeard(raw []byte) (Heard, bool) {
	type event struct {
		From       *heardUser `json:"from"`
		SenderChat *struct{}  `json:"sender_chat"`
		Chat       heardChat  `json:"chat"`
		Text       string     `json:"text"`
		Caption    string     `json:"caption"`
		New        struct {
			Status string `json:"status"`
		} `json:"new_chat_member"` // of my_chat_member only
	}
	var u struct {
		ID      int64  `json:"update_id"`
		Message *event `json:"message"`
		Member  *event `json:"my_chat_member"`
	}
	// A field that isn't what it should be makes the others no worse.
	if err := json.Unmarshal(raw, &u); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
			return Heard{}, false
		}
	}
	h := Heard{Update: u.ID}
	e := u.Message
	if e == nil {
		e = u.Member
		if e == nil || slices.Contains([]string{"left", "kicked"}, e.New.Status) {
			return h, false
		}
	}
	if u.ID <= 0 || e.Chat.ID == 0 || e.Chat.Type == "channel" {
		return h, false
	}
	h.Chat, h.Title, h.Private = e.Chat.ID, shownName(e.Chat.Title), e.Chat.Type == "private"
	h.Text = shownText(e.Text + e.Caption)
	if e.From != nil && e.SenderChat == nil && person(&e.From.userJSON).ID != "" {
		h.Person, h.Name, h.User = e.From.ID, shownName(person(&e.From.userJSON).Name), shownName(e.From.User)
	}
	return h, true
}

// maxShown is how many characters of a text are shown: enough to know it again.
const maxShown = 60

func shownName(s string) string { return cut(adapters.Printable(s), maxName) }
func shownText(s string) string { return cut(adapters.Printable(s), maxShown) }
