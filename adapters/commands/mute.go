package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// maxMute is the longest that somebody may ask for by a time span.
const maxMute = 366 * 24 * time.Hour

// muteNow says when nothing is to ring.
func muteNow(a *Invocation) error {
	words, now, what := strings.Fields(a.args), time.Now(), "Here"
	p := a.runner.Preference(a.Event.Place, "")
	err := readMute(&p, words, now)
	if err != nil {
		if s, unknown := a.runner.Sessions.Get(words[0]); unknown == nil {
			p, what = a.runner.Preference(a.Event.Place, s.ID), wording.Bold(s.Name)
			err = readMute(&p, words[1:], now)
		}
	}
	if err != nil {
		return err
	}
	if err := a.runner.SetPreference(a.Ctx, p); err != nil {
		return err
	}
	text := quietText(p, now)
	if text == "" {
		text = "finished turns, questions, exits and errors ring."
		if after := a.runner.Hub.RingAfter(); after > 0 {
			text += fmt.Sprintf(" Turns of less than %s that end well are silent where nobody but who asked for them uses the place.", wording.ShortAge(after))
		}
	}
	return a.ReplaceText(what + ": " + text)
}

var errMute = errors.New("write /mute (until /mute off), /mute 1h (or 30m, 2d), /mute 22:00-07:00, /mute 22:00-07:00 Europe/Berlin, or /mute off; " +
	"before it the name of a session, if it's for one alone")

// readMute takes in what somebody wrote behind /mute. It can't fail if that's nothing.
func readMute(p *cards.Preference, words []string, now time.Time) error {
	if len(words) == 0 {
		p.MutedUntil = cards.Forever
		return nil
	}
	word := strings.ToLower(words[0])
	from, to, hours := strings.Cut(word, "-")
	switch {
	case word == "off" && len(words) == 1:
		*p = cards.Preference{Place: p.Place, Session: p.Session}
	case hours && len(words) <= 2:
		var err1, err2 error
		p.From, err1 = readTimeOfDay(from)
		p.To, err2 = readTimeOfDay(to)
		if err1 != nil || err2 != nil {
			return errMute
		}
		if p.From == p.To {
			return errors.New("quiet hours that begin when they end are none; /mute alone is for all day")
		}
		p.Zone = ""
		if len(words) == 2 {
			p.Zone = words[1]
		}
	case len(words) == 1:
		d, err := readSpan(word)
		if err != nil {
			return err
		}
		p.MutedUntil = now.Add(d)
	default:
		return errMute
	}
	return nil
}

// readTimeOfDay reads "22:00", "7:30" or "22" as the time since midnight.
func readTimeOfDay(text string) (time.Duration, error) {
	if !strings.Contains(text, ":") {
		text += ":00"
	}
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0, err
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// readSpan reads "1h30m" or "2d".
func readSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(min(max(n, 0), 1000)) * 24 * time.Hour
	}
	switch {
	case err != nil:
		return 0, errMute
	case d < time.Minute || d > maxMute:
		return 0, errors.New("from a minute to a year; /mute alone is until /mute off")
	default:
		return d, nil
	}
}

// quietText says when nothing rings, as a sentence's end; "": everything does.
func quietText(p cards.Preference, now time.Time) string {
	var parts []string
	switch {
	case p.MutedUntil.Equal(cards.Forever):
		parts = append(parts, "nothing rings until /mute off")
	case now.Before(p.MutedUntil):
		parts = append(parts, "nothing rings until "+sessions.ClockUntil(p.MutedUntil, now))
	}
	if p.From != p.To {
		hours := fmt.Sprintf("nothing rings from %s to %s", timeOfDay(p.From), timeOfDay(p.To))
		if p.Zone != "" {
			hours += " (" + wording.Plain(p.Zone) + ")"
		}
		parts = append(parts, hours)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

func timeOfDay(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
