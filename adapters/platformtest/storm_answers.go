package platformtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

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
