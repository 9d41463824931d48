package app_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
)

const (
	sampleEvery = 100 * time.Millisecond
	// turnEndWithin is how long after a turn's end it's known at the latest.
	turnEndWithin = 1500 * time.Millisecond
)

// stateSample is what the daemon said of a session at a time since the run's epoch.
type stateSample struct {
	at time.Duration
	api.Session
}

// sampler asks for a session's state again and again.
type sampler struct {
	mu      sync.Mutex
	samples []stateSample
	stop    context.CancelFunc
	done    chan struct{}
}

// sample begins to ask; the result's end stops it.
func (k *liveRig) sample() *sampler {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sampler{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		t := time.NewTicker(sampleEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			at := time.Since(k.run.Epoch)
			if now, err := k.api.Session(ctx, string(k.id)); err == nil {
				s.mu.Lock()
				s.samples = append(s.samples, stateSample{at, now})
				s.mu.Unlock()
			}
		}
	}()
	return s
}

func (s *sampler) end() []stateSample {
	s.stop()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples
}

// stateScore is how right the daemon was about what an agent was doing.
type stateScore struct {
	samples, right int
	turns          int
	latest         time.Duration // the turn's end that was known last, behind that end
	load           float64       // of the machine, at its highest
	wrong          []string      // where the state was
	ends           []string      // what was wrong with the ends of turns
}

func (s stateScore) percent() float64 { return 100 * float64(s.right) / float64(max(1, s.samples)) }

func (s stateScore) String() string {
	return fmt.Sprintf("%6.2f %% of %d samples, %d turn ends, the latest %.2f s behind, load up to %.1f", s.percent(), s.samples, s.turns, s.latest.Seconds(), s.load)
}

func (s *stateScore) add(o stateScore) {
	s.samples, s.right, s.turns = s.samples+o.samples, s.right+o.right, s.turns+o.turns
	s.latest, s.load = max(s.latest, o.latest), max(s.load, o.load)
}

// stateThen is what the agent was doing at a time; "": unknown.
func stateThen(truth []recording.Span, at time.Duration) sessions.State {
	for _, s := range truth {
		if s.From <= at && at < s.To {
			return s.State
		}
	}
	return ""
}

// left says whether a state was left less than tolerance before a time.
func left(truth []recording.Span, state sessions.State, at, tolerance time.Duration) bool {
	for i := 1; i < len(truth); i++ {
		if from := truth[i].From; from <= at && at-from < tolerance && truth[i-1].State == state {
			return true
		}
	}
	return false
}

// score holds what the daemon said against the truth. For tolerance after a change
// either state counts.
func (k *liveRig) score(samples []stateSample, truth []recording.Span) stateScore {
	tolerance := 1500 * time.Millisecond
	if k.mode.hooks {
		tolerance = 500 * time.Millisecond
	}
	s := stateScore{}
	failures := failing(k.run.Model.Requests(), k.run.Epoch, tolerance)
	wrong := 0
	for _, one := range samples {
		is := stateThen(truth, one.at)
		if is == "" {
			continue
		}
		s.samples++
		if one.State == is || left(truth, one.State, one.at, tolerance) || one.State == sessions.StateError && stateThen(failures, one.at) != "" {
			s.right++
			wrong = 0
			continue
		}
		if wrong++; wrong == 1 {
			s.wrong = append(s.wrong, "")
		}
		s.wrong[len(s.wrong)-1] = fmt.Sprintf("up to %.1f s, in %d samples, it says %s (%s), and is %s", one.at.Seconds(), wrong, one.State, one.Reason, is)
	}
	k.scoreEnds(&s, samples, truth)
	return s
}

// failing are the times at which the model's answers were errors, up to the next that
// was none.
func failing(requests []agentlab.Request, epoch time.Time, tolerance time.Duration) []recording.Span {
	var out []recording.Span
	for i, q := range requests {
		if !q.Failed || i+1 == len(requests) {
			continue
		}
		to := requests[i+1].First
		if to.IsZero() {
			to = requests[i+1].Begin // it failed too
		}
		out = append(out, recording.Span{From: q.Begin.Sub(epoch), To: to.Sub(epoch) + tolerance, State: sessions.StateError})
	}
	return out
}

// scoreEnds wants each turn to end once, and soon after it did.
func (k *liveRig) scoreEnds(s *stateScore, samples []stateSample, truth []recording.Span) {
	var ends []recording.Span // from when the model was done to when the program was
	for i, span := range truth {
		if span.State == sessions.StateIdle && i > 0 {
			ends = append(ends, recording.Span{From: truth[i-1].To, To: span.From})
		}
	}
	s.turns = len(ends)
	if len(ends) != len(k.asked) {
		s.ends = append(s.ends, fmt.Sprintf("%d turns were begun, and it's known of %d when they ended", len(k.asked), len(ends)))
		return
	}
	var seen []time.Duration
	before := sessions.Turn{}
	for _, one := range samples {
		for n := before.Number; n <= one.Turn.Number; n++ {
			was, is := n == before.Number && before.Open || n > before.Number, n == one.Turn.Number && one.Turn.Open
			if n > 0 && was && !is {
				seen = append(seen, one.at)
			}
		}
		before = one.Turn
	}
	if len(seen) != len(ends) {
		s.ends = append(s.ends, fmt.Sprintf("%d turns ended (%s), and %d ends were seen (%s)", len(ends), times(ends), len(seen), seen))
		return
	}
	for i, at := range seen {
		late := at - ends[i].To
		s.latest = max(s.latest, late)
		if late > turnEndWithin+sampleEvery || at < ends[i].From-500*time.Millisecond {
			s.ends = append(s.ends, fmt.Sprintf("turn %d ended at %.2f s, which was seen %.2f s later", i+1, ends[i].To.Seconds(), late.Seconds()))
		}
	}
}

func times(spans []recording.Span) string {
	var out []string
	for _, s := range spans {
		out = append(out, fmt.Sprintf("%.1f s", s.To.Seconds()))
	}
	return strings.Join(out, " ")
}

// counts says whether the machine had so little to do that figures count: where it has
// too much, the programs themselves are late.
func (s stateScore) counts() bool { return s.load <= 2*float64(runtime.NumCPU()) }

// machineLoad is the number of processes that want to run, over the last minute; 0: not known.
func machineLoad() float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
