package qostrace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recordingOf writes files of lines and reads them.
func recordingOf(t *testing.T, files ...string) (*Recording, error) {
	t.Helper()
	var paths []string
	for i, text := range files {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return ReadFiles(paths...)
}

func head(day string) string { return fmt.Sprintf("{\"k\":\"file\",\"v\":1,\"day\":%q}\n", day) }

func startAt(t *testing.T, at time.Duration) string {
	t.Helper()
	text, err := json.Marshal(line{Kind: "start", At: int64(at), Settings: settingsOf(options())})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func wantAt(at time.Duration) string {
	return fmt.Sprintf("{\"k\":\"want\",\"t\":%d,\"d\":1,\"w\":1}\n", at)
}

func TestAFileThatWasChangedIsRefused(t *testing.T) {
	day, next := head("2026-01-31"), head("2026-02-01")
	run := startAt(t, time.Second) + wantAt(time.Hour)
	for name, c := range map[string]struct {
		files []string
		says  string
	}{
		"a time before the day":     {[]string{day + run + wantAt(-1)}, "line 4: its time isn't of 2026-01-31"},
		"a time behind the day":     {[]string{day + run + wantAt(24*time.Hour)}, "line 4: its time isn't of 2026-01-31"},
		"a time that goes back":     {[]string{day + run + wantAt(time.Minute)}, "line 4: its time is before that of the line above"},
		"two days in one":           {[]string{day + run + next}, "line 4: it says another day"},
		"days in the wrong order":   {[]string{next + run, day + run}, "give them in the order of their days"},
		"a day twice":               {[]string{day + run, day + run}, "give them in the order of their days"},
		"a day of another century":  {[]string{day + run, head("2126-01-31") + run}, "more than 365 days"},
		"no version":                {[]string{"{\"k\":\"file\",\"day\":\"2026-01-31\"}\n"}, "line 1: it's of version 0"},
		"a version yet to come":     {[]string{"{\"k\":\"file\",\"v\":2,\"day\":\"2026-01-31\"}\n"}, "line 1: it's of version 2"},
		"no day":                    {[]string{"{\"k\":\"file\",\"v\":1}\n"}, "line 1: read its day"},
		"a time too large":          {[]string{day + run + "{\"k\":\"want\",\"t\":1e30,\"d\":1}\n" + wantAt(2*time.Hour)}, "line 4: json"},
		"what's no line in between": {[]string{day + startAt(t, 1) + "[1]\n" + wantAt(2)}, "line 3: json"},
	} {
		if _, err := recordingOf(t, c.files...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if r, err := recordingOf(t, day+run, next+run); err != nil || len(r.Steps) != 4 {
		t.Errorf("two days: %v", err)
	}
}

// A clock that was set back between two runs moves the second one behind the first.
func TestTimesOfARecordingDontGoBack(t *testing.T) {
	r, err := recordingOf(t, head("2026-01-31")+startAt(t, time.Hour)+wantAt(2*time.Hour)+
		startAt(t, time.Minute)+wantAt(time.Minute+time.Second)+startAt(t, 5*time.Hour)+wantAt(6*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	for _, s := range r.Steps {
		got = append(got, s.At.Sub(r.Steps[0].At))
	}
	want := []time.Duration{0, time.Hour, time.Hour, time.Hour + time.Second, 4 * time.Hour, 5 * time.Hour}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("steps are at %v, want %v", got, want)
	}
}
