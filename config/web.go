package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Web is the page. Without more than Listen it's for browsers on this machine alone.
type Web struct {
	Enabled bool   `yaml:"enabled" doc:"Whether to serve the page; the command line's socket is there in any case."`
	Listen  string `yaml:"listen" is:"host_port" doc:"host:port to serve it on; with port 0 the system chooses one. Beyond loopback only with tls_cert_file, or with behind_proxy."`

	PublicURL    string   `yaml:"public_url" is:"page_url_or_none" eg:"https://pane.example.ts.net" doc:"Address of the page for browsers elsewhere, which panebridge page share shows; empty: there's none."`
	AllowedHosts []string `yaml:"allowed_hosts" is:"allowed_host" eg:"[\"localhost:9000\"]" doc:"Further names by which browsers call the page, as name or name:port, exactly: of an SSH tunnel that ends on another port, for example."`

	BehindProxy    bool     `yaml:"behind_proxy" doc:"Whether a reverse proxy stands before the page. Then only the proxies below are served beside this machine's own browsers, and they must keep the Host."`
	TrustedProxies []string `yaml:"trusted_proxies" is:"address_range" eg:"[\"127.0.0.1\", \"10.0.0.0/24\"]" doc:"Addresses, or ranges of them, from which the reverse proxy connects. Empty: loopback's."`

	TLSCertFile string `yaml:"tls_cert_file" is:"absolute_path" eg:"/etc/panebridge/page.pem" doc:"File with the page's certificate and those that vouch for it, in PEM; it's read again when it changes. Empty: no TLS."`
	TLSKeyFile  string `yaml:"tls_key_file" is:"absolute_path" eg:"/etc/panebridge/page.key" doc:"File with the key of that certificate, in PEM."`
}

func defaultWeb() Web {
	return Web{Enabled: true, Listen: "127.0.0.1:7333"}
}

// Check implements Checker.
func (w *Web) Check(p Part) {
	if (w.TLSCertFile == "") != (w.TLSKeyFile == "") && p.Sound("tls_cert_file") && p.Sound("tls_key_file") {
		p.Problem("tls_cert_file", "must be given together with tls_key_file")
	}
	host, _, err := net.SplitHostPort(w.Listen)
	if beyond := err == nil && !IsLoopback(host); beyond && p.Sound("listen") && w.TLSCertFile == "" && !w.BehindProxy {
		p.Problem("listen", "must be a loopback host:port, such as 127.0.0.1:7333, where neither tls_cert_file is given nor behind_proxy is true: "+
			"what's typed and shown would go through the network for everybody to read")
	}
	if len(w.TrustedProxies) > 0 && !w.BehindProxy {
		p.Problem("trusted_proxies", "must be given only when behind_proxy is true")
	}
	if w.BehindProxy && len(w.TrustedProxies) == 0 && err == nil && !IsLoopback(host) && p.Sound("trusted_proxies") {
		p.Problem("behind_proxy", "needs trusted_proxies where listen isn't a loopback address: the addresses from which the proxy connects")
	}
	if u, err := url.Parse(w.PublicURL); err == nil && w.PublicURL != "" && p.Sound("public_url") &&
		!IsLoopback(u.Hostname()) && w.TLSCertFile == "" && !w.BehindProxy {
		p.Problem("public_url", "needs behind_proxy: true, for a reverse proxy such as Caddy or tailscale serve before the page, or a tls_cert_file")
	}
}

func hostPortProblem(text string) string {
	host, port, err := net.SplitHostPort(text)
	if _, bad := netip.ParseAddr(host); err != nil || bad != nil && host != "localhost" {
		return "must be an address of this machine and a port, such as 127.0.0.1:7333, [::1]:7333 or 0.0.0.0:7333"
	}
	return portProblem(port)
}

// portProblem says what's wrong with a port to listen on.
func portProblem(port string) string {
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || strings.HasPrefix(port, "+") {
		return "must end in a port from 0 to 65535; with 0 the system chooses one"
	}
	return ""
}

func pageURLProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() == "" && strings.HasSuffix(u.Host, ":"):
		return "must be an https address, such as https://pane.example.ts.net"
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(text, "?#"):
		return "must be a name of its own, without a path, such as https://pane.example.ts.net: the page can't be served below another"
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return "must begin with https://: by http a browser keeps no key, and everybody on the way could read and change the page"
	}
	return hostProblem(u.Host)
}

// hostProblem says what's wrong with the name by which browsers call the page.
func hostProblem(text string) string {
	const must = "must be one exact name with or without a port, such as pane.example.ts.net or localhost:9000, not a pattern"
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		host, port = text[:i], text[i+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strings.HasPrefix(port, "+") || strings.HasPrefix(port, "0") {
			return must
		}
	}
	if literal, ok := strings.CutPrefix(host, "["); ok {
		if addr, err := netip.ParseAddr(strings.TrimSuffix(literal, "]")); err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(host, "]") {
			return must
		}
		return ""
	}
	if host == "" || len(host) > 253 || strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, "..") {
		return must
	}
	for _, r := range host {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._", r) {
			return must
		}
	}
	return ""
}

func addressRangeProblem(text string) string {
	if r, err := ParseAddressRange(text); err != nil || r.Bits() == 0 {
		return "must be an address, such as 127.0.0.1, or a range of them, such as 10.0.0.0/24"
	}
	return ""
}

// ParseAddressRange reads an IP address, or a range of them as address/bits. IPv4 addresses
// that are written as IPv6 are IPv4.
func ParseAddressRange(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, &net.ParseError{Type: "address", Text: text}
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err == nil && prefix.Masked() != prefix {
		err = &net.ParseError{Type: "range of addresses", Text: text}
	}
	return prefix, err
}
