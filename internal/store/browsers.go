package store

import (
	"context"
	"database/sql"
	"strings"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsers"
)

var _ browsers.Store = (*Store)(nil)

// Browsers returns those that may use the page: see browsers.Store.
func (s *Store) Browsers(ctx context.Context) ([]browsers.Browser, error) {
	return list(ctx, s, "read the page's browsers", func(row *sql.Rows) (b browsers.Browser, err error) {
		var created, used, expires int64
		var roles string
		err = row.Scan(&b.ID, &b.Label, &b.Address, &b.Key, &b.NextKey, &created, &used, &expires, &b.Name, &roles)
		b.Roles = rolesOf(roles)
		b.Created, b.LastUsed, b.Expires = fromNanos(created), fromNanos(used), fromNanos(expires)
		return b, err
	}, `SELECT id, label, address, key, next_key, created_at, used_at, expires_at, name, roles FROM browsers ORDER BY created_at, id`)
}

// rolesOf reads what Roles.String wrote. A role that isn't known gives nothing.
func rolesOf(text string) access.Roles {
	roles := access.Roles{}
	for name := range strings.FieldsSeq(text) {
		if r, err := access.ParseRole(name); err == nil {
			roles[r] = true
		}
	}
	return roles
}

// AddBrowser stores one that's new: see browsers.Store.
func (s *Store) AddBrowser(ctx context.Context, b browsers.Browser) error {
	return s.exec1(
		ctx, "store a browser's key", `INSERT INTO browsers (id, label, address, key, next_key, created_at, used_at, expires_at, name, roles)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		b.ID, clean(b.Label), clean(b.Address), b.Key, b.NextKey, nanos(b.Created), nanos(b.LastUsed), nanos(b.Expires), clean(b.Name), b.Roles.String(),
	)
}

// UpdateBrowser stores what has changed of one that's there: see browsers.Store.
func (s *Store) UpdateBrowser(ctx context.Context, b browsers.Browser) error {
	return s.exec1(
		ctx, "store a browser's key", `UPDATE browsers SET key = ?, next_key = ?, used_at = ?, expires_at = ? WHERE id = ?`,
		b.Key, b.NextKey, nanos(b.LastUsed), nanos(b.Expires), b.ID,
	)
}

// DropBrowsers drops those of these ids: see browsers.Store.
func (s *Store) DropBrowsers(ctx context.Context, ids []string) error {
	// A crash of the machine mustn't let in again who was revoked.
	err := s.write.queue.doDurable(ctx, len(ids), func(ctx context.Context) error {
		for _, id := range ids {
			if _, err := s.write.conn.ExecContext(ctx, `DELETE FROM browsers WHERE id = ?`, id); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("drop browsers' keys", err)
}
