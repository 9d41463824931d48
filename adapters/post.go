package adapters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Post is a message that's no part of a document: a command's reply, a receipt, a
// prompt. One that the platform refuses is made in simpler forms, and elsewhere at last.
// See Outbox.
type Post struct {
	To Target
	// Key is unique at its target. A post whose key waits already takes its place; one
	// whose key was posted before edits that message, while the Outbox remembers it.
	Key     string
	Class   qos.Class   // of class Cosmetic it's made at once, or not at all and Sent isn't called unless it was refused
	Session sessions.ID // "": none
	// Message is the message that it edits; "": a new one, or what Key says. One that
	// isn't there any more is made anew.
	Message string
	// ReplyTo is the message that it answers; "": none.
	ReplyTo string
	// Shown says that the text isn't masked: it's a secret that was made for whoever reads it
	// there.
	Shown bool
	// Passing says that the text is stored nowhere until it's posted: it has lines of several sessions, of which any may be
	// forgotten meanwhile.
	Passing bool
	// Text is Markdown. Beside a picture or a file it's what's written below.
	Text    string
	Menus   []Menu     // above the buttons; only where Shape.Menus allows them
	Buttons [][]Button // rows
	Picture []byte     // a PNG; nil: none
	// PictureName is the name of the file that a picture is made where it's refused as one. "": the post goes
	// without it.
	PictureName string
	File        *File // nil: none; not with a picture
	Ring        bool  // people are notified
	// Nonce is the same when a send is made again that wasn't answered, and else another:
	// the Outbox gives it. See Shape.NonceFor. A post that's given one is there once, whoever
	// posts it with the same, where the platform knows nonces.
	Nonce string
	// Reaction is an emoji to be put to the message ReplyTo, in place of a text.
	Reaction string
	// Pin is a message that's to be pinned in its chat, silently, in place of a text.
	Pin string
	// Drop is a message that's to be deleted, in place of a text: a line of the platform's own about what the bot did.
	Drop string
	// Numbered is the text that takes Text's place where the platform refuses the buttons and
	// menus: it says how to choose without. "": Text.
	Numbered string
	// Behind says that it stands below all that its session has printed until it's posted.
	Behind bool
	line   int64 // the last of that
	// Again says that it may be there already: a new message says so.
	Again bool
	// Elsewhere is where it's posted if it's refused in every form; zero: nowhere.
	Elsewhere Target
	// Sent is called once when the post has been made, or has failed for good, or
	// another has taken its place (ErrReplaced). message is the platform's id. It must
	// return at once. Nil: nobody is told.
	Sent func(message string, err error)
	// SentTo is as Sent, and takes its place: it's told where, too. The chat may have got another
	// id since the post was queued.
	SentTo func(to Target, message string, err error)
}

// IsSign says that the post makes no message.
func (p Post) IsSign() bool { return p.Reaction != "" || p.Pin != "" || p.Drop != "" }

// Button stands below a post.
type Button struct {
	Label string // at most 40 characters are shown everywhere
	Data  string // given back when it's pressed, at most 64 bytes
	URL   string // in place of Data: it opens an address
}

// Menu is a list below a post, of which people choose. What they've chosen is given back
// at once, whether they chose one option or several.
type Menu struct {
	Data string // given back with the values that were chosen, at most 64 bytes
	Hint string // stands there while nothing is chosen; at most 100 characters are shown
	// Options are at most Shape.MenuOptions.
	Options     []MenuOption
	Least, Most int // how many may be chosen at a time
}

// MenuOption is an option of a menu.
type MenuOption struct {
	Label  string // at most MaxOption characters are shown
	Detail string // what's explained below it, as long; "": nothing is
	Value  string // given back when it's chosen, at most 64 bytes; another for each
	Chosen bool   // it's chosen already
}

// MaxOption is how many characters of an option of a menu are shown.
const MaxOption = 100

// Poster makes the call of a post. An Adapter that can post implements it.
type Poster interface {
	// Post makes exactly one API call: a new message, or an edit of message if that
	// isn't "". The contract is that of Adapter.Call.
	Post(ctx context.Context, p Post, message string) Reply
}

// refusedText stands beside the file that has a text which was refused as a message.
const refusedText = "What’s said here was refused as a message, so it’s in the file."

// simpler is a post that was refused with one thing less in it, of what the platform may have
// refused: its picture, its buttons, what it answers, at last its text, which is a file then.
// It says what's less. ok is false where nothing is left to take away. An edit's text stays a
// text.
func (p Post) simpler(shape Shape, edit bool) (_ Post, less string, ok bool) {
	switch {
	case p.IsSign():
		return p, "", false
	case p.Picture != nil && p.PictureName != "" && !edit && len(p.Picture) <= shape.MaxFile:
		p.File, p.Picture = &File{Name: p.PictureName, Data: p.Picture}, nil
		return p, "its picture as one", true
	case p.Picture != nil && p.Text != "":
		p.Picture = nil
		return p, "its picture", true
	case len(p.Buttons) > 0 || len(p.Menus) > 0:
		p.Buttons, p.Menus = nil, nil
		if p.Numbered != "" {
			p.Text = p.Numbered
		}
		return p, "its buttons", true
	case p.ReplyTo != "":
		p.ReplyTo = ""
		return p, "what it answers", true
	case p.File == nil && p.Picture == nil && !edit && len(p.Text) <= shape.MaxFile:
		p.File, p.Text = &File{Name: "message.txt", Data: []byte(plainOf(p.Text) + "\n")}, refusedText
		return p, "its text", true
	default:
		return p, "", false
	}
}

// plainOf is what a text in Markdown says, without marks.
func plainOf(markdown string) string {
	all := render.MessageForm{Size: func(render.MessageText) int { return 0 }, Max: 1 + len(markdown)}
	t, _, _ := all.Next([]render.Part{{Kind: render.Answer, Source: markdown}}, render.TextPosition{})
	return t.String()
}

// simplifyPost gives a refused post a simpler form, to be made by a call of its own. It returns
// false if there's none. mu is held.
func (o *Outbox) simplifyPost(w *waitingPost, message string, why error) bool {
	p, less, ok := w.simpler(o.shape(w.To), message != "")
	if !ok {
		return false
	}
	o.log.Info("a post was refused, and goes in a simpler form", "without", less, "target", p.To.String(), "session", p.Session, "err", why)
	if w.whole == nil {
		was := w.Post
		w.whole = &was
	}
	if w.whole != nil && p.File != nil && w.File == nil {
		p.ReplyTo = w.whole.ReplyTo // its text was what was refused
	}
	o.bytes += p.Size() - w.Size()
	w.Post = p
	w.Nonce, w.marked = "", w.marked || w.unsure // it's another message
	return true
}

// elsewhere is a post that was refused, for the place where it's shown instead; false: there's
// none.
func (p Post) elsewhere(why error) (Post, bool) {
	if p.Elsewhere == (Target{}) {
		return p, false
	}
	was := p
	p.To, p.Elsewhere, p.Message, p.Nonce = p.Elsewhere, Target{}, "", ""
	p.Sent = func(message string, err error) {
		if err != nil {
			err = fmt.Errorf("%w; elsewhere: %w", why, err)
		}
		was.TellSender(message, err)
	}
	p.SentTo = nil
	return p, true
}

// maxRemembered bounds the posts whose messages can be edited by their keys.
const maxRemembered = 10_000

// remembered keeps the newest of what was put into it, between half of
// maxRemembered and all of it.
type remembered struct {
	recent, older map[string]string
}

func (r *remembered) messageOf(key string) string {
	if id, ok := r.recent[key]; ok {
		return id
	}
	id, ok := r.older[key]
	if ok {
		r.putMessage(key, id)
	}
	return id
}

func (r *remembered) putMessage(key, id string) {
	if len(r.recent) >= maxRemembered/2 {
		r.older, r.recent = r.recent, nil
	}
	if r.recent == nil {
		r.recent = map[string]string{}
	}
	r.recent[key] = id
}

func (r *remembered) dropMessage(key string) {
	delete(r.recent, key)
	delete(r.older, key)
}

// Asider is an Adapter that shows in passing what a session is doing. Nothing of it
// stays, and nobody misses it. The contract of its calls is that of Adapter.Call.
type Asider interface {
	// Drafts says whether Draft works in a target's chat, as far as is known. It returns at once.
	Drafts(t Target) bool
	// Draft shows a live region, which is all that's on the page, where the next message
	// of a document will be. If it's too long, its end is shown.
	Draft(ctx context.Context, t Target, doc BindingID, p Page) Reply
	// Typing shows that somebody is typing.
	Typing(ctx context.Context, t Target) Reply
}

const (
	// draftEvery is the least time between two drafts of a document. It keeps one
	// within what platforms allow, steadily: 25 in 30 s.
	draftEvery = 1200 * time.Millisecond
	// typingFor is for how long after somebody spoke to a session it's shown that it's
	// at work.
	typingFor = 2 * time.Minute
)

// Slot keys of calls that are neither a document's nor a post's. What's behind them
// says all there is to know.
const (
	draftSlot  = "draft\x00"  // and a binding's id
	typingSlot = "typing\x00" // and a binding's id
	openSlot   = "open\x00"   // and a target
	renameSlot = "rename\x00" // and a binding's id
)

// ReopenThread queues a call that opens the thread of a target, which a person closed.
func (h *Hub) ReopenThread(t Target) error {
	o, err := h.outletOf(t)
	if err != nil {
		return err
	}
	if t.Thread == "" {
		return fmt.Errorf("reopen %s: %w: it's no thread", t, sessions.ErrInvalid)
	}
	err = o.scheduler.PostRequest(qos.Request{Chat: o.adapter.Chat(t), Key: openSlot + t.String(), Class: qos.Interactive})
	if err != nil {
		return fmt.Errorf("reopen %s: %w", t, err)
	}
	return nil
}

// showTyping shows in passing that a session was heard.
func (h *Hub) showTyping(id sessions.ID) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	w := h.sessions[id]
	if w == nil {
		return
	}
	now := time.Now()
	w.spoken.Store(&now)
	for _, b := range w.bindings {
		if b.open {
			b.tryInPassing(typingSlot, qos.FamilyTyping)
		}
	}
}

// showInPassing shows in passing what an event says. h.mu is held for reading.
func (w *watched) showInPassing(b *hubBinding, ev sessions.OutputEvent) {
	a, ok := b.outlet.adapter.(Asider)
	if !ok || ev.Complete || b.View == ViewFinal {
		return
	}
	now := time.Now()
	if l := ev.Live; b.Work.foldsTools() && (l == nil || l.Known && len(l.Writing) == 0) {
		return // the line that grows says that it's at work, or that's not to be seen
	}
	if ev.Live != nil && regionOf(ev.Live).showing() && a.Drafts(b.Target) {
		last := b.drafted.Load()
		if (last == nil || now.Sub(*last) >= draftEvery) && b.drafted.CompareAndSwap(last, &now) {
			b.tryInPassing(draftSlot, qos.FamilyDraft)
		}
	} else if spoken := w.spoken.Load(); ev.Turn.Open && spoken != nil && now.Sub(*spoken) <= typingFor {
		b.tryInPassing(typingSlot, qos.FamilyTyping)
	}
}

// tryInPassing asks for a call for a binding, to be made right now or not at all.
func (b *hubBinding) tryInPassing(slot string, family qos.Family) {
	if _, ok := b.outlet.adapter.(Asider); !ok {
		return
	}
	doc, _ := b.outlet.deliverer.Document(b.ID)
	b.outlet.scheduler.TryRequest(qos.Request{
		Chat: b.outlet.adapter.Chat(doc.target(b.Binding)), Key: slot + string(b.ID), Family: family, Session: qos.SessionKey(b.Session),
	})
}

// deliverAside makes a call that's neither a document's nor a post's. ok is false if it's
// none of these either.
func (d *Deliverer) deliverAside(ctx context.Context, call qos.Call) (_ qos.CallResult, ok bool) {
	slot, rest, _ := strings.Cut(call.Key, "\x00")
	switch slot + "\x00" {
	case draftSlot, typingSlot:
		return d.deliverInPassing(ctx, slot+"\x00" == draftSlot, BindingID(rest)), true
	case renameSlot:
		return d.deliverRename(ctx, BindingID(rest)), true
	case openSlot:
		t, err := ParseTarget(rest)
		if err != nil {
			return qos.CallResult{Outcome: qos.Rejected, Err: err}, true
		}
		return d.resultAt(t, d.opt.Adapter.Call(ctx, Op{Kind: KindOpen, Target: t})), true
	default:
		return qos.CallResult{}, false
	}
}

func (d *Deliverer) deliverInPassing(ctx context.Context, draft bool, id BindingID) qos.CallResult {
	d.mu.Lock()
	o := d.open[id.Doc()]
	if o == nil {
		d.mu.Unlock()
		return qos.CallResult{Outcome: qos.Unchanged}
	}
	b, t := o.binding, o.doc.target(o.binding)
	d.mu.Unlock()
	a, ok := d.opt.Adapter.(Asider)
	if !ok {
		return qos.CallResult{Outcome: qos.Rejected, Err: errors.New("the adapter shows nothing in passing")}
	}
	if d.opt.Adapter.Shape(b.Target).OwnThread && t.Thread == "" {
		return qos.CallResult{Outcome: qos.Unchanged} // there's no place for it yet
	}
	if !draft {
		return d.resultAt(t, a.Typing(ctx, t))
	}
	var r region
	if d.opt.Screens != nil {
		p, err := d.opt.Log.Progress(ctx, b.Session)
		if err == nil {
			r, err = d.region(ctx, b.Session, p.Head)
		}
		if err != nil {
			return qos.CallResult{Outcome: qos.NotSent, Err: fmt.Errorf("draft %s: %w", b.Session, err)}
		}
	}
	if !r.showing() {
		return qos.CallResult{Outcome: qos.Unchanged}
	}
	return d.resultAt(t, a.Draft(ctx, t, id, r.alonePage()))
}

// resultAt is the result of a call that leaves nothing to be kept.
func (d *Deliverer) resultAt(t Target, r Reply) qos.CallResult {
	result := r.result()
	if r.Outcome == qos.Migrated {
		t.Chat = r.Chat
		result.Chat = d.opt.Adapter.Chat(t)
	}
	return result
}
