package intake_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/panebridge/panebridge/adapters/intake"
)

// As much as the limit is copied and not a byte more; who failed is told apart.
func TestCopyAtMost(t *testing.T) {
	broken, read := errors.New("broken"), errors.New("reading failed")
	for _, c := range []struct {
		name string
		w    io.Writer
		r    io.Reader
		want error
		got  string
	}{
		{"less", nil, strings.NewReader("abc"), nil, "abc"},
		{"just as much", nil, strings.NewReader("abcd"), nil, "abcd"},
		{"more", nil, strings.NewReader("abcde"), intake.ErrTooLarge, "abcd"},
		{"reading fails", nil, io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), read, "ab"},
		{"reading fails behind the limit", nil, io.MultiReader(strings.NewReader("abcd"), iotest.ErrReader(broken)), read, "abcd"},
		{"writing fails", writer(func([]byte) (int, error) { return 0, broken }), strings.NewReader("abc"), broken, ""},
	} {
		var got strings.Builder
		w := c.w
		if w == nil {
			w = &got
		}
		err := intake.CopyAtMost(w, c.r, 4, func(error) error { return read })
		if !errors.Is(err, c.want) || got.String() != c.got {
			t.Errorf("%s: %q, %v", c.name, got.String(), err)
		}
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
