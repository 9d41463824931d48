package redisbots

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// ErrNoRedis says that no Redis is configured.
var ErrNoRedis = errors.New("redis.addrs is empty: this process shares its bots with no other")

// SharedBot is who shares one bot.
type SharedBot struct {
	Adapter      string
	MaxProcesses int // 0: nobody has ever joined
	Members      []redisbucket.BucketMember
}

// askRedisFor bounds what an operator asks of Redis: a person can wait longer than
// a call.
const askRedisFor = 3 * time.Second

// examineFor bounds the whole examination.
const examineFor = 15 * time.Second

// eachBot calls f with each bot of the platforms that are on.
func eachBot(cfg *config.Config, f func(client redis.UniversalClient, adapter, bot string) error) error {
	if len(cfg.Redis.Addrs) == 0 {
		return ErrNoRedis
	}
	server, err := ServerOf(cfg.Redis)
	if err != nil {
		return err
	}
	server.Timeout = askRedisFor
	client := redisbucket.NewClient(server)
	defer func() { _ = client.Close() }()
	var errs []error
	for _, p := range all.Enabled(cfg) {
		bot, err := keyOf(cfg, p.Name)
		if err == nil {
			err = f(client, p.Name, bot)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Bots lists who shares the bots of the configuration.
func Bots(ctx context.Context, cfg *config.Config) ([]SharedBot, error) {
	bots := []SharedBot{}
	err := eachBot(cfg, func(client redis.UniversalClient, adapter, bot string) error {
		ctx, cancel := context.WithTimeout(ctx, askRedisFor)
		defer cancel()
		members, most, err := redisbucket.Members(ctx, client, bot)
		if err == nil {
			bots = append(bots, SharedBot{adapter, most, members})
		}
		return err
	})
	return bots, err
}

// Forget gives the share of a vanished member back, in whichever bot it is.
func Forget(ctx context.Context, cfg *config.Config, member string) error {
	bots, err := Bots(ctx, cfg)
	if err != nil {
		return err
	}
	in := ""
	var ids []string
	for _, b := range bots {
		for _, m := range b.Members {
			if ids = append(ids, m.ID); m.ID == member {
				in = b.Adapter
			}
		}
	}
	if in == "" {
		return fmt.Errorf("no process %s shares a bot; there are: %s", member, strings.Join(ids, ", "))
	}
	return eachBot(cfg, func(client redis.UniversalClient, adapter, bot string) error {
		if adapter != in {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, askRedisFor)
		defer cancel()
		return redisbucket.Forget(ctx, client, bot, member)
	})
}

// Examine looks at the Redis of the configuration: whether it answers, forgets
// nothing by itself, and is shared by no more processes than may be.
func Examine(ctx context.Context, cfg *config.Config) []findings.Finding {
	const name = "redis"
	server, err := ServerOf(cfg.Redis)
	if err != nil {
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "Put the file there, readable for this user."}}
	}
	server.Timeout = askRedisFor
	client := redisbucket.NewClient(server)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	info, err := client.Info(ctx).Result()
	if err != nil {
		return []findings.Finding{{Check: name, Severity: findings.Broken, Detail: "it doesn't answer: " + err.Error(), Fix: "Look whether it runs at " + strings.Join(cfg.Redis.Addrs, ", ") + ", and whether redis.password_file, tls and master_name are right."}}
	}
	all := examineInfo(info)
	bots, err := Bots(ctx, cfg)
	if err != nil {
		return append(all, findings.Finding{Check: name, Severity: findings.Broken, Detail: err.Error(), Fix: "The user needs the commands EVALSHA, EVAL, PUBLISH, SUBSCRIBE and INFO, and those of strings, hashes and sorted sets, on keys panebridge:*."})
	}
	for _, b := range bots {
		all = append(all, examineBot(cfg, b))
	}
	return all
}

// examineInfo looks at what INFO says.
func examineInfo(info string) []findings.Finding {
	const name = "redis"
	field := func(key string) string {
		for line := range strings.Lines(info) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+":"); ok {
				return value
			}
		}
		return ""
	}
	all := []findings.Finding{{Check: name, Detail: "it answers, version " + field("redis_version")}}
	if major, _, _ := strings.Cut(field("redis_version"), "."); major != "" {
		if n, err := strconv.Atoi(major); err == nil && n < 6 {
			all = append(all, findings.Finding{Check: name, Severity: findings.Broken, Detail: "version " + field("redis_version") + " is too old", Fix: "Use Redis 6 or newer, or Valkey."})
		}
	}
	if policy := field("maxmemory_policy"); policy != "" && policy != "noeviction" && field("maxmemory") != "0" {
		all = append(all, findings.Finding{
			Check: name + " eviction", Severity: findings.Doubtful, Detail: "under memory pressure it deletes keys (maxmemory-policy " + policy + ")", Fix: "Set maxmemory-policy noeviction, or use a Redis of its own: a deleted key is a window that was forgotten.",
		})
	}
	if field("role") == "slave" {
		all = append(all, findings.Finding{Check: name, Severity: findings.Broken, Detail: "this is a replica", Fix: "Name the master in redis.addrs, or the Sentinels with redis.master_name."})
	}
	if n, _ := strconv.Atoi(field("connected_slaves")); n > 0 && field("min_slaves_good_slaves") == "" {
		all = append(all, findings.Finding{
			Check: name + " replicas", Severity: findings.Doubtful, Detail: "a master that lost its replicas goes on granting", Fix: "Set min-replicas-to-write 1 and min-replicas-max-lag 2, so that a master that's cut off refuses.",
		})
	}
	return all
}

func examineBot(cfg *config.Config, b SharedBot) findings.Finding {
	name := "redis, " + b.Adapter
	there, vanished := 0, []string{}
	for _, m := range b.Members {
		switch {
		case m.Left:
		case m.Vanished:
			vanished = append(vanished, m.ID)
		default:
			there++
		}
	}
	f := findings.Finding{Check: name, Detail: fmt.Sprintf("%d of at most %d processes share the bot", there, cfg.Redis.MaxProcesses)}
	switch {
	case b.MaxProcesses != 0 && b.MaxProcesses != cfg.Redis.MaxProcesses && len(b.Members) > 0:
		f.Severity, f.Detail = findings.Broken, fmt.Sprintf("redis.max_processes is %d here, and %d in the processes that share the bot", cfg.Redis.MaxProcesses, b.MaxProcesses)
		f.Fix = "Make it the same everywhere, and start them anew."
	case there+len(vanished) > cfg.Redis.MaxProcesses:
		f.Severity, f.Fix = findings.Broken, "Raise redis.max_processes everywhere, or stop a process."
	case len(vanished) > 0:
		f.Severity = findings.Doubtful
		f.Detail += fmt.Sprintf("; %s vanished, and the share is held back", strings.Join(vanished, ", "))
		f.Fix = "Start it again, or, if it never comes back, `panebridge redis forget " + vanished[0] + "`."
	case cfg.Redis.MaxProcesses > leastOfBot(b.Adapter):
		f.Severity = findings.Doubtful
		f.Detail += fmt.Sprintf("; without Redis nothing would be sent: redis.max_processes is %d, and the bot gets %d calls a second", cfg.Redis.MaxProcesses, leastOfBot(b.Adapter))
		f.Fix = "Set redis.max_processes to the number of processes that you run."
	}
	return f
}

// leastOfBot is how many calls the smallest window of a bot allows, over all chats.
func leastOfBot(adapter string) int {
	var limits qos.Limits
	for _, p := range all.Platforms() {
		if p.Name == adapter {
			limits = p.Limits()
		}
	}
	return slices.MinFunc(limits.Bot.Windows, func(a, b qos.Window) int { return cmp.Compare(a.Calls, b.Calls) }).Calls
}
