package main

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

// loaded is the graph, which takes seconds to make.
var loaded = sync.OnceValues(func() (*graph, error) { return load("../..") })

// The trips of docs/architecture.md are those that the program makes.
func TestTheTripsAreTrue(t *testing.T) {
	g, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	want, err := list(g, io.Discard)
	if err != nil {
		t.Fatalf("%v: another function is passed now; name it in list.go", err)
	}
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want) {
		t.Errorf("docs/architecture.md has other trips; put in what `go run ./internal/trips` writes:\n%s", want)
	}
}

// What isn't called isn't passed, and what isn't there is told of.
func TestATripThatNobodyMakes(t *testing.T) {
	g, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []leg{
		{"(*qos.OutputQoSScheduler).Want", "(*adapters.Deliverer).Deliver"}, // what's wanted waits for a slot
		{"(*adapters/telegram.Poller).Run", "(*adapters/telegram.Poller).Walk"},
	} {
		if files, err := (trip{legs: []leg{l}}).files(g, io.Discard); err == nil {
			t.Errorf("from %s to %s a trip passes %q", l[0], l[1], files)
		}
	}
}
