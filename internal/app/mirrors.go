package app

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// mirrorParts are the parts of the health that are about what chats are shown: one for each
// platform of which a chat doesn't show a living session as it should.
func (d *daemon) mirrorParts() []api.Part {
	if d.hub == nil {
		return nil
	}
	var out []api.Part
	for _, name := range d.outlets {
		var wrong []adapters.BindingStatus
		all := 0
		for _, st := range d.hub.Status("") {
			s, err := d.manager.Get(string(st.Binding.Session))
			if st.Target.Adapter != name || st.Binding.Unbound || st.Binding.Resting || err != nil || s.State == sessions.StateEnded {
				continue
			}
			if all++; bindingState(st).Trouble() != "" {
				wrong = append(wrong, st)
			}
		}
		if len(wrong) == 0 {
			continue
		}
		worst := slices.MaxFunc(wrong, func(a, b adapters.BindingStatus) int { return cmp.Compare(severity(a), severity(b)) })
		b := bindingState(worst)
		part := api.Part{Name: name + " mirrors", State: api.HealthDegraded, Detail: b.To + ": " + b.Trouble()}
		if severity(worst) > 0 {
			part.State = api.HealthDown
		}
		if len(wrong) > 1 {
			part.Detail = fmt.Sprintf("%d of %d don't show their session as they should, as %s", len(wrong), all, part.Detail)
		}
		out = append(out, part)
	}
	return out
}

// severity is 0 if what a chat doesn't show is shown elsewhere.
func severity(st adapters.BindingStatus) int {
	switch {
	case st.Binding.Disabled != "":
		return 2
	case st.Failing != "":
		return 1
	default:
		return 0
	}
}
