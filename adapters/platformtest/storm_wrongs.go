package platformtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// AnsweredFate is what happens to a call that never arrives, and gets an answer.
func AnsweredFate(a *faults.Answer) func(*rand.Rand) (faults.Fate, time.Duration) {
	return func(*rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Lost: true, Answer: a}, 0 }
}

// CommonWrongs are what goes wrong on each platform: what networks do, and proxies. odd are
// answers that are none to what was asked.
func CommonWrongs(odd []faults.Answer) []Wrong {
	page := func(status int) *faults.Answer {
		return &faults.Answer{Status: status, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>no</html>"}
	}
	maybe := func(f faults.Fate) func(*rand.Rand) (faults.Fate, time.Duration) {
		return func(r *rand.Rand) (faults.Fate, time.Duration) {
			f.Lost = r.IntN(2) == 0 // before the effect, or after it
			return f, 0
		}
	}
	slow := func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(25000)) * time.Millisecond }
	return []Wrong{
		{Name: "internal error", Lasts: true, Draw: maybe(faults.Fate{Answer: page(http.StatusInternalServerError)})},
		{Name: "bad gateway", Lasts: true, Draw: maybe(faults.Fate{Answer: page(http.StatusBadGateway)})},
		{Name: "a proxy's no", Lasts: true, Draw: AnsweredFate(page(http.StatusForbidden))},
		{Name: "reset", Lasts: true, Draw: maybe(faults.Fate{End: faults.Reset})},
		{Name: "half an answer", Draw: maybe(faults.Fate{End: faults.Half})},
		{Name: "slow there", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Here: slow(r)}, 0 }},
		{Name: "slow back", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) { return faults.Fate{Back: slow(r)}, 0 }},
		{Name: "an odd answer", Lasts: true, Draw: func(r *rand.Rand) (faults.Fate, time.Duration) {
			return faults.Fate{Lost: r.IntN(2) == 0, Answer: &odd[r.IntN(len(odd))]}, 0
		}},
	}
}

// Silence is an order of silence for up to 20 s, now and then for up to ten minutes. forms are
// its forms for so many seconds; the orders of timeless don't say for how long, which counts as a
// second.
func Silence(forms func(n int) []*faults.Answer, timeless ...*faults.Answer) Wrong {
	return Wrong{Name: "silence", Draw: func(r *rand.Rand) (faults.Fate, time.Duration) {
		n := 1 + r.IntN(20)
		if r.IntN(20) == 0 {
			n = 1 + r.IntN(600)
		}
		all := forms(n)
		i := r.IntN(len(all) + len(timeless))
		if i >= len(all) {
			return faults.Fate{Lost: true, Answer: timeless[i-len(all)]}, time.Second
		}
		return faults.Fate{Lost: true, Answer: all[i]}, time.Duration(n+1) * time.Second
	}}
}

// Changed are answers in which something is wrong: fields that aren't there or are of another
// type, lists for objects, numbers as texts. result is the field that has what was asked for; "":
// the whole answer is that. sparing are fields that keep as they are: without them the answer
// tells something else. Of what's read only the whole has another shape: what a change of a part
// hides, nobody tells again.
func Changed(result string, sparing ...string) []Wrong {
	draw := func(parts bool) func(*rand.Rand) (faults.Fate, time.Duration) {
		return func(r *rand.Rand) (faults.Fate, time.Duration) {
			m := mutation{random: rand.New(rand.NewPCG(r.Uint64(), 8)), sparing: sparing, parts: parts}
			return faults.Fate{Change: func(body []byte) []byte { return m.change(body, result) }}, 0
		}
	}
	return []Wrong{
		{Name: "a changed answer", Fits: func(c StormCall) bool { return !c.Reads }, Draw: draw(true)},
		{Name: "a reading of another shape", Fits: func(c StormCall) bool { return c.Reads }, Draw: draw(false)},
	}
}

// mutation changes one answer.
type mutation struct {
	random  *rand.Rand
	sparing []string
	parts   bool // of objects, too
}

// change returns a body with a change of what's in its field result. What's no JSON stays, and so
// does a refusal.
func (m *mutation) change(body []byte, result string) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var whole any
	if d.Decode(&whole) != nil {
		return body
	}
	changed := whole
	of, ok := whole.(map[string]any)
	if ok && of["code"] != nil && of["message"] != nil {
		return body
	}
	if ok && result != "" {
		if of[result] == nil {
			return body
		}
		of[result] = m.value(of[result])
	} else {
		changed = m.value(whole)
	}
	out, err := json.Marshal(changed)
	if err != nil {
		return body
	}
	return out
}

// value is a value with something wrong.
func (m *mutation) value(v any) any {
	of, isObject := v.(map[string]any)
	switch n := m.random.IntN(6); {
	case n == 0:
		return []any{v}
	case n == 1:
		return nil
	case n == 2:
		return inTexts(v)
	case !isObject || !m.parts:
		return strconv.Itoa(n)
	default:
		return m.object(of)
	}
}

// object is an object of which one field isn't there, is null or of another type; ids more often
// than others.
func (m *mutation) object(of map[string]any) any {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(k string) bool { return slices.Contains(m.sparing, k) })
	if len(keys) == 0 {
		return of
	}
	key := keys[m.random.IntN(len(keys))]
	for _, id := range []string{"id", "message_id"} {
		if _, ok := of[id]; ok && m.random.IntN(2) == 0 {
			key = id
		}
	}
	changed := maps.Clone(of)
	switch inner, ok := of[key].(map[string]any); {
	case ok && m.random.IntN(2) == 0:
		changed[key] = m.object(inner)
	case m.random.IntN(3) == 0:
		delete(changed, key)
	default:
		changed[key] = []any{nil, true, 7.5, "x", []any{}, map[string]any{}}[m.random.IntN(6)]
	}
	return changed
}

// inTexts is a value whose numbers are texts.
func inTexts(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = inTexts(x)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = inTexts(x)
		}
		return out
	default:
		return v
	}
}

// sayAfter is how long an outage may last until a person is told.
const sayAfter = 11 * time.Second

// outage has one thing go wrong with all calls for a while in which the session prints, and wants
// a person to be told if that lasts.
func (s *storm) outage() {
	s.Helper()
	if deafs := s.Deafs(); len(deafs) > 0 && s.random.IntN(2) == 0 {
		s.deafen(deafs[s.random.IntN(len(deafs))])
		return
	}
	var wrongs []Wrong
	for _, w := range s.Wrongs() {
		if w.Lasts {
			wrongs = append(wrongs, w)
		}
	}
	w := wrongs[s.random.IntN(len(wrongs))]
	draws := rand.New(rand.NewPCG(s.random.Uint64(), 9))
	var since time.Time // that a call failed that shows something of the session
	s.note("an outage: %s", w.Name)
	s.SetFates(func(c StormCall) faults.Fate {
		s.mu.Lock()
		defer s.mu.Unlock()
		f, _ := w.Draw(draws)
		f.Lost = true
		if since.IsZero() && c.Place != "" && (c.Kind == "post" || c.Kind == "edit") {
			since = time.Now()
		}
		s.mark(c, f, false)
		return f
	})
	s.print(s.guest())
	s.Office().Pass(time.Duration(15+s.random.IntN(45)) * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := time.Since(since); !since.IsZero() && d > sayAfter && !s.Office().Rests() && s.Office().Wrong() == "" {
		s.Errorf("all calls fail for %s (%s), and nobody is told", d, w.Name)
	}
}

// deafen has nothing come that people write for a while, and wants a person to be told if that
// lasts.
func (s *storm) deafen(state StormState) {
	s.Helper()
	s.note("nothing comes: %s", state.Name)
	s.forgets = s.forgets || state.Forgets
	s.SetFates(nil) // at once: a silence that's ordered from now on would hide what's to be said
	says := state.Says
	s.mu.Lock()
	if s.Office().Wrong() != "" || time.Now().Before(s.silent) || time.Now().Before(s.slow) {
		says = "" // it rests from what was wrong before, or hasn't asked yet
	}
	s.mu.Unlock()
	if err := state.Enter(); err != nil {
		s.Error(err)
	}
	s.print(s.guest())
	s.write()
	for range 2 {
		s.slash()
		s.push()
		s.Office().Pass(sayAfter)
		if h := s.Office().Wrong(); !strings.Contains(h, says) || h == "" && !time.Now().Before(s.broken) {
			s.Errorf("nothing comes for %s (%s), and what's said is %q, want %q", sayAfter, state.Name, h, says)
		}
		s.Office().Pass(time.Duration(s.random.IntN(20)) * time.Second)
	}
	s.note("it comes again")
	if err := state.Leave(); err != nil {
		s.Error(err)
	}
	s.orderRest(state.Rest)
}

// jolt disturbs the way on which updates come, until settle is called.
func (s *storm) jolt() (settle func()) {
	j := s.Jolt(s.random)
	s.note("a jolt: %s", j.Name)
	s.forgets = s.forgets || j.Forgets
	return func() {
		if j.Settle != nil {
			s.note("no more: %s", j.Name)
			j.Settle()
		}
		s.orderRest(j.Rest)
		if until := time.Now().Add(j.Rest); until.After(s.broken) {
			s.broken = until
		}
	}
}

// orderRest has what's to be there then be waited for so much longer.
func (s *storm) orderRest(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := time.Now().Add(d); until.After(s.silent) {
		s.silent = until
	}
}
