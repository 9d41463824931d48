package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/sessions"
)

var _ push.Store = (*Store)(nil)

// PushSubscriptions returns which browsers are notified: see push.Store.
func (s *Store) PushSubscriptions(ctx context.Context) ([]push.Subscription, error) {
	return list(ctx, s, "read which browsers are notified", func(row *sql.Rows) (one push.Subscription, err error) {
		var wishes string
		var created, notBefore int64
		if err = row.Scan(&one.Browser, &one.Endpoint, &one.Key, &one.Auth, &wishes, &created, &notBefore); err != nil {
			return one, err
		}
		one.Created, one.NotBefore = fromNanos(created), fromNanos(notBefore)
		return one, json.Unmarshal([]byte(wishes), &one.Wishes)
	}, `SELECT browser, endpoint, p256dh, auth, wishes, created_at, not_before FROM push_subscriptions ORDER BY browser`)
}

// PutPushSubscription keeps that a browser is notified: see push.Store.
func (s *Store) PutPushSubscription(ctx context.Context, one push.Subscription) error {
	wishes, err := json.Marshal(one.Wishes)
	if err != nil {
		return fmt.Errorf("write what a browser is notified of: %w", err)
	}
	known := false
	err = s.write.queue.do(ctx, 3, func(ctx context.Context) error {
		c := s.write.conn
		if err := c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM browsers WHERE id = ?)`, one.Browser).Scan(&known); err != nil || !known {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM push_subscriptions WHERE endpoint = ?2 AND browser <> ?1`, one.Browser, clean(one.Endpoint)); err != nil {
			return err
		}
		if _, err := c.ExecContext(
			ctx, `DELETE FROM push_shown WHERE browser = ?1 AND NOT EXISTS (SELECT 1 FROM push_subscriptions WHERE browser = ?1 AND endpoint = ?2 AND p256dh = ?3)`,
			one.Browser, clean(one.Endpoint), clean(one.Key),
		); err != nil {
			return err
		}
		_, err := c.ExecContext(
			ctx, `INSERT INTO push_subscriptions (browser, endpoint, p256dh, auth, wishes, created_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (browser) DO UPDATE SET endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth,
			wishes = excluded.wishes, created_at = excluded.created_at, not_before = iif(endpoint = excluded.endpoint, not_before, 0)`,
			one.Browser, clean(one.Endpoint), clean(one.Key), clean(one.Auth), clean(string(wishes)), nanos(one.Created),
		)
		return err
	})
	if err == nil && !known {
		return fmt.Errorf("%w browser %s: it isn't let in", sessions.ErrUnknown, one.Browser)
	}
	return s.explain("store that a browser is notified", err)
}

// DropPushSubscription keeps that a browser isn't notified: see push.Store.
func (s *Store) DropPushSubscription(ctx context.Context, browser string) error {
	return s.exec1(ctx, "drop a browser's subscription", `DELETE FROM push_subscriptions WHERE browser = ?`, browser)
}

// PutPushWait keeps until when nothing is sent to a browser: see push.Store.
func (s *Store) PutPushWait(ctx context.Context, browser, endpoint string, until time.Time) error {
	return s.exec1(
		ctx, "store until when a push service is left alone", `UPDATE push_subscriptions SET not_before = ? WHERE browser = ? AND endpoint = ?`,
		nanos(until), browser, clean(endpoint),
	)
}

// ShownAlerts returns what the push services took last: see push.Store.
func (s *Store) ShownAlerts(ctx context.Context) (map[string]map[sessions.ID]string, error) {
	out := map[string]map[sessions.ID]string{}
	_, err := list(ctx, s, "read what devices show", func(row *sql.Rows) (none struct{}, err error) {
		var browser, session, key string
		if err = row.Scan(&browser, &session, &key); err != nil {
			return none, err
		}
		if out[browser] == nil {
			out[browser] = map[sessions.ID]string{}
		}
		out[browser][sessions.ID(session)] = key
		return none, nil
	}, `SELECT browser, session, alert FROM push_shown`)
	return out, err
}

// PutShownAlert keeps what a push service has taken: see push.Store.
func (s *Store) PutShownAlert(ctx context.Context, browser string, id sessions.ID, key string) error {
	const doing = "store what a device shows"
	if key == "" {
		return s.exec1(ctx, doing, `DELETE FROM push_shown WHERE browser = ? AND session = ?`, browser, clean(id))
	}
	return s.exec1(
		ctx, doing, `INSERT INTO push_shown (browser, session, alert) SELECT browser, ?2, ?3 FROM push_subscriptions WHERE browser = ?1
		ON CONFLICT (browser, session) DO UPDATE SET alert = excluded.alert`, browser, clean(id), clean(key),
	)
}

// LastAlerts returns how sessions ended last: see push.Store.
func (s *Store) LastAlerts(ctx context.Context) ([]push.Alert, error) {
	return list(ctx, s, "read what devices are to show", func(row *sql.Rows) (a push.Alert, err error) {
		var text string
		if err = row.Scan(&text); err != nil {
			return a, err
		}
		return a, json.Unmarshal([]byte(text), &a)
	}, `SELECT alert FROM push_alerts ORDER BY session`)
}

// PutLastAlert keeps how a session ended last: see push.Store.
func (s *Store) PutLastAlert(ctx context.Context, a push.Alert) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("write what devices are to show: %w", err)
	}
	return s.exec1(
		ctx, "store what devices are to show", `INSERT INTO push_alerts (session, alert) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1)
		ON CONFLICT (session) DO UPDATE SET alert = excluded.alert`, clean(a.Session), clean(string(text)),
	)
}

// DropLastAlert drops it: see push.Store.
func (s *Store) DropLastAlert(ctx context.Context, id sessions.ID) error {
	return s.exec1(ctx, "drop what devices are to show", `DELETE FROM push_alerts WHERE session = ?`, clean(id))
}
