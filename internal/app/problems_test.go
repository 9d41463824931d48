package app

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// Each thing that's wrong with a platform is a problem of its own, however the platform
// says it.
func TestEachErrorOfAPlatformIsAProblem(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	for name, c := range map[string]struct {
		err  error
		want []error
	}{
		"plain":            {one, []error{one}},
		"joined":           {errors.Join(one, two), []error{one, two}},
		"wrapped":          {fmt.Errorf("make it: %w", one), []error{one}},
		"joined, and then": {fmt.Errorf("make it: %w", errors.Join(one, two)), []error{one, two}},
	} {
		if got := joined(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
