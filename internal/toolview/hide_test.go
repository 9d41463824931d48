package toolview_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

func masker(tb testing.TB) *redact.Masker {
	tb.Helper()
	m, err := redact.New(redact.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

const token = "ghp_x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"

// A secret is masked wherever it stands in a use, and whatever tells that it's one: its form, the name
// of its argument, the pair of a name and a value, the lines around it in one side of a diff.
func TestNoSecretOfAUseIsShown(t *testing.T) {
	m := masker(t)
	key := []string{"-----BEGIN OPENSSH PRIVATE KEY-----"}
	for i := range 8 {
		key = append(key, strings.Repeat(fmt.Sprintf("b3BlbnNzaC1rZXktdjEAAAAABG5vbm%d", i), 2))
	}
	key = append(key, "-----END OPENSSH PRIVATE KEY-----")
	hunk := func(op string, rows ...string) string { return op + strings.Join(rows, "\n"+op) + "\n" }
	body, other := key[1:9], make([]string, 8)
	for i, row := range body {
		other[i] = strings.ToUpper(row)
	}
	const password = "tr0ub4dor&3xplain"
	for name, tc := range map[string]struct {
		use    sessions.ToolUse
		secret []string
	}{
		"in a command":        {call("Bash", `{"command":"curl -H 'Authorization: Bearer `+token+`' x"}`), []string{token}},
		"in the name":         {call(token, `{}`), []string{token}},
		"in an output":        {withResult(call("Bash", `{}`), "a\n"+token+"\nb", ""), []string{token}},
		"in colours":          {withResult(call("Bash", `{}`), "ghp_x7Kq2mVb9T\x1b[31mzR4wLcE8sYpD1nHfJ6uA3gQ0iZ", ""), []string{token}},
		"by its argument":     {call("login", `{"user":"ann","password":"`+password+`"}`), []string{password}},
		"by a name and value": {call("set_env", `{"name":"DB_PASSWORD","value":"`+password+`"}`), []string{password}},
		"deeper":              {call("run", `{"env":{"DB_PASSWORD":"`+password+`"}}`), []string{password}},
		"in a path":           {call("Write", `{"file_path":"/tmp/`+token+`","content":"x"}`), []string{token}},
		"in a key":            {call("x", `{"`+token+`":"x"}`), []string{token}},
		"written":             {call("Write", `{"file_path":"/k","content":`+quoted(strings.Join(key, "\n"))+`}`), body},
		"edited":              {call("Edit", `{"file_path":"/k","old_string":`+quoted(strings.Join(body, "\n"))+`,"new_string":`+quoted("x\n"+strings.Join(key, "\n"))+`}`), body},
		"patched":             {call("apply_patch", quoted("*** Begin Patch\n*** Add File: k\n"+hunk("+", key...)+"*** End Patch\n")), body},
		"replaced in a patch": {call("apply_patch", quoted("*** Begin Patch\n*** Update File: k\n@@\n "+key[0]+"\n"+hunk("-", body...)+hunk("+", other...)+" "+key[9]+"\n*** End Patch\n")), append(body[:8:8], other...)},
		"in a diff":           {withResult(call("Edit", `{"file_path":"/k"}`), "", fmt.Sprintf("@@ -1,10 +1,10 @@\n %s\n%s%s %s\n", key[0], hunk("-", body...), hunk("+", other...), key[9])), append(body[:8:8], other...)},
		"amid a key":          {withResult(call("Edit", `{"file_path":"/k"}`), "", fmt.Sprintf("@@ -3,4 +3,4 @@\n %s\n-%s\n+x\n %s\n %s\n", body[2], body[3], body[4], "b3BlbnNzaC1rZXkt8Q==")), append(body[2:5:5], "b3BlbnNzaC1rZXkt8Q==")},
		"in a diff's head":    {withResult(call("Edit", `{"file_path":"/k"}`), "", "@@ -1,1 +1,1 @@ "+token+"\n-a\n+b\n"), []string{token}},
		"in a setting":        {withResult(call("Edit", `{"file_path":"/k"}`), "", "@@ -1,1 +1,1 @@\n-password: old-"+password+"\n+password: "+password+"\n"), []string{password}},
	} {
		v := toolview.Of(tc.use, m)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all := drawn(v) + v.Name
		for _, secret := range tc.secret {
			if strings.Contains(string(text), secret) || strings.Contains(all, secret) {
				t.Errorf("%s: %q is shown in\n%s", name, secret, all)
			}
		}
		if !v.Masked {
			t.Errorf("%s: nothing is said to be masked", name)
		}
		if shown := toolview.Of(tc.use, nil); shown.Masked || strings.Contains(drawn(shown), "[masked") {
			t.Errorf("%s: without a masker it's masked: %s", name, drawn(shown))
		}
	}
}

// Secrets of all kinds, drawn, in each place of a use.
func TestNoDrawnSecretOfAUseIsShown(t *testing.T) {
	m, g := masker(t), redacttest.New(drawtest.Seed(t))
	kinds := append(redacttest.Ordinary(), redacttest.Kinds()...)
	for i := range drawtest.Times(5000, 600, 200) {
		one := kinds[i%len(kinds)].Make(g)
		if strings.Contains(m.Line(one.Text), one.Secret) {
			continue // told by what isn't in the text
		}
		lines := "+" + strings.ReplaceAll(one.Text, "\n", "\n+") + "\n"
		n := strings.Count(lines, "\n")
		for place, use := range map[string]sessions.ToolUse{
			"command": call("Bash", `{"command":`+quoted("echo a\n"+one.Text)+`}`),
			"output":  withResult(sessions.ToolUse{}, "a\n"+one.Text+"\nb", ""),
			"written": call("Write", `{"file_path":"/a","content":`+quoted(one.Text)+`}`),
			"edited":  call("Edit", `{"file_path":"/a","old_string":"b","new_string":`+quoted(one.Text)+`}`),
			"patch":   call("apply_patch", quoted("*** Begin Patch\n*** Add File: k\n"+lines+"*** End Patch\n")),
			"diff":    withResult(call("Edit", `{"file_path":"/a"}`), "", fmt.Sprintf("@@ -0,0 +1,%d @@\n%s", n, lines)),
		} {
			if v := toolview.Of(use, m); strings.Contains(drawn(v), one.Secret) {
				t.Errorf("%s: %q is shown of %q:\n%s", place, one.Secret, one.Text, drawn(v))
			}
		}
	}
}
