package qosbench

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// A better bound than items.share for how stale lines must be: how many lines can be with people within x of
// their printing, by any schedule that keeps to the limit, even one that knows what comes?
//
// Each calendar minute of the run is a window: at most limitCalls calls in it. Put a price on a call
// in each of them (Lagrangian relaxation). Then the sessions don't depend on each other any more: each buys the
// calls that are worth most to it, where a call at t is worth the lines that were printed within [t-x, t] and
// no call brought before. That's a dynamic program over the session's lines. What all sessions gain at best, plus what
// the windows' calls cost altogether, is at least what any schedule within the limit can bring, at
// any prices that aren't negative. The prices only make it tight: they follow a subgradient for some steps, and
// the least bound that was seen counts.
//
// Windows that begin at other moments, commands, finals, latency and penalties are left out, which
// can only raise the count and lower the bound of staleness.

const (
	// priceSteps is how often prices are changed for one x.
	priceSteps = 14
	// shareSteps is how often the interval is halved in which the bound is looked for.
	shareSteps = 5
)

// clairvoyantShare is a bound for the staleness that a share q of the lines doesn't exceed, by any schedule. It's
// looked for from a bound that's known upwards.
func (it items) clairvoyantShare(q float64, known Seconds) Seconds {
	n := it.count()
	if n == 0 {
		return 0
	}
	need := rank(n, q)
	low := time.Duration(float64(known) * float64(time.Second))
	high := max(2*low, 4*time.Second)
	for it.within(high, priceSteps, need, limitCalls) < float64(need) {
		low, high = high, 2*high
	}
	for range shareSteps {
		if middle := (low + high) / 2; it.within(middle, priceSteps, need, limitCalls) < float64(need) {
			low = middle
		} else {
			high = middle
		}
	}
	return max(known, Seconds(low.Seconds()))
}

// within is a bound for how many lines can be in the chat within x of their printing, after so many changes of
// the prices. It ends as soon as the bound is below need.
func (it items) within(x time.Duration, steps, need, calls int) float64 {
	last := time.Duration(0)
	for _, of := range it {
		if len(of) > 0 {
			last = max(last, of[len(of)-1]+x)
		}
	}
	prices := make([]float64, int(last/limitWindow)+1)
	best := float64(it.count())
	var table buyer
	// A price that's too low has the windows overbooked. The first guess is what a call brings where all
	// calls are used and bring the same.
	for i := range prices {
		prices[i] = best / float64(calls*len(prices)) / 2
	}
	bought := make([]int, len(prices))
	for step := range steps {
		clear(bought)
		bound := 0.0
		for _, p := range prices {
			bound += p * float64(calls)
		}
		for _, of := range it {
			bound += table.buy(of, x, prices, bought)
		}
		best = min(best, bound)
		if best < float64(need) {
			return best
		}
		square := 0.0
		for i, n := range bought {
			if d := float64(n - calls); d > 0 || prices[i] > 0 {
				square += d * d
			}
		}
		if square == 0 {
			break // no price is wrong
		}
		// Polyak's step, towards a bound a bit below what's asked.
		length := (bound - 0.995*float64(need)) / square / (1 + float64(step)/20)
		for i, n := range bought {
			prices[i] = max(0, prices[i]+length*float64(n-calls))
		}
	}
	return best
}

// buyer finds what a session buys. It keeps its memory from one session to the next.
type buyer struct {
	value []float64       // the most that the first i lines can gain
	call  []time.Duration // when the call is that brings the last of them; never: none does
	from  []int           // how many lines were dealt with before it
	queue []int           // numbers of lines k with falling value[k]-k, rising k: what a call may come behind
}

// buy is what a session gains at best at these prices; bought counts its calls by window.
//
// A call at t, with j lines printed by then, comes behind k lines that were dealt with before, which may be any from those older than
// t-x to j-1: it brings j-k. Within a window of one price the earliest moment is the best, so only the moments of
// lines and the beginnings of windows are looked at.
func (b *buyer) buy(of []time.Duration, x time.Duration, prices []float64, bought []int) float64 {
	n := len(of)
	if cap(b.value) < n+1 {
		b.value, b.call, b.from = make([]float64, n+1), make([]time.Duration, n+1), make([]int, n+1)
	}
	value, call, from, queue := b.value[:n+1], b.call[:n+1], b.from[:n+1], b.queue[:0]
	value[0] = 0
	first, head := 0, 0
	for j := 1; j <= n; j++ {
		at := of[j-1]
		last := value[j-1] - float64(j-1)
		for len(queue) > head && value[queue[len(queue)-1]]-float64(queue[len(queue)-1]) <= last {
			queue = queue[:len(queue)-1]
		}
		queue = append(queue, j-1)
		value[j], call[j] = value[j-1], never
		for at-of[first] > x {
			first++
		}
		for queue[head] < first {
			head++
		}
		// Moments from the line j on to the next: later ones are looked at with that.
		end := at + x
		if j < n {
			end = min(end, of[j])
		}
		k := head
		for t := at; t <= end; t = (t/limitWindow + 1) * limitWindow {
			for k < len(queue) && t-of[queue[k]] > x { // the line with the number queue[k]+1
				k++
			}
			if k == len(queue) {
				break
			}
			i := queue[k]
			if gain := value[i] + float64(j-i) - prices[t/limitWindow]; gain > value[j] {
				value[j], call[j], from[j] = gain, t, i
			}
		}
	}
	b.queue = queue
	for j := n; j > 0; {
		if call[j] == never {
			j--
			continue
		}
		bought[call[j]/limitWindow]++
		j = from[j]
	}
	return value[n]
}

// Optima keeps the bounds of arrivals: the same scenario with another latency has the same.
type Optima struct{ rows map[[sha256.Size]byte]Row }

// NewOptima returns an empty one.
func NewOptima() *Optima { return &Optima{rows: map[[sha256.Size]byte]Row{}} }

// optimumOf returns the row of the bounds of a trace.
func (o *Optima) optimumOf(t trace) Row {
	if o == nil {
		return optimum(t)
	}
	digest := sha256.New()
	var buf []byte
	for _, ev := range t.events {
		buf = binary.AppendVarint(buf[:0], int64(ev.at))
		buf = append(binary.AppendVarint(buf, int64(ev.session)), byte(ev.kind))
		_, _ = digest.Write(buf)
	}
	key := [sha256.Size]byte(digest.Sum(nil))
	row, ok := o.rows[key]
	if !ok {
		row = optimum(t)
		o.rows[key] = row
	}
	return row
}
