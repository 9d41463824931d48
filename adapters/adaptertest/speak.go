package adaptertest

import (
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
)

// Block is a block of an agent's transcript.
type Block struct {
	Kind sessions.Kind
	Text string
	Ends bool // the turn ends with it
}

// Status is what the program of a session that speaks says it's doing.
const Status = "✢ Osmosing… (3s · ↓ 28 tokens)"

// Speak has a session do what a known agent does: what it answers is on its screen, bit
// by bit and without its markup, before the whole block is in the log. pass lets time
// pass.
func (h *House) Speak(id sessions.ID, blocks []Block, pass func(time.Duration)) error {
	for _, b := range blocks {
		if b.Kind == sessions.KindAnswer {
			if err := h.write(id, b.Text, pass); err != nil {
				return err
			}
		}
		region := &sessions.Live{Rows: []string{"❯ "}, Known: true, Status: Status}
		if b.Ends {
			region.Status = ""
		}
		o := Output{Lines: strings.Split(b.Text, "\n"), Kind: b.Kind, Begins: true, Ends: b.Ends, Known: region}
		if err := h.Print(id, o); err != nil {
			return err
		}
		pass(2 * time.Second)
	}
	return nil
}

// write shows an answer on the screen, until all of it is there.
func (h *House) write(id sessions.ID, text string, pass func(time.Duration)) error {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimLeft(strings.NewReplacer("`", "", "**", "").Replace(row), "#> ")
	}
	const steps = 8
	for i := range steps {
		shown := rows[:len(rows)*(i+1)/steps]
		shown = shown[max(0, len(shown)-30):] // what the screen holds
		region := &sessions.Live{Rows: append(shown, "❯ "), Known: true, Writing: shown, Status: Status}
		if err := h.Print(id, Output{Known: region}); err != nil {
			return err
		}
		pass(1500 * time.Millisecond)
	}
	return nil
}

// Letters counts what can be read of texts, whatever they look like, but for what
// panebridge and the program say of themselves.
func Letters(texts ...string) int {
	n := 0
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if line == Status || ending.MatchString(line) {
				continue
			}
			for _, r := range line {
				if unicode.IsLetter(r) {
					n++
				}
			}
		}
	}
	return n
}

// WithoutEndings are texts without the lines that say that a turn has ended.
func WithoutEndings(texts []string) string {
	var out strings.Builder
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if !ending.MatchString(line) {
				out.WriteString(line + "\n")
			}
		}
	}
	return out.String()
}
