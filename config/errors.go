package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration. It never holds a
// value that may be secret, nor text of the lines around.
type Problem struct {
	File    string // as given to Parse or Load
	Line    int    // from 1
	Column  int    // from 1, in characters
	Path    string // such as tmux.servers[0].socket_name; empty for the whole file
	Message string // what is wrong and what would be right
}

// String returns the problem as file:line:column: path: message.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Path, p.Message)
}

// Errors is all that is wrong with a configuration, sorted by position.
type Errors struct {
	Problems []Problem
}

func newErrors(problems []Problem) *Errors {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path))
	})
	return &Errors{Problems: slices.Compact(problems)}
}

// Error returns the problems, one a line.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
