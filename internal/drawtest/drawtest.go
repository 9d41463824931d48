// Package drawtest is where tests get what they draw at random, so that all of them are repeated
// in one way. Everything begins with one seed: PANEBRIDGE_SEED if it's set, a fresh one with
// PANEBRIDGE_STRESS, and otherwise always the same. A test that fails logs the command that
// draws the same again. Only tests and what helps them may import it.
package drawtest

import (
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

const (
	seedVar   = "PANEBRIDGE_SEED"
	stressVar = "PANEBRIDGE_STRESS"
)

// usualSeed is what tests begin with unless they're told otherwise. It isn't 0, which has
// rapid draw a seed of its own.
const usualSeed = 1

// Stressed says that tests are to run with their full counts.
func Stressed() bool { return os.Getenv(stressVar) != "" }

// Times is how many times a test is to play something at random: stress of them with
// PANEBRIDGE_STRESS, short with -short.
func Times(stress, usual, short int) int {
	switch {
	case Stressed():
		return stress
	case testing.Short():
		return short
	default:
		return usual
	}
}

// fresh is one seed for all tests of a process.
var fresh = sync.OnceValue(func() uint64 { // drawn once
	seed := rand.Uint64() | 1
	// A panic leaves no test the time to log it.
	fmt.Fprintf(os.Stderr, "tests draw with %s=%d\n", seedVar, seed)
	return seed
})

// first is the seed with which everything begins. It's never 0.
func first() uint64 {
	given := os.Getenv(seedVar)
	switch {
	case given == "" && Stressed():
		return fresh()
	case given == "":
		return usualSeed
	}
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("read %s: %v; give a number that a failed test has logged", seedVar, err))
	}
	return max(seed, usualSeed)
}

// drawing are the tests that draw, each of which logs once how it's repeated.
var drawing sync.Map // tests have nothing else in common

// Seed returns what tb draws with.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	seed := first()
	if _, known := drawing.LoadOrStore(tb, true); !known {
		tb.Cleanup(func() { drawing.Delete(tb); logRepeat(tb, seed) })
	}
	return seed
}

// Rand returns what tb draws from: by another stream, something else.
func Rand(tb testing.TB, stream uint64) *rand.Rand {
	tb.Helper()
	return rand.New(rand.NewPCG(Seed(tb), stream))
}

// Seeds yields n seeds for histories that tb plays one after another. Whichever fails is the first
// where it's repeated. known are seeds with which something was wrong once: they come before,
// unless a test is repeated.
func Seeds(tb testing.TB, n int, known ...uint64) iter.Seq[uint64] {
	tb.Helper()
	seeds := make([]uint64, 0, len(known)+n)
	if os.Getenv(seedVar) == "" {
		seeds = append(seeds, known...)
	}
	for i := range uint64(n) {
		seeds = append(seeds, first()+i)
	}
	return func(yield func(uint64) bool) {
		told, now := tb.Failed(), first()
		tell := func() {
			if tb.Failed() && !told {
				told = true
				logRepeat(tb, now)
			}
		}
		defer tell() // tb.Fatal ends the loop from within yield
		for _, now = range seeds {
			if !yield(now) {
				return
			}
			tell()
		}
	}
}

// Check has rapid check a property as often as -rapid.checks says, a fifth of that with -short.
func Check(tb testing.TB, property func(*rapid.T)) {
	tb.Helper()
	check(tb, "", property)
}

// CheckTimes has rapid check a property so many times, unless -rapid.checks says otherwise.
func CheckTimes(tb testing.TB, times int, property func(*rapid.T)) {
	tb.Helper()
	if testing.Short() {
		times *= 5 // rapid divides by as much
	}
	check(tb, strconv.Itoa(times), property)
}

// settings are rapid's flags. It reads them before it draws, so nobody waits for long.
var settings sync.Mutex // as the flags are

func check(tb testing.TB, checks string, property func(*rapid.T)) {
	tb.Helper()
	Seed(tb)
	settings.Lock()
	prepare()
	was := flag.Lookup("rapid.checks").Value.String()
	if checks != "" && !checksGiven {
		set("rapid.checks", checks)
	}
	release := sync.OnceFunc(func() { set("rapid.checks", was); settings.Unlock() })
	defer release()
	rapid.Check(tb, func(t *rapid.T) {
		release()
		property(t)
	})
}

// checksGiven says that -rapid.checks was given.
var checksGiven bool // as the flags are

// prepare gives rapid our seed, unless it has one by its own flag, and has it write no files.
var prepare = sync.OnceFunc(func() { // once for all tests
	flags := map[string]string{"rapid.seed": strconv.FormatUint(first(), 10), "rapid.nofailfile": "true"}
	flag.Visit(func(f *flag.Flag) {
		delete(flags, f.Name)
		checksGiven = checksGiven || f.Name == "rapid.checks"
	})
	for name, value := range flags {
		set(name, value)
	}
})

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}

// logRepeat logs how tb is repeated with a seed, if it has failed.
func logRepeat(tb testing.TB, seed uint64) {
	tb.Helper()
	if tb.Failed() {
		tb.Logf("to repeat it: %s", command(tb.Name(), seed))
	}
}

// command draws what a test drew with a seed once more.
func command(test string, seed uint64) string {
	var c strings.Builder
	if Stressed() {
		c.WriteString(stressVar + "=1 ")
	}
	fmt.Fprintf(&c, "%s=%d go test -count=1", seedVar, seed)
	if testing.Short() {
		c.WriteString(" -short")
	}
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(p), "'", ".") + "$"
	}
	folder := "."
	if info, ok := debug.ReadBuildInfo(); ok {
		folder = "./" + strings.TrimPrefix(strings.TrimSuffix(info.Path, ".test"), info.Main.Path+"/")
	}
	fmt.Fprintf(&c, " -run '%s' %s", strings.Join(parts, "/"), folder)
	return c.String()
}
