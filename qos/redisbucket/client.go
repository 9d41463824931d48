package redisbucket

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisServer says where Redis is.
type RedisServer struct {
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
func NewClient(s RedisServer) redis.UniversalClient {
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

// What a server may answer at most. The client makes room for what a length says before anything of it
// has come: "*2000000000" alone had it take 9 GB. The largest real answer, the list of commands of a
// Cluster, has some 10,000 parts and 100 KB.
const (
	maxReplyParts = 200_000
	maxReplyBytes = 16 << 20
	maxReplyDepth = 16
	maxReplyLine  = 64 << 10
)

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// boundedDialer returns connections whose reads fail where an answer is too large.
func boundedDialer(o *redis.Options) dialer {
	dial := redis.NewDialer(o)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		bounded := &boundedConn{Conn: conn}
		if raw, ok := conn.(syscall.Conn); ok { // by which the client sees whether an idle one was closed
			return rawBoundedConn{bounded, raw}, nil
		}
		return bounded, nil
	}
}

// boundedConn is a connection to a Redis server that looks at answers as they come.
type boundedConn struct {
	net.Conn
	reply replyBounds
	err   error // why nothing more is read
}

type rawBoundedConn struct {
	*boundedConn
	syscall.Conn
}

// Read implements net.Conn.
func (c *boundedConn) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.Conn.Read(p)
	if tooLarge := c.reply.see(p[:n]); tooLarge != nil {
		c.err = fmt.Errorf("redis at %s: %w", c.RemoteAddr(), tooLarge)
		return 0, c.err
	}
	return n, err
}

// replyBounds follows the frames of RESP2 and RESP3 through a stream of answers. It holds no more of
// them than one line of a length.
type replyBounds struct {
	line  []byte // of the frame that begins, as far as it has come
	skip  int    // bytes of a string that are still to come
	open  []int  // how many parts each array that isn't whole still lacks
	parts int    // that the answer's arrays have, as they say
	bytes int    // of the answer so far, and of the string that has begun
}

// see takes in what was read. An error says that an answer is larger than any should be, or isn't one.
func (r *replyBounds) see(p []byte) error {
	for len(p) > 0 {
		if r.skip > 0 {
			n := min(r.skip, len(p))
			r.skip, p = r.skip-n, p[n:]
			if r.skip == 0 {
				r.endPart()
			}
			continue
		}
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end+1]
		}
		p = p[len(part):]
		if r.bytes += len(part); len(r.line)+len(part) > maxReplyLine || r.bytes > maxReplyBytes {
			return fmt.Errorf("its answer has more than %d bytes", maxReplyBytes)
		}
		r.line = append(r.line, part...)
		if end < 0 {
			return nil
		}
		line := r.line
		r.line = r.line[:0]
		if err := r.begin(line[0], bytes.TrimRight(line[1:], "\r\n")); err != nil {
			return err
		}
	}
	return nil
}

// begin takes in the line with which a frame begins, and is whole if it's no array or string.
func (r *replyBounds) begin(kind byte, rest []byte) error {
	switch kind {
	case '$', '=', '!':
		n, err := length(rest, maxReplyBytes-r.bytes)
		if err != nil {
			return err
		}
		if n >= 0 {
			r.skip = n + len("\r\n")
			r.bytes += n
			return nil
		}
	case '*', '~', '>', '%', '|':
		n, err := length(rest, maxReplyParts-r.parts)
		if err != nil {
			return err
		}
		if kind == '%' || kind == '|' {
			n *= 2
		}
		if kind == '|' { // it stands before what it's about, and is no part of its own
			n++
		}
		if n > 0 {
			r.parts += n
			if r.open = append(r.open, n); len(r.open) > maxReplyDepth {
				return fmt.Errorf("its answer is nested more than %d deep", maxReplyDepth)
			}
			return nil
		}
	}
	r.endPart()
	return nil
}

// endPart counts a part that's whole, and those that are with it.
func (r *replyBounds) endPart() {
	for len(r.open) > 0 {
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] > 0 {
			return
		}
		r.open = r.open[:last]
	}
	r.parts, r.bytes = 0, 0
}

// length reads that of a string or an array; -1: there's none.
func length(text []byte, most int) (int, error) {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < -1 {
		return 0, fmt.Errorf("its answer isn't one of Redis: a length of %.40q", text)
	}
	if n > most {
		return 0, fmt.Errorf("its answer is too large: a length of %d", n)
	}
	return n, nil
}
