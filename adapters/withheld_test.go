package adapters_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// withheldLines are notices of lines that are shown nowhere.
var withheldLines = regexp.MustCompile(`\[(\d+) lines? (?:isn't|aren't) shown`)

// What a platform refuses for its words holds up nothing: it comes as a file, or is counted in a
// notice, all other lines come once, and each turn's end rings.
func TestRefusedWordsHoldUpNothing(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(300, 300, 60)) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			random := rand.New(rand.NewPCG(seed, 4))
			filesToo := random.IntN(3) == 0
			for _, p := range r.platforms {
				p.SetRefuse(func(c adaptertest.Call) string {
					text := c.Text
					if filesToo {
						text += string(c.Data)
					}
					if strings.Contains(text, "forbidden") {
						return "blocked by a rule"
					}
					return ""
				})
			}
			r.form = adapters.Shape{MaxLen: 600, MaxFile: []int{0, 1 << 20}[random.IntN(2)], MaxCaption: []int{0, 500}[random.IntN(2)], LiveRows: random.IntN(2) * 5}
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.start()
			r.begin("pb_1", "agent")
			turns, lines := 1+random.IntN(4), []string{}
			for range turns {
				var out adaptertest.Output
				for range 1 + random.IntN(12) {
					text := fmt.Sprintf("line %d", len(lines))
					if random.IntN(5) == 0 {
						text += " forbidden"
					}
					if random.IntN(10) == 0 {
						text += strings.Repeat(" x", 200)
					}
					lines = append(lines, text)
					out.Lines = append(out.Lines, text)
				}
				out.Ends = true
				r.must(r.house.Print("pb_1", out))
				r.pass(time.Duration(random.IntN(60)) * time.Second)
			}
			r.pass(time.Hour)
			checkWithheld(t, r, lines, turns)
			if t.Failed() {
				t.Fatalf("seed %d: files %d, captions %d, files too %v", seed, r.form.MaxFile, r.form.MaxCaption, filesToo)
			}
		})
	}
}

func checkWithheld(t *testing.T, r *rig, lines []string, turns int) {
	t.Helper()
	withheld, rings := 0, 0
	seen := map[string]int{}
	for _, m := range r.platforms["a"].Seen("-1", "") {
		for _, found := range withheldLines.FindAllStringSubmatch(m.Text, -1) {
			n, _ := strconv.Atoi(found[1])
			withheld += n
		}
		all := strings.Split(m.Text, "\n")
		if len(m.Data) > 0 {
			all = strings.Split(string(m.Data), "\n")
		}
		for _, text := range all {
			seen[strings.TrimSpace(text)]++
		}
		if m.Rang {
			rings++
		}
	}
	missing := 0
	for _, line := range lines {
		if len(line) > 500 { // cut in two where there's no file
			continue
		}
		n := seen[line]
		if n > 1 || n == 0 && r.form.MaxFile > 0 && !strings.Contains(line, "forbidden") && withheld == 0 {
			t.Errorf("%.40q is shown %d times", line, n)
		}
		if n == 0 {
			missing++
		}
	}
	if missing > withheld {
		t.Errorf("%d lines are shown nowhere, and notices count %d", missing, withheld)
	}
	if rings == 0 || rings > turns {
		t.Errorf("%d rings in %d turns", rings, turns)
	}
	if st := r.hub.Status(sessions.ID("pb_1")); st[0].Binding.Disabled != "" {
		t.Errorf("the mirror has stopped: %s", st[0].Binding.Disabled)
	}
}

// Where what stands beside a file is refused, its last lines or the answer's first words, the
// file comes without them.
func TestWhatStandsBesideAFileIsRefusedAlone(t *testing.T) {
	for name, caption := range map[string]int{"lines": 500, "words": 0} {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			for _, p := range r.platforms {
				p.SetRefuse(func(c adaptertest.Call) string {
					if strings.Contains(c.Text, "forbidden") {
						return "blocked by a rule"
					}
					return ""
				})
			}
			r.form = adapters.Shape{MaxLen: 600, MaxFile: 1 << 20, MaxCaption: caption}
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
			r.start()
			r.begin("pb_1", "agent")
			lines := []string{"It is a forbidden word that it begins with."}
			for i := range 100 {
				lines = append(lines, fmt.Sprintf("line %d of many more lines than a message holds", i))
			}
			if name == "lines" {
				lines = append(lines, "forbidden")
			}
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: lines, Kind: sessions.KindAnswer, Begins: true, Ends: true}))
			r.pass(time.Minute)
			all := r.platforms["a"].Seen("-1", "")
			if len(all) == 0 || !strings.Contains(string(all[0].Data), "forbidden") || !all[len(all)-1].Rang {
				t.Errorf("%s: the chat shows %+v", name, all)
			}
		})
	}
}
