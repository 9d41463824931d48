package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/sessions"
)

// Page says where the page is, and which browsers may use it.
type Page struct {
	URL      string    `json:"url"`      // without a token; "": the page is off
	Start    string    `json:"start"`    // the name of this start of the daemon
	Browsers []Browser `json:"browsers"` // never null; who was here last first
}

// Browser is a browser that may use the page.
type Browser struct {
	ID      string    `json:"id"`
	Label   string    `json:"label"`
	Address string    `json:"address"` // of the page, as the browser calls it
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"used_at"`
	Expires time.Time `json:"expires_at"`
}

// PageAddress is an address that lets one browser in, once.
type PageAddress struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires_at"`
}

// Rotated says what a rotation has ended.
type Rotated struct {
	Browsers int `json:"browsers"`
}

// onUnix refuses what's there on the Unix socket only: a browser that's let in lets in no
// other.
func (a *api) onUnix(h apiHandler) apiHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case a.author != authorCLI:
			return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: "who may use the page is said in the terminal: panebridge page"}
		case a.opts.Browsers == nil:
			return errPageOff
		}
		return h(w, r)
	}
}

var errPageOff = &Error{
	Status: http.StatusConflict, Code: "conflict",
	Message: "the page is off: set adapters.web.enabled to true and start the daemon anew",
}

// pageInfo serves GET /api/v1/page.
func (a *api) pageInfo(w http.ResponseWriter, _ *http.Request) error {
	now := time.Now()
	p := Page{Browsers: []Browser{}}
	if a.host != "" {
		p.URL = "http://" + a.host + "/"
	}
	p.Start, _ = a.opts.Browsers.Now(now)
	for _, b := range a.opts.Browsers.List(now) {
		p.Browsers = append(p.Browsers, newBrowser(b))
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}

func newBrowser(b browsers.Browser) Browser {
	return Browser{ID: b.ID, Label: b.Label, Address: b.Address, Created: b.Created, Used: b.LastUsed, Expires: b.Expires}
}

// newAddress serves POST /api/v1/page/addresses.
func (a *api) newAddress(w http.ResponseWriter, _ *http.Request) error {
	if a.host == "" {
		return errPageOff
	}
	var out PageAddress
	out.URL, out.Expires = a.opts.Browsers.NewAddress(time.Now(), a.host)
	writeJSON(w, http.StatusCreated, out)
	return nil
}

// revoke serves DELETE /api/v1/page/browsers/{id}.
func (a *api) revoke(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Browsers.Revoke(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rotate serves POST /api/v1/page/rotate.
func (a *api) rotate(w http.ResponseWriter, r *http.Request) error {
	n, err := a.opts.Browsers.Rotate(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, Rotated{n})
	return nil
}

// PairRequest is the body of POST /api/v1/pairings.
type PairRequest struct {
	Role string `json:"role"` // viewer, operator, approver or admin; "": operator
}

// Pairing is a code that lets a person in who writes "/pair CODE" to a bot, once.
type Pairing struct {
	Code    string    `json:"code"`
	Role    string    `json:"role"`
	Expires time.Time `json:"expires"`
}

// Pair makes a code. by says who asked for it. The error wraps sessions.ErrInvalid
// for a role that there isn't, sessions.ErrConflict while too many codes wait.
type Pair func(ctx context.Context, role, by string) (Pairing, error)

// pair gives access to chats, so only the command line may: a browser that
// may use the page is of less weight than being the daemon's own user.
func (a *api) pair(w http.ResponseWriter, r *http.Request) error {
	if a.author != authorCLI {
		return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: "pairing codes are made in the terminal: panebridge pair"}
	}
	var body PairRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if a.opts.Pair == nil {
		return noOutbound
	}
	p, err := a.opts.Pair(r.Context(), body.Role, authorCLI)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, p)
	return nil
}

// page sends one page of a session's log in the order in which its parts
// stand: gaps, lines and the end of a turn.
type page struct {
	*stream
	id    sessions.ID
	pos   *logPosition
	ctx   context.Context //nolint:containedctx // of the one call that sends it
	marks *marks
	gaps  []sessions.Gap // not sent yet
}

func (p *page) send(lines []sessions.Line) error {
	if len(lines) > 0 {
		if err := p.fillHole(lines[0].N); err != nil {
			return err
		}
	}
	p.skipSent()
	for len(lines) > 0 || len(p.gaps) > 0 {
		if len(p.gaps) > 0 && (len(lines) == 0 || p.gaps[0].After < lines[0].N) {
			if err := p.sendGap(); err != nil {
				return err
			}
			continue
		}
		n := p.together(lines)
		if err := p.sendLines(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// skipSent leaves out the gaps that a client had before it came back.
func (p *page) skipSent() {
	for ; p.pos.skip > 0 && len(p.gaps) > 0 && p.gaps[0].After == p.pos.line; p.pos.skip-- {
		p.gaps = p.gaps[1:]
	}
}

func (p *page) sendGap() error {
	g := p.gaps[0]
	p.gaps = p.gaps[1:]
	if err := p.endTurnBefore(g.After); err != nil {
		return err
	}
	p.pos.sent++
	return p.out.event(EventGap, p.eventID(), GapEvent{Session: p.id, Gap: g})
}

// fillHole sends a gap where lines behind the position aren't in the log any
// more: the log's own, which comes first and has no row, or one made here.
func (p *page) fillHole(first int64) error {
	if p.pos.line < 0 || first <= p.pos.line+1 {
		return nil
	}
	g := sessions.Gap{
		After: p.pos.line, AtLeast: first - 1 - p.pos.line,
		Reason: fmt.Sprintf("lines %d to %d aren't in the log any more", p.pos.line+1, first-1),
	}
	for len(p.gaps) > 0 && p.gaps[0].After < first-1 {
		g, p.gaps = p.gaps[0], p.gaps[1:]
	}
	p.pos.behind(first - 1)
	return p.out.event(EventGap, p.eventID(), GapEvent{Session: p.id, Gap: g})
}

// together returns how many of the lines may go into one event: nothing stands
// between them.
func (p *page) together(lines []sessions.Line) int {
	last := lines[0].N + int64(len(lines)) - 1
	if len(p.gaps) > 0 {
		last = min(last, p.gaps[0].After)
	}
	if end := p.marks.ended; end != nil && end.line >= lines[0].N {
		last = min(last, end.line)
	}
	n := 1
	for n < len(lines) && lines[n].N <= last && lines[n].N == lines[n-1].N+1 {
		n++
	}
	return n
}

func (p *page) sendLines(lines []sessions.Line) error {
	if err := p.endTurnBefore(lines[0].N); err != nil {
		return err
	}
	p.pos.behind(lines[len(lines)-1].N)
	ev := OutputEvent{Session: p.id, First: lines[0].N, Lines: lines}
	if p.sub.only != "" {
		ev.Secrets = p.api.secrets(p.ctx, p.id, lines)
	}
	return p.out.event(EventOutput, p.eventID(), ev)
}

// endTurnBefore sends the end of a turn if it stands before line n.
func (p *page) endTurnBefore(n int64) error {
	if p.marks.ended == nil || n <= p.marks.ended.line {
		return nil
	}
	return p.turnEnded(p.id, p.marks)
}

// eventID says where a client goes on that has got this event. Positions are
// those of one session, so the stream of all has none.
func (p *page) eventID() string {
	if p.sub.only == "" {
		return ""
	}
	return p.pos.id()
}

// Secret says where a secret stands in a line, so that a page can hide it until
// somebody asks to see it.
type Secret struct {
	Line int64  `json:"n"`
	From int    `json:"from"` // in UTF-16 units of the line's text, as JavaScript counts
	To   int    `json:"to"`
	Name string `json:"name"` // of its kind
}

// secrets finds secrets in consecutive lines of a session's log. The lines around them
// decide too; if those can't be read, it's found what can be without.
func (a *api) secrets(ctx context.Context, id sessions.ID, lines []sessions.Line) []Secret {
	if a.opts.Masker == nil || len(lines) == 0 {
		return nil
	}
	w, _ := adapters.WindowOf(ctx, a.opts.Output, id, lines) // what can be read of it
	var found []Secret
	for _, m := range a.opts.Masker.Lines(w).Masks {
		l := lines[m.Line]
		found = append(found, Secret{Line: l.N, From: adapters.UTF16Len(l.Text[:m.From]), To: adapters.UTF16Len(l.Text[:m.To]), Name: m.Name})
	}
	return found
}

// Receipt is a receipt as the page gets it: it hides the secrets of its text, as those of the log.
// To anybody else it's a sessions.Receipt.
type Receipt struct {
	sessions.Receipt

	Secrets []Secret `json:"secrets,omitempty"` // in units of the whole text; Line is 0
}

// receiptFor is what a caller gets of a receipt: the command line shows all, as tmux would.
func (a *api) receiptFor(r sessions.Receipt) any {
	if a.author == authorCLI || a.opts.Masker == nil {
		return r
	}
	out := Receipt{Receipt: r}
	out.Reason = a.shownText(r.Reason)
	lines := strings.SplitAfter(r.Text, "\n")
	begins, next := 0, 0 // of the line that's next, in units of the text
	for _, m := range a.opts.Masker.Find([]byte(r.Text)) {
		for ; next < m.Line; next++ {
			begins += adapters.UTF16Len(lines[next])
		}
		l := lines[m.Line]
		out.Secrets = append(out.Secrets, Secret{From: begins + adapters.UTF16Len(l[:m.From]), To: begins + adapters.UTF16Len(l[:m.To]), Name: m.Name})
	}
	return out
}

// shownText is a line as a caller gets it: the command line shows all, as tmux would, and others get no secrets.
func (a *api) shownText(line string) string {
	if a.author == authorCLI || a.opts.Masker == nil {
		return line
	}
	return a.opts.Masker.Line(line)
}

// shownTurn is a turn as a caller gets it.
func (a *api) shownTurn(t sessions.Turn) sessions.Turn {
	t.Failed = a.shownText(t.Failed)
	return t
}

// hiddenText is a text without secrets.
func (a *api) hiddenText(text string) string {
	if a.opts.Masker == nil {
		return text
	}
	return string(a.opts.Masker.Text([]byte(text)))
}

// hidden are rows of a screen without secrets.
func (a *api) hidden(rows []string) []string {
	if a.opts.Masker == nil {
		return rows
	}
	return a.opts.Masker.Rows(nil, rows)
}
