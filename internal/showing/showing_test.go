package showing_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/showing"
	"github.com/panebridge/panebridge/sessions"
)

// memory keeps inquiries and exhibits as the store does, in memory: what's in it survives a daemon.
type memory struct {
	mu        sync.Mutex
	inquiries map[string]sessions.Inquiry
	exhibits  map[string]sessions.Exhibit
	content   map[string][]byte
}

func newMemory() *memory {
	return &memory{inquiries: map[string]sessions.Inquiry{}, exhibits: map[string]sessions.Exhibit{}, content: map[string][]byte{}}
}

func (m *memory) Inquiry(_ context.Context, id string) (sessions.Inquiry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, ok := m.inquiries[id]
	if !ok {
		return q, sessions.ErrUnknown
	}
	return q, nil
}

func (m *memory) OpenInquiries(context.Context) (out []sessions.Inquiry, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range m.inquiries {
		if !q.Final() {
			out = append(out, q)
		}
	}
	return out, nil
}

// all are the inquiries by their ids.
func (m *memory) all() map[string]sessions.Inquiry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.inquiries)
}

func (m *memory) PutInquiry(_ context.Context, q sessions.Inquiry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inquiries[q.ID] = q
	return nil
}

func (m *memory) Exhibit(_ context.Context, id string) (sessions.Exhibit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.exhibits[id]
	if !ok {
		return e, sessions.ErrUnknown
	}
	return e, nil
}

func (m *memory) Exhibits(_ context.Context, id sessions.ID) ([]sessions.Exhibit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.DeleteFunc(slices.Collect(maps.Values(m.exhibits)), func(e sessions.Exhibit) bool { return e.Session != id })
	slices.SortFunc(out, func(a, b sessions.Exhibit) int { return b.At.Compare(a.At) })
	return out, nil
}

func (m *memory) WaitingExhibits(context.Context) ([]sessions.Exhibit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(m.exhibits)), func(e sessions.Exhibit) bool { return e.Done }), nil
}

func (m *memory) ExhibitData(_ context.Context, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.content[id], nil
}

func (m *memory) AddExhibit(_ context.Context, e sessions.Exhibit, data []byte, forget []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range forget {
		delete(m.exhibits, id)
		delete(m.content, id)
	}
	m.exhibits[e.ID], m.content[e.ID] = e, data
	return nil
}

func (m *memory) PutExhibit(_ context.Context, e sessions.Exhibit) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.exhibits[e.ID]; ok {
		m.exhibits[e.ID] = e
	}
	return nil
}

// office is an Inquirer over a memory, which can be begun anew.
type office struct {
	*showing.Inquirer
	kept      *memory
	ended     atomic.Bool
	published []sessions.Prompt
	stop      func()
}

func (o *office) begin() {
	o.Inquirer = showing.NewInquirer(showing.InquirerOptions{
		Store: o.kept, Reaches: func(sessions.ID) bool { return true },
		Get: func(id string) (sessions.Session, error) {
			s := sessions.Session{ID: sessions.ID(id), Name: id, State: sessions.StateIdle}
			if o.ended.Load() {
				s.State = sessions.StateEnded
			}
			return s, nil
		},
		Publish: func(p sessions.Prompt) {
			o.kept.mu.Lock()
			defer o.kept.mu.Unlock()
			o.published = append(o.published, p)
		},
	})
	_ = o.Load(context.Background()) // a memory is always read
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = o.Run(ctx) }()
	o.stop = func() { cancel(); <-done }
}

func keyOf(n int) string { return fmt.Sprintf("key%016d", n) }

// However questions are asked again, waited for, left, answered at once by several, and the daemon begun anew: each is
// final once, with what came first; who waits gets that; what nobody waits for is closed, and what somebody waits for
// isn't before its time.
func TestInquiriesHaveOneEnd(t *testing.T) {
	type step struct {
		what string
		n    int
		rest time.Duration
	}
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				rapid.SampledFrom([]string{"ask", "ask", "answer", "answer", "refuse", "withdraw", "wait", "leave", "restart", "rest"}).Draw(rt, "what"),
				rapid.IntRange(0, 3).Draw(rt, "n"), time.Duration(rapid.IntRange(0, 40_000).Draw(rt, "ms")) * time.Millisecond,
			}
		}), 1, 30).Draw(rt, "steps")
		if wrong := inquire(t, func(bubble context.Context, o *office) string {
			s := sessions.Session{ID: "pb_a", Name: "a"}
			ids, ends, waits := map[int]string{}, map[int]sessions.InquiryOutcome{}, map[int]func(){}
			leaveAll := func() {
				for n, leave := range waits {
					leave()
					delete(waits, n)
				}
			}
			defer leaveAll()
			got := map[int]chan sessions.Inquiry{}
			for i, st := range steps {
				q, known := o.kept.all()[ids[st.n]]
				switch st.what {
				case "ask":
					asked, err := o.Ask(bubble, s, sessions.InquiryRequest{Key: keyOf(st.n), Text: "really?", Options: []string{"yes"}, Timeout: time.Minute})
					if err != nil {
						return fmt.Sprintf("step %d: %v", i, err)
					}
					if known && (asked.ID != q.ID || asked.Outcome != q.Outcome || !asked.OpenedAt.Equal(q.OpenedAt)) {
						return fmt.Sprintf("step %d: asked twice", i)
					}
					ids[st.n] = asked.ID
				case "answer", "refuse":
					option := map[string]int{"answer": 0, "refuse": 1}[st.what]
					_, err := o.Answer(bubble, ids[st.n], sessions.Answer{Options: []int{option}, Author: "x"})
					if known && q.Final() != (err != nil) {
						return fmt.Sprintf("step %d: answering what's %q: %v", i, q.Outcome, err)
					}
				case "withdraw":
					if _, err := o.Withdraw(bubble, ids[st.n]); known != (err == nil) {
						return fmt.Sprintf("step %d: withdrawing: %v", i, err)
					}
				case "wait":
					if !known || waits[st.n] != nil {
						break
					}
					ctx, cancel := context.WithCancel(bubble)
					waits[st.n], got[st.n] = cancel, make(chan sessions.Inquiry, 1)
					inquirer := o.Inquirer
					go func(out chan sessions.Inquiry) {
						if q, err := inquirer.Await(ctx, ids[st.n], time.Hour); err == nil {
							out <- q
						}
					}(got[st.n])
				case "leave":
					if waits[st.n] != nil {
						waits[st.n]()
						delete(waits, st.n)
					}
				case "restart":
					leaveAll()
					synctest.Wait()
					o.stop()
					o.begin() //nolint:contextcheck // what it starts outlives no test
				case "rest":
					time.Sleep(st.rest)
				}
				synctest.Wait()
				for n, id := range ids {
					q := o.kept.all()[id]
					if was := ends[n]; was != "" && was != q.Outcome {
						return fmt.Sprintf("step %d: it was %s, and is %s", i, was, q.Outcome)
					}
					if ends[n] == "" && waits[n] != nil && (q.Outcome == sessions.InquiryAbandoned || q.Outcome == sessions.InquiryTimeout && q.ClosedAt.Before(q.Deadline)) {
						return fmt.Sprintf("step %d: %s though somebody waits", i, q.Outcome)
					}
					if ends[n] = q.Outcome; q.Final() && waits[n] != nil {
						select {
						case told := <-got[n]:
							if told.Outcome != q.Outcome {
								return fmt.Sprintf("step %d: who waits was told %s of what's %s", i, told.Outcome, q.Outcome)
							}
							waits[n]()
							delete(waits, n)
						default:
							return fmt.Sprintf("step %d: who waits wasn't told that it's %s", i, q.Outcome)
						}
					}
				}
			}
			leaveAll()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if len(o.Prompts()) > 0 {
				return "something is open that nobody waits for"
			}
			finals := map[string]int{}
			for _, p := range o.published {
				if p.Final() {
					finals[p.ID]++
				}
			}
			for id, n := range finals {
				if n != 1 {
					return fmt.Sprintf("%s was said to be over %d times", id, n)
				}
			}
			return ""
		}); wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// inquire has a test in a bubble, and returns what's wrong.
func inquire(t *testing.T, test func(ctx context.Context, o *office) string) (wrong string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &office{kept: newMemory()}
		o.begin()
		wrong = test(t.Context(), o)
		o.stop()
	})
	return wrong
}

// What can't be asked has an error that says what can be; a session's questions are bounded, and end with it.
func TestWhatCanBeAsked(t *testing.T) {
	if wrong := inquire(t, func(bubble context.Context, o *office) string {
		s := sessions.Session{ID: "pb_a", Name: "a"}
		long := strings.Repeat("x", sessions.MaxInquiryRunes+1)
		for want, r := range map[string]sessions.InquiryRequest{
			"nothing in it":      {Key: keyOf(1), Text: " \n\u200b\u202e"},
			"at most 3000":       {Key: keyOf(1), Text: long},
			"16 to 64":           {Key: "short", Text: "x"},
			"option 2 is empty":  {Key: keyOf(1), Text: "x", Options: []string{"a", " "}},
			"is there already":   {Key: keyOf(1), Text: "x", Options: []string{"a", "A "}},
			"stands below each":  {Key: keyOf(1), Text: "x", Options: []string{"don't answer"}},
			"control characters": {Key: keyOf(1), Text: "x", Options: []string{"a\x1b[2J"}},
			"at most 12":         {Key: keyOf(1), Text: "x", Options: strings.Split(strings.Repeat("o", 13), "")},
			"24h":                {Key: keyOf(1), Text: "x", Timeout: 25 * time.Hour},
		} {
			if _, err := o.Ask(bubble, s, r); !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), want) {
				return fmt.Sprintf("%q: %v", want, err)
			}
		}
		for n := range 5 {
			_, err := o.Ask(bubble, s, sessions.InquiryRequest{Key: keyOf(n), Text: "x", Stays: true})
			if (n < 4) != (err == nil) || err != nil && !errors.Is(err, sessions.ErrTooMany) {
				return fmt.Sprintf("question %d: %v", n, err)
			}
		}
		if _, err := o.Ask(bubble, s, sessions.InquiryRequest{Key: keyOf(0), Text: "y"}); !errors.Is(err, sessions.ErrConflict) {
			return fmt.Sprintf("another question with a key: %v", err)
		}
		time.Sleep(5 * time.Minute) // they stay though nobody waits
		if len(o.Prompts()) != 4 {
			return fmt.Sprintf("%d are open", len(o.Prompts()))
		}
		o.ended.Store(true)
		feed := &sessions.Feed{}
		o.Follow(feed)
		feed.PublishSession(sessions.Session{ID: s.ID, State: sessions.StateEnded})
		synctest.Wait()
		for _, q := range o.kept.all() {
			if q.Outcome != sessions.InquiryEnded {
				return "its session has ended, and it's " + string(q.Outcome)
			}
		}
		return ""
	}); wrong != "" {
		t.Error(wrong)
	}
}

// What a session shows is bounded: what waits by an error, what's kept by forgetting the oldest that has arrived.
func TestWhatIsShownIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := newMemory()
		c := showing.NewShowcase(showing.ShowcaseOptions{
			Store: kept, Changed: func(sessions.ID) {}, Get: func(id string) (sessions.Session, error) { return sessions.Session{ID: sessions.ID(id)}, nil },
		})
		s := sessions.Session{ID: "pb_a", Name: "a"}
		show := func(n int, size int) (sessions.Exhibit, error) {
			time.Sleep(time.Second)
			return c.Show(t.Context(), s, sessions.ExhibitRequest{Key: keyOf(n), Path: "f"}, sessions.ExhibitFile{Path: "f", Data: make([]byte, size)})
		}
		for n := range 21 {
			if _, err := show(n, 1); (n < 20) != (err == nil) || err != nil && !errors.Is(err, sessions.ErrTooMany) {
				t.Fatalf("file %d: %v", n, err)
			}
		}
		for _, e := range c.WaitingExhibits() {
			if err := c.FinishExhibit(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
		}
		for n := 100; n < 400; n++ {
			e, err := show(n, 1<<20)
			if err == nil {
				err = c.FinishExhibit(t.Context(), e.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		sum := 0
		for _, data := range kept.content {
			sum += len(data)
		}
		if sum > 65<<20 || sum < 60<<20 || len(kept.content) != len(kept.exhibits) {
			t.Errorf("%d bytes of %d are kept", sum, len(kept.content))
		}
		if e, err := show(399, 1<<20); err != nil || !e.Done {
			t.Errorf("shown again: %+v, %v", e, err)
		}
	})
}
