package polling_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
)

// slow marks a test that waits for real programs for more than a second or two, which
// -short leaves out.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what takes more than a second or two")
	}
}

// A flood that tmux can't keep: what's missing is announced, where it's
// missing, and nothing comes twice.
func TestFloodLosesNothingSilently(t *testing.T) {
	slow(t)
	n := 200_000
	if drawtest.Stressed() {
		n = 1_000_000
	}
	for _, limit := range []int{200, 2000, 20000} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			p := newPane(t, fmt.Sprintf("seq 1 %d", n)+drain, "80x24", polling.Options{Cadence: 100 * time.Millisecond}, "history-limit="+strconv.Itoa(limit))
			p.awaitEnd()
			missing, gaps := checkNumbers(t, p, n)
			t.Logf("limit %d: %d of %d lines missing, %d gaps", limit, missing, n, gaps)
		})
	}
}

// checkNumbers wants the numbers 1 … n: each once, in order, and wherever some
// are missing a gap that claims no more than that.
func checkNumbers(t *testing.T, p *pane, n int) (missing, gaps int) {
	t.Helper()
	claimed := map[int64]int64{} // behind line → at least
	has := map[int64]bool{}
	for _, g := range p.log.gaps {
		claimed[g.After] += g.AtLeast
		has[g.After] = true
	}
	prev, bad := 0, 0
	var after int64
	var claim int64
	gap := false
	check := func(next int, at int64) {
		lost := next - prev - 1
		switch {
		case lost < 0:
			t.Errorf("line %d: %d comes after %d: twice or out of order", at, next, prev)
			bad++
		case lost > 0 && !gap:
			t.Errorf("line %d: %d…%d are missing without a gap", at, prev+1, next-1)
			bad++
		case claim > int64(max(lost, 0)):
			t.Errorf("line %d: the gap claims %d, missing are %d", at, claim, lost)
			bad++
		}
		missing += max(lost, 0)
		claim, gap = 0, false
	}
	collect := func() { claim += claimed[after]; gap = gap || has[after] }
	collect()
	for _, l := range p.log.lines {
		if num, err := strconv.Atoi(l.Text); err == nil {
			check(num, l.N)
			prev = num
		}
		after = l.N
		collect()
		if bad > 5 {
			t.FailNow()
		}
	}
	check(n+1, after)
	return missing, len(p.log.gaps)
}

// A printer that is paced by the polls, so that tmux keeps all: nothing is
// missing, nothing comes twice, and there's no gap, over many rollovers, with
// blank and repeated lines in between.
func TestNothingMissingOverRollovers(t *testing.T) {
	t.Parallel()
	lines := 10_000
	if drawtest.Stressed() {
		lines = 60_000
	}
	var want []string
	for i := 1; len(want) < lines; i++ {
		want = append(want, strconv.Itoa(i))
		if i%7 == 0 {
			want = append(want, "")
		}
		if i%11 == 0 {
			want = append(want, "again", "again", "again")
		}
	}
	// The printer prints 900 lines for each line it reads.
	script := `n=1; echo "ready 0"; while read x; do for j in $(seq 900); do echo $n; [ $((n%7)) = 0 ] && echo; [ $((n%11)) = 0 ] && { echo again; echo again; echo again; }; n=$((n+1)); done; echo "ready $x"; done; exit 3`
	p := newPane(t, "stty -echo; exec sh -c '"+script+"'", "80x24", polling.Options{Cadence: 100 * time.Millisecond}, "history-limit=2000")
	p.awaitLine("ready 0")
	done := 0
	for round := 1; done < lines; round++ {
		p.typeLine(strconv.Itoa(round))
		p.awaitLine("ready " + strconv.Itoa(round))
		done = len(p.log.text())
	}
	p.tmux("send-keys", "-t", p.id, "C-d")
	p.awaitEnd()
	got := slices.DeleteFunc(p.log.text(), func(l string) bool { return len(l) > 6 && l[:6] == "ready " })
	for i, g := range got {
		if i >= len(want) {
			break
		}
		if g != want[i] {
			t.Fatalf("line %d is %q, want %q", i+1, g, want[i])
		}
	}
	if len(p.log.gaps) > 0 {
		t.Errorf("gaps: %v", p.log.gaps)
	}
	t.Logf("%d lines over %d rollovers, 0 missing, 0 twice, 0 gaps", len(got), (len(got)-2000)/200)
}
