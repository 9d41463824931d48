package adapters

import (
	"fmt"

	"github.com/panebridge/panebridge/qos"
)

// Withheld is about a message that the platform refused for what it's to show. It's made in
// other forms, one after the other, until one is taken: then it's forgotten.
type Withheld struct {
	Form Form   `json:"form"`
	Why  string `json:"why,omitempty"` // what the platform said, as a sentence
}

// Form is how what was refused is shown.
type Form string

// The forms, in the order in which they're tried.
const (
	FormLines  Form = "lines"  // its lines alone, and their end without words: no screen, no text that's being written
	FormFile   Form = "file"   // its lines as a file
	FormNotice Form = "notice" // how many lines it had
)

// settleContent takes in that the platform refused what a message was to show. What an edited
// message shows stays, and the rest goes into the next.
func (s *sight) settleContent(st step, r Reply, result qos.Result) (after Document, _ qos.Result) {
	in := *st.before.Intent
	if s.doc.Intent != nil { // the first try may have been done
		after = s.doc.unresolved()
	} else {
		after = st.before
		after.Intent = nil
	}
	if in.Kind == KindEdit {
		after = after.without(in.Message.ID)
	} else {
		after.Withheld = &Withheld{Form: s.nextForm(*st.op, in)}
		if r.Err != nil {
			after.Withheld.Why = r.Err.Error()
		}
	}
	result.Outcome, result.Err = qos.Delivered, nil
	return after, s.told(result, after, true)
}

// nextForm is the form to be tried when the call of an intent was refused. It may be what stood
// beside a file that was.
func (s *sight) nextForm(op Op, in Intent) Form {
	p := op.Page
	switch {
	case in.Kind == KindFile && s.doc.Withheld == nil && (len(p.Pieces) > 0 || p.Ending != nil && p.Ending.Words != ""):
		return FormFile
	case in.Message.Writing, in.Message.From == in.Message.To && s.words != "" && s.doc.Withheld == nil:
		return FormLines
	case in.Kind == KindFile || s.shape.MaxFile < minFile || in.Message.From == in.Message.To:
		return FormNotice
	default:
		return FormFile
	}
}

// refuses reports whether a reply is about what a call was to show, so that another form may be
// taken.
func (s *sight) refuses(st step, r Reply) bool {
	in := st.before.Intent
	return r.Outcome == qos.Rejected && r.Content && r.Missing == NothingMissing && !in.Kind.aboutThread() &&
		in.Message.View != ViewScreen && in.Message.Withheld == ""
}

// withheld says in which form the next message goes; "": as it is.
func (s *sight) withheld() Form {
	if s.doc.Withheld == nil || s.binding.View == ViewScreen {
		return ""
	}
	return s.doc.Withheld.Form
}

// notice stands in place of the lines that a message would have shown.
func (s *sight) notice() step {
	pending := s.pending()
	shown := s.shape.fill(s.page(), pending)
	left := rest(pending, shown)
	complete := s.all() && allBlank(left)
	m := s.message(shown, s.start())
	lines := m.To.Line - m.From.Line
	if m.To.Byte > 0 {
		lines++
	}
	p := Page{Astray: shown.Astray, Withheld: withheldText(lines, s.doc.Withheld.Why)}
	m.Withheld, m.Sealed, m.Double, m.Hash = p.Withheld, true, false, s.hash(p)
	in := Intent{Kind: KindSend, Message: m, Shown: m.To, Ring: complete && (s.due() || s.ended())}
	return s.step(Op{Kind: KindSend, Page: p}, s.announcing(in), !complete)
}

// withheldText is a notice in place of lines.
func withheldText(lines int64, why string) string {
	what := "an answer’s end isn't"
	switch {
	case lines == 1:
		what = "1 line isn't"
	case lines > 1:
		what = fmt.Sprintf("%d lines aren't", lines)
	}
	return "[" + what + " shown, since it's refused here: " + shortened(why, maxReason) + "]"
}
