package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/config"
)

// Each input with the whole text of its error, "c.yaml:" left out.
var badInputs = []struct{ name, in, want string }{
	{
		name: "profiles",
		in:   "profiles:\n  Claude: {}\n  qwen: 3\n  pi:\n",
		want: `2:3: profiles: has the key "Claude", which must be of 1 to 64 small letters, digits, _ and -, beginning with a letter or digit
3:9: profiles.qwen: must be a mapping (key: value), not a number
4:6: profiles.pi: must be a mapping (key: value), not nothing`,
	},
	{
		name: "all at once, in the file's order",
		in: `
log: {level: loud, format: 5}
polling:
    output_cadence_s: 0.01
    focus_cadance_s: 1
    max_capture_lines: many
sessions:
  adopt: [ok, "[", ""]
  history_limit: 1.5
  history_limit: 20000000
letters: {text: 1}
`,
		want: `2:14: log.level: must be one of debug, info, warn, error
2:28: log.format: must be one of auto, text, json
4:23: polling.output_cadence_s: must be at least 0.1, not 0.01
5:5: polling.focus_cadance_s: unknown key; did you mean focus_cadence_s?
6:24: polling.max_capture_lines: must be a number, not text
8:15: sessions.adopt[1]: must be a valid pattern of * ? [a-z] and \ before a character meant literally
8:20: sessions.adopt[2]: must be a pattern, not empty; "*" is every session
9:18: sessions.history_limit: must be at least 100, not 1.5
10:3: sessions.history_limit: must be given once; it is on line 9 already
10:18: sessions.history_limit: must be at most 1000000, not 20000000
11:1: letters: unknown key; known here: tmux, sessions, polling, mirrors, adapters, agents, profiles, access, people, inbound, voice, wait, mail, notices, prompts, attention, redis, redact, monitoring, log`,
	},
	{
		name: "wrong kinds",
		in:   "{tmux: [], sessions: {adopt: x, tmux_prefix: [a], log_max_lines: }, polling: 3, adapters: {web: {enabled: yes, listen: {}}}, log: true}",
		want: `1:8: tmux: must be a mapping (key: value), not a list
1:30: sessions.adopt: must be a list, not text
1:46: sessions.tmux_prefix: must be text, not a list
1:66: sessions.log_max_lines: must be a number, not nothing
1:78: polling: must be a mapping (key: value), not a number
1:107: adapters.web.enabled: must be true or false, not text
1:120: adapters.web.listen: must be text, not a mapping
1:131: log: must be a mapping (key: value), not true or false`,
	},
	{
		name: "root", in: "- a\n",
		want: "1:1: must be a mapping (key: value), not a list",
	},
	{
		name: "numbers",
		in:   "sessions: {history_limit: 100.5, log_max_lines: 1e300}\npolling: {output_cadence_s: .nan, focus_cadence_s: -.inf, capture_timeout_s: 61, max_capture_lines: ~}",
		want: `1:27: sessions.history_limit: must be a whole number, not 100.5
1:49: sessions.log_max_lines: must be at most 1000000000, not 1e+300
2:29: polling.output_cadence_s: must be a finite number
2:52: polling.focus_cadence_s: must be a finite number
2:78: polling.capture_timeout_s: must be at most 60, not 61
2:101: polling.max_capture_lines: must be a number, not nothing`,
	},
	{
		name: "focus slower than output", in: "polling: {focus_cadence_s: 2, output_cadence_s: 1.5}",
		want: "1:28: polling.focus_cadence_s: must be at most output_cadence_s, which is 1.5, not 2",
	},
	{
		name: "nothing follows from a value that is wrong", in: "polling: {focus_cadence_s: 2, output_cadence_s: 100}",
		want: "1:49: polling.output_cadence_s: must be at most 60, not 100",
	},
	{
		name: "tmux servers",
		in:   "tmux: {servers: [{socket_name: a}, {socket_name: a}, {}, {socket_name: a/b}, {socket_path: a}, {socket_name: a, socket_path: /a}, ]}",
		want: `1:36: tmux.servers[1]: must name another socket than servers[0]
1:54: tmux.servers[2]: must have exactly one of socket_name and socket_path
1:72: tmux.servers[3].socket_name: must be a name without / and control characters, such as default; a path goes to socket_path
1:92: tmux.servers[4].socket_path: must be an absolute path, beginning with /
1:96: tmux.servers[5]: must have exactly one of socket_name and socket_path`,
	},
	{
		name: "qos",
		in: `
adapters:
  telegram:
    qos: {mode: fast, group_mpm: -1, output_budget_ratio: 1.5, rounding_ms: 0, lend_reserve: maybe, active_emitter_ema_alpha: 2}
`,
		want: `4:17: adapters.telegram.qos.mode: must be one of off, coalesce_only, strict
4:34: adapters.telegram.qos.group_mpm: must be at least 2, not -1
4:59: adapters.telegram.qos.output_budget_ratio: must be at most 1, not 1.5
4:77: adapters.telegram.qos.rounding_ms: must be at least 1, not 0
4:94: adapters.telegram.qos.lend_reserve: must be true or false, not text
4:127: adapters.telegram.qos.active_emitter_ema_alpha: must be at most 1, not 2`,
	},
	{
		name: "reserve as large as the budget", in: "adapters: {telegram: {qos: {group_mpm: 10, reserve_mpm: 10}}}",
		want: "1:57: adapters.telegram.qos.reserve_mpm: must be from 0 to 9, below group_mpm, which is 10; not 10",
	},
	{
		name: "mirrors",
		in: `
mirrors:
  - {session: "[", to: "slack:1"}
  - {session: a, to: telegram, view: all}
  - {to: "telegram:me"}
  - {session: a, to: "telegram:-100/x", input: 1}
`,
		want: `3:15: mirrors[0].session: must be a valid pattern of * ? [a-z] and \ before a character meant literally
3:24: mirrors[0].to: must name a known adapter before the colon: one of telegram, discord
4:22: mirrors[1].to: must be ADAPTER:CHAT, such as telegram:-1001234567890, with ADAPTER one of telegram, discord
4:38: mirrors[1].view: must be one of stream, final, screen
5:5: mirrors[2].session: must be given
5:10: mirrors[2].to: must be ADAPTER:CHAT, such as telegram:-1001234567890, with the chat's number, and after a / the thread's
6:22: mirrors[3].to: must be ADAPTER:CHAT, such as telegram:-1001234567890, with the chat's number, and after a / the thread's
6:48: mirrors[3].input: must be true or false, not a number`,
	},
	{
		name: "no tmux server", in: "tmux: {servers: []}",
		want: "1:17: tmux.servers: must have at least 1 in it, not 0",
	},
	{
		name: "prefix", in: "sessions: {tmux_prefix: 'a:b'}",
		want: "1:25: sessions.tmux_prefix: must be of 1 to 32 letters, digits, _ and -",
	},
	{
		name: "listening to the world", in: "adapters: {web: {listen: ':7333'}}",
		want: "1:26: adapters.web.listen: must be an address of this machine and a port, such as 127.0.0.1:7333, [::1]:7333 or 0.0.0.0:7333",
	},
	{
		name: "listening to the network", in: "adapters: {web: {listen: '192.168.1.2:7333'}}",
		want: "1:26: adapters.web.listen: must be a loopback host:port, such as 127.0.0.1:7333, where neither tls_cert_file is given " +
			"nor behind_proxy is true: what's typed and shown would go through the network for everybody to read",
	},
	{
		name: "a page behind nothing", in: "adapters: {web: {public_url: 'https://pane.example.com'}}",
		want: "1:30: adapters.web.public_url: needs behind_proxy: true, for a reverse proxy such as Caddy or tailscale serve before the page, or a tls_cert_file",
	},
	{
		name: "a page by http", in: "adapters: {web: {behind_proxy: true, public_url: 'http://pane.example.com'}}",
		want: "1:50: adapters.web.public_url: must begin with https://: by http a browser keeps no key, and everybody on the way could read and change the page",
	},
	{
		name: "a page below a path", in: "adapters: {web: {behind_proxy: true, public_url: 'https://example.com/pane'}}",
		want: "1:50: adapters.web.public_url: must be a name of its own, without a path, such as https://pane.example.ts.net: the page can't be served below another",
	},
	{
		name: "hosts by patterns", in: "adapters: {web: {allowed_hosts: ['*.example.com', 'pane.example.com:443', '[::1', 'a b', '.', 'pane:0']}}",
		want: `1:34: adapters.web.allowed_hosts[0]: must be one exact name with or without a port, such as pane.example.ts.net or localhost:9000, not a pattern
1:75: adapters.web.allowed_hosts[2]: must be one exact name with or without a port, such as pane.example.ts.net or localhost:9000, not a pattern
1:83: adapters.web.allowed_hosts[3]: must be one exact name with or without a port, such as pane.example.ts.net or localhost:9000, not a pattern
1:90: adapters.web.allowed_hosts[4]: must be one exact name with or without a port, such as pane.example.ts.net or localhost:9000, not a pattern
1:95: adapters.web.allowed_hosts[5]: must be one exact name with or without a port, such as pane.example.ts.net or localhost:9000, not a pattern`,
	},
	{
		name: "proxies", in: "adapters: {web: {listen: '0.0.0.0:7333', behind_proxy: true}}",
		want: "1:56: adapters.web.behind_proxy: needs trusted_proxies where listen isn't a loopback address: the addresses from which the proxy connects",
	},
	{
		name: "proxies that are anybody", in: "adapters: {web: {behind_proxy: true, trusted_proxies: ['0.0.0.0/0', '10.0.0.1/8', caddy]}}",
		want: strings.Join([]string{
			"1:56: adapters.web.trusted_proxies[0]: must be an address, such as 127.0.0.1, or a range of them, such as 10.0.0.0/24",
			"1:69: adapters.web.trusted_proxies[1]: must be an address, such as 127.0.0.1, or a range of them, such as 10.0.0.0/24",
			"1:83: adapters.web.trusted_proxies[2]: must be an address, such as 127.0.0.1, or a range of them, such as 10.0.0.0/24",
		}, "\n"),
	},
	{
		name: "trusted proxies without a proxy", in: "adapters: {web: {trusted_proxies: ['10.0.0.0/24']}}",
		want: "1:35: adapters.web.trusted_proxies: must be given only when behind_proxy is true",
	},
	{
		name: "half a certificate", in: "adapters: {web: {tls_key_file: /etc/page.key}}",
		want: "1:17: adapters.web.tls_cert_file: must be given together with tls_key_file",
	},
	{
		name: "port", in: "adapters: {web: {listen: 'localhost:65536'}}",
		want: "1:26: adapters.web.listen: must end in a port from 0 to 65535; with 0 the system chooses one",
	},
	{
		name: "continue text", in: "sessions: {continue_text: \"a\\nb\"}",
		want: "1:27: sessions.continue_text: must be of 1 to 500 characters on one line, without control characters",
	},
	{
		name: "turn marker", in: "polling: {turn_marker: '/s3cret(/'}",
		want: "1:24: polling.turn_marker: must be a valid regular expression (RE2) between the slashes: missing closing )",
	},
	{
		name: "turn marker that always matches", in: "polling: {turn_marker: '/x*/'}",
		want: "1:24: polling.turn_marker: must not match empty text, or every line would end a turn",
	},
	{
		name: "turn marker over two lines", in: `polling: {turn_marker: "a\nb"}`,
		want: "1:24: polling.turn_marker: must be text within one line, without a line break",
	},
	{
		name: "agents",
		in: `agents:
  none:
  some: {profile: "a b"}
  empty: {command: []}
  blank: {command: ['', x]}
  "a b": {command: [x]}
  sizes: {command: [x], width: 2, history_limit: 1, resume: [--resume]}
  env: {command: [x], env: {a b: c, s3cret, A: [], B: "a\0b"}}
  list: {command: [x], env: [A=s3cret]}
`,
		want: `2:8: agents.none.command: must be given, such as ["claude"]
3:9: agents.some.command: must be given, such as ["claude"]
3:19: agents.some.profile: must be the name of a profile, such as claude, codex or generic, or left out
4:20: agents.empty.command: must have at least 1 in it, not 0
5:21: agents.blank.command[0]: must be the name or path of a program, not empty
6:3: agents: has the key "a b", which must be of 1 to 64 letters, digits, _ and -, beginning with a letter or digit
7:32: agents.sizes.width: must be at least 20, not 2
7:61: agents.sizes.resume: must have {id} in one of the arguments, where the conversation's id goes
8:29: agents.env.env: has the key ***, which must be the name of an environment variable: letters, digits and _, not beginning with a digit
8:37: agents.env.env: has a name without a value
8:48: agents.env.env.A: must be text, not a list
8:55: agents.env.env.B: must be text without a NUL character
9:29: agents.list.env: must be a mapping (key: value), not a list`,
	},
	{
		name: "environment", in: "log: {level: '${LEVEL}${KEY}${FORMAT}', format: '${a b}'}",
		want: `1:14: log.level: must be set in the environment: LEVEL, FORMAT; write $${ for ${ itself
1:49: log.format: must have the name of a variable and } after ${; write $${ for ${ itself`,
	},
	{
		name: "tags and merging", in: "{log: {level: !x info, format: !!binary aGk=}, polling: {<<: {turn_marker: a}, [b]: c}}",
		want: `1:15: log.level: must be text, not a value with a tag (!)
1:32: log.format: must be text, not a value with a tag (!)
1:58: polling: must not merge (<<) another mapping; write its keys out
1:80: polling: has a key that must be text, not a list`,
	},
	{
		name: "keys that may be secrets", in: "s3cret token: 1\nghp_s3cret0123456789012345678901234567890: 1\n",
		want: `1:1: unknown key; known here: tmux, sessions, polling, mirrors, adapters, agents, profiles, access, people, inbound, voice, wait, mail, notices, prompts, attention, redis, redact, monitoring, log
2:1: unknown key; known here: tmux, sessions, polling, mirrors, adapters, agents, profiles, access, people, inbound, voice, wait, mail, notices, prompts, attention, redis, redact, monitoring, log`,
	},
	{
		name: "discord without what it needs", in: "adapters: {discord: {enabled: true, channels: [{threads: true}]}}\n",
		want: `1:21: adapters.discord.guild: must be given when enabled is true: the server's id, as Copy Server ID gives it
1:21: adapters.discord.token_file: must be given when enabled is true, or token
1:48: adapters.discord.channels[0].id: must be the channel's id, as Copy Channel ID gives it`,
	},
	{
		name: "discord with names for ids", in: "adapters: {discord: {guild: my server, channels: [{id: 5}]}}\n",
		want: `1:29: adapters.discord.guild: must be an id of Discord's, 15 to 20 digits, as Copy ID in its menus gives it (Settings, Advanced, Developer Mode)
1:56: adapters.discord.channels[0].id: must be an id of Discord's, 15 to 20 digits, as Copy ID in its menus gives it (Settings, Advanced, Developer Mode)`,
	},
	{
		name: "telegram without a token", in: "adapters: {telegram: {enabled: true}}\n",
		want: "1:22: adapters.telegram.token_file: must be given when enabled is true, or token",
	},
	{
		name: "telegram with two tokens", in: "adapters: {telegram: {token: s3cret, token_file: /f}}\n",
		want: "1:50: adapters.telegram.token_file: must not be given beside token",
	},
	{
		name: "telegram's addresses and chats",
		in:   "adapters: {telegram: {api_url: api.telegram.org, proxy: 'ftp://x', chats: [{topics: true}, {id: a}], webhook: {url: 'https://x/y'}}}\n",
		want: `1:32: adapters.telegram.api_url: must be an http or https address without a password, such as https://api.telegram.org
1:57: adapters.telegram.proxy: must be an address that begins with http://, https:// or socks5://, such as socks5://127.0.0.1:1080
1:76: adapters.telegram.chats[0].id: must be the chat's number; groups have negative ones
1:97: adapters.telegram.chats[1].id: must be a number, not text
1:111: adapters.telegram.webhook.listen: must be given beside webhook.url`,
	},
	{
		name: "who may do what", in: "access: {operators: [telegram:123, ann, 'telegram:-5', 'irc:1']}\npeople: {me: [x]}\n",
		want: `1:36: access.operators[1]: must be PLATFORM:ID of a person, such as telegram:123 or discord:456; names can be taken by anybody
1:41: access.operators[2]: must be PLATFORM:ID of a person, such as telegram:123 or discord:456; names can be taken by anybody
1:56: access.operators[3]: must be PLATFORM:ID of a person, such as telegram:123 or discord:456; names can be taken by anybody
2:15: people.me[0]: must be PLATFORM:ID of a person, such as telegram:123 or discord:456; names can be taken by anybody`,
	},
	{
		name: "ages", in: "sessions: {keep_ended: 4000d}\n",
		want: "1:24: sessions.keep_ended: must be a time span above 0 and at most 3650d, such as 30d or 12h",
	},
	{
		name: "time spans or none", in: "attention: {ring_after: -1s}\nprompts: {remind_after: never}\n",
		want: `1:25: attention.ring_after: must be 0, or a time span of at most 720h, such as 90s, 10m or 1h30m
2:25: prompts.remind_after: must be 0, or a time span of at most 720h, such as 90s, 10m or 1h30m`,
	},
	{
		name: "time spans", in: "inbound: {stale_after: 10, max_file_mb: -1}\n",
		want: `1:24: inbound.stale_after: must be a time span above 0 and at most 720h, such as 90s, 10m or 1h30m
1:41: inbound.max_file_mb: must be at least 0, not -1`,
	},
	{
		name: "rules for masking", in: "redact: {enabled: 1, rules: [{name: 'a]', pattern: '('}, {pattern: 'x*'}, {}], allow: ['', '/(/', ok]}\n",
		want: `1:19: redact.enabled: must be true or false, not a number
1:37: redact.rules[0].name: must be of 1 to 64 characters, without ] and control characters
1:52: redact.rules[0].pattern: must be a valid regular expression (RE2)
1:58: redact.rules[1].name: must be given
1:68: redact.rules[1].pattern: must not match empty text, or everything would be masked
1:75: redact.rules[2].name: must be given
1:75: redact.rules[2].pattern: must be given
1:88: redact.allow[0]: must be a text, not empty
1:92: redact.allow[1]: must be a valid regular expression (RE2) between the slashes, which doesn't match empty text`,
	},
	{
		name: "two documents", in: "log: {}\n---\nlog: {}\n",
		want: "2:1: must be the end of the file: a configuration is one YAML document",
	},
	{
		name: "syntax", in: "log:\n  level: \"info\n  s3cret: x\n",
		want: "4:1: must be valid YAML: found unexpected end of stream, while scanning a quoted scalar from 2:10",
	},
	{
		name: "alias to nothing", in: "log: *s3cret\n",
		want: "1:6: must be valid YAML: an alias (*name) needs its anchor (&name) before it",
	},
	{
		name: "alias in itself", in: "tmux: &s3cret {servers: *s3cret}\n",
		want: "1:7: tmux.servers: must be a list, not a mapping",
	},
	{
		name: "not text", in: "log:\n  é\xff\n",
		want: "2:4: must be UTF-8 text",
	},
	{
		name: "control character", in: "log:\n  \x1b[1m\n",
		want: "2:3: must be text without the control character U+001B",
	},
}

func TestProblems(t *testing.T) {
	for _, test := range badInputs {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(test.in)
			if _, ok := errors.AsType[*config.Errors](err); !ok {
				t.Fatalf("got %v, want *config.Errors", err)
			}
			if diff := cmp.Diff(test.want, strings.ReplaceAll(err.Error(), "c.yaml:", "")); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("shows a secret:\n%v", err)
			}
		})
	}
}

func TestLoopbackAddresses(t *testing.T) {
	for listen, good := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:80": true, "localhost:65535": true, "[::1]:7333": true,
		"": false, "7333": false, "localhost": false, "0.0.0.0:1": false, "[::]:1": false, "::1:1": false,
		"example.org:1": false, "127.0.0.1:http": false, "127.0.0.1:-1": false, "127.0.0.1:+1": false, "127.0.0.1:": false, "127.1:1": false,
	} {
		if _, err := parse("adapters: {web: {listen: '" + listen + "'}}"); (err == nil) != good {
			t.Errorf("%q: %v", listen, err)
		}
	}
}
