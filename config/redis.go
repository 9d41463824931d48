package config

import (
	"net"
	"path"
	"strconv"
)

// Redis is where the processes of one bot share its limits.
type Redis struct {
	Addrs                []string `yaml:"addrs" is:"redis_addr" eg:"[\"127.0.0.1:6379\"]" doc:"host:port, or the absolute path of a Unix socket; of a Cluster several nodes, with master_name the Sentinels. Empty: this is the bot's only process."`
	MasterName           string   `yaml:"master_name" eg:"mymaster" doc:"What the Sentinels call the master; empty: no Sentinels."`
	Cluster              bool     `yaml:"cluster" doc:"Whether it's a Cluster; several addrs without master_name are one in any case."`
	Username             string   `yaml:"username" doc:"User to log in as; empty: the default user."`
	Password             Secret   `yaml:"password" eg:"${REDIS_PASSWORD}" doc:"Its password; better in password_file, or taken from the environment."`
	PasswordFile         string   `yaml:"password_file" is:"secret_file" eg:"/etc/panebridge/redis-password" doc:"File that holds the password and nothing else."`
	SentinelUsername     string   `yaml:"sentinel_username" doc:"User to log in to the Sentinels as."`
	SentinelPasswordFile string   `yaml:"sentinel_password_file" is:"secret_file" eg:"/etc/panebridge/sentinel-password" doc:"File that holds the Sentinels' password and nothing else."`
	DB                   int      `yaml:"db" min:"0" max:"10000" doc:"Number of the database; a Cluster has only 0."`
	TLS                  bool     `yaml:"tls" doc:"Whether to connect by TLS."`
	TLSCAFile            string   `yaml:"tls_ca_file" is:"absolute_path" eg:"/etc/panebridge/redis-ca.pem" doc:"File with the certificates to trust, in PEM; empty: those of the system."`
	TLSCertFile          string   `yaml:"tls_cert_file" is:"absolute_path" eg:"/etc/panebridge/redis-client.pem" doc:"File with the certificate to show to Redis, in PEM; Redis asks for one unless tls-auth-clients is no."`
	TLSKeyFile           string   `yaml:"tls_key_file" is:"absolute_path" eg:"/etc/panebridge/redis-client.key" doc:"File with the key of that certificate, in PEM."`
	MaxProcesses         int      `yaml:"max_processes" min:"1" max:"100" doc:"How many processes share the bot at most, the same for all. Without Redis each sends within 1/max_processes of a limit, rounded down."`
	TimeoutMS            int      `yaml:"timeout_ms" min:"20" max:"2000" doc:"How long Redis may take to answer, in ms; later is no answer."`
}

func defaultRedis() Redis { return Redis{MaxProcesses: 4, TimeoutMS: 150} }

// Check implements Checker.
func (r *Redis) Check(p Part) {
	if r.Password.Reveal() != "" && r.PasswordFile != "" {
		p.Problem("password_file", "must not be given beside password")
	}
	if r.MasterName != "" && len(r.Addrs) == 0 && p.Sound("addrs") {
		p.Problem("addrs", "must name the Sentinels when master_name is given")
	}
	if r.MasterName != "" && r.Cluster {
		p.Problem("cluster", "must be false beside master_name: Sentinels watch a single master")
	}
	if isCluster := r.Cluster || len(r.Addrs) > 1 && r.MasterName == ""; isCluster && r.DB != 0 {
		p.Problem("db", "must be 0 in a Cluster")
	}
	for _, f := range []struct{ key, value string }{{"tls_ca_file", r.TLSCAFile}, {"tls_cert_file", r.TLSCertFile}, {"tls_key_file", r.TLSKeyFile}} {
		if f.value != "" && !r.TLS {
			p.Problem(f.key, "must be given only when tls is true")
		}
	}
	if (r.TLSCertFile == "") != (r.TLSKeyFile == "") && p.Sound("tls_cert_file") && p.Sound("tls_key_file") {
		p.Problem("tls_cert_file", "must be given together with tls_key_file")
	}
}

func redisAddrProblem(text string) string {
	if path.IsAbs(text) {
		return ""
	}
	host, port, err := net.SplitHostPort(text)
	n, portErr := strconv.Atoi(port)
	if err != nil || host == "" || portErr != nil || n < 1 || n > 65535 {
		return "must be host:port, such as 127.0.0.1:6379, or the absolute path of a Unix socket"
	}
	return ""
}
