package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/panebridge/panebridge/internal/qosbench"
)

const plotWidth, plotHeight = 24 * vg.Centimeter, 14 * vg.Centimeter

// fileName makes of a name what can be a file's.
func fileName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '%':
			return r
		default:
			return '-'
		}
	}, name), func(r rune) bool { return r == '-' }), "-")
}

// savePlot writes a plot as PNG and SVG.
func savePlot(p *plot.Plot, dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // plots are for everybody
		return fmt.Errorf("make the folder of plots: %w", err)
	}
	for _, ext := range []string{".png", ".svg"} {
		if err := p.Save(plotWidth, plotHeight, filepath.Join(dir, fileName(name)+ext)); err != nil {
			return fmt.Errorf("write a plot: %w", err)
		}
	}
	return nil
}

// plotResults makes three plots of each scenario's first seed and policy: gaps by session, finals, and use.
func plotResults(dir string, results []qosbench.Result) error {
	seen := map[string]bool{}
	for _, r := range results {
		name := r.Scenario + " " + r.Policy
		if seen[name] || len(r.Series.Arrivals) == 0 {
			continue
		}
		seen[name] = true
		for _, one := range []struct {
			what string
			draw func(*plot.Plot, qosbench.Series) error
		}{{"gaps", drawGaps}, {"finals", drawFinals}, {"use", drawUse}} {
			p := plot.New()
			p.Title.Text = name + ": " + one.what
			p.X.Label.Text = "min"
			p.Add(plotter.NewGrid())
			if err := one.draw(p, r.Series); err != nil {
				return err
			}
			if err := savePlot(p, dir, name+" "+one.what); err != nil {
				return err
			}
		}
	}
	return nil
}

func point(p qosbench.SeriesPoint) plotter.XY {
	return plotter.XY{X: p.At.Minutes(), Y: p.Value.Seconds()}
}

// drawGaps draws the gaps over time, a line for each session.
func drawGaps(p *plot.Plot, s qosbench.Series) error {
	p.Y.Label.Text = "s between two calls of a session that had something to send"
	p.Legend.Top = true
	bySession := map[int]plotter.XYs{}
	last := 0
	for _, g := range s.Gaps {
		bySession[g.Session] = append(bySession[g.Session], point(g))
		last = max(last, g.Session)
	}
	const named = 12 // more names would cover the plot
	for session := range last + 1 {
		if len(bySession[session]) == 0 {
			continue
		}
		l, err := plotter.NewLine(bySession[session])
		if err != nil {
			return fmt.Errorf("draw gaps: %w", err)
		}
		l.Color = plotutil.Color(session)
		p.Add(l)
		if session < named {
			p.Legend.Add(fmt.Sprint("session ", session+1), l)
		}
	}
	return nil
}

// drawFinals draws how long the ends of turns took.
func drawFinals(p *plot.Plot, s qosbench.Series) error {
	p.Y.Label.Text = "s from the end of a turn to its call"
	var points plotter.XYs
	for _, f := range s.Finals {
		points = append(points, point(f))
	}
	if len(points) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return fmt.Errorf("draw finals: %w", err)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: plotutil.Color(0), Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return nil
}

// drawUse draws how many calls arrived in the minute before each.
func drawUse(p *plot.Plot, s qosbench.Series) error {
	p.Y.Label.Text = "calls in the minute before"
	arrivals := slices.Sorted(slices.Values(s.Arrivals))
	var points plotter.XYs
	first := 0
	for i, at := range arrivals {
		for at-arrivals[first] >= time.Minute {
			first++
		}
		points = append(points, plotter.XY{X: at.Minutes(), Y: float64(i - first + 1)})
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("draw the use: %w", err)
	}
	l.StepStyle = plotter.PostStep
	p.Add(l)
	p.Y.Min = 0
	return nil
}

// plotTrade draws finals against streams, a point for each setting: the worst of the seeds.
func plotTrade(dir string, results []qosbench.Result) error {
	worst, order := map[[2]string]*qosbench.Result{}, map[string][]*qosbench.Result{}
	var scenarios []string
	for _, r := range results {
		key := [2]string{r.Scenario, r.Policy}
		if worst[key] != nil {
			worse(worst[key], r)
			continue
		}
		worst[key] = &r
		if order[r.Scenario] == nil {
			scenarios = append(scenarios, r.Scenario)
		}
		order[r.Scenario] = append(order[r.Scenario], &r)
	}
	for _, s := range scenarios {
		for _, one := range []struct {
			name, label string
			of          func(*qosbench.Result) qosbench.Seconds
		}{
			{"staleness", "streams: s of staleness (p99)", func(r *qosbench.Result) qosbench.Seconds { return r.StaleP99 }},
			{"gap", "streams: s of the worst gap", func(r *qosbench.Result) qosbench.Seconds { return r.WorstGap }},
		} {
			p := plot.New()
			p.Title.Text = s + ": finals against streams"
			p.X.Label.Text, p.Y.Label.Text = one.label, "finals: s until they're told (p99)"
			p.X.Min, p.Y.Min = 0, 0
			p.Add(plotter.NewGrid())
			if err := drawTrade(p, order[s], one.of); err != nil {
				return err
			}
			if err := savePlot(p, dir, s+" trade "+one.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawTrade draws a scenario's points. The bound is a line on the left that no schedule comes to the left of; the
// defaults are a larger dot.
func drawTrade(p *plot.Plot, rows []*qosbench.Result, of func(*qosbench.Result) qosbench.Seconds) error {
	top := 1.0
	groups, names := map[string]plotter.XYs{}, []string{}
	labels := map[string][]string{}
	var bound *qosbench.Result
	for _, r := range rows {
		x, y := float64(of(r)), float64(r.FinalP99)
		if math.IsInf(x, 0) || math.IsInf(y, 0) {
			continue
		}
		if r.Policy == qosbench.Optimum {
			bound = r
			continue
		}
		top = max(top, y)
		knob, value, _ := strings.Cut(r.Policy, ": ")
		if groups[knob] == nil {
			names = append(names, knob)
		}
		groups[knob] = append(groups[knob], plotter.XY{X: x, Y: y})
		labels[knob] = append(labels[knob], value)
	}
	for i, knob := range names {
		dots, err := plotter.NewScatter(groups[knob])
		if err != nil {
			return fmt.Errorf("draw the trade: %w", err)
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: plotutil.Color(i), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		if knob == "defaults" {
			dots.Radius = vg.Points(6)
		}
		text, err := plotter.NewLabels(plotter.XYLabels{XYs: groups[knob], Labels: labels[knob]})
		if err != nil {
			return fmt.Errorf("draw the trade: %w", err)
		}
		text.Offset = vg.Point{X: vg.Points(4), Y: vg.Points(3)}
		p.Add(dots, text)
		p.Legend.Add(knob, dots)
	}
	if bound != nil {
		x := float64(of(bound))
		l, err := plotter.NewLine(plotter.XYs{{X: x, Y: float64(bound.FinalP99)}, {X: x, Y: top}})
		if err != nil {
			return fmt.Errorf("draw the bound: %w", err)
		}
		l.Color, l.Dashes = color.Black, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(l)
		p.Legend.Add("bound", l)
	}
	p.Legend.Top = true
	return nil
}
