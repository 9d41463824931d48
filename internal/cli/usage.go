package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newGroup returns a command that only has others below it.
func newGroup(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: unknownCommand, ValidArgsFunction: cobra.NoFileCompletions}
	cmd.AddCommand(below...)
	return cmd
}

// usageTemplate changes cobra's so that a group isn't said to run by itself.
func usageTemplate(text string) string {
	return strings.NewReplacer(
		"{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}",
		"[command]", "COMMAND", "Available Commands", "Commands",
	).Replace(text)
}

// unknownCommand is what a group runs: nothing below it was meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	path := cmd.CommandPath()
	if len(args) == 0 {
		_ = cmd.Help() // to standard output, which is gone if it fails
		return silently(exitUsage)
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usageErrorf("there is no command `%s %s`: did you mean `%s %s`?", path, args[0], path, near[0])
	}
	return usageErrorf("there is no command `%s %s`: `%s --help` lists those there are", path, args[0], path)
}

// flagError makes a hint of what's wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("invalid argument %q for \"--%s\" flag: %w", wrong.GetValue(), wrong.GetFlag().Name, wanted(wrong))
	}
	return usageErrorf("%w: `%s --help` lists the flags, and what begins with - but is none goes behind --", err, cmd.CommandPath())
}

// wanted says what a flag takes. Flags of our own types say it themselves.
func wanted(wrong *pflag.InvalidValueError) error {
	number, isNumber := errors.AsType[*strconv.NumError](wrong)
	switch {
	case isNumber && errors.Is(number, strconv.ErrRange):
		return errors.New("it takes a smaller number")
	case isNumber:
		return errors.New("it takes a whole number")
	}
	if strings.HasPrefix(wrong.Unwrap().Error(), "time: ") { // of time.ParseDuration
		return errors.New("it takes a span of time, such as 500ms, 30s or 5m")
	}
	return wrong.Unwrap()
}

// takes checks the number of a command's arguments; most < 0 is no limit.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageErrorf("something is missing: %s", useLine(cmd))
		case most >= 0 && len(args) > most:
			return usageErrorf("%q is too much: %s", args[most], useLine(cmd))
		}
		return nil
	}
}

func useLine(cmd *cobra.Command) string {
	return "`" + strings.TrimSuffix(cmd.UseLine(), " [flags]") + "` (--help says more)"
}
