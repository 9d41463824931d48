package app_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// A program that asks before it has printed a whole line rings within 3 s, in a topic and a
// thread that are made for that.
func checkFirstQuestionRings(t *testing.T) {
	t.Helper()
	r := newStandinRig(t)
	r.await("the gateway", func() bool { return r.discord.Gateways() == 1 })
	dir := t.TempDir()
	_, err := r.api.NewSession(r.ctx(), api.Create{Name: "early", Cwd: dir, Command: []string{"sh", "-c", `sleep 1; date +%s.%N >drawn; printf 'Delete all? [y/N] '; read -r x; sleep 60`}})
	if err != nil {
		t.Fatal(err)
	}
	var rang []time.Time
	r.await("the messages", func() bool {
		tele, ok := r.teleRing("early")
		disc, also := r.discRing("early")
		if rang = []time.Time{tele.At, disc.At}; ok && also && (!tele.Rang || !disc.Rang) {
			t.Fatalf("they don't ring: %+v, %+v", tele, disc)
		}
		return ok && also
	})
	drawn := timeIn(t, filepath.Join(dir, "drawn"))
	for _, at := range rang {
		if took := at.Sub(drawn); took > 3*time.Second {
			t.Errorf("it rang %s after it was drawn", took)
		}
	}
}
