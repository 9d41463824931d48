package toolview

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/redact"
)

// hider masks secrets. A secret may be told by what stands around it: by its name in the JSON of
// all arguments, by the name of its argument alone, by the lines above and below in a file as it was
// and as it is then. So each is looked at, and what's masked in any is masked in all.
type hider struct {
	masker *redact.Masker // nil: nothing is masked
	masked bool
	found  map[string]bool // what's masked, if it's so long that it isn't anything else by chance
}

// minFound is how many bytes a secret has at least that's masked wherever it stands, and maxFound how
// many of these are known.
const minFound, maxFound = 8, 500

// note notes a secret that was found, each of its lines by itself. In JSON they end in "\n" as it's written there.
func (h *hider) note(secret string) {
	if h.masked = true; h.found == nil {
		h.found = map[string]bool{}
	}
	for line := range strings.SplitSeq(secret, `\n`) {
		if line = strings.TrimSpace(line); len(line) >= minFound && len(h.found) < maxFound {
			h.found[line] = true
		}
	}
}

// sweep masks what was found in one place of a view in all others.
func (h *hider) sweep(v *ToolView) {
	if len(h.found) == 0 {
		return
	}
	longest := slices.SortedFunc(maps.Keys(h.found), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, secret := range longest {
		pairs = append(pairs, secret, redact.Mask{Rest: true}.Text())
	}
	r := strings.NewReplacer(pairs...)
	v.Name, v.Output = r.Replace(v.Name), r.Replace(v.Output)
	for i, f := range v.Input {
		v.Input[i] = InputField{r.Replace(f.Name), r.Replace(f.Text)}
	}
	for i := range v.Files {
		f := &v.Files[i]
		f.Path, f.From = r.Replace(f.Path), r.Replace(f.From)
		for j := range f.Hunks {
			f.Hunks[j].Head = r.Replace(f.Hunks[j].Head)
			for k := range f.Hunks[j].Lines {
				f.Hunks[j].Lines[k].Text = r.Replace(f.Hunks[j].Lines[k].Text)
			}
		}
	}
}

// text is a whole text without secrets. It has as many lines as before.
func (h *hider) text(text string) string {
	if h.masker == nil || text == "" {
		return text
	}
	masks := h.masker.Find([]byte(text))
	if len(masks) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	h.apply(lines, masks)
	return strings.Join(lines, "\n")
}

// field is an argument without secrets, those told by its name included.
func (h *hider) field(f InputField) InputField {
	if h.masker == nil {
		return f
	}
	var all []redact.Mask
	for _, before := range []string{"", f.Name + ": ", f.Name + "=", `"` + f.Name + `": "`} {
		for _, m := range h.masker.Find([]byte(before + f.Text)) {
			if m.Line == 0 {
				m.From, m.To = max(0, m.From-len(before)), m.To-len(before)
			}
			if m.To > 0 {
				all = append(all, m)
			}
		}
	}
	lines := strings.Split(f.Text, "\n")
	h.apply(lines, all)
	return InputField{h.text(f.Name), strings.Join(lines, "\n")}
}

// keyRow is a row that may be from amid a private key, keyEnd what may be its last: of a diff the few rows
// beside a change are shown, and neither of the key's ends needs to be among them. Rows of PEM have
// 64 characters (RFC 7468), OpenSSH's 70, others' 76.
var (
	keyRow = regexp.MustCompile(`^\s*[A-Za-z0-9+/]{60,76}={0,2}\s*$`)
	keyEnd = regexp.MustCompile(`^\s*[A-Za-z0-9+/]{4,76}={0,2}\s*$`)
)

// keyRows are the rows that may be from amid a private key. A digest has letters of one kind.
func keyRows(lines []string) (all []redact.Mask) {
	was := false
	for i, line := range lines {
		isRow := keyRow.MatchString(line) && strings.ToLower(line) != line && strings.ToUpper(line) != line
		if isRow || was && keyEnd.MatchString(line) {
			all = append(all, redact.Mask{Line: i, To: len(line), Name: "private key"})
		}
		was = isRow
	}
	return all
}

// file masks a file's paths and lines.
func (h *hider) file(f *FileDiff) {
	if h.masker == nil {
		return
	}
	f.Path, f.From = h.text(f.Path), h.text(f.From)
	var lines []*DiffLine
	for i := range f.Hunks {
		f.Hunks[i].Head = h.text(f.Hunks[i].Head)
		for j := range f.Hunks[i].Lines {
			lines = append(lines, &f.Hunks[i].Lines[j])
		}
	}
	var all []redact.Mask
	for _, without := range []string{"+", "-", ""} { // as it was, as it is then, and as it's shown
		var rows []string
		var at []int // of each row in lines
		for i, l := range lines {
			if l.Op != without {
				rows, at = append(rows, l.Text), append(at, i)
			}
		}
		for _, m := range h.masker.Find([]byte(strings.Join(rows, "\n"))) {
			m.Line = at[m.Line]
			all = append(all, m)
		}
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	h.apply(texts, append(all, keyRows(texts)...))
	for i, l := range lines {
		l.Text = texts[i]
	}
}

// MaskDiff is a unified diff without secrets: those of the file as it was and as it's to be, too, which signs part.
// It has as many lines as before. A masker that's nil masks nothing.
func MaskDiff(m *redact.Masker, diff string) string {
	if m == nil {
		return diff
	}
	h, rows := hider{masker: m}, strings.Split(diff, "\n")
	hunk := DiffHunk{Lines: make([]DiffLine, len(rows))}
	for i, row := range rows {
		if row != "" && row[0] < utf8.RuneSelf {
			hunk.Lines[i] = DiffLine{Op: row[:1], Text: row[1:]}
		} else {
			hunk.Lines[i].Text = row
		}
	}
	v := ToolView{Files: []FileDiff{{Hunks: []DiffHunk{hunk}}}}
	h.file(&v.Files[0])
	h.sweep(&v)
	for i, l := range v.Files[0].Hunks[0].Lines {
		rows[i] = l.Op + l.Text
	}
	return h.text(strings.Join(rows, "\n"))
}

// apply puts masks into lines; those that overlap become one.
func (h *hider) apply(lines []string, masks []redact.Mask) {
	for _, m := range masks {
		line := lines[m.Line]
		if to := min(m.To, len(line)); m.From < to {
			h.note(line[m.From:to])
		}
	}
	slices.SortStableFunc(masks, func(a, b redact.Mask) int {
		return cmp.Or(a.Line-b.Line, a.From-b.From, b.To-a.To)
	})
	for i := len(masks) - 1; i >= 0; {
		m, first := masks[i], i
		for j := i - 1; j >= 0 && masks[j].Line == m.Line; j-- { // a mask before may reach behind this one
			if masks[j].To > m.From {
				first = j
				to := max(m.To, masks[j].To)
				m = masks[j]
				m.To = to
			}
		}
		line := lines[m.Line]
		if to := min(m.To, len(line)); m.From < to {
			lines[m.Line] = line[:m.From] + m.Text() + line[to:]
		}
		i = first - 1
	}
}
