package installtest_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const page = "<!DOCTYPE html><html><body>Sign in to go on</body></html>"

// answers has a server answer for one file in its own way.
func answers(suffix string, with http.HandlerFunc) func(*testing.T, *release) {
	return func(_ *testing.T, r *release) {
		r.answer = func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.HasSuffix(req.URL.Path, suffix) {
				return false
			}
			with(w, req)
			return true
		}
	}
}

// packed has the archive hold something else, with the right sum.
func packed(change func(map[string]entry)) func(*testing.T, *release) {
	return func(t *testing.T, r *release) {
		t.Helper()
		files := contents("v2.0.0")
		change(files)
		name := r.archive()
		r.files[name] = pack(t, strings.TrimSuffix(name, ".tar.gz"), files)
		r.sum()
	}
}

// half sends the first half of what the server has, and says that all of it comes.
func half(t *testing.T, r *release) {
	t.Helper()
	body := r.files[r.archive()]
	answers(".tar.gz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(body[:len(body)/2])
	})(t, r)
}

// Whatever a server answers: nothing is changed, and it's said what's wrong.
func TestNothingIsChangedByAWrongAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*testing.T, *release)
		says string
	}{
		"another sum": {func(_ *testing.T, r *release) {
			name := r.archive()
			r.files[name] = append(r.files[name], 0)
		}, "has another sum"},
		"half an archive": {half, "can't be fetched whole"},
		"an archive that ends early and says so": {func(t *testing.T, r *release) {
			t.Helper()
			body := r.files[r.archive()]
			answers(".tar.gz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body[:len(body)/2]) })(t, r)
		}, "has another sum"},
		"no archive":                    {answers(".tar.gz", http.NotFound), "can't be fetched whole"},
		"a page instead of sums":        {answers("checksums.txt", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }), "is a web page"},
		"a page instead of the archive": {answers(".tar.gz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }), "is a web page"},
		"no sums":                       {answers("checksums.txt", http.NotFound), "can't be fetched"},
		"an error":                      {answers("checksums.txt", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }), "can't be fetched"},
		"empty sums":                    {answers("checksums.txt", func(http.ResponseWriter, *http.Request) {}), "has no archive for"},
		"sums that don't end": {answers("checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
			for line := bytes.Repeat([]byte("x"), 1<<16); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}), "can't be fetched"},
		"two archives": {func(_ *testing.T, r *release) {
			r.files["panebridge_3_"+system+".tar.gz"] = []byte("x")
			r.sum()
		}, "has several archives"},
		"a name that leads elsewhere": {func(_ *testing.T, r *release) {
			r.files["checksums.txt"] = []byte(strings.Repeat("0", 64) + "  panebridge_/../../.bashrc_" + system + ".tar.gz\n")
		}, "has no archive for"},
		"a name with a command": {func(_ *testing.T, r *release) {
			r.files["checksums.txt"] = []byte(strings.Repeat("0", 64) + "  panebridge_$(touch${IFS}owned)_" + system + ".tar.gz\n")
		}, "has no archive for"},
		"a sum that's a pattern": {func(_ *testing.T, r *release) {
			r.files["checksums.txt"] = []byte(strings.Repeat("*", 64) + "  " + r.archive() + "\n")
		}, "has no archive for"},
		"no archive at all": {func(_ *testing.T, r *release) {
			r.files[r.archive()] = []byte("a text")
			r.sum()
		}, "can't be unpacked"},
		"no program":           {packed(func(f map[string]entry) { delete(f, "panebridge") }), "has no panebridge"},
		"a link for a program": {packed(func(f map[string]entry) { f["panebridge"] = entry{link: "/bin/sh"} }), "has no panebridge"},
		"no completions":       {packed(func(f map[string]entry) { delete(f, "completions/panebridge.fish") }), "has no completions/panebridge.fish"},
		"a program for another machine": {packed(func(f map[string]entry) {
			f["panebridge"] = entry{text: "\x7fELF\x02\x01\x01", mode: 0o755}
		}), "doesn't run here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for with, was := range map[string]string{"curl": "an older version", "wget": "a new home"} {
				m := newMachine(t, with, "sha256sum")
				if was == "an older version" {
					m.installed("--base-url", publish(t, "v1.0.0", contents("v1.0.0", "-old")).url)
				}
				before := m.files()
				r := publish(t, "v2.0.0", contents("v2.0.0"))
				r.change(t, c.play)
				said, code := m.run("--base-url", r.url)
				if code != 1 || !strings.Contains(said, c.says) {
					t.Errorf("%s, %s: it ended with %d and said, without %q:\n%s", with, was, code, c.says, said)
				}
				if !maps.Equal(before, m.files()) {
					t.Errorf("%s, %s: the home is another: %v instead of %v", with, was, m.files(), before)
				}
			}
		})
	}
}

// Only https is asked, and loopback.
func TestPlainHTTPIsRefused(t *testing.T) {
	asked := publish(t, "v2.0.0", contents("v2.0.0"))
	asked.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("a server was asked for %s", r.URL)
		return false
	}
	m := newMachine(t, "curl", "sha256sum")
	address := strings.TrimPrefix(asked.url, "http://")
	for _, url := range []string{
		"http://example.org", "http://127.0.0.1.example.org/x", "http://127.0.0.1@example.org", "http://localhost:80@example.org", "http://localhost.example.org",
		"http://user@" + address, "ftp://127.0.0.1/x", "file:///etc", "-o/tmp/x", address, "HTTP://" + address,
	} {
		if said, code := m.run("--base-url", url); code != 2 || !strings.Contains(said, "isn't https://") {
			t.Errorf("%s: it ended with %d and said:\n%s", url, code, said)
		}
	}
	for _, version := range []string{"../../x", "v1/../../x", "1 2", "v1;x", "v1?x", "latest..", ".x"} {
		if said, code := m.run("--version", version); code != 2 || !strings.Contains(said, "is no version") {
			t.Errorf("version %s: it ended with %d and said:\n%s", version, code, said)
		}
	}
}

// A server that's asked by https, or on loopback, can't send the script to another kind of address.
func TestARedirectElsewhereIsRefused(t *testing.T) {
	r := publish(t, "v2.0.0", contents("v2.0.0"))
	secret := filepath.Join(t.TempDir(), "checksums.txt")
	if err := os.WriteFile(secret, r.files["checksums.txt"], 0o600); err != nil {
		t.Fatal(err)
	}
	r.change(t, answers("checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "file://"+secret)
		w.WriteHeader(http.StatusFound)
	}))
	for _, with := range []string{"curl", "wget"} {
		m := newMachine(t, with, "sha256sum")
		if said, code := m.run("--base-url", r.url); code != 1 || !strings.Contains(said, "can't be fetched") {
			t.Errorf("%s: it ended with %d and said:\n%s", with, code, said)
		}
	}
}

// What's asked by https comes by https, all the way. Redirects that stay there are followed, as the releases have them.
func TestWhatIsAskedByHTTPSComesByIt(t *testing.T) {
	r := publish(t, "v2.0.0", contents("v2.0.0"))
	var next atomic.Value // where what's asked for leads, the file's name behind it
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := strings.TrimPrefix(req.URL.Path, "/there/")
		if body, ok := r.files[name]; ok {
			_, _ = w.Write(body)
			return
		}
		http.Redirect(w, req, next.Load().(string)+strings.TrimPrefix(req.URL.Path, "/"), http.StatusFound)
	}))
	t.Cleanup(secure.Close)
	certificate := filepath.Join(t.TempDir(), "certificate.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{"curl", "wget"} {
		for to, good := range map[string]bool{"/there/": true, secure.URL + "/there/": true, r.url + "/": false, strings.Replace(r.url, "http", "HTTP", 1) + "/": false} {
			next.Store(to)
			m := newMachine(t, with, "sha256sum")
			m.env = []string{"CURL_CA_BUNDLE=" + certificate}
			if with == "wget" {
				if err := os.WriteFile(filepath.Join(m.home, ".wgetrc"), []byte("ca_certificate = "+certificate+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			said, code := m.run("--base-url", secure.URL)
			if good && code != 0 || !good && (code != 1 || !strings.Contains(said, "can't be fetched") || m.files()[".local/bin/panebridge"] != "") {
				t.Errorf("%s, led to %s: it ended with %d and said:\n%s", with, to, code, said)
			}
		}
	}
}

// A server that says nothing, or nothing more, is given up.
func TestASilentServerIsGivenUp(t *testing.T) {
	if os.Getenv("PANEBRIDGE_STRESS") == "" {
		t.Skip("takes a minute and a half: set PANEBRIDGE_STRESS")
	}
	for _, with := range []string{"curl", "wget"} {
		for _, begins := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, which begins: %t", with, begins), func(t *testing.T) {
				t.Parallel()
				r := publish(t, "v2.0.0", contents("v2.0.0"))
				over := make(chan struct{})
				r.change(t, answers("checksums.txt", func(w http.ResponseWriter, req *http.Request) {
					if begins {
						_, _ = io.WriteString(w, "0123")
						_ = http.NewResponseController(w).Flush()
					}
					select {
					case <-req.Context().Done():
					case <-over:
					}
				}))
				t.Cleanup(func() { close(over) })
				m := newMachine(t, with, "sha256sum")
				if said, code := m.run("--base-url", r.url); code != 1 || !strings.Contains(said, "can't be fetched") {
					t.Errorf("it ended with %d and said:\n%s", code, said)
				}
				if found := m.files(); len(found) > 0 {
					t.Errorf("it made %v", found)
				}
			})
		}
	}
}

// Where the user may not write nothing is changed, and it's said where that is.
func TestAFolderThatIsNotTheUsers(t *testing.T) {
	r := publish(t, "v2.0.0", contents("v2.0.0"))
	for folder, says := range map[string]string{"": "can't be made: nothing was changed", ".local/bin": "can't be written to: nothing was changed"} {
		m := newMachine(t, "curl", "sha256sum")
		for _, needed := range []string{".local/bin", ".local/share/man/man1"} {
			if folder == "" {
				break
			}
			if err := os.MkdirAll(filepath.Join(m.home, needed), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		locked := filepath.Join(m.home, folder)
		if err := os.Chmod(locked, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(locked, 0o755) })
		m.asNobody()
		said, code := m.run("--base-url", r.url)
		if code != 1 || !strings.Contains(said, locked) || !strings.Contains(said, says) {
			t.Errorf("%s: it ended with %d and said:\n%s", locked, code, said)
		}
		if found := m.files(); len(found) > 0 {
			t.Errorf("%s: it made %v", locked, found)
		}
	}
}

// A script that's read from a pipe does nothing of which the end hasn't come, wherever it was cut off.
func TestHalfAScriptDoesNothing(t *testing.T) {
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	r := publish(t, "v2.0.0", contents("v2.0.0"))
	r.answer = func(_ http.ResponseWriter, req *http.Request) bool {
		t.Errorf("it asked for %s", req.URL)
		return false
	}
	var cuts []int
	for at := range text[:len(text)-1] { // the last line's end may be missing
		if at%400 == 0 || at > len(text)-30 {
			cuts = append(cuts, at)
		}
	}
	for _, shell := range []string{"dash", "bash"} {
		m := newMachine(t, "curl", "sha256sum")
		m.shell = shell
		for _, at := range cuts {
			cmd := m.command()
			cmd.Args = cmd.Args[:1]
			cmd.Env = append(cmd.Env, "PANEBRIDGE_BASE_URL="+r.url)
			cmd.Stdin = bytes.NewReader(text[:at])
			_ = cmd.Run() // a syntax error, or nothing
		}
		if found := m.files(); len(found) > 0 {
			t.Errorf("%s: half a script made %v", shell, found)
		}
	}
}
