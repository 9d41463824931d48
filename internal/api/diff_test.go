package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// What a session has changed is shown to who may see it, without secrets; with them to an admin. A commit is named by an
// operator.
func TestDiffsAreShownByRoles(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := []string{"-----BEGIN RSA PRIVATE KEY-----", strings.Repeat("MIIEpAIBAAKCAQEAx7", 3) + "abcdefghij", strings.Repeat("Kq2mVb9TzR4wLcE8sY", 3) + "klmnopqrst", "-----END RSA PRIVATE KEY-----"}
	diff := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,5 @@\n one\n-token = " + secret + "\n+" + strings.Join(key, "\n+") + "\n"
	b := setup(t, reaching(proxied), func(o *api.Options) {
		o.Masker = masker
		o.Diff = func(_ context.Context, s sessions.Session, since, file string, open bool) (api.Changes, error) {
			if file == secret {
				return api.Changes{}, errors.New(secret + " isn’t in the session’s repository")
			}
			return api.Changes{Root: s.Cwd, Commit: since + "|" + file, Files: 1, Diff: diff, Notes: []string{"left out: " + secret}}, nil
		}
	})
	b.daemon.Add("one", "")
	get := func(who *browserstest.Signer, query url.Values) (int, api.Changes, string) {
		t.Helper()
		got, text := b.send(t, http.MethodGet, "/api/v1/sessions/one/diff?"+query.Encode(), "", at(who, publicHost, "100.64.0.7"))
		var c api.Changes
		_ = json.Unmarshal([]byte(text), &c) // an error has none
		return got.status, c, text
	}
	viewer, operator, admin := b.device(t, publicHost, "Viewer", access.Viewer), b.device(t, publicHost, "Operator", access.Operator), b.device(t, publicHost, "Admin", access.Admin)
	for name, who := range map[string]*browserstest.Signer{"viewer": viewer, "operator": operator, "admin": admin} {
		status, c, text := get(who, url.Values{"file": {"a b"}})
		if status != http.StatusOK || c.Commit != "|a b" || c.Files != 1 || strings.Count(c.Diff, "\n") != strings.Count(diff, "\n") {
			t.Errorf("%s: %d %s", name, status, text)
		}
		for _, hidden := range append(key[1:3:3], secret) {
			if strings.Contains(text, hidden) {
				t.Errorf("%s is shown %q in %s", name, hidden, text)
			}
		}
		if status, _, _ := get(who, url.Values{"since": {"HEAD"}}); (status == http.StatusOK) != (name != "viewer") {
			t.Errorf("%s names a commit: %d", name, status)
		}
		if status, c, _ := get(who, url.Values{"secrets": {"show"}}); (status == http.StatusOK) != (name == "admin") || status == http.StatusOK && c.Diff != diff {
			t.Errorf("%s asks for secrets: %d", name, status)
		}
		if status, _, text := get(who, url.Values{"file": {secret}}); status != http.StatusUnprocessableEntity || strings.Contains(text, secret) {
			t.Errorf("%s is told %d %s", name, status, text)
		}
	}
	if c, err := b.client.Diff(t.Context(), "one", client.DiffQuery{Since: "main", File: "x"}); err != nil || c.Diff != diff || c.Commit != "main|x" {
		t.Errorf("the command line gets %+v, %v", c, err)
	}
	if c, err := b.client.Diff(t.Context(), "one", client.DiffQuery{Mask: true}); err != nil || strings.Contains(c.Diff, secret) {
		t.Errorf("masked it gets %+v, %v", c, err)
	}
}
