package polling

import (
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// What's printed between two looks is found though the pane's width changed meanwhile, also
// where the same prompt stands below it again; a prompt that's only drawn again is no output.
func TestWaitFindsOutputOverAResize(t *testing.T) {
	for name, c := range map[string]struct{ was, now, want []string }{
		"a prompt alone":            {[]string{"$"}, []string{"$ make", "PASS", "$"}, []string{" make", "PASS", "$"}},
		"text above the prompt":     {[]string{"motd", "$"}, []string{"motd", "$ make", "PASS", "$"}, []string{" make", "PASS", "$"}},
		"the prompt is drawn again": {[]string{"$"}, []string{"$", "$"}, nil},
		"all is drawn again":        {[]string{"title", "box", ">"}, []string{"title", "box", "title", "box", ">"}, nil},
		"nothing":                   {[]string{"motd", "$"}, []string{"motd", "$"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFollower()
			var got []string
			for i, rows := range [][]string{c.was, c.now} {
				s := sessions.Snapshot{
					Pane: "%1", PID: 1, Width: 40 - 10*i, Height: 8, HistoryLimit: 100, CursorVisible: true,
					CursorY: len(rows) - 1, CursorX: len(rows[len(rows)-1]), Rows: append(slices.Clone(rows), make([]string, 8-len(rows))...), Wrapped: make([]bool, 8),
				}
				seen, need := f.followSnapshot(&s, nil, 1000, time.Unix(1, 0))
				if need != nil {
					t.Fatalf("it wants %+v", need)
				}
				got, f = outputs(seen.lines), seen.next
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("output is %q, wanted %q", got, c.want)
			}
		})
	}
}
