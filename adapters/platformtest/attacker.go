package platformtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Object is one of JSON.
type Object = map[string]any

// Attacker is what those have in common who make updates that should change nothing, and
// now and then one of the boss's, which should.
type Attacker struct {
	*rand.Rand
	Next int64 // the number of the newest update
	// What the boss has written, in order, and how many files the boss sent.
	Honest []string
	Files  int64
}

// NewAttacker returns one who does the same each time.
func NewAttacker() Attacker { return Attacker{Rand: rand.New(rand.NewPCG(1, 2))} }

// Pick is one of a list.
func (a *Attacker) Pick(list ...any) any { return list[a.IntN(len(list))] }

// Text is what somebody may write to do harm on any platform, or one of more.
func (a *Attacker) Text(more ...any) any {
	return a.Pick(append(more,
		"rm -rf /", "/new claude", "/close", "/keys C-c", "//x", "", "\x00\x1b[31m\u202e", strings.Repeat("😀", 2000), "/send ../../etc/passwd",
	)...)
}

// FileName is what somebody may call a file to do harm.
func (a *Attacker) FileName() any {
	return a.Pick("../../../../tmp/x", "..", "/etc/passwd", "C:\\x", ".bashrc", "\x00", strings.Repeat("x", 5000), "a/../../b", "-rf", "$(reboot)", "con\u202etxt.exe")
}

// Button is what a forged button may carry.
func (a *Attacker) Button() any {
	return a.Pick("o:0123456789abcdef", "o:"+fmt.Sprintf("%016x", a.Uint64()), "o:", "approve", strings.Repeat("x", 100_000), "o:' OR 1=1 --")
}

// Wish is the boss's next text, and whether a file comes with it.
func (a *Attacker) Wish() (text string, file bool) {
	text = fmt.Sprintf("wish %d", a.Next)
	a.Honest = append(a.Honest, text)
	if file = a.IntN(4) == 0; file {
		a.Files++
	}
	return text, file
}

// Distorted changes a value somewhere in the tree of an update into one of another kind, or
// into text.
func (a *Attacker) Distorted(v, text any) any {
	switch x := v.(type) {
	case Object:
		if keys := slices.Sorted(maps.Keys(x)); len(keys) > 0 && a.IntN(20) > 0 {
			k := keys[a.IntN(len(keys))]
			x[k] = a.Distorted(x[k], text)
			return x
		}
	case []any:
		if len(x) > 0 && a.IntN(20) > 0 {
			i := a.IntN(len(x))
			x[i] = a.Distorted(x[i], text)
			return x
		}
	}
	return a.Pick(nil, true, -1, 0, 1e300, int64(1)<<62, "", strings.Repeat("[", 100_000), []any{}, Object{}, nested(2000), "\x00", "../../x", text, []any{nil, nil})
}

func nested(depth int) any {
	var v any
	for range depth {
		v = []any{v}
	}
	return v
}
