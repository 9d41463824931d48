package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// doctor says whose access goes by a group of which nobody can tell who's in it; no other's.
func TestDoctorLooksAtMembers(t *testing.T) {
	now := time.Now()
	entry := func(person string, change func(*api.AccessEntry)) api.AccessEntry {
		e := api.AccessEntry{Person: person, Role: "operator", By: "telegram:1", Chat: "telegram:-100", At: now.Add(-48 * time.Hour), Checked: now.Add(-25 * time.Hour)}
		change(&e)
		return e
	}
	got := examineMembers([]api.AccessEntry{
		entry("telegram:1", func(e *api.AccessEntry) { e.Chat, e.By, e.Checked = "", "configuration", time.Time{} }),
		entry("telegram:2", func(*api.AccessEntry) {}),
		entry("telegram:3", func(e *api.AccessEntry) { e.Checked = now.Add(-20 * time.Minute) }),
		entry("telegram:4", func(e *api.AccessEntry) { e.Void = "they left the group" }),
		entry("telegram:5", func(e *api.AccessEntry) { e.Checked = time.Time{} }),
	}, now)
	if len(got) != 2 {
		t.Fatalf("%d findings, want 2: %+v", len(got), got)
	}
	for i, want := range []string{"telegram:2 is still in telegram:-100, which made them operator", "telegram:5 is still"} {
		f := got[i]
		if f.State != verdictWarning || !strings.Contains(f.Detail, want) || !strings.Contains(f.Fix, "administrator") || !strings.Contains(f.Fix, "access.pairing_ttl") {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}
