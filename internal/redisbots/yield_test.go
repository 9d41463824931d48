package redisbots

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/qos/redisbucket"
)

// Of processes that share a bot the one with the least id reads: all agree on that, and where
// it has vanished, or nothing is known of the others, the next does.
func TestOneOfThoseWhoShareABotReads(t *testing.T) {
	ids := []string{"b", "a", "c"}
	for name, tt := range map[string]struct {
		state    string
		vanished map[string]bool
		reads    string
	}{
		"all are there":        {"shared", nil, "a"},
		"the first vanished":   {"shared", map[string]bool{"a": true}, "b"},
		"two vanished":         {"learning", map[string]bool{"a": true, "b": true}, "c"},
		"Redis doesn't answer": {"share", nil, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			var members []redisbucket.BucketMember
			for _, id := range ids {
				members = append(members, redisbucket.BucketMember{ID: id, Vanished: tt.vanished[id]})
			}
			for _, id := range ids {
				why := YieldsTo(redisbucket.MemberStatus{State: tt.state, Member: id, Members: members})
				if reads := strings.Contains(tt.reads, id); !tt.vanished[id] && (why == "") != reads {
					t.Errorf("%s reads: %v, want %v: %q", id, why == "", reads, why)
				}
			}
		})
	}
}

// Who shares a bot is named, also when it's gone without a word: its sessions are there, and so
// are the places that show them. Who signed off isn't.
func TestWhoSharesABotIsNamed(t *testing.T) {
	for want, others := range map[string][]redisbucket.BucketMember{
		"":                              {{ID: "left", Left: true}},
		"Process b":                     {{ID: "b"}, {ID: "left", Left: true}},
		"Process gone":                  {{ID: "gone", Vanished: true}},
		"Each of the processes b, gone": {{ID: "b"}, {ID: "gone", Vanished: true}},
	} {
		s := redisbucket.MemberStatus{State: "shared", Member: "a", Members: append([]redisbucket.BucketMember{{ID: "a"}}, others...)}
		if got := Others(s); got != want {
			t.Errorf("of %+v it says %q, want %q", others, got, want)
		}
	}
}
