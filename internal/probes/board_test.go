package probes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/probes"
)

// ask calls a handler, and returns the answer.
func ask(tb testing.TB, h http.Handler, path string) (int, probes.ProbeAnswer, string) {
	tb.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:7334"
	h.ServeHTTP(w, r)
	var v probes.ProbeAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil && path != "/metrics" {
		tb.Fatalf("%s answers %q: %v", path, w.Body, err)
	}
	return w.Code, v, w.Body.String()
}

// A part that never answers again hangs neither answer, and of a vital one the daemon isn't healthy any more.
func TestAHungPartHangsNoAnswer(t *testing.T) {
	for _, vital := range []bool{false, true} {
		t.Run(fmt.Sprintf("vital %v", vital), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				board := probes.NewBoard()
				h := (&probes.Port{Board: board}).Handler()
				code, v, _ := ask(t, h, "/readyz")
				if code != http.StatusServiceUnavailable || v.Faults[0] != (probes.Fault{Part: "daemon", Reason: probes.ReasonStarting}) {
					t.Errorf("before the start it's %d %v", code, v)
				}
				if code, v, _ := ask(t, h, "/healthz"); code != http.StatusOK || v.Faults == nil {
					t.Errorf("before the start it isn't healthy: %d %v", code, v)
				}
				ctx, cancel := context.WithCancel(t.Context())
				hung := make(chan struct{})
				var times atomic.Int32
				done := make(chan error)
				go func() {
					done <- board.Run(ctx, []probes.Check{
						{Part: "well", Vital: true, Ask: func(context.Context) probes.Reason { return "" }},
						{Part: "bad", Vital: vital, Ask: func(context.Context) probes.Reason {
							if times.Add(1) > 2 {
								<-hung // whatever its context says
							}
							return ""
						}},
					})
				}()
				time.Sleep(7 * time.Second)
				for _, path := range []string{"/healthz", "/readyz"} {
					if code, v, _ := ask(t, h, path); code != http.StatusOK {
						t.Errorf("%s is %d %v while all is well", path, code, v)
					}
				}
				time.Sleep(time.Minute)
				want := []probes.Fault{{Part: "bad", Reason: probes.ReasonSilent}}
				if code, v, _ := ask(t, h, "/readyz"); code != http.StatusServiceUnavailable || !slices.Equal(v.Faults, want) {
					t.Errorf("with a hung part /readyz is %d %v", code, v)
				}
				if code, v, _ := ask(t, h, "/healthz"); (code == http.StatusOK) == vital {
					t.Errorf("with a hung part /healthz is %d %v", code, v)
				}
				if n := times.Load(); n != 3 {
					t.Errorf("a part that hangs was asked %d times", n)
				}
				close(hung)
				time.Sleep(6 * time.Second)
				if code, v, _ := ask(t, h, "/readyz"); code != http.StatusOK {
					t.Errorf("when it answers again /readyz is %d %v", code, v)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if code, v, _ := ask(t, h, "/readyz"); code != http.StatusServiceUnavailable || v.Faults[0].Reason != probes.ReasonEnding {
					t.Errorf("at the end it's %d %v", code, v)
				}
			})
		})
	}
}

// Whatever happens to parts, an answer is right about each within 15 s, and of bounded length.
func TestAnswersFollowTheParts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "parts")
		states := make([]int, n) // 0 works, 1 fails, 2 hangs
		vital := rapid.SliceOfN(rapid.Bool(), n, n).Draw(rt, "vital")
		steps := rapid.IntRange(1, 8).Draw(rt, "steps")
		changes := make([][]int, steps)
		for i := range changes {
			changes[i] = rapid.SliceOfN(rapid.IntRange(0, 2), n, n).Draw(rt, "states")
		}
		synctest.Test(t, func(t *testing.T) {
			board := probes.NewBoard()
			var mu sync.Mutex // of states and freed
			freed := make(chan struct{})
			stateOf := func(i int) (int, chan struct{}) {
				mu.Lock()
				defer mu.Unlock()
				return states[i], freed
			}
			var checks []probes.Check
			for i := range n {
				name := fmt.Sprintf("part %d %s", i, strings.Repeat("ü", 300))
				checks = append(checks, probes.Check{Part: name, Vital: vital[i], Ask: func(ctx context.Context) probes.Reason {
					switch state, freed := stateOf(i); state {
					case 1:
						return probes.ReasonFails
					case 2:
						<-freed
					}
					return ""
				}})
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			h := (&probes.Port{Board: board}).Handler()
			go func() { done <- board.Run(ctx, checks) }()
			for _, next := range changes {
				close(freed) // what hung goes on, and is asked again
				synctest.Wait()
				mu.Lock()
				freed = make(chan struct{})
				copy(states, next)
				mu.Unlock()
				time.Sleep(16 * time.Second)
				bad, vitalBad := 0, 0
				for i, s := range states {
					if s != 0 {
						bad++
						if vital[i] {
							vitalBad++
						}
					}
				}
				for path, want := range map[string]int{"/readyz": bad, "/healthz": vitalBad} {
					code, v, text := ask(t, h, path)
					if (code == http.StatusOK) != (want == 0) || v.OK != (want == 0) || len(v.Faults) != min(want, 21) || len(text) > 8000 {
						rt.Fatalf("of %v (vital: %v) %s says %d with %d faults in %d bytes", states, vital, path, code, len(v.Faults), len(text))
					}
				}
			}
			close(freed)
			cancel()
			<-done
		})
	})
}
