package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// A list that people look at has each session's last line that says something, short and without secrets, and what
// its agent says it's doing; other lists have neither.
func TestListsHaveWhatPeopleSeeAtAGlance(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(o *api.Options) { o.Masker = masker })
	id := b.daemon.Add("one", "claude")
	b.daemon.Add("silent", "")
	see := func(query string) api.Session {
		t.Helper()
		_, body := b.send(t, http.MethodGet, "/api/v1/sessions"+query, "", b.sign)
		var list []api.Session
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list) != 2 || strings.Contains(body, secret) {
			t.Fatalf("%s, %v", body, err)
		}
		if list[1].LastLine != "" || list[1].Doing != "" {
			t.Errorf("the silent one is %+v", list[1])
		}
		return list[0]
	}
	for _, tt := range []struct {
		kind          sessions.LineKind
		printed, want string
	}{
		{sessions.KindPane, "all of it is done", "all of it is done"},
		{sessions.KindPane, "", "all of it is done"},
		{sessions.KindPane, "╰────────╯", "all of it is done"},
		{sessions.KindAnswer, "- **All** of `it` is _done_.", "All of it is done."},
		{sessions.KindAnswer, "```go", "All of it is done."},
		{sessions.KindAnswer, "the token is " + strings.Replace(secret, "_", `\_`, 1) + ".", "the token is ghp_…[masked: "},
		{sessions.KindPane, "\x1b[31m  **red**  \x1b[0m", "**red**"},
		{sessions.KindPane, "the token is " + secret + ".", "the token is ghp_…[masked: "},
		{sessions.KindPane, strings.Repeat("ö", 5000), strings.Repeat("ö", 239) + "…"},
	} {
		b.daemon.Append(id, tt.kind, tt.printed)
		for range 2 { // the second time it isn't read
			if got := see("?ended=5").LastLine; !strings.HasPrefix(got, tt.want) || len(got) > len(tt.want)+40 {
				t.Errorf("after %.40q the last line is %q", tt.printed, got)
			}
		}
	}
	b.daemon.Known(id, "Reading "+secret)
	if got := see("?ended=5").Doing; !strings.HasPrefix(got, "Reading ghp_…[masked: ") {
		t.Errorf("it's doing %q", got)
	}
	if got := see(""); got.Doing != "" || got.LastLine != "" {
		t.Errorf("without being asked: %+v", got)
	}
}
