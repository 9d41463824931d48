package transcript

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// What agent programs say in their own records of failures when an account has used all that it may,
// and when it may go on:
//
//	Claude AI usage limit reached|1755806400
//	Claude usage limit reached. Your limit will reset at 3pm (Europe/Berlin).
//	5-hour limit reached ∙ resets 3pm
//	Weekly limit reached ∙ resets Oct 9, 5pm
//	You've hit your session limit · resets 12:50pm (Europe/Paris) · progress saved
//	You've hit your limit · resets May 5 at 9pm (America/New_York)
//	You've hit your channel's monthly spend limit.
//	You're out of extra usage · resets 3pm (Europe/Berlin)
//	You've hit your usage limit. Upgrade to Pro (https://…) or try again at 3:04 PM.
//	You've hit your usage limit. … try again at Dec 29th, 2025 10:15 PM.
//	You've hit your usage limit. … try again in 2 hours 5 minutes.
//
// Only the beginning of a failure counts: what a server or a tool said stands behind it, if at all.
var (
	limitReached = regexp.MustCompile(`(?i)^\W{0,4}(?:claude (?:ai |code )?usage limit reached|(?:[a-z0-9-]+ ){0,3}limit reached|you[’']ve (?:hit|reached) your (?:[a-z0-9.’'-]+ ){0,4}(?:limit|budget)|you[’']re out of (?:extra usage|usage credits)|your org is out of usage)(?:[^a-z]|$)`)
	limitEpoch   = regexp.MustCompile(`^[^|\n]{0,60}\|(\d{10})(?:\D|$)`)
	limitClock   = regexp.MustCompile(`(?i)\b(?:resets?|resets? at|try again at|again at) +(?:at +|on +)?` +
		`(?:(?:(mon|tue|wed|thu|fri|sat|sun)[a-z]*|([a-z]{3,9})\.? +(\d{1,2})(?:st|nd|rd|th)?(?:, *| +)?(\d{4})?),? *(?:at +)?)?` +
		`(?:(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b|(\d{1,2}):(\d{2})\b)\.?(?: +\(([A-Za-z0-9_+/-]{1,60})\))?`)
	limitIn   = regexp.MustCompile(`(?i)\b(?:try again|resets?) in +(less than a minute|(?:[0-9.]+ ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|ms|m|seconds?|secs?|s)[ ,]*(?:and +)?)+)`)
	limitPart = regexp.MustCompile(`(?i)(\d{1,8})(?:\.(\d+))? ?(ms|[dhms])`)
)

const (
	// maxLimitText is how much of a failure is looked at, bytes: they're a line or two.
	maxLimitText = 500
	// MaxLimit is for how long a limit is believed at most.
	MaxLimit = 400 * 24 * time.Hour
)

// readLimit reads of what an agent program says of a failure whether an account has used all that it
// may, and until when; nil: it says something else. at is when it was said. Times without a zone are
// in the zone that's given.
func readLimit(said string, at time.Time, zone *time.Location) *sessions.UsageLimit {
	said = strings.TrimSpace(said)
	if said = said[:min(len(said), maxLimitText)]; !limitReached.MatchString(said) {
		return nil
	}
	l := &sessions.UsageLimit{At: at}
	if at.IsZero() {
		return l
	}
	until := limitUntil(said, at, zone)
	if until.After(at) && until.Before(at.Add(MaxLimit)) {
		l.Until = until.UTC()
	}
	return l
}

// limitUntil is when somebody may go on; zero: that isn't said.
func limitUntil(said string, at time.Time, zone *time.Location) time.Time {
	if m := limitEpoch.FindStringSubmatch(said); m != nil {
		s, _ := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(s, 0)
	}
	if m := limitClock.FindStringSubmatch(said); m != nil {
		return clockAt(m, at, zone)
	}
	if m := limitIn.FindStringSubmatch(said); m != nil {
		if strings.EqualFold(m[1], "less than a minute") {
			return at.Add(time.Minute)
		}
		return at.Add(spanOf(m[1]))
	}
	return time.Time{}
}

// spanOf is how long it is that a text says, as "2 hours 5 minutes" and "6m0.5s"; a part of a second is another one.
func spanOf(text string) (d time.Duration) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	for _, m := range limitPart.FindAllStringSubmatch(text, -1) {
		unit, n := units[strings.ToLower(m[3])], 0
		if unit == 0 { // milliseconds
			unit, n = time.Second, 1
		} else if n, _ = strconv.Atoi(m[1]); unit == time.Second && strings.Trim(m[2], "0") != "" {
			n++
		}
		if d += min(time.Duration(n), MaxLimit/unit+1) * unit; d > MaxLimit {
			return d
		}
	}
	return d
}

// number is a number of a few digits; 0: it's none, or has too many.
func number(digits string) int {
	if len(digits) > 4 {
		return 0
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// clockAt is the time that limitClock has found; zero: there's none such.
func clockAt(m []string, at time.Time, zone *time.Location) time.Time {
	hour, minute := number(m[5]), number(m[6])
	switch {
	case m[8] != "":
		hour, minute = number(m[8]), number(m[9])
	case hour < 1 || hour > 12:
		return time.Time{}
	case strings.EqualFold(m[7], "p"):
		hour = hour%12 + 12
	default:
		hour %= 12
	}
	if hour > 23 || minute > 59 {
		return time.Time{}
	}
	if m[10] != "" {
		var err error
		if zone, err = time.LoadLocation(m[10]); err != nil || m[10] == "Local" {
			return time.Time{}
		}
	}
	fits := func(time.Time) bool { return true }
	switch {
	case m[1] != "":
		fits = func(day time.Time) bool { return strings.EqualFold(day.Weekday().String()[:3], m[1]) }
	case m[2] != "":
		month, day, year := monthOf(m[2]), number(m[3]), number(m[4])
		if month == 0 {
			return time.Time{}
		}
		fits = func(d time.Time) bool { return d.Month() == month && d.Day() == day && (year == 0 || d.Year() == year) }
	}
	return nextClock(at, zone, hour, minute, fits)
}

// monthOf is the month that begins with a word of three letters at least; 0: none.
func monthOf(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if len(word) >= 3 && len(word) <= len(m.String()) && strings.EqualFold(m.String()[:len(word)], word) {
			return m
		}
	}
	return 0
}

// nextClock is the first time behind at when clocks of a zone show an hour and a minute, on a day that
// fits; zero: there's none within MaxLimit. Where clocks are put forward past it, it's when that's done; in that minute,
// it's the minute's end.
func nextClock(at time.Time, zone *time.Location, hour, minute int, fits func(day time.Time) bool) time.Time {
	now := at.In(zone)
	year, month, day := now.Date()
	// Programs cut seconds off: what's said in that very minute is over with it, and not a day later.
	if now.Hour() == hour && now.Minute() == minute && fits(time.Date(year, month, day, 12, 0, 0, 0, time.UTC)) {
		return at.Truncate(time.Minute).Add(time.Minute)
	}
	for n := range int(MaxLimit / (24 * time.Hour)) {
		noon := time.Date(year, month, day+n, 12, 0, 0, 0, time.UTC)
		if !fits(noon) {
			continue
		}
		for _, t := range whenClockShows(noon, zone, hour, minute) {
			if t.After(at) {
				return t
			}
		}
	}
	return time.Time{}
}

// whenClockShows are the times, in their order, at which clocks of a zone show an hour and a minute of a
// day: two where they're put back.
func whenClockShows(day time.Time, zone *time.Location, hour, minute int) []time.Time {
	shown := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, time.UTC)
	_, before := shown.Add(-24 * time.Hour).In(zone).Zone()
	_, after := shown.Add(24 * time.Hour).In(zone).Zone()
	early, late := shown.Add(-time.Duration(before)*time.Second), shown.Add(-time.Duration(after)*time.Second)
	shows := func(t time.Time) bool {
		_, offset := t.In(zone).Zone()
		return t.Add(time.Duration(offset) * time.Second).Equal(shown)
	}
	switch {
	case before == after:
		return []time.Time{early}
	case shows(early) && shows(late): // the clocks are put back in between
		return []time.Time{early, late}
	case shows(early):
		return []time.Time{early}
	case shows(late):
		return []time.Time{late}
	}
	start, _ := early.In(zone).ZoneBounds() // by now they were put forward
	return []time.Time{start}
}
