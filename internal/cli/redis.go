package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/redisbots"
)

// redisMember is what `redis members --json` prints of a process.
type redisMember struct {
	Adapter string  `json:"adapter"`
	ID      string  `json:"id"`
	State   string  `json:"state"` // there, vanished or left
	Silent  float64 `json:"silent_s"`
}

func newRedis(p *invocation) *cobra.Command {
	return newGroup("redis", "The processes that share a bot through Redis", newRedisMembers(p), newRedisForget(p))
}

func (p *invocation) redisConfig() (*config.Config, error) {
	cfg, _, err := p.loadConfig()
	return cfg, err
}

func newRedisMembers(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "members",
		Short: "List the processes that share the bots",
		Long: `List the processes that share the bots of the configuration. One that vanished
without signing off has its share of each limit held back until it's back or forgotten.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.redisConfig()
			if err != nil {
				return err
			}
			bots, err := redisbots.Bots(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			members := []redisMember{}
			rows := [][]string{{"ADAPTER", "PROCESS", "STATE", "LAST THERE"}}
			now := time.Now()
			for _, b := range bots {
				for _, m := range b.Members {
					state := "there"
					switch {
					case m.Left:
						state = "left"
					case m.Vanished:
						state = "vanished"
					}
					members = append(members, redisMember{b.Adapter, m.ID, state, m.Silent.Seconds()})
					rows = append(rows, []string{b.Adapter, m.ID, state, ago(now.Add(-m.Silent), now)})
				}
			}
			if asJSON {
				return p.printJSON(members)
			}
			return p.printTable(rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newRedisForget(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "forget PROCESS",
		Short: "Give the share of a process back that vanished for good",
		Long: `Give the share of a process back that vanished without signing off and won't come
back. It mustn't run any more: cut off from Redis it would go on sending within that
share, and the platform's limit wouldn't hold. "panebridge redis members" lists them.`,
		Example: "  panebridge redis forget 5f0c9a1be2d47733",
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := p.redisConfig()
			if err != nil {
				return err
			}
			if err := redisbots.Forget(cmd.Context(), cfg, args[0]); err != nil {
				return err
			}
			return p.printf("forgot %s\n", args[0])
		},
	}
}
