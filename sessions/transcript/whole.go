package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// maxWhole is how many bytes of a call's arguments, of a result's text and of what it changed are
// kept at most.
const maxWhole = 64 << 10

// maxHole is how long the line is at most that says how much is left out.
const maxHole = 64

// setResult puts what a tool returned into its record: all of it, and in short. A status other than 0
// stands before it, and says that the tool failed.
func (r *Record) setResult(said string, status int) {
	said = withoutNotices(said)
	r.Whole = cleanText(withoutMiddle(strings.Trim(said, "\r\n"), maxWhole))
	if len(r.Whole) > maxWhole { // it had bytes that aren't UTF-8
		r.Whole = withoutMiddle(r.Whole, maxWhole)
	}
	if r.Text = shortOrNone(said); status != 0 {
		head := "exit status " + strconv.Itoa(status) + "\n"
		r.Text, r.Whole, r.Failed = head+r.Text, head+r.Whole, true
	}
}

// withoutMiddle is a text's own copy; of one that has more than most bytes its beginning and its end,
// with a line between that says how much is left out. It's cut between lines, so that no secret is:
// only whole ones are known again. A line of many bytes is cut at a blank, and dropped if it has none.
func withoutMiddle(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	half := max(0, most-maxHole) / 2
	head := text[:half]
	if at := strings.LastIndexByte(head, '\n'); at >= half/2 {
		head = head[:at]
	} else {
		head = head[:max(0, strings.LastIndexAny(head, " \t\n"))]
	}
	tail := text[len(text)-half:]
	if at := strings.IndexByte(tail, '\n'); at >= 0 && at < half/2 {
		tail = tail[at+1:]
	} else if at := strings.IndexAny(tail, " \t\n"); at >= 0 {
		tail = tail[at+1:]
	} else {
		tail = ""
	}
	return strings.Trim(fmt.Sprintf("%s\n[… %s left out …]\n%s", head, plural(len(text)-len(head)-len(tail), "byte"), tail), "\n")
}

// wholeArgs are all arguments of a call as JSON, in their own copy. Of those that are too long, the
// middle of long texts is left out.
func wholeArgs(args gjson.Result) string {
	switch {
	case !args.Exists() && args.Str == "":
		return ""
	case args.Raw == "": // a text that was made here
		args.Raw = string(appendText(nil, args.Str))
	}
	if len(args.Raw) <= maxWhole {
		if all := own(args.Raw); len(all) <= maxWhole {
			return all
		}
	}
	for _, most := range []int{maxWhole * 7 / 8, maxWhole / 2, maxWhole / 8, maxWhole / 64, maxWhole / 512} {
		if cut := own(string(appendCut(nil, args, most))); len(cut) <= maxWhole {
			return cut
		}
	}
	return string(appendText(nil, fmt.Sprintf("[… %s left out …]", plural(len(args.Raw), "byte"))))
}

// appendCut writes a JSON value in whose texts the middle is left out beyond so many bytes.
func appendCut(out []byte, v gjson.Result, most int) []byte {
	switch {
	case v.Type == gjson.String && len(v.Str) > most:
		return appendText(out, withoutMiddle(v.Str, most))
	case v.IsObject(), v.IsArray():
		ends := "{}"
		if v.IsArray() {
			ends = "[]"
		}
		out = append(out, ends[0])
		first := true
		v.ForEach(func(key, one gjson.Result) bool {
			if !first {
				out = append(out, ',')
			}
			if first = false; v.IsObject() {
				out = append(append(out, key.Raw...), ':')
			}
			out = appendCut(out, one, most)
			return len(out) <= maxWhole
		})
		return append(out, ends[1])
	default:
		return append(out, v.Raw...)
	}
}

func appendText(out []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string can always be written
	return append(out, quoted...)
}

// wholeDiff is a unified diff that a program wrote, in its own copy; "" if it's too long.
func wholeDiff(v gjson.Result) string {
	if v.Type != gjson.String || len(v.Str) > maxWhole {
		return ""
	}
	return textOf(v)
}

// claudeDiff writes what Claude Code says that an edit has changed as a unified diff: the hunks of
// [{"oldStart":…,"oldLines":…,"newStart":…,"newLines":…,"lines":["-a","+b"]}].
func claudeDiff(path string, patch gjson.Result) string {
	if !patch.IsArray() || len(patch.Raw) > maxWhole {
		return ""
	}
	var b strings.Builder
	patch.ForEach(func(_, hunk gjson.Result) bool {
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", path, path)
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", hunk.Get("oldStart").Int(), hunk.Get("oldLines").Int(), hunk.Get("newStart").Int(), hunk.Get("newLines").Int())
		for _, line := range hunk.Get("lines").Array() {
			b.WriteString(line.Str + "\n")
		}
		return true
	})
	return own(b.String())
}

// piDiff writes what pi says that an edit has changed as a unified diff. pi numbers lines, and puts three
// dots where it leaves some out: "-12 a", "+12 b", " 13 c", "    ...".
func piDiff(shown gjson.Result) string {
	if shown.Type != gjson.String || shown.Str == "" || len(shown.Str) > maxWhole {
		return ""
	}
	var b, hunk strings.Builder
	from, to, olds, news, shift := 0, 0, 0, 0, 0 // shift: by how much new numbers are ahead of the old
	flush := func() {
		if hunk.Len() > 0 {
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", from, olds, to, news, hunk.String())
		}
		hunk.Reset()
		olds, news = 0, 0
	}
	for line := range strings.SplitSeq(shown.Str, "\n") {
		if line == "" {
			continue
		}
		number, text, _ := strings.Cut(strings.TrimLeft(line[1:], " "), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			flush()
			continue
		}
		if hunk.Len() == 0 {
			from, to = n, n+shift
			if line[0] == '+' {
				from, to = n-shift, n
			}
		}
		switch line[0] {
		case '+':
			news, shift = news+1, shift+1
		case '-':
			olds, shift = olds+1, shift-1
		default:
			olds, news = olds+1, news+1
		}
		hunk.WriteString(line[:1] + text + "\n")
	}
	flush()
	return own(b.String())
}
