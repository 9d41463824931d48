package adapters

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// sightOf is what a slot for a stream sees: so many lines in the log, and how far
// the document is.
func sightOf(lines int, d Document) situation {
	texts := make([]string, lines)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	return situation{
		now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), nonce: "fresh",
		binding: Binding{View: ViewStream}, doc: d, progress: LogProgress{Head: int64(lines)},
		log: backlog{pieces: piecesOf(texts...), head: int64(lines), all: true}, shape: Shape{MaxLen: 4096}.withDefaults(),
	}
}

func TestANonceFromTheFutureIsNotTrusted(t *testing.T) {
	for age, want := range map[time.Duration]bool{-time.Second: false, 0: true, 59 * time.Second: true, time.Minute: false} {
		s := sightOf(3, Document{Shown: Position{Line: 1}})
		s.shape.NonceFor = time.Minute
		s.doc.Intent = &Intent{
			Kind: KindSend, Nonce: "first", At: s.now.Add(-age), Shown: Position{Line: 4},
			Message: Message{View: ViewStream, From: Position{Line: 1}, To: Position{Line: 4}},
		}
		st := planCall(s)
		if got := st.op.Nonce == "first"; got != want || st.op.Page.Double == want {
			t.Errorf("%v after the first try: nonce %q, marked %v", age, st.op.Nonce, st.op.Page.Double)
		}
	}
}

func TestATurnThatTheLogHasForgottenIsAnnounced(t *testing.T) {
	s := sightOf(3, Document{Shown: Position{Line: 4}})
	s.call = qos.Call{Final: 3}
	st := planCall(s)
	if st.op == nil || !st.op.Ring || st.op.Text != "done" {
		t.Fatalf("planned %+v", st.op)
	}
	after := st.before.afterIntent(*st.before.Intent, "1", false)
	if r := s.resultOf(qos.CallResult{}, after, st.more); r.Final != 3 || r.More {
		t.Errorf("told %+v", r)
	}
}

// Each kind of call, with what it leaves for the next.
func TestPlans(t *testing.T) {
	tail := func(to int64) *Message {
		return &Message{ID: "7", View: ViewStream, From: Position{Line: 1}, To: Position{Line: to}}
	}
	ended := func(s *situation) { s.progress.Turn, s.progress.TurnEnd = 1, 2 }
	tests := map[string]struct {
		lines  int
		doc    Document
		change func(s *situation)
		want   string // kind, text; "": no call
		ring   bool
		shown  Position // afterwards
	}{
		"nothing":               {0, Document{Shown: Position{Line: 1}}, nil, "", false, Position{}},
		"first lines":           {2, Document{Shown: Position{Line: 1}}, nil, "send x|xx", false, Position{Line: 3}},
		"more lines":            {3, Document{Shown: Position{Line: 2}, Tail: tail(2)}, nil, "edit x|xx|xxx", false, Position{Line: 4}},
		"a turn's end":          {3, Document{Shown: Position{Line: 2}, Tail: tail(2)}, ended, "send xx|done", true, Position{Line: 3}},
		"a turn's end alone":    {2, Document{Shown: Position{Line: 3}, Tail: tail(3)}, ended, "send done", true, Position{Line: 3}},
		"another view's tail":   {3, Document{Shown: Position{Line: 2}, Tail: tail(2)}, func(s *situation) { s.doc.Tail.View = ViewFinal }, "send xx|xxx", false, Position{Line: 4}},
		"final, while it works": {3, Document{Shown: Position{Line: 1}}, func(s *situation) { s.binding.View = ViewFinal }, "", false, Position{}},
		"final, at the end":     {3, Document{Shown: Position{Line: 1}}, func(s *situation) { s.binding.View = ViewFinal; ended(s) }, "send x|xx|done", true, Position{Line: 3}},
		"live rows":             {1, Document{Shown: Position{Line: 2}, Tail: tail(2)}, func(s *situation) { s.rows, s.shape.LiveRows = []string{"a", "b", "c"}, 2 }, "edit x|b|c", false, Position{Line: 2}},
		"live rows alone":       {0, Document{Shown: Position{Line: 1}}, func(s *situation) { s.rows, s.shape.LiveRows = []string{"a"}, 2 }, "", false, Position{}},
		"a thread first":        {1, Document{Shown: Position{Line: 1}}, func(s *situation) { s.shape.OwnThread, s.session.Name = true, "agent\n 1" }, "thread agent 1", false, Position{Line: 1}},
		"no thread for nothing": {0, Document{Shown: Position{Line: 1}}, func(s *situation) { s.shape.OwnThread = true }, "", false, Position{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sightOf(tt.lines, tt.doc)
			if tt.change != nil {
				tt.change(&s)
			}
			st := planCall(s)
			if st.op == nil {
				if tt.want != "" {
					t.Fatalf("no call, want %q", tt.want)
				}
				return
			}
			got := string(st.op.Kind) + " " + strings.ReplaceAll(st.op.Text, "\n", "|")
			if got != tt.want || st.op.Ring != tt.ring {
				t.Fatalf("planned %q, ring %v; want %q, %v", got, st.op.Ring, tt.want, tt.ring)
			}
			if after := st.before.afterIntent(*st.before.Intent, "8", false); after.Shown != tt.shown || after.Intent != nil {
				t.Errorf("afterwards shown %v, intent %v; want %v, none", after.Shown, after.Intent, tt.shown)
			}
		})
	}
}
