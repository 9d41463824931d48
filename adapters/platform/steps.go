package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
)

// Steps that setups have in common.

// TokenFileOf is where the token of a platform goes that's given now: beside the configuration.
func (h SetupHost) TokenFileOf(platform string) string {
	return filepath.Join(filepath.Dir(h.File), platform+"-token")
}

// SayWhatExists says that a configuration that's there isn't changed.
func (h SetupHost) SayWhatExists() error {
	if !h.Exists {
		return nil
	}
	return h.Printf("There is a configuration already, %s. It won't be changed:\nat the end you'll see what to add to it.\n\n", h.File)
}

// UseToken has use take the bot's token, which is empty if it's in a file: the one that file names, or kept, which an earlier
// run has written and file then names. Else it explains where to get one, and asks, until use returns another error than
// refused; without a person there, once.
func (h SetupHost) UseToken(ctx context.Context, explained string, file *string, kept string, refused error, use func(config.Secret) error) error {
	given, err := h.findToken(file, kept)
	if err != nil {
		return err
	}
	if !given {
		if err := h.Printf("%s\n", explained); err != nil {
			return err
		}
	}
	for {
		var token config.Secret
		if !given {
			text, err := h.AskSecret(ctx, "The bot's token", "write the token to it, or give --token-file")
			if err != nil {
				return err
			}
			token = config.NewSecret(text)
		}
		err := use(token)
		switch {
		case errors.Is(err, refused) && given:
			return fmt.Errorf("use the token in %s: %w", *file, err)
		case err == nil, !errors.Is(err, refused), !h.HasPerson():
			return err
		}
		if err := h.Printf("This is wrong: %v.\n\n", err); err != nil {
			return err
		}
	}
}

// findToken says whether the token is in a file.
func (h SetupHost) findToken(file *string, kept string) (given bool, err error) {
	if *file != "" {
		return true, nil
	}
	if info, err := os.Stat(kept); h.Exists || err != nil || !info.Mode().IsRegular() {
		return false, nil //nolint:nilerr // there's none
	}
	*file = kept
	return true, h.Printf("The token is in %s.\n", kept)
}

// KeepForLater writes the token of a setup that couldn't reach its platform, and adds to err how to go on.
// own is the file in which another run looks for it.
func (h SetupHost) KeepForLater(err error, first FirstConfig, own string) error {
	if kept := h.KeepToken(first); kept != nil {
		return errors.Join(err, kept)
	}
	again := h.Again
	if h.Exists || first.TokenFile != own {
		again += " --token-file " + first.TokenFile
	}
	return fmt.Errorf("%s isn't reached: %w; the token is in %s, and %s goes on with it later", h.Title, err, first.TokenFile, again)
}

// PrintFindings shows findings. left: not all is well.
func (h SetupHost) PrintFindings(found []findings.Finding) (left bool, err error) {
	for _, f := range found {
		left = left || f.Severity != findings.Fine
		if err := h.PrintFinding(f); err != nil {
			return false, err
		}
	}
	return left, nil
}

// ExamineUntilSound has look say what's wrong until it says that nothing is left, or the person wants to go on, or none is
// there. What's broken can't be gone on with. where says of what it is: "in this chat".
func (h SetupHost) ExamineUntilSound(ctx context.Context, where string, look func(context.Context) (left, broken bool, err error)) (left bool, err error) {
	for {
		left, broken, err := look(ctx)
		switch {
		case err != nil || !left:
			return left, err
		case !h.HasPerson() && broken:
			return left, fmt.Errorf("the bot can't be used %s: put right what's said above, and try again", where)
		case !h.HasPerson():
			return left, nil
		}
		again := `Put it right and press Enter to look again, or write "go on".`
		if broken {
			again = "Put it right and press Enter to look again."
		}
		text, err := h.Ask(ctx, again, "")
		if err != nil || text == "go on" && !broken {
			return left, err
		}
	}
}

// AskMirror asks whether all sessions are mirrored to a chat by themselves, each in a part of it such as a topic. It returns the
// pattern of their names; "": none is.
func (h SetupHost) AskMirror(ctx context.Context, chat, part string) (pattern string, err error) {
	all, err := h.AskYesNo(ctx, fmt.Sprintf("\nMirror all sessions to %s by themselves, each in a %s of its own?", chat, part), true, `give --mirror PATTERN, or --mirror ""`)
	if all {
		pattern = "*"
	}
	return pattern, err
}

// YAMLText is a text as YAML, of which JSON is a part, that stands for itself: ${ is that of a variable.
func YAMLText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.ReplaceAll(text, "${", "$${")) // a text to a strings.Builder
	return strings.TrimSuffix(b.String(), "\n")
}

// YAMLComment is what stands behind a value that a text explains, which has no line ends.
func YAMLComment(text string) string {
	if text == "" {
		return ""
	}
	return " # " + text
}
