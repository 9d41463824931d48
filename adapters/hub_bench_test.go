package adapters_test

import (
	"fmt"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// An event costs nothing but telling the scheduler, however many sessions there are.
func BenchmarkOutput(b *testing.B) {
	m := adaptertest.NewMemory(0)
	house := adaptertest.NewHouse(m)
	p := adaptertest.NewPlatform(adaptertest.Options{})
	hub, err := adapters.NewHub(adapters.HubOptions{
		Outlets: []adapters.Outlet{{Adapter: &adaptertest.Adapter{Conn: p.Connect()}, Budget: qos.NewLocalBudget(nil)}},
		Store:   m, Log: m, Sessions: house,
		Settings: adapters.Settings{Rules: []adapters.MirrorRule{{Session: "*", To: adapters.Target{Adapter: "mem", Chat: "-1"}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	const n = 2000
	ids := make([]sessions.ID, n)
	for i := range ids {
		ids[i] = sessions.ID(fmt.Sprintf("pb_%012d", i))
		if err := house.Begin(ids[i], fmt.Sprint("agent-", i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := hub.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	ev := sessions.OutputEvent{Lines: make([]sessions.Line, 1)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ev.Session, ev.Lines[0].N = ids[i%n], int64(i)
		hub.HandleOutput(ev)
	}
}
