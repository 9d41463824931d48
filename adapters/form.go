package adapters

import (
	"fmt"

	"github.com/panebridge/panebridge/internal/render"
)

// refusedText stands beside the file that has a text which was refused as a message.
const refusedText = "What’s said here was refused as a message, so it’s in the file."

// simpler is a post that was refused with one thing less in it, of what the platform may have
// refused: its picture, its buttons, what it answers, at last its text, which is a file then.
// It says what's less. ok is false where nothing is left to take away. An edit's text stays a
// text.
func (p Post) simpler(shape Shape, edit bool) (_ Post, less string, ok bool) {
	switch {
	case p.Reaction != "" || p.Pin != "":
		return p, "", false
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
	all := render.Form{Size: func(render.Text) int { return 0 }, Max: 1 + len(markdown)}
	t, _, _ := all.Next([]render.Part{{Kind: render.Answer, Source: markdown}}, render.Place{})
	return t.String()
}

// simplify has a post that was refused be made once more, by a call of its own, in a simpler
// form; false: there's none. mu is held.
func (o *Outbox) simplify(w *waitingPost, message string, why error) bool {
	p, less, ok := w.simpler(o.shape(w.To), message != "")
	if !ok {
		return false
	}
	o.log.Info("a post was refused, and goes without "+less, "target", p.To.String(), "session", p.Session, "err", why)
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
		was.Tell(message, err)
	}
	p.SentTo = nil
	return p, true
}
