package redisbucket

import (
	"fmt"
	"strconv"
	"time"
)

// reader takes a script's reply apart. After the first error all it returns is zero.
type reader struct {
	values []any
	err    error
}

func (r *reader) next() any {
	if r.err == nil && len(r.values) == 0 {
		r.err = fmt.Errorf("read redis' answer: it's too short")
	}
	if r.err != nil {
		return nil
	}
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

func (r *reader) text() string {
	switch v := r.next().(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	default:
		r.err = fmt.Errorf("read redis' answer: %T isn't text", v)
		return ""
	}
}

func (r *reader) number() int64 {
	s := r.text()
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		r.err = fmt.Errorf("read redis' answer: %w", err)
	}
	return n
}

// duration reads microseconds.
func (r *reader) duration() time.Duration { return time.Duration(r.number()) * time.Microsecond }

// list reads what's within.
func (r *reader) list() *reader {
	v, ok := r.next().([]any)
	if r.err == nil && !ok {
		r.err = fmt.Errorf("read redis' answer: a list is missing")
	}
	return &reader{values: v, err: r.err}
}

func (r *reader) more() bool { return r.err == nil && len(r.values) > 0 }
