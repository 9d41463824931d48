package store

import (
	"testing"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// Who wrote a line and where comes back with it, however it's read.
func TestLinesComeBackWithTheirAuthors(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	done := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{
		{Kind: sessions.KindUser, Text: "fix it", At: at, Author: "Ada\xff", Origin: "telegram:-5/7", Receipt: "in_1"},
		{Kind: sessions.KindPane, Text: "fixed it", At: at},
	}})
	if done.Lines[0].Author != "Ada\uFFFD" || done.Lines[0].Origin != "telegram:-5/7" {
		t.Errorf("stored %+v", done.Lines)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	out, err := s.Read(t.Context(), "pb_1", 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "lines read", done.Lines, out.Lines)
	tail, err := s.Tail(t.Context(), "pb_1", 2)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "lines of the end", done.Lines, tail)

	r := sessions.Receipt{
		ID: "in_1", Session: "pb_1", Text: "t", Author: "telegram:1", Name: "Ada", Origin: "telegram:-5/7", Key: "k",
		State: sessions.ReceiptStored, CreatedAt: at, UpdatedAt: at,
	}
	if err := s.PutReceipt(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := s.ReceiptByKey(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "the receipt", r, got)
}
