package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

func location(tb testing.TB, name string) *time.Location {
	tb.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// The forms in which programs were seen to say it.
func TestLimitsAsProgramsSayThem(t *testing.T) {
	berlin := location(t, "Europe/Berlin")
	at := time.Date(2026, 11, 30, 10, 20, 0, 0, berlin)
	for said, want := range map[string]string{
		"Claude AI usage limit reached|1796036400":                                                                               "2026-11-30T11:00:00Z",
		"Claude usage limit reached. Your limit will reset at 3pm (Europe/Berlin).":                                              "2026-11-30T14:00:00Z",
		"Claude usage limit reached. Your limit will reset at 3pm (America/New_York).":                                           "2026-11-30T20:00:00Z",
		"Claude usage limit reached. Your limit will reset at 3pm (Nowhere/Land).":                                               "unknown",
		"5-hour limit reached ∙ resets 3pm\n /upgrade to increase your usage limit.":                                             "2026-11-30T14:00:00Z",
		"5-hour limit reached ∙ resets 9:30am":                                                                                   "2026-12-01T08:30:00Z",
		"Session limit reached ∙ resets 12:05am":                                                                                 "2026-11-30T23:05:00Z",
		"Limit reached · resets 11:30am (Asia/Calcutta) · /upgrade to Max or turn on /extra-usage":                               "2026-12-01T06:00:00Z",
		"Weekly limit reached ∙ resets Dec 9, 5pm":                                                                               "2026-12-09T16:00:00Z",
		"Weekly limit reached ∙ resets Oct 9, 5pm":                                                                               "2027-10-09T15:00:00Z",
		"You've hit your limit · resets 1:30am (Asia/Dhaka)":                                                                     "2026-11-30T19:30:00Z",
		"You’ve hit your session limit · resets 12:50pm (Europe/Paris) · progress saved":                                         "2026-11-30T11:50:00Z",
		"You've hit your weekly limit · resets Mon 12:00am":                                                                      "2026-12-06T23:00:00Z",
		"You've hit your limit · resets May 5 at 9pm (America/New_York)":                                                         "2027-05-06T01:00:00Z",
		"You've hit your channel's monthly spend limit. /model to switch models.":                                                "unknown",
		"You've hit your team's pooled group budget. It resets Dec 9, 5pm. /model to switch models.":                             "2026-12-09T16:00:00Z",
		"You're out of extra usage · resets 3pm (Europe/Berlin)":                                                                 "2026-11-30T14:00:00Z",
		"You're out of usage credits. /model to switch models.":                                                                  "unknown",
		"Your org is out of usage · contact your admin":                                                                          "unknown",
		"You've hit your Opus limit":                                                                                             "unknown",
		"You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again at 3:04 PM.":              "2026-11-30T14:04:00Z",
		"You've hit your usage limit. Try again at Dec 29th, 2026 10:15 PM.":                                                     "2026-12-29T21:15:00Z",
		"You've hit your usage limit. Try again at Dec 29th, 2025 10:15 PM.":                                                     "unknown",
		"■ You've hit your usage limit. To get more access now, send a request to your admin or try again in 2 hours 5 minutes.": "2026-11-30T11:25:00Z",
		"You've hit your usage limit. Try again in 3 days 2 hours 5 minutes.":                                                    "2026-12-03T11:25:00Z",
		"You've hit your usage limit. Try again in less than a minute.":                                                          "2026-11-30T09:21:00Z",
		"You've hit your usage limit. Try again in 1 minute 5 seconds.":                                                          "2026-11-30T09:21:05Z",
		"You've hit your usage limit. Try again in 86400 seconds.":                                                               "2026-12-01T09:20:00Z",
		"You've hit your usage limit. Try again in 9999999 days.":                                                                "unknown",
		"Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 1.898s.":   "2026-11-30T09:20:02Z",
		"Rate limit reached for gpt-5 in organization org-1 on requests per min (RPM): Limit 3. Please try again in 6m0s.":       "2026-11-30T09:26:00Z",
		"Rate limit reached for gpt-5 in organization org-1 on requests per min (RPM): Limit 3. Please try again in 20ms.":       "2026-11-30T09:20:01Z",
		"5-hour limit reached ∙ resets 10:20am":                                                                                  "2026-11-30T09:21:00Z",
		"You've hit your usage limit. Try again later.":                                                                          "unknown",
		"You've hit your usage limit. Try again at 25:61.":                                                                       "unknown",
		// These say something else.
		"API Error: 529 overloaded, the limit reached its end. resets 3pm":          "",
		"I wrote a test: \"5-hour limit reached ∙ resets 3pm\"":                     "",
		"The log says: Claude AI usage limit reached|1796036400":                    "",
		"Rate limiting is on; try again at 3pm":                                     "",
		"You've hit your stride, and there's no limit to it, try again at 3:04 PM.": "",
		"":     "",
		"\x00": "",
	} {
		l, got := readLimit(said, at, berlin), ""
		switch {
		case l == nil:
		case l.Until.IsZero():
			got = "unknown"
		default:
			got = l.Until.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A time of day is the first one behind the present, whatever the clocks do: as somebody finds it who looks at
// one minute after the other. Where clocks are put forward past it, it's when that's done; and in that very minute it's the
// minute's end, since programs cut the seconds off.
func TestTimesOfDayOverDaylightSaving(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC", "America/Santiago"}
	days := []time.Time{
		time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC), time.Date(2026, 9, 5, 0, 0, 0, 0, time.UTC),
	}
	drawtest.CheckTimes(t, drawtest.Times(20000, 1500, 300), func(rt *rapid.T) {
		zone := location(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		at := rapid.SampledFrom(days).Draw(rt, "day").Add(time.Duration(rapid.IntRange(0, 3*24*3600).Draw(rt, "seconds")) * time.Second)
		hour, minute := rapid.IntRange(0, 23).Draw(rt, "hour"), rapid.IntRange(0, 59).Draw(rt, "minute")
		said := fmt.Sprintf("5-hour limit reached ∙ resets %s", time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC).Format("3:04pm"))
		other := zone
		if rapid.Bool().Draw(rt, "named") {
			said, other = said+" ("+zone.String()+")", time.UTC
		}
		l := readLimit(said, at, other)
		if l == nil {
			rt.Fatalf("%q isn't known", said)
		}
		if want := nextByLooking(at, zone, hour, minute); !l.Until.Equal(want) {
			rt.Fatalf("%q at %s: %s, want %s", said, at.In(zone), l.Until.In(zone), want.In(zone))
		}
	})
}

// nextByLooking goes from minute to minute.
func nextByLooking(at time.Time, zone *time.Location, hour, minute int) time.Time {
	wanted := 60*hour + minute
	last := at.In(zone)
	if 60*last.Hour()+last.Minute() == wanted {
		return at.Truncate(time.Minute).Add(time.Minute)
	}
	for t := at.Truncate(time.Minute).Add(time.Minute); ; t = t.Add(time.Minute) {
		now := t.In(zone)
		was, is := 60*last.Hour()+last.Minute(), 60*now.Hour()+now.Minute()
		_, before := last.Zone()
		_, after := now.Zone()
		skipped := after > before && (wanted-was+1440)%1440 < (is-was+1440)%1440
		if is == wanted || skipped {
			return t
		}
		last = now
	}
}

// What real programs wrote when they hit a limit whose end is known: Claude Code 2.1.329 and Codex 0.169.0 at the same
// time, whose model said 1796012994 and the second before it.
func TestLimitsOfRecordings(t *testing.T) {
	inUTC(t)
	resets := time.Unix(1796012994, 0).UTC()
	found := 0
	for _, rec := range lines(t) {
		if !strings.HasSuffix(rec.name, "-limited") {
			continue
		}
		var windows []sessions.AccountWindow
		for _, r := range rest(t, open(t, rec.place(t), nil)) {
			if r.Usage != nil && r.Usage.Windows != nil {
				windows = r.Usage.Windows
			}
			if r.Limit == nil {
				continue
			}
			found++
			if until := r.Limit.Until; until.IsZero() || until.After(resets) || resets.Sub(until) > time.Minute+5*time.Second || !r.Limit.At.Equal(r.At) {
				t.Errorf("%s: limited until %s, but it resets at %s", rec.name, until, resets)
			}
		}
		if rec.format == Codex && (len(windows) != 2 || windows[0] != sessions.AccountWindow{Minutes: 300, UsedPercent: 100, ResetsAt: resets} || windows[1] != sessions.AccountWindow{Minutes: 10080, UsedPercent: 7, ResetsAt: resets.Add(24 * time.Hour)}) {
			t.Errorf("%s: windows %+v", rec.name, windows)
		}
	}
	if found != 2 {
		t.Errorf("%d limits", found)
	}
}

// What an agent's model wrote, a tool printed or a person asked is no limit, whatever it says; the program's own
// record of a failure is.
func TestOnlyAProgramsOwnRecordIsALimit(t *testing.T) {
	const said = "You've hit your usage limit. Try again in 2 hours 5 minutes."
	quoted := strings.ReplaceAll(said, `"`, `\"`)
	const at = `"timestamp":"2026-11-30T10:00:00Z"`
	for format, lines := range map[Format][2][]string{
		Claude: {{
			`{"type":"assistant",` + at + `,"message":{"id":"a","model":"m","content":[{"type":"text","text":"` + quoted + `"}]}}`,
			`{"type":"user",` + at + `,"message":{"role":"user","content":"` + quoted + `"}}`,
			`{"type":"user",` + at + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"` + quoted + `"}]}}`,
			`{"type":"assistant",` + at + `,"message":{"id":"b","model":"<synthetic>","content":[{"type":"text","text":"` + quoted + `"}]}}`,
		}, {
			`{"type":"assistant",` + at + `,"isApiErrorMessage":true,"message":{"id":"c","model":"<synthetic>","content":[{"type":"text","text":"` + quoted + `"}]}}`,
		}},
		Codex: {{
			`{"type":"event_msg",` + at + `,"payload":{"type":"agent_message","message":"` + quoted + `"}}`,
			`{"type":"event_msg",` + at + `,"payload":{"type":"user_message","message":"` + quoted + `"}}`,
			`{"type":"response_item",` + at + `,"payload":{"type":"function_call_output","call_id":"t","output":"` + quoted + `"}}`,
		}, {
			`{"type":"event_msg",` + at + `,"payload":{"type":"error","message":"` + quoted + `","codex_error_info":"usage_limit_exceeded"}}`,
			`{"type":"event_msg",` + at + `,"payload":{"type":"error","message":"` + quoted + `"}}`,
			`{"type":"event_msg",` + at + `,"payload":{"type":"task_complete","error":{"message":"` + quoted + `"}}}`,
		}},
	} {
		for i, list := range lines {
			for _, line := range list {
				d := decoders[format]()
				records, understood := d.decode([]byte(line), nil)
				limits := 0
				for _, r := range records {
					if r.Limit != nil && r.Limit.Until.Equal(time.Date(2026, 11, 30, 12, 5, 0, 0, time.UTC)) {
						limits++
					}
				}
				if limits != i || !understood {
					t.Errorf("%s: %d limits, want %d, of %s", format, limits, i, line)
				}
			}
		}
	}
}

// A limit whose end a program says without its seconds, at whatever time before it, is over within the minute behind that end:
// who goes on then neither hits it again nor waits for a day.
func TestALimitIsOverSoonBehindItsEnd(t *testing.T) {
	zone := location(t, "Europe/Berlin")
	drawtest.CheckTimes(t, drawtest.Times(5000, 500, 100), func(rt *rapid.T) {
		end := time.Date(2026, 7, 1, 0, 0, rapid.IntRange(0, 24*3600).Draw(rt, "end"), 0, zone)
		at := end.Add(-time.Duration(rapid.IntRange(1, 5*3600).Draw(rt, "before")) * time.Second)
		said := "5-hour limit reached ∙ resets " + end.Format("3:04pm")
		l := readLimit(said, at, zone)
		if l == nil || l.Until.Before(end.Truncate(time.Minute)) || l.Until.After(end.Truncate(time.Minute).Add(time.Minute)) {
			rt.Fatalf("%q at %s: %+v, and it ends at %s", said, at, l, end)
		}
	})
}

func FuzzLimit(f *testing.F) {
	f.Add("You've hit your limit · resets May 5 at 9pm (America/New_York)")
	f.Add("Claude AI usage limit reached|1796036400")
	f.Add("You've hit your usage limit. Try again in 3 days 2 hours 5 minutes.")
	at := time.Date(2026, 11, 30, 10, 20, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, said string) {
		if l := readLimit(said, at, time.UTC); l != nil && !l.Until.IsZero() && (!l.Until.After(at) || l.Until.Sub(at) > MaxLimit) {
			t.Errorf("%q: until %s", said, l.Until)
		}
	})
}
