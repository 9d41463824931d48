package store

import (
	"strings"
	"time"
)

// nanos is how a time is stored: nanoseconds since 1970, 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// clean makes text valid UTF-8, which is what readers may rely on.
func clean[S ~string](s S) string {
	return strings.ToValidUTF8(string(s), "\uFFFD")
}
