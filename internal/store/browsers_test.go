package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsers"
)

// The page's browsers come back as they were; one that's dropped stays away, whatever is
// still said of it.
func TestBrowsersComeBack(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	one := browsers.Browser{
		ID: "br_1", Label: "Firefox on Linux", Address: "127.0.0.1:7333", Key: []byte{4, 1, 0}, Name: "Ann's phone",
		Roles:   access.Roles{access.Operator: true, access.Approver: true},
		Created: day, LastUsed: day.Add(time.Minute), Expires: day.Add(time.Hour),
	}
	two := one
	two.Name, two.Roles = "", access.Roles{access.Admin: true}
	two.ID, two.NextKey, two.Created = "br_2", []byte{4, 2}, day.Add(time.Second)
	must(t, s.AddBrowser(ctx, one), s.AddBrowser(ctx, two))
	one.Key, one.NextKey, one.LastUsed, one.Expires = []byte{4, 3}, []byte{4, 4}, day.Add(2*time.Minute), day.Add(3*time.Hour)
	must(t, s.UpdateBrowser(ctx, one), s.Close())

	s = mustOpen(t, path, Options{})
	list, err := s.Browsers(ctx)
	if diff := cmp.Diff([]browsers.Browser{one, two}, list); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	must(t, s.DropBrowsers(ctx, []string{"br_1", "br_none"}), s.UpdateBrowser(ctx, one))
	if list, err = s.Browsers(ctx); err != nil || len(list) != 1 || list[0].ID != "br_2" {
		t.Errorf("%+v, %v", list, err)
	}
}
