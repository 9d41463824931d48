package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/storebench"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// The bars of pbbench search.
const (
	foundBar   = 100.0  // ms at the 95th percentile for the newest 50 lines of one word
	behindBar  = 2000.0 // ms from an append until its line is found
	slowerBar  = 1.1    // times the 99th percentile of appends beside no index
	newestHits = 50
)

// searchOptions are the flags of pbbench search.
type searchOptions struct {
	sessions, lines, queries, appends int
	seed                              uint64
	json                              bool
}

// searchRow is how long one thing took, so many times.
type searchRow struct {
	What  string  `json:"what"`
	Times int     `json:"times"`
	P50MS float64 `json:"p50_ms"`
	P95MS float64 `json:"p95_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

func searchCommand() *cobra.Command {
	opt := searchOptions{}
	cmd := &cobra.Command{
		Use: "search", Short: "How soon lines are found, and what that costs appends", Args: cobra.NoArgs,
		Long: `Fills a database with lines of words drawn by their frequency, indexes them, searches for words drawn in
the same way, and appends lines beside the index and beside none in turns. Last it forgets a session and looks for its words in
all files. It fails if a bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.sessions, "sessions", 100, "how many sessions there are")
	f.IntVar(&opt.lines, "lines", 10_000_000, "how many lines they have together")
	f.IntVar(&opt.queries, "queries", 300, "how many searches of each kind")
	f.IntVar(&opt.appends, "appends", 40_000, "how many appends")
	f.Uint64Var(&opt.seed, "seed", 1, "what words are drawn with")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o searchOptions) run(ctx context.Context, out io.Writer) (err error) {
	if o.sessions < 2 || o.lines < o.sessions || o.queries < 1 || o.appends < 100 {
		return fmt.Errorf("--sessions %d, --lines %d, --queries %d, --appends %d: at least 2, a line each, 1 and 100", o.sessions, o.lines, o.queries, o.appends)
	}
	dir, err := os.MkdirTemp("", "pbbench-search-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b, err := newSearchBed(ctx, o, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.store.Close()) }()
	progress("storing %d lines of %d sessions", o.lines, o.sessions)
	if err := b.fill(ctx); err != nil {
		return err
	}
	index, stop, took, err := b.index(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	size := fileBytes(index.path)
	rows, err := b.measure(ctx, index)
	if err != nil {
		return err
	}
	left, err := b.forget(ctx, index)
	if err != nil {
		return err
	}
	return o.print(out, rows, took, size, left)
}

// searchBed is a database whose lines are searched for.
type searchBed struct {
	searchOptions
	dir    string
	store  *store.Store
	random *rand.Rand
	words  *rand.Zipf
	clock  time.Time
	feed   sessions.Feed

	mu    sync.Mutex
	heads []int64
}

func newSearchBed(ctx context.Context, o searchOptions, dir string) (*searchBed, error) {
	db, err := store.Open(ctx, filepath.Join(dir, "log.db"), store.Options{})
	if err != nil {
		return nil, fmt.Errorf("open a database: %w", err)
	}
	random := rand.New(rand.NewPCG(o.seed, 1))
	b := &searchBed{searchOptions: o, dir: dir, store: db, random: random, words: rand.NewZipf(random, 1.1, 4, 200_000), heads: make([]int64, o.sessions)}
	b.clock = time.Now().Add(-time.Duration(o.lines) * time.Millisecond)
	for n := range o.sessions {
		if err := db.PutSession(ctx, sessions.Session{ID: storebench.ID(n), Name: fmt.Sprint("work-", n)}); err != nil {
			return nil, errors.Join(fmt.Errorf("store session %d: %w", n, err), db.Close())
		}
	}
	return b, nil
}

// word is drawn by its frequency. Words have 2 to 9 letters.
func (b *searchBed) word() string {
	n := b.words.Uint64()
	var w strings.Builder
	for n += 26; n > 0; n /= 26 {
		w.WriteByte(byte('a' + n%26))
	}
	return w.String() + "es"
}

func (b *searchBed) line() sessions.Line {
	words := make([]string, 3+b.random.IntN(9))
	for i := range words {
		words[i] = b.word()
	}
	b.clock = b.clock.Add(time.Millisecond)
	return sessions.Line{Kind: sessions.KindPane, Text: strings.Join(words, " "), At: b.clock}
}

// append appends lines to a session's log.
func (b *searchBed) append(ctx context.Context, n int, lines []sessions.Line) (took time.Duration, err error) {
	began := time.Now()
	done, err := b.store.Append(ctx, polling.Batch{Session: storebench.ID(n), Lines: lines})
	took = time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("append: %w", err)
	}
	b.mu.Lock()
	b.heads[n] = done.Head
	b.mu.Unlock()
	return took, nil
}

// tell has the index hear of a session's lines.
func (b *searchBed) tell(n int) {
	b.feed.PublishOutput(sessions.OutputEvent{Session: storebench.ID(n), Lines: make([]sessions.Line, 1)})
}

func (b *searchBed) fill(ctx context.Context) error {
	const batch = 1000
	for left := b.lines; left > 0; left -= batch {
		lines := make([]sessions.Line, min(left, batch))
		for i := range lines {
			lines[i] = b.line()
		}
		if _, err := b.append(ctx, (left/batch)%b.sessions, lines); err != nil {
			return err
		}
	}
	return nil
}

// benchIndex is an index with what keeps it.
type benchIndex struct {
	*search.Index
	path string
	*search.Indexer
}

// index indexes all lines. stop ends that.
func (b *searchBed) index(ctx context.Context) (x benchIndex, stop func() error, took time.Duration, err error) {
	x.path = filepath.Join(b.dir, search.File)
	if x.Index, err = search.OpenIndex(ctx, x.path, b.store); err != nil {
		return x, nil, 0, fmt.Errorf("open an index: %w", err)
	}
	x.Indexer = &search.Indexer{Index: x.Index, List: b.list, Logger: slog.New(slog.DiscardHandler)}
	x.Follow(&b.feed)
	progress("indexing")
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	stop = func() error {
		cancel()
		return errors.Join(<-ended, x.Close())
	}
	b.await(ctx, x)
	return x, stop, time.Since(began), ctx.Err()
}

// await waits until all lines are indexed.
func (b *searchBed) await(ctx context.Context, x benchIndex) {
	for _, s := range b.list() {
		for last, _ := x.Last(s.ID); last < s.Lines && ctx.Err() == nil; last, _ = x.Last(s.ID) {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func (b *searchBed) list() []sessions.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]sessions.Session, b.sessions)
	for n := range all {
		all[n] = sessions.Session{ID: storebench.ID(n), Lines: b.heads[n]}
	}
	return all
}

// The rows of measure.
const (
	rowAlone = iota
	rowBeside
	rowBehind
	rowOneWord
)

// measure appends lines, and searches for words.
func (b *searchBed) measure(ctx context.Context, x benchIndex) (rows []searchRow, err error) {
	progress("appending")
	var alone, beside, behind []float64
	for turn := range 20 { // in turns, so that what else the machine does is shared
		for range b.appends / 20 {
			n := b.random.IntN(b.sessions)
			took, err := b.append(ctx, n, []sessions.Line{b.line(), b.line(), b.line()})
			if err != nil {
				return nil, err
			}
			if turn%2 == 0 {
				alone = append(alone, ms(took))
			} else {
				b.tell(n)
				beside = append(beside, ms(took))
			}
			time.Sleep(2 * time.Millisecond)
		}
		for n := range b.sessions {
			b.tell(n)
		}
		b.await(ctx, x)
	}
	for i := range 20 {
		took, err := b.findNew(ctx, x, fmt.Sprintf("unheard%d", i))
		if err != nil {
			return nil, err
		}
		behind = append(behind, ms(took))
	}
	rows = []searchRow{searchRowOf("append beside no index", alone), searchRowOf("append beside the index", beside), searchRowOf("append to found", behind)}
	progress("searching")
	for words := 1; words <= 3; words++ {
		var all []float64
		for range b.queries {
			took, err := b.find(ctx, x, words)
			if err != nil {
				return nil, err
			}
			all = append(all, ms(took))
		}
		rows = append(rows, searchRowOf(fmt.Sprintf("newest %d, %d words", newestHits, words), all))
	}
	return rows, nil
}

func searchRowOf(what string, all []float64) searchRow {
	return searchRow{what, len(all), quantile(all, 0.5), quantile(all, 0.95), quantile(all, 0.99), quantile(all, 1)}
}

// findNew appends a word that no line has, and waits until it's found.
func (b *searchBed) findNew(ctx context.Context, x benchIndex, word string) (time.Duration, error) {
	q, err := search.ParseQuery(word)
	if err != nil {
		return 0, fmt.Errorf("search: %w", err)
	}
	began := time.Now()
	n := b.random.IntN(b.sessions)
	l := b.line()
	l.Text = word
	if _, err := b.append(ctx, n, []sessions.Line{l}); err != nil {
		return 0, err
	}
	b.tell(n)
	for {
		found, err := x.Find(ctx, b.store, q, newestHits)
		if err != nil {
			return 0, fmt.Errorf("search: %w", err)
		}
		if len(found.Hits) > 0 {
			return time.Since(began), nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// find searches for words that are drawn by their frequency.
func (b *searchBed) find(ctx context.Context, x benchIndex, words int) (time.Duration, error) {
	texts := make([]string, words)
	for i := range texts {
		texts[i] = b.word()
	}
	q, err := search.ParseQuery(strings.Join(texts, " "))
	if err != nil {
		return 0, fmt.Errorf("search: %w", err)
	}
	began := time.Now()
	if _, err := x.Find(ctx, b.store, q, newestHits); err != nil {
		return 0, fmt.Errorf("search: %w", err)
	}
	return time.Since(began), nil
}

// forget forgets a session with a word of its own, and reports whether a file of the index has that still.
func (b *searchBed) forget(ctx context.Context, x benchIndex) (left bool, err error) {
	const word = "forgettable"
	if _, err := b.findNew(ctx, x, word); err != nil {
		return false, err
	}
	if has, err := hasWord(x.path, word); err != nil || !has {
		return false, errors.Join(err, errors.New("the word isn't where it's looked for"))
	}
	for n := range b.sessions { // whichever had it
		if err := x.Forget(ctx, storebench.ID(n)); err != nil {
			return false, fmt.Errorf("forget: %w", err)
		}
	}
	if err := x.Erase(ctx); err != nil {
		return false, fmt.Errorf("forget: %w", err)
	}
	return hasWord(x.path, word)
}

// hasWord reports whether a file of an index has a word.
func hasWord(path, word string) (has bool, err error) {
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			return false, fmt.Errorf("look into the index: %w", err)
		}
		has = has || bytes.Contains(content, []byte(word))
	}
	return has, nil
}

// fileBytes is how large an index is.
func fileBytes(path string) (n int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			n += info.Size()
		}
	}
	return n
}

func (o searchOptions) print(out io.Writer, rows []searchRow, indexing time.Duration, size int64, left bool) error {
	bars, err := printRows(out, o.json, rows, []any{"what", "times", "p50 ms", "p95 ms", "p99 ms", "max ms"}, func(r searchRow) []any {
		return []any{r.What, r.Times, r.P50MS, r.P95MS, r.P99MS, r.MaxMS}
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(bars, "\nindexed %.0f lines/s with half of a core, %.1f bytes a line\n", float64(o.lines)/indexing.Seconds(), float64(size)/float64(o.lines))
	ratio := rows[rowBeside].P99MS / rows[rowAlone].P99MS
	one := rows[rowOneWord]
	met := true
	for _, m := range []struct {
		met  bool
		what string
	}{
		{one.P95MS <= foundBar, fmt.Sprintf("the newest %d lines of a word are found in %.1f ms (p95), at most %.0f", newestHits, one.P95MS, foundBar)},
		{rows[rowBehind].MaxMS <= behindBar, fmt.Sprintf("a line is found %.0f ms after its append at the latest, at most %.0f", rows[rowBehind].MaxMS, behindBar)},
		{ratio <= slowerBar, fmt.Sprintf("an append takes %.2f times as long (p99) as beside no index, at most %.1f", ratio, slowerBar)},
		{!left, "what's forgotten is in no file of the index"},
	} {
		bar(bars, m.met, "%s", m.what)
		met = met && m.met
	}
	if !met {
		return errors.New("a bar isn't met")
	}
	return nil
}
