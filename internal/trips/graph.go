package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// module is the path of our module; functions and files are named relative to it.
const module = "github.com/panebridge/panebridge"

// graph says which function of ours may call which.
type graph struct {
	root  string // the folder of the module
	calls *callgraph.Graph
	named map[string]*ssa.Function
}

// load compiles the shipped packages of the module in folder. It takes some seconds.
func load(folder string) (*graph, error) {
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	mode := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo
	found, err := packages.Load(&packages.Config{Mode: mode, Dir: root}, "./adapters/...", "./cmd/panebridge", "./internal/app", "./internal/callers", "./internal/masked", "./internal/store", "./polling/...", "./qos/...", "./sessions/...")
	if err != nil {
		return nil, fmt.Errorf("load the packages: %w", err)
	}
	var errs []error
	for _, p := range found {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("load the packages: %w", err)
	}
	program, _ := ssautil.Packages(found, ssa.InstantiateGenerics)
	program.Build()
	all := ssautil.AllFunctions(program)
	g := &graph{root: root, calls: vta.CallGraph(all, cha.CallGraph(program)), named: map[string]*ssa.Function{}}
	for f := range all {
		if g.fileOf(f) != "" {
			g.named[nameOf(f)] = f
		}
	}
	return g, nil
}

// nameOf is how a trip names a function: sessions.New or (*polling.OutputPoller).run.
func nameOf(f *ssa.Function) string {
	if o := f.Origin(); o != nil {
		f = o
	}
	return strings.ReplaceAll(f.String(), module+"/", "")
}

// fileOf is the file of ours that a function stands in; empty: it's not ours, or made by the compiler.
func (g *graph) fileOf(f *ssa.Function) string {
	if f.Synthetic != "" && f.Origin() == nil || f.Prog == nil {
		return ""
	}
	rel, err := filepath.Rel(g.root, f.Prog.Fset.Position(f.Pos()).Filename)
	if err != nil || strings.HasPrefix(rel, "..") || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// path is the shortest way of calls from one function to another, both included. What's called
// inside of a function literal counts as called by the function around it as well.
func (g *graph) path(from, to string) ([]*ssa.Function, error) {
	begin, end := g.named[from], g.named[to]
	if begin == nil {
		return nil, fmt.Errorf("there's no function %s", from)
	}
	if end == nil {
		return nil, fmt.Errorf("there's no function %s", to)
	}
	before := map[*ssa.Function]*ssa.Function{begin: nil}
	for queue := []*ssa.Function{begin}; len(queue) > 0; queue = queue[1:] {
		f := queue[0]
		if f == end {
			var path []*ssa.Function
			for ; f != nil; f = before[f] {
				path = append(path, f)
			}
			slices.Reverse(path)
			return path, nil
		}
		for _, next := range g.next(f) {
			if _, seen := before[next]; !seen {
				before[next] = f
				queue = append(queue, next)
			}
		}
	}
	return nil, fmt.Errorf("no calls lead from %s to %s", from, to)
}

// next is what a function calls, and the functions that are written inside of it, in the order of their names.
func (g *graph) next(f *ssa.Function) []*ssa.Function {
	next := slices.Clone(f.AnonFuncs)
	if n := g.calls.Nodes[f]; n != nil {
		for _, e := range n.Out {
			next = append(next, e.Callee.Func)
		}
	}
	slices.SortFunc(next, func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(next)
}
