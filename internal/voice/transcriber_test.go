package voice_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/voice"
)

// sentences are what's spoken.
var sentences = []string{
	"run the tests again", "what does this function do", "please rename the file to config dot go", "yes", "no, don't do that",
	"look at the last error and mend it", "how many files have changed since yesterday", "write a test that fails first", "stop",
	"commit it with a message that says why", "the second folder", "explain the difference between these two", "go on",
	"make the button larger on a phone", "is the server still running", "delete the branch that was merged", "use the other library",
	"count from one to twenty", "read the documentation of the scheduler", "that's all for today, thank you",
}

// spoken has espeak-ng speak a sentence into a file.
func spoken(tb testing.TB, folder, sentence string) (path string) {
	tb.Helper()
	path = filepath.Join(folder, fmt.Sprintf("%x.wav", sha256.Sum256([]byte(sentence)))[:20]+".wav")
	if out, err := exec.CommandContext(tb.Context(), "espeak-ng", "-w", path, sentence).CombinedOutput(); err != nil {
		tb.Fatalf("make test installs espeak-ng: %v: %s", err, out)
	}
	return path
}

// hashOf is what a recording is known by.
func hashOf(tb testing.TB, path string) string {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if len(content) < 1000 || string(content[:4]) != "RIFF" {
		tb.Fatalf("%s isn't a recording: %d bytes", path, len(content))
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// standIn is a service that knows recordings, and refuses what OpenAI's refuses
// (platform.openai.com/docs/api-reference/audio).
type standIn struct {
	tb    testing.TB
	key   string
	known map[string]string // by hash
	calls atomic.Int64
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	fail := func(status int, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error": {"message": %q, "type": "invalid_request_error"}}`, message)
	}
	if r.Header.Get("Authorization") != "Bearer "+s.key {
		fail(http.StatusUnauthorized, "Incorrect API key provided: "+r.Header.Get("Authorization"))
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/audio/transcriptions" {
		fail(http.StatusNotFound, "Invalid URL")
		return
	}
	if r.ContentLength < 0 || r.ContentLength > 25<<20 {
		fail(http.StatusRequestEntityTooLarge, "Maximum content size limit exceeded")
		return
	}
	file, head, err := r.FormFile("file")
	if err != nil || r.FormValue("model") == "" || filepath.Ext(head.Filename) == "" {
		fail(http.StatusBadRequest, "you must provide a model and a file with an extension")
		return
	}
	content, _ := io.ReadAll(file)
	sum := sha256.Sum256(content)
	text, ok := s.known[hex.EncodeToString(sum[:])]
	if !ok {
		fail(http.StatusBadRequest, "Invalid file format.")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"text": %q, "usage": {"type": "duration", "seconds": 2}}`, text)
}

func serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	server := httptest.NewServer(h)
	tb.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL + "/v1/audio/transcriptions"
}

func keyFile(tb testing.TB, key string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "key")
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func transcriber(tb testing.TB, opt voice.Options) *voice.Transcriber {
	tb.Helper()
	t, err := voice.New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// script writes a program.
func script(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "transcribe")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Sentences that were really spoken come back by both ways, each recording as it is.
func TestSpokenSentencesBecomeText(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	service := &standIn{tb: t, key: "sk-test", known: map[string]string{}}
	recordings := map[string]string{}
	for _, sentence := range sentences {
		path := spoken(t, folder, sentence)
		recordings[sentence] = path
		service.known[hashOf(t, path)] = " " + sentence + "\n"
		if err := os.WriteFile(filepath.Join(folder, hashOf(t, path)+".txt"), []byte("\n  "+sentence+"\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	byCommand := transcriber(t, voice.Options{Command: []string{script(t, `exec cat "`+folder+`/$(sha256sum <"$2" | cut -d' ' -f1).txt"`), "--file", "{}"}})
	byService := transcriber(t, voice.Options{URL: serve(t, service), KeyFile: keyFile(t, "sk-test"), Model: "whisper-1"})
	for sentence, path := range recordings {
		for way, by := range map[string]*voice.Transcriber{"command": byCommand, "service": byService} {
			if got, err := by.Transcribe(t.Context(), path); err != nil || got != sentence {
				t.Errorf("by %s: %q, %v, want %q", way, got, err, sentence)
			}
		}
	}
	if n := service.calls.Load(); n != int64(len(sentences)) {
		t.Errorf("the service was called %d times", n)
	}
}

func TestWhatFailsIsSaid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := spoken(t, folder, "yes")
	large := filepath.Join(folder, "large.ogg")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 30<<20); err != nil {
		t.Fatal(err)
	}
	text := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, text)
		}
	}
	elsewhere := &standIn{tb: t, known: map[string]string{}}
	hangs := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else it doesn't hear that nobody waits any more
		<-r.Context().Done()
	}
	for name, tt := range map[string]struct {
		opt  voice.Options
		path string
		want string
	}{
		"a wrong key":              {voice.Options{URL: serve(t, &standIn{tb: t, key: "another"}), KeyFile: keyFile(t, "sk-test"), Model: "m"}, path, "refused the key (401)"},
		"no key's file":            {voice.Options{URL: serve(t, elsewhere), KeyFile: "/nowhere/key"}, path, "key can't be read"},
		"a service that hangs":     {voice.Options{URL: serve(t, http.HandlerFunc(hangs)), Within: 300 * time.Millisecond}, path, "took longer than 300ms"},
		"nobody there":             {voice.Options{URL: "http://127.0.0.1:1/v1/audio/transcriptions"}, path, "isn't reached"},
		"a page of a proxy":        {voice.Options{URL: serve(t, text("<html>Welcome to the hotel"))}, path, "isn't a transcription"},
		"an answer without text":   {voice.Options{URL: serve(t, text(`{"error": null}`))}, path, "isn't a transcription"},
		"an empty answer":          {voice.Options{URL: serve(t, text(`{"text": " \n"}`))}, path, "nothing was understood"},
		"an answer without end":    {voice.Options{URL: serve(t, text(`{"text": "`+strings.Repeat("a", 2<<20)+`"}`))}, path, "too long"},
		"30 MB":                    {voice.Options{URL: serve(t, elsewhere)}, large, "too large to be transcribed: at most 25 MB"},
		"no model":                 {voice.Options{URL: serve(t, &standIn{tb: t, key: "k"}), KeyFile: keyFile(t, "k")}, path, "refused it (400)"},
		"another place":            {voice.Options{URL: serve(t, http.RedirectHandler(serve(t, elsewhere), http.StatusTemporaryRedirect))}, path, "isn't sent there"},
		"trouble":                  {voice.Options{URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }))}, path, "in trouble (502)"},
		"too many":                 {voice.Options{URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }))}, path, "takes no more for now"},
		"no such program":          {voice.Options{Command: []string{"/nowhere/whisper"}}, path, "can't be run: is it installed?"},
		"a program that fails":     {voice.Options{Command: []string{script(t, "echo loading >&2; echo 'no model \033[31mfound' >&2; exit 3")}}, path, "failed: no model [31mfound"},
		"one that says nothing":    {voice.Options{Command: []string{script(t, "exit 4")}}, path, "failed: exit status 4"},
		"one that hangs":           {voice.Options{Command: []string{script(t, "sleep 100 & sleep 100")}, Within: 300 * time.Millisecond}, path, "took longer than 300ms"},
		"one that writes on":       {voice.Options{Command: []string{script(t, "yes")}, Within: 500 * time.Millisecond}, path, "took longer than 500ms"},
		"one that wrote too much":  {voice.Options{Command: []string{script(t, "head -c 2000000 /dev/zero | tr '\\0' a")}}, path, "wrote more than"},
		"more than is typed":       {voice.Options{Command: []string{script(t, "head -c 10001 /dev/zero | tr '\\0' a")}}, path, "more than the 10000 bytes"},
		"one that wrote blanks":    {voice.Options{Command: []string{script(t, "echo; echo ' '")}}, path, "nothing was understood"},
		"a recording that's gone":  {voice.Options{Command: []string{"cat"}}, filepath.Join(folder, "none"), "no such file"},
		"a key in what it answers": {voice.Options{URL: serve(t, &standIn{tb: t, key: "x"}), KeyFile: keyFile(t, "sk-secret"), Model: "m"}, path, "refused the key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got, err := transcriber(t, tt.opt).Transcribe(t.Context(), tt.path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || got != "" {
				t.Errorf("%q, %v, want %s", got, err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "sk-") || strings.ContainsRune(err.Error(), '\033')) {
				t.Errorf("it says %q", err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	t.Cleanup(func() {
		if n := elsewhere.calls.Load(); n != 0 {
			t.Errorf("%d recordings went where they shouldn't", n)
		}
	})
}

// No control character, nor a mark that turns the direction of what follows, gets out of a recording into a pane.
func TestTextIsOneLine(t *testing.T) {
	t.Parallel()
	path := spoken(t, t.TempDir(), "yes")
	got, err := transcriber(t, voice.Options{Command: []string{script(t, `printf 'a\033[2Jb\r\nc\342\200\256d\000e\tf\377g'`)}}).Transcribe(t.Context(), path)
	if want := "a [2Jb c d e f g"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// Of many at once two are transcribed and four wait; the others hear that it's busy. A program that's killed leaves nothing.
func TestTranscriptionsAreFew(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := spoken(t, folder, "yes")
	by := transcriber(t, voice.Options{Command: []string{script(t, `echo >>"`+folder+`/begun"; sleep 1000 & echo $! >>"`+folder+`/pids"; wait`)}, Within: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	var busy, others atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			switch _, err := by.Transcribe(ctx, path); {
			case errors.Is(err, voice.ErrBusy):
				busy.Add(1)
			case errors.Is(err, context.Canceled):
				others.Add(1)
			default:
				t.Errorf("it ended with %v", err)
			}
		})
	}
	for deadline := time.Now().Add(20 * time.Second); busy.Load() < 14 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	pids := func() []string {
		text, _ := os.ReadFile(filepath.Join(folder, "pids"))
		return strings.Fields(string(text))
	}
	for deadline := time.Now().Add(20 * time.Second); len(pids()) < 2 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	begun := pids()
	cancel()
	all.Wait()
	if busy.Load() != 14 || others.Load() != 6 || len(begun) != 2 {
		t.Errorf("%d were told it's busy, %d ended, %d had begun", busy.Load(), others.Load(), len(begun))
	}
	for _, pid := range begun {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // it dies as soon as it gets a processor
			state, err := os.ReadFile("/proc/" + pid + "/stat")
			if _, rest, _ := strings.Cut(string(state), ") "); err != nil || strings.HasPrefix(rest, "Z") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %s is left: %s", pid, state)
			}
		}
	}
}

// hearing is a service and a command that note the hash of what they hear, and go on when a file is there.
type hearing struct{ heard, goOn string }

func (h hearing) await() {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(h.goOn); err == nil {
			return
		}
	}
}

func (h hearing) serve(tb testing.TB) string {
	tb.Helper()
	return serve(tb, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil {
			tb.Error(err)
			return
		}
		content, _ := io.ReadAll(file)
		notes, err := os.OpenFile(h.heard, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(notes, "%x\n", sha256.Sum256(content))
			err = errors.Join(err, notes.Close())
		}
		if err != nil {
			tb.Error(err)
		}
		h.await()
		_, _ = io.WriteString(w, `{"text": "heard"}`)
	}))
}

func (h hearing) script(tb testing.TB) string {
	tb.Helper()
	return script(tb, `sha256sum <"$1" | cut -d' ' -f1 >>"`+h.heard+`"; for n in $(seq 2000); do [ -e "`+h.goOn+`" ] && break; sleep 0.01; done; echo heard`)
}

// hashes are those of what was heard.
func (h hearing) hashes() []string {
	text, _ := os.ReadFile(h.heard)
	return strings.Fields(string(text))
}

// A session's program may put a link in a recording's place, to what it can't read itself. That isn't heard, also if it's put
// there while the recording waits for others.
func TestALinkInPlaceOfARecordingIsNotHeard(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"command", "service"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			folder, notes := t.TempDir(), t.TempDir()
			h := hearing{filepath.Join(notes, "heard"), filepath.Join(notes, "go-on")}
			opt := voice.Options{Command: []string{h.script(t)}}
			if way == "service" {
				opt = voice.Options{URL: h.serve(t)}
			}
			by, secret := transcriber(t, opt), spoken(t, t.TempDir(), "the secret")
			var all sync.WaitGroup
			for _, sentence := range []string{"yes", "stop"} {
				path := spoken(t, folder, sentence)
				all.Go(func() {
					if got, err := by.Transcribe(t.Context(), path); err != nil || got != "heard" {
						t.Errorf("%q, %v", got, err)
					}
				})
			}
			for deadline := time.Now().Add(20 * time.Second); len(h.hashes()) < 2 && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			path := spoken(t, folder, "go on")
			all.Go(func() { _, _ = by.Transcribe(t.Context(), path) })
			time.Sleep(50 * time.Millisecond) // most likely it waits by now
			exchange(t, path, secret)
			if err := os.WriteFile(h.goOn, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			if got, err := by.Transcribe(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not folders, links") {
				t.Errorf("of a link: %q, %v", got, err)
			}
			if heard := h.hashes(); len(heard) < 2 || slices.Contains(heard, hashOf(t, secret)) {
				t.Errorf("it heard %d recordings: %q", len(heard), heard)
			}
		})
	}
}

// exchange puts a link in a file's place.
func exchange(tb testing.TB, path, target string) {
	tb.Helper()
	if err := errors.Join(os.Remove(path), os.Symlink(target, path)); err != nil {
		tb.Fatal(err)
	}
}

func TestOptionsAreOneWay(t *testing.T) {
	t.Parallel()
	for _, opt := range []voice.Options{{}, {Command: []string{"a"}, URL: "http://x"}} {
		if _, err := voice.New(opt); err == nil {
			t.Errorf("%+v is taken", opt)
		}
	}
}
