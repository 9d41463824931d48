// Command gen makes two scripts and a style sheet of the page's sources, its service worker and its icons. It's
// go generate's program, and the only one that knows esbuild: the daemon has what it made.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen SOURCES FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "make the page:", err)
		os.Exit(1)
	}
}

// write makes the files of the page from a folder of sources, and puts them into another.
func write(sources, folder string) error {
	files, err := bundle(sources)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil { //nolint:gosec // it holds no secrets and is for everybody to read
			return err
		}
	}
	return nil
}

// first is the module that's a file of its own: a browser runs it while the others are on their way.
const first = "./key.js"

// bundle makes the files of the page from a folder of sources. They have the sources' names and
// lines, so that an error in a browser's console leads to its source; most comments are left out.
func bundle(sources string) (map[string][]byte, error) {
	folder, err := filepath.Abs(sources)
	if err != nil {
		return nil, fmt.Errorf("find the sources: %w", err)
	}
	files := map[string][]byte{}
	for _, part := range []struct {
		entries  []api.EntryPoint
		external []string
		whole    bool // it's no module: not all browsers run workers that are
	}{
		{entries: []api.EntryPoint{{InputPath: first, OutputPath: "key"}}},
		{entries: []api.EntryPoint{{InputPath: "./worker.js", OutputPath: "worker"}}, whole: true},
		{
			entries:  []api.EntryPoint{{InputPath: "./app.js", OutputPath: "page"}, {InputPath: "./page.css", OutputPath: "page"}},
			external: []string{first},
		},
	} {
		format := api.FormatESModule
		if part.whole {
			format = api.FormatIIFE
		}
		result := api.Build(api.BuildOptions{
			AbsWorkingDir:       folder, // the names that are written into the files begin there
			EntryPointsAdvanced: part.entries,
			External:            part.external,
			Bundle:              true,
			Format:              format,
			Target:              api.ESNext, // what the sources say is said
			Charset:             api.CharsetUTF8,
			Banner: map[string]string{
				"js":  "// Made by `make generate` from adapters/web/static: change the sources.",
				"css": "/* Made by `make generate` from adapters/web/static: change the sources. */",
			},
			Outdir: folder,
		})
		if err := problemsOf(result); err != nil {
			return nil, err
		}
		for _, f := range result.OutputFiles {
			files[filepath.Base(f.Path)] = f.Contents
		}
	}
	for _, i := range icons {
		if files[i.name], err = i.draw(); err != nil {
			return nil, fmt.Errorf("draw %s: %w", i.name, err)
		}
	}
	return files, nil
}

func problemsOf(result api.BuildResult) error {
	var problems []error
	for _, m := range append(result.Errors, result.Warnings...) {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		problems = append(problems, errors.New(where+m.Text))
	}
	return errors.Join(problems...)
}
