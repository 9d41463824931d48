package telegramtest

import (
	"net/url"
	"strconv"
	"strings"
)

// checkLink returns an address as Telegram keeps it, or why it refuses it. A
// link without a scheme is taken for http; a host needs a dot, so localhost and
// names of local files without one are refused.
func checkLink(address string) (normal, why string) {
	const wrong = "Wrong HTTP URL"
	text := strings.TrimSpace(address)
	if !hasScheme(text) {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", wrong
	}
	switch u.Scheme = strings.ToLower(u.Scheme); u.Scheme {
	case "http", "https":
	case "tg", "ton", "tonsite":
		return u.String(), ""
	default:
		return "", "Unsupported URL protocol"
	}
	host := u.Hostname()
	if !strings.Contains(strings.Trim(host, "."), ".") && !strings.Contains(host, ":") {
		return "", wrong
	}
	if strings.ContainsAny(host, " \t\n<>\"'`{}|\\^") {
		return "", wrong
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), ""
}

// hasScheme tells name:rest from host:80 and path/to/file.
func hasScheme(s string) bool {
	name, rest, ok := strings.Cut(s, ":")
	if !ok || name == "" || strings.ContainsAny(name, "./?#") {
		return false
	}
	_, err := strconv.Atoi(strings.SplitN(rest, "/", 2)[0])
	return err != nil
}

// mentionedUser returns the user of tg://user?id=…, or 0.
func mentionedUser(address string) int64 {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(address)), "tg://user?")
	if !ok {
		return 0
	}
	values, err := url.ParseQuery(rest)
	if err != nil {
		return 0
	}
	id, err := strconv.ParseInt(values.Get("id"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
