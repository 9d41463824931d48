package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// told is a finding as `panebridge doctor --json` prints it.
type told struct{ Check, State, Detail, Fix string }

// doctor configures the bot for some chats and returns what the doctor says of it.
func (w *telegramWorld) doctor(token, more string) []told {
	w.Helper()
	w.configure(token, more)
	return w.examined(token)
}

// examined is the same with the configuration as it is.
func (w *telegramWorld) examined(token string) []told {
	w.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		w.Fatal("no tmux: make test installs it")
	}
	out, _ := w.output(w.command("doctor", "--json"))
	if _, secret, ok := strings.Cut(token, ":"); ok && strings.Contains(out, secret) {
		w.Errorf("the token is shown:\n%s", out)
	}
	var report struct{ Findings []told }
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		w.Fatalf("%v in\n%s", err, out)
	}
	var list []told
	for _, f := range report.Findings {
		if strings.HasPrefix(f.Check, "telegram") {
			list = append(list, f)
		}
	}
	return list
}

func (w *telegramWorld) configure(token, more string) {
	w.Helper()
	path := filepath.Join(w.home, "token")
	if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
		w.Fatal(err)
	}
	w.put("config.yaml", fmt.Sprintf("tmux: {servers: [{socket_path: %q}]}\nadapters:\n  web: {listen: \"127.0.0.1:0\"}\n  telegram:\n    enabled: true\n    api_url: %s\n    token_file: %s\n%s",
		filepath.Join(w.home, "t"), w.api, path, more))
}

func (w *telegramWorld) chats(list ...string) string {
	return "    chats: [" + strings.Join(list, ", ") + "]\n"
}

func chat(id int64, topics bool) string { return fmt.Sprintf("{id: %d, topics: %t}", id, topics) }

// expect checks findings: of each the beginning of CHECK STATE, and something in it.
func (w *telegramWorld) expect(got []told, wants ...told) {
	w.Helper()
	if len(got) != len(wants) {
		w.Errorf("%d findings, want %d:\n%+v", len(got), len(wants), got)
		return
	}
	for i, want := range wants {
		f := got[i]
		if f.Check != want.Check || f.State != want.State || !strings.Contains(f.Detail, want.Detail) || !strings.Contains(f.Fix, want.Fix) || (f.State == "ok") != (f.Fix == "") {
			w.Errorf("finding %d is %+v, want %+v", i, f, want)
		}
	}
}

func TestDoctorLooksAtTheBot(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{Privacy: true})
	flat := w.AddChat(telegramtest.ChatSpec{Title: "flat"}, w.ada)
	weak := w.AddChat(telegramtest.ChatSpec{Title: "weak", Forum: true, BotRights: &telegramtest.Rights{}}, w.ada)
	if _, err := w.ada.Say(w.ada.Private(), "/start"); err != nil {
		t.Fatal(err)
	}
	got := w.doctor(w.Token(), w.chats(chat(w.forum, true), chat(flat, true), chat(flat+1_000_000, false), chat(weak, true), chat(w.ada.ID, true)))
	name := func(id int64) string { return fmt.Sprintf("telegram chat %d", id) }
	w.expect(got,
		told{"telegram", "ok", "@panebridge_bot", ""},
		told{"telegram updates", "ok", "no other program", ""},
		told{name(w.forum), "ok", "may make topics, hears everything", ""},
		told{name(flat), "broken", "topics are off", "Turn Topics on"},
		told{name(flat), "warning", "privacy mode", "/setprivacy"},
		told{name(flat + 1_000_000), "broken", "isn't in the chat", "add @panebridge_bot"},
		told{name(weak), "broken", "may not manage topics", `"Manage Topics"`},
		told{name(w.ada.ID), "broken", "no topics", "Threaded Mode"},
	)
}

func TestDoctorLooksAtTheToken(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	w.expect(w.doctor("7000000001:another-secret-that-nobody-knows", ""), told{"telegram", "broken", "doesn't know the token", "@BotFather"})
	w.expect(w.doctor("no token", ""), told{"telegram", "broken", "doesn't know the token", filepath.Join(w.home, "token")})

	w.configure(w.Token(), "")
	path := filepath.Join(w.home, "token")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	w.expect(w.examined(w.Token()),
		told{"telegram token", "warning", "other users can read", "chmod 600"}, told{"telegram", "ok", "", ""}, told{"telegram updates", "ok", "", ""})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.expect(w.examined(w.Token()), told{"telegram token", "broken", "no such file", "mode 0600"})
	if out, _ := w.output(w.command("doctor")); strings.Count(out, "no such file") != 1 || !strings.Contains(out, "ok       configuration: ") {
		t.Errorf("that the token's file is missing isn't said once:\n%s", out)
	}
	w.api = "http://127.0.0.1:1"
	w.expect(w.doctor(w.Token(), ""), told{"telegram", "broken", "refused", "whether this machine reaches"})
}

// call makes a call as another program with the token would.
func (w *telegramWorld) call(ctx context.Context, what string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.api+"/bot"+w.Token()+"/"+what, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func TestDoctorFindsWhoElseTakesTheUpdates(t *testing.T) {
	t.Parallel()
	w := newTelegramWorld(t, telegramtest.Options{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = w.call(ctx, "getUpdates?timeout=50") // ended again and again
			time.Sleep(10 * time.Millisecond)
		}
	}()
	ok := told{"telegram", "ok", "", ""}
	rival := w.doctor(w.Token(), "")
	stop()
	<-ended
	w.expect(rival, ok, told{"telegram updates", "broken", "409", "End it"})

	if err := w.call(t.Context(), "setWebhook?url=https://other.example/secret-path"); err != nil {
		t.Fatal(err)
	}
	hooked := w.doctor(w.Token(), "")
	w.expect(hooked, ok, told{"telegram updates", "warning", "other.example", "a bot of its own"})
	if strings.Contains(fmt.Sprint(hooked), "secret-path") {
		t.Errorf("the webhook's path is shown: %+v", hooked)
	}
	const hook = "    webhook: {url: \"https://mine.example/x\", listen: \"127.0.0.1:0\"}\n"
	w.expect(w.doctor(w.Token(), hook), ok, told{"telegram updates", "broken", "other.example", "End that program"})
	if err := w.call(t.Context(), "setWebhook?url=https://mine.example/x"); err != nil {
		t.Fatal(err)
	}
	w.expect(w.doctor(w.Token(), hook), ok, told{"telegram updates", "ok", "mine.example", ""})
}
