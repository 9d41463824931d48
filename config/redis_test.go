package config

import (
	"strings"
	"testing"
)

func TestRedis(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"nothing", "", ""},
		{"a single server", `addrs: ["127.0.0.1:6379"]`, ""},
		{"a socket", `addrs: [/run/redis.sock]`, ""},
		{"Sentinels", `{addrs: ["a:26379", "b:26379"], master_name: m, db: 3}`, ""},
		{"a Cluster", `{addrs: ["a:1", "b:1"], tls: true, tls_ca_file: /ca.pem}`, ""},
		{"no port", `addrs: [localhost]`, "c.yaml:1:17: redis.addrs[0]: must be host:port"},
		{"a database in a Cluster", `{addrs: ["a:1", "b:1"], db: 2}`, "redis.db: must be 0 in a Cluster"},
		{"a Cluster with Sentinels", `{addrs: ["a:1"], master_name: m, cluster: true}`, "redis.cluster: must be false"},
		{"Sentinels without addresses", `{master_name: m}`, "redis.addrs: must name the Sentinels"},
		{"two passwords", `{password: a, password_file: /b}`, "redis.password_file: must not be given beside password"},
		{"certificates without TLS", `{tls_ca_file: /ca.pem}`, "redis.tls_ca_file: must be given only when tls is true"},
		{"a client's key without TLS", `{tls_cert_file: /c.pem, tls_key_file: /c.key}`, "redis.tls_key_file: must be given only when tls is true"},
		{"a certificate without its key", `{tls: true, tls_cert_file: /c.pem}`, "redis.tls_cert_file: must be given together with tls_key_file"},
		{"a client's certificate", `{addrs: ["a:1"], tls: true, tls_cert_file: /c.pem, tls_key_file: /c.key}`, ""},
		{"no process", `{max_processes: 0}`, "redis.max_processes: "},
		{"too many processes", `{max_processes: 101}`, "redis.max_processes: "},
		{"no time", `{timeout_ms: 0}`, "redis.timeout_ms: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "redis: " + c.yaml
			if !strings.HasPrefix(c.yaml, "{") {
				text = "redis: {" + c.yaml + "}"
			}
			_, err := Form{}.Parse("c.yaml", []byte(text), func(string) (string, bool) { return "", false })
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}
