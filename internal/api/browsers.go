package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/sessions"
)

// Page says where the page is, and which browsers may use it.
type Page struct {
	URL       string          `json:"url"`                  // on this machine, without a token; "": the page is off
	PublicURL string          `json:"public_url,omitempty"` // for browsers elsewhere
	Start     string          `json:"start"`                // the name of this start of the daemon
	Browsers  []Browser       `json:"browsers"`             // never null; who was here last first
	Waiting   []WaitingDevice `json:"waiting"`              // never null; the oldest first
}

// Browser is a browser that may use the page.
type Browser struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // what its person calls it; "": it's the owner's, on this machine
	Label   string    `json:"label"`          // what it calls itself
	Roles   []string  `json:"roles"`          // never null; the least first
	Address string    `json:"address"`        // of the page, as the browser calls it
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"used_at"`
	Expires time.Time `json:"expires_at"`
}

// WaitingDevice is a device that has opened a shared address and waits for somebody's word.
type WaitingDevice struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Label   string    `json:"label"`
	Roles   []string  `json:"roles"` // that it gets
	Address string    `json:"address"`
	From    string    `json:"from"`   // its network address
	Number  string    `json:"number"` // which it shows, too
	Until   time.Time `json:"until"`
}

// PageAddress is an address that lets one browser in, once.
type PageAddress struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires_at"`
}

// ShareRequest is the body of POST /api/v1/page/shares.
type ShareRequest struct {
	Name  string   `json:"name"`  // what the device is called; "": what it calls itself
	Roles []string `json:"roles"` // what it may do; empty: viewer
}

// Rotated says what a rotation has ended.
type Rotated struct {
	Browsers int `json:"browsers"`
}

// withPage refuses calls about the page while it's off.
func (a *api) withPage(h apiHandler) apiHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if a.opts.Browsers == nil {
			return errPageOff
		}
		return h(w, r)
	}
}

var errPageOff = &Error{
	Status: http.StatusConflict, Code: "conflict",
	Message: "the page is off: set adapters.web.enabled to true and start the daemon anew",
}

var errPageElsewhere = &Error{
	Status: http.StatusConflict, Code: "conflict",
	Message: "adapters.web.listen has an address that isn't the loopback interface's, so a browser of this machine is let in as others are: " +
		"`panebridge page share` makes an address for it; or have it listen at 0.0.0.0",
}

// pageInfo serves GET /api/v1/page.
func (a *api) pageInfo(w http.ResponseWriter, _ *http.Request) error {
	now := time.Now()
	p := Page{Browsers: []Browser{}, Waiting: []WaitingDevice{}, PublicURL: a.opts.Reach.PublicURL}
	if a.origin != "" {
		p.URL = a.origin + "/"
	}
	p.Start, _ = a.opts.Browsers.Now(now)
	for _, b := range a.opts.Browsers.List(now) {
		p.Browsers = append(p.Browsers, newBrowser(b))
	}
	for _, b := range a.opts.Browsers.Waiting(now) {
		p.Waiting = append(p.Waiting, WaitingDevice{
			ID: b.ID, Name: b.Name, Label: b.Label, Roles: namesOf(b.Roles), Address: b.Address, From: b.From, Number: b.Number, Until: b.Until,
		})
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}

func newBrowser(b browsers.Browser) Browser {
	return Browser{
		ID: b.ID, Name: b.Name, Label: b.Label, Roles: namesOf(b.Roles), Address: b.Address, Created: b.Created, Used: b.LastUsed, Expires: b.Expires,
	}
}

func namesOf(r access.Roles) []string { return strings.Fields(r.String()) }

// me serves GET /api/v1/page/me: how the browser that asks is known.
func (a *api) me(w http.ResponseWriter, r *http.Request) error {
	writeJSON(w, http.StatusOK, newBrowser(browserOf(r.Context())))
	return nil
}

// newAddress serves POST /api/v1/page/addresses.
func (a *api) newAddress(w http.ResponseWriter, _ *http.Request) error {
	if a.origin == "" {
		return errPageOff
	}
	if !IsLocal(a.origin) {
		return errPageElsewhere
	}
	var out PageAddress
	out.URL, out.Expires = a.opts.Browsers.NewAddress(time.Now(), a.origin)
	writeJSON(w, http.StatusCreated, out)
	return nil
}

// newShare serves POST /api/v1/page/shares.
func (a *api) newShare(w http.ResponseWriter, r *http.Request) error {
	var body ShareRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if a.opts.Reach.PublicURL == "" {
		return &Error{
			Status: http.StatusConflict, Code: "conflict",
			Message: "no address is known by which other devices reach the page: set adapters.web.public_url, such as https://pane.example.ts.net, and start the daemon anew; docs/page.md says how",
		}
	}
	roles := access.Roles{}
	for _, name := range body.Roles {
		role, err := access.ParseRole(name)
		if err != nil || name == "" {
			return badRequest(fmt.Sprintf("there's no role %q: there are viewer, operator, approver and admin", name))
		}
		roles[role] = true
	}
	if len(roles) == 0 {
		roles[access.Viewer] = true
	}
	var out PageAddress
	out.URL, out.Expires = a.opts.Browsers.NewShare(time.Now(), strings.TrimSuffix(a.opts.Reach.PublicURL, "/"), browsers.Share{Name: body.Name, Roles: roles})
	writeJSON(w, http.StatusCreated, out)
	return nil
}

// confirm serves POST /api/v1/page/browsers/{id}/confirm.
func (a *api) confirm(w http.ResponseWriter, r *http.Request) error {
	b, err := a.opts.Browsers.Confirm(r.Context(), time.Now(), r.PathValue("id"))
	if err != nil {
		return err
	}
	a.opts.Log.Info("a device was let in", "device", b.ID, "name", b.Name, "roles", b.Roles.String(), "by", a.author)
	writeJSON(w, http.StatusOK, newBrowser(b))
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
	ev := OutputEvent{Session: p.id, First: lines[0].N}
	ev.Lines, ev.Secrets = p.api.shownLines(p.ctx, p.id, lines, p.sub.only != "")
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

// shownLines are consecutive lines of a session's log as a caller gets them: with the places of
// their secrets where these are asked for, but to a device that isn't an admin's without secrets.
func (a *api) shownLines(ctx context.Context, id sessions.ID, lines []sessions.Line, places bool) ([]sessions.Line, []Secret) {
	lines = a.withToolNames(lines)
	if a.may(ctx, access.Admin) {
		if places {
			return lines, a.secrets(ctx, id, lines)
		}
		return lines, nil
	}
	if a.opts.Masker == nil || len(lines) == 0 {
		return lines, nil
	}
	w, _ := adapters.WindowOf(ctx, a.opts.Output, id, lines) // what can be read of it
	shown := slices.Clone(lines)
	for i, text := range a.opts.Masker.Lines(w).Lines {
		shown[i].Text = text
	}
	return shown, nil
}

// withToolNames are lines whose tools have no secret in their names, as no place is told of one there, and say what they do.
func (a *api) withToolNames(lines []sessions.Line) []sessions.Line {
	copied := false
	for i, l := range lines {
		if l.Tool == nil {
			continue
		}
		t := *l.Tool
		if t.Name, t.Does = a.shownText(t.Name), t.Work(); t == *l.Tool {
			continue
		}
		if !copied {
			lines, copied = slices.Clone(lines), true
		}
		lines[i].Tool = &t
	}
	return lines
}

// Receipt is a receipt as the page gets it: it hides the secrets of its text, as those of the log.
// To anybody else it's a sessions.Receipt.
type Receipt struct {
	sessions.Receipt

	By      string   `json:"by,omitempty"`      // what people call its author; "": Author says it
	Secrets []Secret `json:"secrets,omitempty"` // in units of the whole text; Line is 0
}

// receiptFor is what a caller gets of a receipt: the command line shows all, as tmux would.
func (a *api) receiptFor(req *http.Request, r sessions.Receipt) any {
	if a.author == authorCLI {
		return r
	}
	out := Receipt{Receipt: r, By: a.shownText(r.Name)}
	out.Key = a.ownKey(req, r)
	if a.opts.Masker == nil {
		return out
	}
	if !a.may(req.Context(), access.Admin) {
		out.Text, out.Reason = a.hiddenText(r.Text), a.shownText(r.Reason)
		return out
	}
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

// hiddenScreen are rows of a session's screen without secrets, also of those that began above it.
func (a *api) hiddenScreen(ctx context.Context, id sessions.ID, rows []string) []string {
	if a.opts.Masker == nil {
		return rows
	}
	return adapters.MaskScreenOf(ctx, a.opts.Masker, a.opts.Output, id, rows)
}

// hidden are rows without secrets.
func (a *api) hidden(rows []string) []string {
	if a.opts.Masker == nil {
		return rows
	}
	return a.opts.Masker.Rows(nil, rows)
}
