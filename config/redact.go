package config

import (
	"regexp"
	"strings"
)

// Redact says which secrets in output are masked before it leaves the host.
type Redact struct {
	Enabled bool         `yaml:"enabled" doc:"Whether secrets are masked: keys, tokens, passwords, private keys. Those of panebridge itself are in any case."`
	Rules   []RedactRule `yaml:"rules" doc:"Secrets of your own kinds, besides those that are known by their form."`
	Allow   []string     `yaml:"allow" is:"allowed_text" doc:"What contains one of these texts is no secret; \"/…/\" is a regular expression (RE2)."`
}

// RedactRule is a kind of secret.
type RedactRule struct {
	Name    string `yaml:"name" is:"rule_name" eg:"customer number" doc:"What stands in the secret's place."`
	Pattern string `yaml:"pattern" is:"pattern" eg:"C-[0-9]{6}" doc:"Regular expression (RE2) that finds it within a line; if it has a group, only that is masked."`
}

func defaultRedact() Redact { return Redact{Enabled: true} }

// Check implements Checker.
func (r *RedactRule) Check(p Part) {
	for _, key := range []string{"name", "pattern"} {
		if !p.Given(key) {
			p.Problem(key, "must be given")
		}
	}
}

// patternProblem says what's wrong with an expression, and doesn't repeat it: it may
// come from ${ENV}.
func patternProblem(text string) string {
	re, err := regexp.Compile(text)
	switch {
	case err != nil:
		return "must be a valid regular expression (RE2)"
	case re.MatchString(""):
		return "must not match empty text, or everything would be masked"
	}
	return ""
}

func allowedTextProblem(text string) string {
	if len(text) > 1 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/") {
		if re, err := regexp.Compile(text[1 : len(text)-1]); err != nil || re.MatchString("") {
			return "must be a valid regular expression (RE2) between the slashes, which doesn't match empty text"
		}
		return ""
	}
	if text == "" {
		return "must be a text, not empty"
	}
	return ""
}
