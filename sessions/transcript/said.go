package transcript

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// cleanText makes a person's or a program's text valid UTF-8 whose lines end in "\n".
func cleanText(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	}
	return s
}

// between returns what stands between two tags, if s begins with the first, blanks
// aside, or has it after other tags.
func between(s, open, end string) (string, bool) {
	if !strings.HasPrefix(strings.TrimSpace(s), "<") {
		return "", false
	}
	_, after, ok := strings.Cut(s, open)
	if !ok {
		return "", false
	}
	return first(strings.Cut(after, end))
}

// think adds what the model thought, unless it's nothing.
func think(out []Record, id, thought string) []Record {
	if thought = strings.TrimSpace(cleanText(thought)); thought == "" {
		return out
	}
	return append(out, Record{Kind: Thought, ID: id, Text: thought})
}

func first(inner, _ string, ok bool) (string, bool) { return inner, ok }

// wrappers are the tags in which programs put what they tell the model in the
// person's name.
var wrappers = []string{ //nolint:gochecknoglobals // a constant table
	"bash-stderr", "command-message", "environment_context", "hook_context", "local-command-caveat",
	"local-command-stderr", "local-command-stdout", "memory_listing_additions", "memory_updates",
	"new-diagnostics", "permissions", "session_context",
	"skill", "skills_instructions", "subagent_notification", "system-reminder", "system_reminder",
	"task-notification", "tick", "turn_aborted", "user-prompt-submit-hook", "user_instructions",
	"user_shell_command",
}

var leadingTag = regexp.MustCompile(`^\s*<([A-Za-z_-]+)[^>]*>`)

// injected says that no person wrote a text: it begins with a tag of wrappers, and
// ends with one.
func injected(s string) bool {
	m := leadingTag.FindStringSubmatch(s)
	if m == nil || !strings.HasSuffix(strings.TrimSpace(s), ">") {
		return false
	}
	return slices.Contains(wrappers, m[1])
}

// forModel begins what a program adds for the model alone behind a tool's result: that it
// must not be quoted, and ids of its own.
var forModel = regexp.MustCompile(`(?is)\(This tool result is internal metadata.*|^\[?(?:internal metadata|internal note)\b.*`)

// withoutNotices is a text without what its program says to the model alone: blocks in tags
// of notices at its beginning and its end, and what mustn't be quoted.
func withoutNotices(s string) string {
	if strings.IndexByte(s, '<') >= 0 {
		for {
			cut, ok := withoutBlock(s)
			if !ok {
				break
			}
			s = cut
		}
	}
	if at := forModel.FindStringIndex(s); at != nil {
		s = strings.TrimRight(s[:at[0]], " \n")
	}
	return s
}

// notices are those wrappers that programs put beside what a person wrote or a tool said.
var notices = []string{ //nolint:gochecknoglobals // a constant table
	"hook_context", "memory_listing_additions", "memory_updates", "new-diagnostics", "system-reminder", "system_reminder",
	"user-prompt-submit-hook",
}

// withoutBlock takes one block in the tags of a notice away, at the beginning or the end.
func withoutBlock(s string) (string, bool) {
	if m := leadingTag.FindStringSubmatch(s); m != nil && slices.Contains(notices, m[1]) {
		if _, after, ok := strings.Cut(s, "</"+m[1]+">"); ok {
			return strings.TrimLeft(after, "\n"), true
		}
	}
	m := trailingTag.FindStringSubmatch(s)
	if m == nil || !slices.Contains(notices, m[1]) {
		return s, false
	}
	at := strings.LastIndex(s, "<"+m[1]+">")
	if at < 0 || at > 0 && s[at-1] != '\n' { // in a line of somebody's
		return s, false
	}
	return strings.TrimRight(s[:at], "\n"), true
}

var trailingTag = regexp.MustCompile(`</([A-Za-z_-]+)>\s*$`)

// passing are words in the text of failures that pass by themselves.
var passing = []string{ //nolint:gochecknoglobals // a constant table
	"overload", "rate limit", "rate-limit", "ratelimit", "too many requests", "usage limit", "limit reached", "hit your limit",
	"quota", "resource_exhausted", "unavailable", "try again", "retry", "429", "503", "529", "temporarily", "timed out", "timeout",
}

// passes says whether a failure passes by itself: the same request may succeed
// later.
func passes(failure string) bool {
	failure = strings.ToLower(failure)
	for _, p := range passing {
		if strings.Contains(failure, p) {
			return true
		}
	}
	return false
}
