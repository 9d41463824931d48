// Command pbdocs writes what a package has beside the program: a manual page for each
// command and completions for shells, both made of the commands themselves.
//
// usage: pbdocs [-version VERSION] FOLDER
//
// Below FOLDER it makes man/man1, and completions/panebridge.bash, .zsh and .fish. The
// pages' date is SOURCE_DATE_EPOCH's, and 1970 without it, so that two runs write the
// same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/panebridge/panebridge/internal/cli"
)

func main() {
	version := flag.String("version", "dev", "the version that the pages name")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: pbdocs [-version VERSION] FOLDER")
		os.Exit(2)
	}
	date, err := sourceDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if err == nil {
		err = write(flag.Arg(0), *version, date)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pbdocs:", err)
		os.Exit(1)
	}
}

// sourceDate reads seconds since 1970, as SOURCE_DATE_EPOCH has them. It's 1970 if there are none.
func sourceDate(text string) (time.Time, error) {
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read SOURCE_DATE_EPOCH, which takes seconds since 1970: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// write makes the pages and completions below a folder.
func write(folder, version string, date time.Time) error {
	man, completions := filepath.Join(folder, "man", "man1"), filepath.Join(folder, "completions")
	for _, dir := range []string{man, completions} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // packages' files are for all to read
			return err
		}
	}
	root := cli.Tree()
	disableTags(root)
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "panebridge " + version, Manual: "panebridge"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return fmt.Errorf("write the manual pages: %w", err)
	}
	file := func(extension string) string { return filepath.Join(completions, "panebridge."+extension) }
	return errors.Join(
		root.GenBashCompletionFileV2(file("bash"), true),
		root.GenZshCompletionFile(file("zsh")),
		root.GenFishCompletionFile(file("fish"), true),
	)
}

// disableTags has no page say when it was made.
func disableTags(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, below := range cmd.Commands() {
		disableTags(below)
	}
}
