package cli

import (
	"slices"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
)

// What a session is bound to is named as when it was bound, also where it has a thread of its
// own there since.
func TestABindingIsNamedByItsChat(t *testing.T) {
	all := []api.Binding{
		{ID: "bd_1", To: "telegram:-100/250"}, {ID: "bd_2", To: "telegram:-1001"}, {ID: "bd_3", To: "discord:5"}, {ID: "bd_4", To: "discord:5/6"},
	}
	for to, want := range map[string][]string{
		"telegram:-100": {"bd_1"}, "telegram:-100/250": {"bd_1"}, "telegram:-1001": {"bd_2"}, "telegram:-10": nil,
		"discord:5": {"bd_3"}, "discord:5/6": {"bd_4"}, "bd_4": {"bd_4"}, "discord:7": nil,
	} {
		var got []string
		for _, b := range boundTo(all, to) {
			got = append(got, b.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("to %s: %q, want %q", to, got, want)
		}
	}
}
