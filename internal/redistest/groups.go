package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Sentinels is a master with a replica, and a Sentinel that fails over within about
// two seconds.
type Sentinels struct {
	Nodes    [2]*Server
	Sentinel *Server
}

// MasterName is what the Sentinel calls the master.
const MasterName = "panebridge"

// StartSentinels starts all three.
func StartSentinels(ctx context.Context, dir string) (*Sentinels, error) {
	g := &Sentinels{}
	for i := range g.Nodes {
		s, err := New(ctx, filepath.Join(dir, strconv.Itoa(i)), true)
		if err != nil {
			return nil, err
		}
		if i == 1 {
			s.Args = append(s.Args, "--replicaof", "127.0.0.1", strconv.Itoa(g.Nodes[0].port))
		}
		s.Args = append(s.Args, "--repl-diskless-sync-delay", "0")
		g.Nodes[i] = s
		if err := s.Start(ctx); err != nil {
			return g, err
		}
	}
	s, err := New(ctx, filepath.Join(dir, "sentinel"), true)
	if err != nil {
		return g, err
	}
	g.Sentinel = s
	text := fmt.Sprintf(`port %d
bind 127.0.0.1
dir %s
logfile %s
sentinel monitor %s 127.0.0.1 %d 1
sentinel down-after-milliseconds %s 1000
sentinel failover-timeout %s 5000
`, s.port, s.Dir, filepath.Join(s.Dir, "log"), MasterName, g.Nodes[0].port, MasterName, MasterName)
	file := filepath.Join(s.Dir, "sentinel.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return g, err
	}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return g, ErrMissing
	}
	if err := s.run(ctx, path, []string{file, "--sentinel"}); err != nil {
		return g, err
	}
	return g, g.Settled(ctx)
}

// Master is the index of the node that is the master now.
func (g *Sentinels) Master(ctx context.Context) (int, error) {
	c := g.Sentinel.Client()
	defer func() { _ = c.Close() }()
	addr, err := c.Do(ctx, "sentinel", "get-master-addr-by-name", MasterName).StringSlice()
	if err != nil {
		return 0, fmt.Errorf("ask the sentinel: %w", err)
	}
	for i, s := range g.Nodes {
		if s.Addr == net.JoinHostPort(addr[0], addr[1]) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the sentinel names %v as master", addr)
}

// Settled waits until the replica of the master is in sync, as the Sentinel sees it.
func (g *Sentinels) Settled(ctx context.Context) error {
	return await(ctx, "the replica to be in sync", func() bool {
		master, err := g.Master(ctx)
		if err != nil {
			return false
		}
		c := g.Nodes[1-master].Client()
		defer func() { _ = c.Close() }()
		info, err := c.Info(ctx, "replication").Result()
		if err != nil || !strings.Contains(info, "master_link_status:up") {
			return false
		}
		sentinel := g.Sentinel.Client()
		defer func() { _ = sentinel.Close() }()
		replicas, err := sentinel.Do(ctx, "sentinel", "replicas", MasterName).Slice()
		seen := fmt.Sprint(replicas)
		return err == nil && len(replicas) == 1 && !strings.Contains(seen, "s_down") && strings.Contains(seen, "master-link-status:ok")
	})
}

// Kill ends all.
func (g *Sentinels) Kill() {
	for _, s := range []*Server{g.Nodes[0], g.Nodes[1], g.Sentinel} {
		if s != nil {
			s.Kill()
		}
	}
}

// Cluster is three masters with a replica each.
type Cluster struct{ Nodes []*Server }

// StartCluster starts all six.
func StartCluster(ctx context.Context, dir string) (*Cluster, error) {
	g := &Cluster{}
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		return g, errors.New("redis-cli isn't installed; it comes with redis-server")
	}
	args := []string{"--cluster", "create"}
	for i := range 6 {
		s, err := New(ctx, filepath.Join(dir, strconv.Itoa(i)), true,
			"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0")
		if err != nil {
			return g, err
		}
		g.Nodes = append(g.Nodes, s)
		if err := s.Start(ctx); err != nil {
			return g, err
		}
		args = append(args, s.Addr)
	}
	args = append(args, "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.CommandContext(ctx, cli, args...).CombinedOutput(); err != nil {
		return g, fmt.Errorf("make a cluster: %w\n%s", err, out)
	}
	return g, g.Settled(ctx)
}

// Addrs are all nodes.
func (g *Cluster) Addrs() []string {
	var list []string
	for _, s := range g.Nodes {
		list = append(list, s.Addr)
	}
	return list
}

// Owner is the index of the master that has a key.
func (g *Cluster) Owner(ctx context.Context, key string) (int, error) {
	for i, s := range g.Nodes {
		c := s.Client()
		slot, err := c.ClusterKeySlot(ctx, key).Result()
		if err != nil {
			_ = c.Close()
			continue
		}
		nodes, err := c.ClusterNodes(ctx).Result()
		_ = c.Close()
		if err != nil {
			return 0, err
		}
		for j, o := range g.Nodes {
			if owns(nodes, o.Addr, slot) {
				return j, nil
			}
		}
		return 0, fmt.Errorf("node %d knows no owner of %s", i, key)
	}
	return 0, errors.New("no node of the cluster answers")
}

// owns says whether CLUSTER NODES gives a slot to the node at an address, as its
// master.
func owns(nodes, addr string, slot int64) bool {
	for line := range strings.Lines(nodes) {
		f := strings.Fields(line) // id addr@bus flags master ping pong epoch state slots…
		if len(f) < 9 || !strings.HasPrefix(f[1], addr+"@") || !strings.Contains(f[2], "master") || strings.Contains(f[2], "fail") {
			continue
		}
		for _, span := range f[8:] {
			from, to, is := strings.Cut(span, "-")
			if !is {
				to = from
			}
			a, errA := strconv.ParseInt(from, 10, 64)
			b, errB := strconv.ParseInt(to, 10, 64)
			if errA == nil && errB == nil && a <= slot && slot <= b {
				return true
			}
		}
	}
	return false
}

// Settled waits until every node sees a whole cluster whose replicas are in sync.
func (g *Cluster) Settled(ctx context.Context) error {
	return await(ctx, "the cluster to be whole", func() bool {
		for _, s := range g.Nodes {
			c := s.Client()
			info, err := c.ClusterInfo(ctx).Result()
			role, err2 := c.Info(ctx, "replication").Result()
			nodes, err3 := c.ClusterNodes(ctx).Result()
			_ = c.Close()
			if errors.Join(err, err2, err3) != nil || !strings.Contains(info, "cluster_state:ok") || strings.Contains(nodes, "fail") ||
				strings.Contains(role, "role:slave") && !strings.Contains(role, "master_link_status:up") {
				return false
			}
		}
		return true
	})
}

// Kill ends all.
func (g *Cluster) Kill() {
	for _, s := range g.Nodes {
		s.Kill()
	}
}

func await(ctx context.Context, what string, ready func() bool) error {
	for range 600 {
		if ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("waited in vain for %s", what)
}
