package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// valid says whether a line is JSON. gjson is several times faster than
// encoding/json, but recurses; a line that may be nested too deeply for that is
// checked by encoding/json, which refuses it.
func valid(line []byte) bool {
	const nested = 10_000
	if bytes.Count(line, []byte{'['})+bytes.Count(line, []byte{'{'}) > nested && !json.Valid(line) {
		return false
	}
	return gjson.ValidBytes(line)
}

// textOf returns a string as its own copy, so that the line it's from can go, and as
// valid UTF-8.
func textOf(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if len(v.Raw) != len(v.Str)+len(`""`) { // it had escapes, so that it's a copy already
		return strings.ToValidUTF8(v.Str, string(utf8.RuneError))
	}
	return own(v.Str)
}

// own is a string's own copy, as valid UTF-8.
func own(s string) string {
	return strings.Clone(strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// timeOf reads a time as RFC 3339; zero if it isn't one.
func timeOf(v gjson.Result) time.Time {
	at, err := time.Parse(time.RFC3339Nano, v.Str)
	if err != nil {
		return time.Time{}
	}
	return believable(at)
}

// maxEpoch is the latest time that's believed, seconds since 1970: the year 2286.
const maxEpoch = 1e10

// believable is a time, or zero if it's before 1970 or behind the year 2286: no record was written then, and what's
// reckoned from it may be in a year that can't be stored.
func believable(at time.Time) time.Time {
	if s := at.Unix(); s <= 0 || s >= maxEpoch {
		return time.Time{}
	}
	return at
}

// millis reads a time as milliseconds since 1970; zero if it isn't one.
func millis(v gjson.Result) time.Time {
	if v.Type != gjson.Number || v.Num <= 0 {
		return time.Time{}
	}
	return believable(time.UnixMilli(v.Int()).UTC())
}

// firstString returns the text of an object's first key if that's it, as with
// {"type":"mode",…}, without looking at the rest of the line; "" otherwise.
func firstString(line []byte, key string) string {
	rest, ok := bytes.CutPrefix(line, []byte(`{"`+key+`":"`))
	if !ok {
		return ""
	}
	value, _, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return ""
	}
	return string(value)
}
