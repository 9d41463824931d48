package api

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/panebridge/panebridge/internal/toolview"
)

// toolUse answers with what a tool was called with, what it returned and what it changed in files, by
// the number of the first line of its call or its result. Secrets are masked, but for an admin who asks
// for them.
func (a *api) toolUse(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
	if err != nil || n < 1 {
		return badRequest(fmt.Sprintf("the number of a line is from 1, not %q", r.PathValue("n")))
	}
	show, err := a.showsSecrets(r)
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	use, err := a.opts.Output.ToolUse(r.Context(), s.ID, n)
	if err != nil {
		return err
	}
	masker := a.opts.Masker
	if show {
		masker = nil
	}
	writeJSON(w, http.StatusOK, toolview.Of(use, masker))
	return nil
}
