package config

import "fmt"

// Tmux says which tmux servers there are.
type Tmux struct {
	Servers     []TmuxServer `yaml:"servers" min:"1" doc:"Each server is named by its socket, in one of two ways."`
	Environment []string     `yaml:"environment" is:"env_name" eg:"[GOPATH, HTTPS_PROXY]" doc:"Names of variables that a tmux server started by panebridge gets from its environment, besides those of a login (HOME, PATH, LANG, …). One that has a secret of panebridge's stays out in any case; a key for one agent goes to agents.*.env."`
}

// TmuxServer is one tmux server. Exactly one of its keys is set.
type TmuxServer struct {
	SocketName string `yaml:"socket_name" is:"socket_name" doc:"Name of a socket in tmux's own folder, as in tmux -L."`
	SocketPath string `yaml:"socket_path" is:"absolute_path" eg:"/run/user/1000/tmux.sock" doc:"Or the whole path of the socket, as in tmux -S."`
}

func defaultTmux() Tmux {
	return Tmux{Servers: []TmuxServer{{SocketName: "default"}}}
}

// Check implements Checker.
func (t *Tmux) Check(p Part) {
	first := map[TmuxServer]int{}
	for i, server := range t.Servers {
		key := fmt.Sprintf("servers[%d]", i)
		if j, seen := first[server]; seen {
			p.Problem(key, fmt.Sprintf("must name another socket than servers[%d]", j))
			continue
		}
		first[server] = i
	}
}

// Check implements Checker.
func (s *TmuxServer) Check(p Part) {
	if (s.SocketName == "") == (s.SocketPath == "") {
		p.Problem("", "must have exactly one of socket_name and socket_path")
	}
}
