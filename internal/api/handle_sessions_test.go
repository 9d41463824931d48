package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// The list has all sessions, or of those that have ended as many as are asked for, and the one
// that's named.
func TestListSomeOfTheSessions(t *testing.T) {
	b := setup(t)
	ids := map[string]sessions.ID{}
	for i := range 5 {
		name := fmt.Sprint("s", i)
		ids[name] = b.daemon.Add(name, "")
		if i > 0 {
			b.daemon.SetState(ids[name], sessions.StateEnded, "closed")
		}
	}
	for query, want := range map[string]int{
		"": 5, "?ended=0": 1, "?ended=2": 3, "?ended=99": 5, "?ended=0&with=" + string(ids["s1"]): 2, "?ended=0&with=" + string(ids["s0"]): 1, "?ended=0&with=none": 1,
		"?ended=-1": 0, "?ended=all": 0,
	} {
		got, text := b.send(t, "GET", "/api/v1/sessions"+query, "", b.sign)
		if want == 0 {
			if got.status != 400 || !strings.Contains(text, "a number from 0 on") {
				t.Errorf("%s: %d %s", query, got.status, text)
			}
			continue
		}
		var list []struct{ ID, Name string }
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		if len(list) != want || !slices.ContainsFunc(list, func(s struct{ ID, Name string }) bool { return s.Name == "s0" }) {
			t.Errorf("%s: %v", query, list)
		}
	}
}
