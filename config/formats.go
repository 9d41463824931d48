package config

import (
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// format is what an "is" or "keys" tag names: how a text must look.
type format struct {
	must    string // what would be right
	pattern string // the rule as a regular expression, where it is one
	problem func(text string) string
	place   func(f Form, text string) string // of a text that names a platform
}

// formatOf returns the format a tag names. An unknown name is a mistake in
// this package's own tags.
func formatOf(name string) format {
	switch name {
	case "":
		return format{}
	case "name":
		return format{must: "must be of 1 to 64 letters, digits, _ and -, beginning with a letter or digit", pattern: `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`}
	case "profile":
		return format{must: "must be the name of a profile, such as claude, codex or generic, or left out", pattern: `^([a-z0-9][a-z0-9_-]{0,63})?$`}
	case "profile_name":
		return format{must: "must be of 1 to 64 small letters, digits, _ and -, beginning with a letter or digit", pattern: `^[a-z0-9][a-z0-9_-]{0,63}$`}
	case "tmux_prefix":
		return format{must: "must be of 1 to 32 letters, digits, _ and -", pattern: `^[A-Za-z0-9_-]{1,32}$`}
	case "continue_text":
		return format{must: "must be of 1 to 500 characters on one line, without control characters", pattern: `^[^\x00-\x1f\x7f-\x9f]{1,500}$`}
	case "env_name":
		return format{must: "must be the name of an environment variable: letters, digits and _, not beginning with a digit", pattern: `^[A-Za-z_][A-Za-z0-9_]*$`}
	case "socket_name":
		return format{must: "must be a name without / and control characters, such as default; a path goes to socket_path", pattern: `^[^/\x00-\x1f\x7f]*$`}
	case "absolute_path", "secret_file":
		return format{problem: absolutePathProblem}
	case "glob":
		return format{problem: globProblem}
	case "output":
		return format{must: "must be all, or a number of rows from 10 to 500", pattern: `^(all|[1-9][0-9]|[1-4][0-9]{2}|500)?$`}
	case "target":
		return format{place: Form.targetProblem}
	case "target_or_none":
		return format{place: Form.targetOrNoneProblem}
	case "http_url":
		return format{problem: httpURLProblem}
	case "http_url_or_none":
		return format{problem: orNone(httpURLProblem)}
	case "proxy_url":
		return format{problem: orNone(proxyURLProblem)}
	case "person":
		return format{place: Form.personProblem}
	case "regexp":
		return format{problem: regexpProblem}
	case "duration":
		return format{problem: durationProblem}
	case "age":
		return format{problem: ageProblem}
	case "span":
		return format{problem: spanProblem}
	case "host_port":
		return format{problem: hostPortProblem}
	case "page_url_or_none":
		return format{problem: orNone(pageURLProblem)}
	case "allowed_host":
		return format{problem: hostProblem}
	case "address_range":
		return format{problem: addressRangeProblem}
	case "loopback_or_none":
		return format{problem: orNone(loopbackProblem)}
	case "rule_name":
		return format{must: "must be of 1 to 64 characters, without ] and control characters", pattern: `^[^\]\x00-\x1f\x7f]{1,64}$`}
	case "pattern":
		return format{problem: patternProblem}
	case "allowed_text":
		return format{problem: allowedTextProblem}
	case "redis_addr":
		return format{problem: redisAddrProblem}
	case "turn_marker":
		return format{problem: turnMarkerProblem}
	}
	panic("config: no format " + strconv.Quote(name))
}

// check says what is wrong with a text, or nothing. It doesn't repeat the text.
func (f format) check(form Form, text string) string {
	switch {
	case f.place != nil:
		return f.place(form, text)
	case f.problem != nil:
		return f.problem(text)
	case f.pattern != "" && !regexp.MustCompile(f.pattern).MatchString(text):
		return f.must
	}
	return ""
}

func absolutePathProblem(text string) string {
	if text != "" && !filepath.IsAbs(text) {
		return "must be an absolute path, beginning with /"
	}
	return ""
}

func globProblem(text string) string {
	if text == "" {
		return `must be a pattern, not empty; "*" is every session`
	}
	if _, err := path.Match(text, ""); err != nil {
		return `must be a valid pattern of * ? [a-z] and \ before a character meant literally`
	}
	return ""
}

func loopbackProblem(text string) string {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !IsLoopback(host) {
		return "must be a loopback host:port, such as 127.0.0.1:7333, localhost:7333 or [::1]:7333"
	}
	return portProblem(port)
}

// orNone is a rule that an empty text passes, too.
func orNone(problem func(string) string) func(string) string {
	return func(text string) string {
		if text == "" {
			return ""
		}
		return problem(text)
	}
}

func httpURLProblem(text string) string {
	if !isURL(text, "http", "https") {
		return "must be an http or https address without a password, such as https://api.telegram.org"
	}
	return ""
}

func proxyURLProblem(text string) string {
	if u, err := url.Parse(text); err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return "must be an address that begins with http://, https:// or socks5://, such as socks5://127.0.0.1:1080"
	}
	return ""
}

func isURL(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && slices.Contains(schemes, u.Scheme)
}

// IsLoopback reports whether a host, by name or number, is surely this machine.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func regexpProblem(text string) string {
	if _, err := regexp.Compile(text); err != nil || text == "" {
		return "must be a regular expression of Go's syntax"
	}
	return ""
}
