package config

import (
	"strconv"
	"strings"
	"time"
)

// Age is how long something is kept, as people write it: 30d, 12h.
type Age string

const (
	day    = 24 * time.Hour
	maxAge = 3650 * day
)

// Duration returns the span.
func (a Age) Duration() time.Duration {
	span, _ := parseAge(string(a)) // refused when it was read
	return span
}

func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * day, err
	}
	return time.ParseDuration(text)
}

func ageProblem(text string) string {
	if d, err := parseAge(text); err != nil || d <= 0 || d > maxAge {
		return "must be a time span above 0 and at most 3650d, such as 30d or 12h"
	}
	return ""
}
