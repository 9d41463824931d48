package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/viewing"
)

// Options are what a Server is made of.
type Options struct {
	Sessions      Sessions
	Output        Log
	Broker        *Broker                               // also given to sessions.Manager as its sink
	Health        func() Health                         // must not block
	Outbound      Outbound                              // the chat platforms; nil: there are none
	Reload        Reload                                // nil: not possible
	Pair          Pair                                  // nil: there are no chat platforms
	Access        Access                                // who may do what in chats; nil: there are no chat platforms
	Picture       func(sessions.Screen) ([]byte, error) // draws a screen as a PNG; nil: it isn't
	Conversations ListConversations                     // what agents can go on with; nil: nothing is known
	Files         TakeFilePart                          // takes files for sessions; nil: nobody does
	Hooks         Hooks                                 // hears of agents' hooks; nil: they're dropped
	Decision      AwaitDecision                         // has hooks wait; nil: none does
	Reminder      Reminder                              // what hooks tell their agents; nil: nothing
	ReadFile      ReadFile                              // gives files of sessions' folders; nil: none is given
	Diff          DiffOf                                // what sessions have changed; nil: it isn't told
	Mail          Mailbox                               // nil: there's none
	Inbox         Inbox                                 // announces mail; nil: nobody does
	Wait          Wait                                  // waits for output; nil: not possible
	Programs      Programs                              // what's known of the programs in panes; nil: nothing
	Search        *search.Indexer                       // finds lines by words; nil: nothing can be searched
	Terminals     *viewing.Gallery                      // shows screens as they change; nil: none does
	Follow        func(sessions.ID) (unfollow func())   // has a session's output be read as soon as it's written; nil: it's read as ever
	Masker        *redact.Masker                        // finds secrets; nil: nothing is hidden
	Metrics       http.Handler                          // GET /metrics; nil: not served
	Healthz       http.HandlerFunc                      // says whether the daemon can do its work; nil: not served
	Readyz        http.HandlerFunc                      // says whether all that it needs is ready; nil: not served
	Places        Places                                // where callers were begun; nil: all outside of sessions' panes
	Confirm       Confirm                               // asks people about calls from there; nil: they're refused
	Audit         Audit                                 // keeps what's changed by the page; nil: nobody does
	Page          http.Handler                          // what isn't the API, on the TCP door only; nil: nothing
	Reach         Reach                                 // from where that can be reached
	Browsers      *browsers.Doorkeeper                  // who may come by the TCP door; needed only there
	Push          *push.Pusher                          // notifies browsers; nil: nobody does
	Usage         UsageLog                              // what was used; nil: nobody counts
	Continuations Continuations                         // has sessions go on when limits are over; nil: none does
	Inquiries     Inquiries                             // puts questions of programs to people; nil: nobody does
	Exhibits      Exhibits                              // shows people files of programs; nil: nobody does
	Log           *slog.Logger                          // nil: nothing is logged
	Timeouts      StreamTimeouts                        // of event streams
}

// StreamTimeouts are the times of event streams; zero means the default.
type StreamTimeouts struct {
	Heartbeat time.Duration // a comment is sent this often, so that proxies keep the connection; 15 s
	Write     time.Duration // a client that takes nothing for so long is dropped; 20 s
	Retry     time.Duration // pause before the log is read again after an error; 1 s
}

func (o *Options) validate() error {
	var errs []error
	for name, missing := range map[string]bool{
		"Sessions": o.Sessions == nil, "Output": o.Output == nil, "Broker": o.Broker == nil, "Health": o.Health == nil,
	} {
		if missing {
			errs = append(errs, fmt.Errorf("api.Options.%s is missing", name))
		}
	}
	return errors.Join(errs...)
}

func (o *Options) setDefaults() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &o.Timeouts
	t.Heartbeat = orDefault(t.Heartbeat, 15*time.Second)
	t.Write = orDefault(t.Write, 20*time.Second)
	t.Retry = orDefault(t.Retry, time.Second)
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// Server serves the API.
type Server struct {
	opts Options
}

// NewServer checks the options. It starts nothing.
func NewServer(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	return &Server{opts: o}, nil
}

// Who an input is from, by the door it came through.
const (
	authorCLI = "cli"
	authorWeb = "web"
)

// shutdownGrace is how long requests may take to finish when the server ends.
// Event streams end at once.
const shutdownGrace = 5 * time.Second

// Run serves on both listeners, either of which may be nil, until the context
// ends, and closes them. It returns when all requests have ended; nil if the
// context ended it. The caller has given the Unix socket the mode 0600: whoever
// can open it may do everything.
func (s *Server) Run(ctx context.Context, unix, tcp net.Listener) error {
	if tcp != nil && s.opts.Browsers == nil {
		return errors.Join(errors.New("serve the API on "+tcp.Addr().String()+": it needs to know the browsers that may"), tcp.Close(), closeListener(unix))
	}
	kept := newReserve(s.opts.Log)
	defer kept.close()
	quit := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	origin := ""
	if tcp != nil {
		origin = s.opts.Reach.Origin(tcp)
		open := newStreams(maxStreamsEach, maxStreamsPage, s.opts.Browsers)
		s.opts.Browsers.OnGone(open.cut)
		a := &api{opts: s.opts, author: authorWeb, quit: quit, streams: open, last: newLastLines(), showing: make(chan struct{}, maxShowing)}
		d := newDoor(s.opts, portOf(tcp), a.routes())
		group.Go(func() error { return serve(ctx, kept.over(newGuard(tcp, s.opts.Reach), tcp), d, s.opts.Reach.TLS) })
	}
	if unix != nil {
		a := &api{opts: s.opts, author: authorCLI, quit: quit, origin: origin, streams: newStreams(maxStreamsUnix, maxStreamsUnix, nil), last: newLastLines(), showing: make(chan struct{}, maxShowing)}
		group.Go(func() error { return serve(ctx, kept.over(unix, unix), a.routes(), nil) })
	}
	group.Go(func() error {
		<-ctx.Done()
		close(quit)
		return nil
	})
	return group.Wait()
}

func closeListener(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// serve blocks until the context has ended and all requests with it. secure has the certificate;
// nil: it's served without TLS.
func serve(ctx context.Context, l net.Listener, h http.Handler, secure *tls.Config) error {
	srv := &http.Server{
		Handler:           closeLent(h),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute, // event streams set their own
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       withConnection,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), // a client's broken connection isn't news
	}
	ended := make(chan error, 1)
	go func() {
		if secure == nil {
			ended <- srv.Serve(l)
			return
		}
		srv.TLSConfig = secure.Clone()
		ended <- srv.ServeTLS(l, "", "")
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the API on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close() // cuts off what didn't finish in time
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the API on %s: %w", l.Addr(), err)
	}
	return nil
}
