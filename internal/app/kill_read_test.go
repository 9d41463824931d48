package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// endings are the lines with which messages end that ring, and beginnings those below them that say where
// turns begin.
var (
	endings    = regexp.MustCompile(`^(?:done|(\d+) turns done)(?: · .*)?$`)
	beginnings = regexp.MustCompile(`^(?:turns? \d+(?: (?:and|to) \d+)?(?:(?: · |https://).*)?|the first .* listed)$`)
)

// found is what's in chats.
type found struct{ lines, messages, files, rings, marked, twice int }

func (f found) String() string {
	return fmt.Sprintf("%d lines in %d messages and %d files, %d rang; %d messages are marked, %d of them stand there twice",
		f.lines, f.messages, f.files, f.rings, f.marked, f.twice)
}

func (f found) plus(g found) found {
	return found{f.lines + g.lines, f.messages + g.messages, f.files + g.files, f.rings + g.rings, f.marked + g.marked, f.twice + g.twice}
}

// readAll reads all chats.
func (k *killRig) readAll() found {
	k.Helper()
	var all found
	for _, m := range k.mirrors {
		all = all.plus(k.read(m))
	}
	return all
}

// isCard says whether a message is what stands at the top of a session's thread.
func isCard(text string) bool { return strings.Contains(text, "/help says what else you can do") }

// boards are the first lines of the list that's pinned in a chat, which comes when the program has run for
// half a minute.
var boards = regexp.MustCompile(`^(?:(?:Needs you|Working|Done): \d+|No session is mirrored here at the moment\.)$`)

// isBoard says whether a message is the list that's pinned in a chat.
func isBoard(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return boards.MatchString(first)
}

// read holds a chat against its session's log: each line of it is there once and in
// order, but for blank ones, which messages don't show at their edges, and turn markers, in
// whose place endings stand.
func (k *killRig) read(m mirror) found {
	k.Helper()
	s, err := k.api.Session(k.ctx(), string(k.ids[m.session].ID))
	if err != nil {
		k.Fatal(err)
	}
	log := slices.DeleteFunc(k.lines(s.ID), func(l string) bool { return strings.TrimSpace(l) == "" || l == "[Output Complete]" })
	r := &reader{rig: k, mirror: m, log: log, found: found{lines: len(log)}}
	lists := 0
	for _, msg := range k.stage.shown(k.T, m) {
		if isBoard(msg.text) {
			lists++
			continue
		}
		r.message(msg)
	}
	if lists > 1 && k.stage.once() {
		r.fail("the list is there %d times", lists)
	}
	r.interrupted(time.Now())
	if r.next < len(log) {
		r.fail("nothing is shown from %q on", log[r.next])
	}
	if turns := int(s.Turn.Number); r.told < turns || r.told > turns+r.doubtful {
		r.fail("%d turns have ended, and it says so of %d; of %d it may have to say so twice", turns, r.told, r.doubtful)
	}
	return r.found
}

// reader goes through a chat.
type reader struct {
	rig    *killRig
	mirror mirror
	log    []string // without blank lines
	found  found

	next     int // line of the log: those before were seen
	begun    int // and the first one of the newest message
	newest   message
	ends     int // turns whose end the newest message tells
	told     int // turns whose end all of them tell
	doubtful int // of these, in messages that were under way at a kill
}

func (r *reader) fail(why string, args ...any) {
	r.rig.Helper()
	r.rig.Errorf("session %s in chat %s: "+why+"\nit was killed at %s", append(append([]any{r.mirror.session, r.mirror.chat}, args...), r.rig.times())...)
}

func (r *reader) message(m message) {
	r.rig.Helper()
	lines, marked, ends := m.contents()
	cut := r.interrupted(m.at)
	r.found.messages++
	if m.file != nil {
		r.found.files++
	}
	if m.rang {
		r.found.rings++
	}
	if ends > 0 && !m.rang {
		r.fail("message %s says that a turn has ended, and didn't ring", m.id)
	}
	start := r.next
	if marked {
		r.found.marked++
		if r.rig.stage.once() {
			r.fail("message %s is marked, and the platform would have known it again", m.id)
		}
		for start > r.begun && !isAt(r.log, start, lines) {
			start--
		}
	}
	if !isAt(r.log, start, lines) {
		start = r.next
		r.fail("message %s, of %s, edited %d times, isn't what the log has next, %q:\n%s",
			m.id, m.at.Format(clock), m.edits, r.log[start:min(start+3, len(r.log))], m.text)
	}
	if start < r.next {
		r.found.twice++
		if !cut {
			r.fail("message %s, of %s, is there twice, the first time at %s, and no kill came while it was under way:\n%s", m.id, m.at.Format(clock), r.newest.at.Format(clock), m.text)
		}
	}
	r.told += ends
	if r.newest, r.ends = m, ends; len(lines) > 0 {
		r.next, r.begun = start+len(lines), start
	}
}

// longest is longer than a call is under way that isn't held up.
const longest = 2 * time.Second

// travels is how long after a kill a call may arrive that the killed program made: what
// the trap lets it travel, and what the stand-in takes to hear that its caller is gone.
const travels = 200 * time.Millisecond

// interrupted says whether the call of the newest message may have been under way when
// the program was killed, before another one came, and so was made once more.
func (r *reader) interrupted(next time.Time) bool {
	at := r.newest.at
	cut := !r.rig.stage.once() && slices.ContainsFunc(r.rig.killed, func(kill time.Time) bool {
		return kill.After(at.Add(-travels)) && kill.Before(next) && kill.Before(at.Add(longest))
	})
	if cut {
		r.doubtful += r.ends
	}
	return cut
}

const clock = "15:04:05.000"

func (k *killRig) times() string {
	var list []string
	for _, at := range k.killed {
		list = append(list, at.Format(clock))
	}
	return strings.Join(list, " ")
}

// isAt says whether lines stand at a place in the log.
func isAt(log []string, at int, lines []string) bool {
	return at+len(lines) <= len(log) && slices.Equal(log[at:at+len(lines)], lines)
}

// contents are the session's lines in a message or its file, without blank ones, whether
// it's marked, and of how many turns it says that they've ended.
func (m message) contents() (lines []string, marked bool, ends int) {
	for line := range strings.Lines(m.text) {
		line = strings.TrimSpace(line)
		switch e := endings.FindStringSubmatch(line); {
		case line == "[sent once more: this may be here already]":
			marked = true
		case e != nil && e[1] != "":
			n, _ := strconv.Atoi(e[1])
			ends += n
		case e != nil:
			ends++
		case line == "", beginnings.MatchString(line), strings.HasSuffix(line, " in the attached file]"):
		default:
			lines = append(lines, line)
		}
	}
	if m.file == nil {
		return lines, marked, ends
	}
	lines = nil // those beside the file are in it
	for line := range strings.Lines(string(m.file)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, marked, ends
}
