package faults

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Proxy is a handler in front of a platform's stand-in that does to calls what networks,
// proxies and platforms do. It's safe for concurrent use.
type Proxy struct {
	next http.Handler
	fate func(r *http.Request, body []byte) Fate
}

// NewProxy makes a proxy. fate says what happens to a call; it's called from several
// goroutines, and must not block.
func NewProxy(next http.Handler, fate func(r *http.Request, body []byte) Fate) *Proxy {
	return &Proxy{next: next, fate: fate}
}

// Fate is what happens to a call. The zero Fate is the ordinary one.
type Fate struct {
	// Here passes until the call arrives, Back until its answer leaves. A call that was given up
	// meanwhile still arrives.
	Here, Back time.Duration
	// Lost says that it never arrives.
	Lost bool
	// Answer takes the place of the stand-in's.
	Answer *Answer
	// Change changes the body of the answer. Nil: nothing does.
	Change func(body []byte) []byte
	// End is what becomes of the answer on its way.
	End End
}

// Answer is an answer of somebody's.
type Answer struct {
	Status int
	Header map[string]string
	Body   string
}

// End is what becomes of an answer.
type End int

// An answer comes whole, or its connection is closed after half of it, or before it.
const (
	Whole End = iota
	Half
	Reset
)

// ServeHTTP implements http.Handler. What's no single call, a WebSocket's, passes as it is.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		p.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f := p.fate(r, body)
	ctx := r.Context()
	if f.Here > 0 {
		time.Sleep(f.Here)
		ctx = context.WithoutCancel(ctx)
	}
	answer := &recorder{header: http.Header{}}
	if !f.Lost {
		in := r.Clone(ctx)
		in.Body = io.NopCloser(bytes.NewReader(body))
		p.next.ServeHTTP(answer, in)
	}
	if f.Answer != nil {
		answer = f.Answer.recorded()
	}
	if Wait(r.Context(), f.Back) != nil || f.End == Reset {
		panic(http.ErrAbortHandler)
	}
	f.write(w, answer)
}

func (a *Answer) recorded() *recorder {
	r := &recorder{header: http.Header{}, status: a.Status}
	for name, value := range a.Header {
		r.header.Set(name, value)
	}
	r.body.WriteString(a.Body)
	return r
}

// recorder is an answer before it goes on its way.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = cmp.Or(r.status, status) }

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

// write sends an answer on its way.
func (f Fate) write(w http.ResponseWriter, answer *recorder) {
	body := answer.body.Bytes()
	if f.Change != nil {
		body = f.Change(body)
	}
	maps.Copy(w.Header(), answer.header)
	w.Header().Del("Content-Length")
	if f.End == Half {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		body = body[:len(body)/2]
	}
	w.WriteHeader(cmp.Or(answer.status, http.StatusOK))
	_, _ = w.Write(body)
	if f.End == Half {
		panic(http.ErrAbortHandler)
	}
}
