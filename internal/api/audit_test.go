package api_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
)

// auditBook keeps audited calls in memory.
type auditBook struct {
	mu    sync.Mutex
	begun []api.AuditedCall
	ended map[string]string // outcome, by key
	err   error
}

func (b *auditBook) BeginCall(_ context.Context, c api.AuditedCall) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.begun = append(b.begun, c)
	}
	return b.err
}

func (b *auditBook) EndCall(_ context.Context, c api.AuditedCall) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended[c.Key] = c.Outcome
	return nil
}

// What a device changes is in the audit log with its name before it's done, and what became of it
// behind that; what it reads isn't. Where that can't be kept, nothing is done.
func TestWhatDevicesChangeIsKept(t *testing.T) {
	book := &auditBook{ended: map[string]string{}}
	b := setup(t, reaching(proxied), func(o *api.Options) { o.Audit = book })
	id := b.daemon.Add("one", "claude")
	phone := b.device(t, publicHost, "Phone", access.Operator)
	do := func(method, path, body string) int {
		t.Helper()
		resp, _ := b.send(t, method, path, body, at(phone, publicHost, "100.64.0.7"))
		return resp.status
	}
	do(http.MethodGet, "/api/v1/sessions", "")
	if status := do(http.MethodPost, "/api/v1/sessions/one/input", `{"text":"hi"}`); status != 202 {
		t.Fatalf("status %d", status)
	}
	do(http.MethodDelete, "/api/v1/receipts/none", "")
	do(http.MethodPost, "/api/v1/prompts/none/answer", `{"option":1}`) // which takes an approver
	if len(book.begun) != 2 {
		t.Fatalf("kept are %+v", book.begun)
	}
	typed, cancelled := book.begun[0], book.begun[1]
	if typed.Name != "Phone" || typed.Author != "web:"+phone.ID || typed.Session != id || typed.Call != "POST /api/v1/sessions/{id}/input" || book.ended[typed.Key] != "done" {
		t.Errorf("%+v: %q", typed, book.ended[typed.Key])
	}
	if cancelled.Call != "DELETE /api/v1/receipts/{id}" || book.ended[cancelled.Key] != "unknown" || cancelled.Key == typed.Key {
		t.Errorf("%+v: %q", cancelled, book.ended[cancelled.Key])
	}
	book.err = errors.New("the disk is full")
	if status := do(http.MethodPost, "/api/v1/sessions/one/input", `{"text":"again"}`); status != 500 {
		t.Errorf("without a log: %d", status)
	}
	if list := b.daemon.Waiting(id); len(list) > 1 {
		t.Errorf("it was done all the same: %+v", list)
	}
}
