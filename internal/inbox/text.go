package inbox

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// DefaultMaxTextRunes is how long the text of a preview gets, in code points.
const DefaultMaxTextRunes = 500

// Announcement is what's typed for mails that wait: two lines, whatever the text is. The
// mails are given oldest first; of several, the newest is shown.
func Announcement(mails []Mail, maxRunes int) string {
	newest := mails[len(mails)-1]
	at := newest.SentAt.Local().Format("2006-01-02 15:04:05")
	head := fmt.Sprintf("[panebridge msg %s from %s %s]", newest.ID, oneLine(newest.FromName), at)
	if n := len(mails); n > 1 {
		head = fmt.Sprintf("[panebridge %d messages, newest msg %s from %s %s; `panebridge poll` shows all]", n, newest.ID, oneLine(newest.FromName), at)
	}
	return head + "\n" + Cut(oneLine(newest.Text), maxRunes, "… [cut; `panebridge poll --full` shows all of it]")
}

// returnedRunes is how much of a mail is said again to who sent it when it comes back.
const returnedRunes = 100

// returnedText is what who sent a mail is written when it comes back.
func returnedText(m Mail) string {
	return fmt.Sprintf("Undeliverable: %s has ended, and wasn't shown your message %s: %s", m.ToName, m.ID, Cut(oneLine(m.Text), returnedRunes, "…"))
}

// Cut shortens a text to at most so many code points, never inside of what's drawn as one
// character, and puts a suffix behind a text that was cut. The suffix comes on top.
func Cut(text string, maxRunes int, suffix string) string {
	if maxRunes <= 0 {
		maxRunes = DefaultMaxTextRunes
	}
	if len(text) <= maxRunes || utf8.RuneCountInString(text) <= maxRunes {
		return text
	}
	end, n := 0, 0
	for g := graphemes.FromString(text); g.Next(); {
		n += utf8.RuneCountInString(g.Value())
		if n > maxRunes {
			break
		}
		end += len(g.Value())
	}
	return strings.TrimRight(text[:end], " ") + suffix
}

// oneLine makes one line of a text that can be typed: white space becomes blanks, control
// characters go.
func oneLine(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case unicode.IsControl(r):
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// PollCommand is what's typed for a ping.
const PollCommand = ownName + " poll"

// ownName is how texts here call panebridge.
const ownName = "panebridge"

// Fit has the commands in a text of panebridge's own call it as the reader can: those in
// backquotes, and PollCommand.
func Fit(text, program string) string {
	if text == PollCommand {
		return program + strings.TrimPrefix(PollCommand, ownName)
	}
	return strings.ReplaceAll(text, "`"+ownName+" ", "`"+program+" ")
}

// MaxTextBytes bounds a mail's text.
const MaxTextBytes = 1 << 20

// MaxNoticeBytes bounds a notice's text.
const MaxNoticeBytes = 64 << 10

// CheckText refuses what can't be kept and shown as it is.
func CheckText(text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w text: it's empty", errInvalid)
	case len(text) > most:
		return fmt.Errorf("%w text: it's longer than %d KiB, which is the limit; write it into a file and send its path", errInvalid, most>>10)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w text: it isn't valid UTF-8", errInvalid)
	}
	return nil
}
