package redact

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Masker masks secrets. It's safe for concurrent use, and no method does I/O.
type Masker struct {
	mu  sync.Mutex // guards what follows; the rules are replaced as a whole
	opt Options
	own ownSecrets

	rules atomic.Pointer[ruleSet]
}

// Options say what is masked. The zero value masks all that's built in.
type Options struct {
	// Off masks nothing but what was given to Add.
	Off bool
	// Rules are masked besides what's built in.
	Rules []MaskRule
	// Allow are texts that are no secrets: what contains one is left as it is. Between
	// two slashes it's an expression (RE2). They don't count for what was given to Add.
	Allow []string
}

// MaskRule is a secret by an expression (RE2), which is matched within one line. If the
// expression has a group, only that's masked. The name stands in the mask.
type MaskRule struct {
	Name    string
	Pattern string
}

// New returns a Masker. The error says which rules are wrong, all at once.
func New(opt Options) (*Masker, error) {
	m := &Masker{}
	return m, m.Set(opt)
}

// Set replaces the options; what was given to Add stays. After an error it's as before.
func (m *Masker) Set(opt Options) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := compile(opt, m.own)
	if err != nil {
		return err
	}
	m.opt = opt
	m.rules.Store(r)
	return nil
}

// Add masks a secret of the daemon wherever it stands: as it is, escaped, in base64.
// One of less than 6 bytes isn't masked, and false is returned.
func (m *Masker) Add(name, secret string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	more := ownForms(name, secret)
	if len(more) == 0 {
		return false
	}
	own := append(slices.Clip(m.own), more...)
	r, err := compile(m.opt, own)
	if err != nil {
		return false // Set has taken the same options
	}
	m.own = own
	m.rules.Store(r)
	return true
}

func compile(opt Options, own ownSecrets) (*ruleSet, error) {
	var (
		user    []userRule
		allowed []allowance
		wrong   []error
	)
	for i, u := range opt.Rules {
		re, err := regexp.Compile(u.Pattern)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("rule %d (%s): the pattern must be a valid regular expression (RE2)", i+1, u.Name))
		case re.MatchString(""):
			wrong = append(wrong, fmt.Errorf("rule %d (%s): the pattern must not match empty text", i+1, u.Name))
		case u.Name == "" || utf8.RuneCountInString(u.Name) > maxLabel || strings.ContainsAny(u.Name, "]\r\n"):
			wrong = append(wrong, fmt.Errorf("rule %d: the name must be of 1 to %d characters, without ] and line breaks", i+1, maxLabel))
		default:
			user = append(user, userRule{u.Name, re})
		}
	}
	for i, a := range opt.Allow {
		al, err := newAllowance(a)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("allow %d: %w", i+1, err))
		}
		allowed = append(allowed, al)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("read rules for masking: %w", errors.Join(wrong...))
	}
	return newRules(opt.Off, user, allowed, own), nil
}

func newAllowance(text string) (allowance, error) {
	if len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/' {
		re, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil || re.MatchString("") {
			return allowance{}, errors.New("must be a valid regular expression (RE2) between the slashes, and not match empty text")
		}
		return allowance{re: re}, nil
	}
	if text == "" {
		return allowance{}, errors.New("must not be empty")
	}
	return allowance{text: []byte(text)}, nil
}
