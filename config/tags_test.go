package config

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"log", "polling", "output_cadence_s", "focus_cadence_s"}
	for typed, want := range map[string]string{
		"lgo": "", "logs": "log", "poling": "polling", "output_cadance": "", "output_cadence": "output_cadence_s",
		"focus-cadence-s": "focus_cadence_s", "x": "", "redis": "", "": "",
	} {
		if got := nearest(typed, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
