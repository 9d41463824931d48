package store

import (
	"strconv"
	"testing"

	"github.com/panebridge/panebridge/adapters"
)

// Where the first messages are forgotten, it isn't known which one was the first to show
// a line.
func TestWhereALineIsIsForgottenWithItsMessages(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	b, d := bindingFor("pb_1", "-100"), adapters.NewDocument(0, adapters.LogProgress{})
	mustBind(t, s, b, d)
	const forgotten = 3
	for n := int64(1); n <= keptMessages+forgotten; n++ { // message n shows line 2n
		m := adapters.Message{ID: strconv.FormatInt(n, 10), From: adapters.Position{Line: 2 * n}, To: adapters.Position{Line: 2*n + 1}}
		if err := s.PutDocument(t.Context(), b.ID, d, &m); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[int64]string{1: "", 2: "", 2 * forgotten: "", 2*forgotten + 1: "", 2*forgotten + 2: "4", 2*forgotten + 3: "5", 1000: "500"} {
		if got, err := s.MessageAt(t.Context(), b.ID, line); err != nil || got != want {
			t.Errorf("line %d is in message %q, %v; want %q", line, got, err, want)
		}
	}
}
