package adapters_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// odd is an adapter whose calls end as it's told.
type odd struct {
	adaptertest.Adapter
	call func(op adapters.Op) adapters.Reply
}

func (a *odd) Call(_ context.Context, op adapters.Op) adapters.Reply { return a.call(op) }

// oneDocument is a deliverer with the document of a session that has a line.
func oneDocument(t *testing.T, call func(op adapters.Op) adapters.Reply) (*adapters.Deliverer, adapters.Binding, *adaptertest.House) {
	t.Helper()
	m := adaptertest.NewMemory(0)
	house := adaptertest.NewHouse(m)
	if err := errors.Join(house.Begin("pb_1", "agent-1"), house.Print("pb_1", adaptertest.Output{Lines: []string{"one"}})); err != nil {
		t.Fatal(err)
	}
	d := adapters.NewDeliverer(adapters.DelivererOptions{Adapter: &odd{call: call}, Store: m, Log: m, Sessions: house})
	b := adapters.Binding{ID: "bd_1", Session: "pb_1", Target: adapters.Target{Adapter: "mem", Chat: "-1"}, View: adapters.ViewStream}
	d.Open(b, adapters.NewDocument(0, adapters.LogProgress{}))
	return d, b, house
}

func docCall(b adapters.Binding) qos.Call {
	return qos.Call{Chat: "-1", Doc: b.ID.Doc(), Session: "pb_1", Wanted: 1}
}

func TestAnAdapterThatSaysNothingIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		reply adapters.Reply
		want  qos.CallOutcome
	}{
		"no outcome": {adapters.Reply{}, qos.Uncertain},
		"unchanged":  {adapters.Reply{Outcome: qos.Unchanged}, qos.NotSent}, // it would count as delivered
	} {
		t.Run(name, func(t *testing.T) {
			d, b, _ := oneDocument(t, func(adapters.Op) adapters.Reply { return c.reply })
			if r := d.Deliver(t.Context(), docCall(b)); r.Outcome != c.want {
				t.Errorf("got %v, want %v", r.Outcome, c.want)
			}
			if doc, _ := d.Document(b.ID); doc.Delivered() != 0 {
				t.Errorf("line %d counts as delivered", doc.Delivered())
			}
		})
	}
}

func TestADocumentHasOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, end := make(chan struct{}), make(chan struct{})
		d, b, _ := oneDocument(t, func(adapters.Op) adapters.Reply {
			close(begun)
			<-end
			return adapters.Reply{Outcome: qos.Delivered, ID: "1"}
		})
		var first sync.WaitGroup
		first.Go(func() { d.Deliver(t.Context(), docCall(b)) })
		<-begun
		if r := d.Deliver(t.Context(), docCall(b)); r.Outcome != qos.NotSent {
			t.Errorf("a second call at a time: %v, want not_sent", r.Outcome)
		}
		close(end)
		first.Wait()
	})
}

func TestADocumentThatIsClosedOrUnknown(t *testing.T) {
	d, b, _ := oneDocument(t, func(adapters.Op) adapters.Reply { t.Error("a call was made"); return adapters.Reply{} })
	other := docCall(b)
	other.Doc = "bd_none"
	if r := d.Deliver(t.Context(), other); r.Outcome != qos.Unchanged {
		t.Errorf("a document that isn't open: %v, want unchanged", r.Outcome)
	}
	lost := b
	lost.Session = "pb_none"
	d.Open(lost, adapters.NewDocument(0, adapters.LogProgress{}))
	if r := d.Deliver(t.Context(), docCall(b)); r.Outcome != qos.Rejected || !errors.Is(r.Err, sessions.ErrUnknown) {
		t.Errorf("a document whose session is forgotten: %v, %v; want rejected, ErrUnknown", r.Outcome, r.Err)
	}
	d.Close(b.ID)
	if r := d.Deliver(t.Context(), docCall(b)); r.Outcome != qos.Unchanged {
		t.Errorf("a document that was closed: %v, want unchanged", r.Outcome)
	}
}

func TestRequestOfNobodyIsRejected(t *testing.T) {
	p := adaptertest.NewPlatform(adaptertest.Options{})
	p.AddGroup("-1", false)
	d := adapters.NewDeliverer(adapters.DelivererOptions{Adapter: &adaptertest.Adapter{Conn: p.Connect()}})
	if r := d.Deliver(t.Context(), qos.Call{Chat: "-1", Key: "k"}); r.Outcome != qos.Rejected {
		t.Errorf("got %v, want rejected", r.Outcome)
	}
}

// TestDeliveryContainsPanics: a call that panics is one of which nobody knows whether it was
// made, and a document whose calls go on doing so is given up.
func TestDeliveryContainsPanics(t *testing.T) {
	d, b, _ := oneDocument(t, func(adapters.Op) adapters.Reply { panic("what somebody wrote") })
	for i, want := range []qos.CallOutcome{qos.Uncertain, qos.Uncertain, qos.Rejected} {
		r := d.Deliver(t.Context(), docCall(b))
		if r.Outcome != want || strings.Contains(r.Err.Error(), "somebody") {
			t.Errorf("call %d came to %v: %v; want %v", i+1, r.Outcome, r.Err, want)
		}
	}
}
