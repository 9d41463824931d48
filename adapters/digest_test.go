package adapters

import (
	"strings"
	"testing"
	"time"
)

// A chat that's late gets one file with all of it, and a digest; others get no digest.
func TestAChatThatIsLateGetsADigest(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	tests := map[string]struct {
		view   View
		late   time.Duration // of the first line; a second lies between two
		ends   time.Duration // ago, the turn ended; 0: it hasn't
		want   string        // the first line of what stands beside the file
		ending string
	}{
		"in time":                           {ViewStream, 5 * time.Minute, 0, "line 2", ""},
		"late":                              {ViewStream, 20 * time.Minute, 0, "[400 lines, from 10:10 to 10:16, are in the attached file]", ""},
		"late, turns":                       {ViewStream, 20 * time.Minute, 11 * time.Minute, "[400 lines, from 10:10 to 10:16, are in the attached file]", "3 turns done"},
		"from yesterday":                    {ViewStream, 20 * time.Hour, 0, "[400 lines, from 20 Nov 14:30 to 20 Nov 14:36, are in the attached file]", ""},
		"final, a long turn that ended now": {ViewFinal, 20 * time.Minute, time.Second, "line 2", "3 turns done"},
		"final, late":                       {ViewFinal, 20 * time.Minute, 12 * time.Minute, "[400 lines, from 10:10 to 10:16, are in the attached file]", "3 turns done"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sightOf(1, Document{Shown: Position{Line: 1}})
			s.now, s.binding.View = now, tt.view
			s.shape.MaxFile, s.shape.MaxCaption = 1<<20, 1024
			texts := make([]string, 400)
			for i := range texts {
				texts[i] = "line 2 and what it says, which is always the same"
			}
			s.log.pieces = piecesOf(texts...)
			for i := range s.log.pieces {
				s.log.pieces[i].Line.At = now.Add(time.Duration(i)*time.Second - tt.late)
			}
			s.log.head, s.progress.Head = 400, 400
			if tt.ends > 0 {
				s.progress.Turn, s.progress.TurnEnd, s.progress.TurnEnded = 3, 400, now.Add(-tt.ends)
			}
			st := planCall(s)
			if st.op == nil || st.op.Kind != KindFile || st.more || strings.Count(string(st.op.File.Data), "\n") != 400 {
				t.Fatalf("planned %+v, more %v; want one file with all lines", st.op, st.more)
			}
			lines := strings.Split(st.op.Text, "\n")
			if !strings.HasPrefix(lines[0], tt.want) || tt.ending != "" && lines[len(lines)-1] != tt.ending || len(lines) < 10 {
				t.Errorf("beside the file stands %q", st.op.Text)
			}
			if after := st.before.afterIntent(*st.before.Intent, "1", false); after.Delivered() != 400 {
				t.Errorf("delivered up to line %d, want all 400", after.Delivered())
			}
		})
	}
}
