package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/qosbench"
	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
)

func TestWhatADaemonsSchedulerDoesIsRecordedUntilAReloadEndsIt(t *testing.T) {
	slow(t)
	platform := adaptertest.NewPlatform(adaptertest.Options{})
	platform.AddGroup("-100", false)
	d := newDaemon(t)
	d.stop()
	d.adapters = func() []adapters.Adapter {
		return []adapters.Adapter{&adaptertest.Adapter{Conn: platform.Connect(), Named: "telegram", Chats: []string{"-100"}}}
	}
	d.file = filepath.Join(d.dir, "config.yaml")
	write := func(days string) {
		d.write(`
adapters: {web: {enabled: false}, telegram: {qos: {record_days: ` + days + `}}}
polling: {output_cadence_s: 0.1}
mirrors: [{session: "agent-*", to: "telegram:-100"}]
`)
	}
	write("2")
	var err error
	if d.cfg, err = all.Form().Load(d.file, os.LookupEnv); err != nil {
		t.Fatal(err)
	}
	d.start()
	files := func() []string {
		found, err := filepath.Glob(filepath.Join(d.dir, "state", qostrace.Folder, "telegram-*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent-secret", Command: []string{"sh", "-c", `for i in 1 2 3 4 5 6 7 8; do echo "a private line $i"; sleep 0.7; done; exec cat`}}); err != nil {
		t.Fatal(err)
	}
	shows := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(platform.Seen("-100", ""), func(m adaptertest.Message) bool { return strings.Contains(m.Text, text) })
		}
	}
	d.await("the last line", shows("line 8"))
	write("0")
	if _, err := d.api.Reload(d.ctx()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent-later", Command: []string{"sh", "-c", "echo later; exec cat"}}); err != nil {
		t.Fatal(err)
	}
	d.await("a later session's line", shows("later"))
	d.stop()
	if len(files()) == 0 {
		t.Fatal("nothing is recorded")
	}
	for _, path := range files() {
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, mode %v", path, err, statErr, info.Mode())
		}
		for _, secret := range []string{"private line", "agent-secret", "-100"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("the recording has %q", secret)
			}
		}
	}
	rec, err := qostrace.ReadFiles(files()...)
	if err != nil {
		t.Fatal(err)
	}
	docs := map[qos.DocID]bool{}
	for _, c := range qosbench.RecordedCalls(rec) {
		docs[c.Call.Doc] = true
	}
	if len(docs) != 1 {
		t.Errorf("calls for %d documents are recorded, want those of the one before the reload", len(docs))
	}
	_, same, err := qosbench.ReplayRecording(rec, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", same) // how far apart they are is the machine's
	if same.Recorded == 0 || same.Same == 0 {
		t.Errorf("the replay is far from the recording: %+v", same)
	}
}
