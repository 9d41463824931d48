package redisbucket

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Server says where Redis is.
type Server struct {
	// Addrs are host:port, or one absolute path of a Unix socket. Several without
	// MasterName are the seeds of a Cluster.
	Addrs []string
	// MasterName makes Addrs those of Sentinels.
	MasterName                         string
	Cluster                            bool // a Cluster, also with one address
	Username, Password                 string
	SentinelUsername, SentinelPassword string
	DB                                 int
	TLS                                *tls.Config
	// Timeout is how long one question may take, dialling included.
	Timeout time.Duration
}

// silence has go-redis not print to standard error, of which it has one logger for all
// clients: what's wrong is in its errors, and a Budget logs once when it begins.
var silence = sync.OnceFunc(func() { redis.SetLogger(silent{}) }) //nolint:gochecknoglobals // the library has one logger for all

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// NewClient returns a client that gives up at a question's time, and doesn't repeat it: a
// pool that waits for a hung server would make everybody else wait. (In a Cluster the
// library does repeat one whose connection broke, within its time. It's done once all the
// same: permits have names, and all else that's told can be told twice.)
func NewClient(s Server) redis.UniversalClient {
	silence()
	return redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: s.Addrs, MasterName: s.MasterName, IsClusterMode: s.Cluster,
		Username: s.Username, Password: s.Password, DB: s.DB, TLSConfig: s.TLS,
		SentinelUsername: s.SentinelUsername, SentinelPassword: s.SentinelPassword,
		Dialer:        boundedDialer(&redis.Options{DialTimeout: s.Timeout, TLSConfig: s.TLS}),
		ClientName:    "panebridge",
		DialerRetries: 1, // the default dials five times, 100 ms apart
		DialTimeout:   s.Timeout, ReadTimeout: s.Timeout, WriteTimeout: s.Timeout, PoolTimeout: s.Timeout,
		ContextTimeoutEnabled: true, MaxRetries: -1,
		MaxRedirects:             3,   // of a Cluster
		PoolSize:                 256, // after so many failed dials in a row it dials only once a second
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}
