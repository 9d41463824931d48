package render

import (
	"net/url"
	"strings"
)

// maxURL is the longest link that's made, in bytes; it's what browsers take.
const maxURL = 2048

// isWeb says whether a chat can open a link: an absolute URL of the web. Others are
// refused or ignored by the platforms, and tg://user?id=… would be a mention
// (core.telegram.org/bots/api#formatting-options).
func isWeb(s string) bool {
	if len(s) > maxURL || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '<' || r == '>' || r == 0x7F }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && isHost(u.Hostname())
}

// isHost says whether a host is one for everybody: Telegram refuses links to
// "localhost" and other names without a dot, which lead nowhere from a phone either.
func isHost(s string) bool {
	return (strings.Contains(strings.Trim(s, "."), ".") || strings.Contains(s, ":")) && !strings.HasPrefix(s, ".") && !strings.ContainsAny(s, "\\\"'`*_(){}|^,;=+$&!@#%?~ ")
}
