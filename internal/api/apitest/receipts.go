package apitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// SetReceipt changes how far an input got.
func (d *Daemon) SetReceipt(id string, state sessions.ReceiptState, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.receipts[id]
	r.State, r.Reason, r.UpdatedAt, r.Quoted = state, reason, time.Now(), ""
}

// HoldQuoted holds an input by a dialog's words, on the screen that quoted stands for.
func (d *Daemon) HoldQuoted(id, quoted, reason string) {
	d.SetReceipt(id, sessions.ReceiptHeld, reason)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.receipts[id].Quoted = quoted
}

// Receipts returns the inputs, oldest first.
func (d *Daemon) Receipts() []sessions.Receipt {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []sessions.Receipt
	for _, r := range d.receipts {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b sessions.Receipt) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// Waiting implements api.Sessions.
func (d *Daemon) Waiting(id sessions.ID) []sessions.Receipt {
	return slices.DeleteFunc(d.Receipts(), func(r sessions.Receipt) bool { return r.Session != id || r.Final() })
}

// SendAnyway implements api.Sessions.
func (d *Daemon) SendAnyway(ctx context.Context, id, quoted, by string) (sessions.Receipt, error) {
	r, err := d.Receipt(ctx, id)
	if err != nil {
		return r, err
	}
	d.mu.Lock()
	held := d.receipts[id]
	if held.Quoted == "" || held.Quoted != quoted {
		d.mu.Unlock()
		return r, fmt.Errorf("%w: the screen isn't the one that was looked at any more", sessions.ErrConflict)
	}
	held.Quoted, held.Anyway = "", by
	d.mu.Unlock()
	d.SetReceipt(id, sessions.ReceiptSubmitted, "")
	return d.Receipt(ctx, id)
}

// Revive implements api.Sessions.
func (d *Daemon) Revive(ctx context.Context, id, quoted, by string, way sessions.Revival) (sessions.Receipt, error) {
	if r, err := d.Receipt(ctx, id); err != nil || !slices.Contains(r.Revivals, way) {
		return r, errors.Join(err, fmt.Errorf("%w: the agent can't be begun again in that way", sessions.ErrConflict))
	}
	return d.SendAnyway(ctx, id, quoted, by)
}

// Cancel implements api.Sessions.
func (d *Daemon) Cancel(ctx context.Context, id string) (sessions.Receipt, error) {
	r, err := d.Receipt(ctx, id)
	if err != nil {
		return r, err
	}
	if r.State != sessions.ReceiptStored && r.State != sessions.ReceiptHeld {
		return r, fmt.Errorf("take back %s: it's %s: %w", id, r.State, sessions.ErrConflict)
	}
	d.SetReceipt(id, sessions.ReceiptCancelled, "")
	return d.Receipt(ctx, id)
}

// Forestall implements api.Sessions.
func (d *Daemon) Forestall(_ context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	if err := d.failing(); err != nil {
		return sessions.Receipt{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.byKey(req.Key); r != nil {
		return *r, nil
	}
	return *d.keep(sessions.Receipt{Session: id, Author: req.Author, Name: req.Name, Key: req.Key, State: sessions.ReceiptCancelled}), nil
}

// Withdraw implements api.Sessions.
func (d *Daemon) Withdraw(ctx context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	r, err := d.Forestall(ctx, id, req)
	if err != nil {
		return r, err
	}
	if now, err := d.Cancel(ctx, r.ID); err == nil {
		return now, nil
	}
	return r, nil
}

// Write appends an input's text as what a person wrote, as a typist does right before Enter.
func (d *Daemon) Write(id sessions.ID, receipt, author string) {
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		for i, text := range strings.Split(d.receipts[receipt].Text, "\n") {
			s.Lines++
			l := sessions.Line{N: s.Lines, Kind: sessions.KindUser, Text: text, At: time.Now(), Author: author, Begins: i == 0, Receipt: receipt}
			s.lines, ev.Lines = append(s.lines, l), append(ev.Lines, l)
		}
		ev.First = ev.Lines[0].N
	})
}
