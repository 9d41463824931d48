package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// What a tool was called with and returned is told by either's line, without secrets; an admin may ask
// for these. A device without that role never gets one, nor by the names of tools in the log.
func TestUsesOfToolsAreShown(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, reaching(proxied), func(o *api.Options) { o.Masker = masker })
	id := b.daemon.Add("one", "claude")
	b.daemon.Append(id, sessions.KindAnswer, "I look.")
	b.daemon.Tool(id, "⚙ "+secret+": x\n  more", sessions.ToolPart{
		Part: sessions.ToolCall, Call: "a", Name: secret,
		Whole: &sessions.ToolDetail{Args: `{"file_path":"/a","old_string":"x","new_string":"` + secret + `","why":"so"}`},
	})
	path := "/api/v1/sessions/" + string(id) + "/tools/"
	admin, viewer := b.device(t, publicHost, "Admin", access.Admin), b.device(t, publicHost, "Viewer", access.Viewer)
	ask := func(path string, who int) (answer, string) {
		t.Helper()
		return b.send(t, http.MethodGet, path, "", at([]*browserstest.Signer{admin, viewer}[who], publicHost, "100.64.0.7"))
	}
	const asAdmin, asViewer = 0, 1
	if _, text := ask(path+"2", asViewer); !strings.Contains(text, `"call":2,"result":0`) || strings.Contains(text, secret) {
		t.Errorf("before it has returned: %s", text)
	}
	b.daemon.Tool(id, "  done", sessions.ToolPart{Part: sessions.ToolReturned, Call: "a", Failed: true, Whole: &sessions.ToolDetail{Output: "a\n" + secret}})
	b.daemon.Tool(id, "  old", sessions.ToolPart{Part: sessions.ToolReturned, Call: "b"})
	for _, n := range []int{2, 4} {
		for who := range 2 {
			got, text := ask(path+strconv.Itoa(n), who)
			var v toolview.ToolView
			if err := json.Unmarshal([]byte(text), &v); err != nil || got.status != http.StatusOK || strings.Contains(text, secret) {
				t.Fatalf("line %d: %d %s, %v", n, got.status, text, err)
			}
			if v.Call != 2 || v.Result != 4 || !v.Failed || !v.Masked || len(v.Files) != 1 || v.Files[0].Path != "/a" || len(v.Input) != 1 || v.Input[0].Text != "so" || !strings.HasPrefix(v.Output, "a\nghp_…[masked") {
				t.Errorf("line %d: %s", n, text)
			}
		}
	}
	if got, text := ask(path+"2?secrets=show", asAdmin); got.status != http.StatusOK || strings.Count(text, secret) != 3 || strings.Contains(text, "masked") {
		t.Errorf("an admin who asks for secrets: %d %s", got.status, text)
	}
	for what, want := range map[string]int{"2?secrets=show": 403, "1": 404, "3": 404, "5": 404, "99": 404, "0": 400, "-1": 400, "x": 400, "2?secrets=x": 400} {
		if got, text := ask(path+what, asViewer); got.status != want || strings.Contains(text, secret) {
			t.Errorf("%s: %d %s", what, got.status, text)
		}
	}
	if got, _ := ask("/api/v1/sessions/nobody/tools/2", asViewer); got.status != 404 {
		t.Errorf("of no session: %d", got.status)
	}
	const named = `"tool":{"part":"call","call":"a","name":"ghp_…[masked: GitHub token]","detail":true}`
	if _, text := ask("/api/v1/sessions/"+string(id)+"/output", asAdmin); !strings.Contains(text, named) {
		t.Errorf("to an admin the log is %s", text)
	}
	if _, text := ask("/api/v1/sessions/"+string(id)+"/output", asViewer); strings.Contains(text, secret) || !strings.Contains(text, named) {
		t.Errorf("the log is %s", text)
	}
}
