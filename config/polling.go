package config

import "fmt"

// Polling says how panes are read. A pane that is quiet is not read at all.
type Polling struct {
	OutputCadence   Seconds    `yaml:"output_cadence_s" min:"0.1" max:"60" doc:"Seconds between two reads of a pane that changes."`
	FocusCadence    Seconds    `yaml:"focus_cadence_s" min:"0.1" max:"60" doc:"The same for a session somebody is talking to; at most output_cadence_s."`
	CaptureTimeout  Seconds    `yaml:"capture_timeout_s" min:"0.1" max:"60" doc:"Seconds after which a read that hangs is given up until the next one."`
	MaxCaptureLines int        `yaml:"max_capture_lines" min:"500" max:"100000" doc:"Lines taken in one read; catching up takes several."`
	TurnMarker      TurnMarker `yaml:"turn_marker" is:"turn_marker" doc:"Text that ends a turn of a program whose turns nothing else tells apart; \"/…/\" is a regular expression (RE2), \"\" is no marker."`
}

func defaultPolling() Polling {
	return Polling{
		OutputCadence:   1.0,
		FocusCadence:    0.2,
		CaptureTimeout:  5,
		MaxCaptureLines: 5000,
		TurnMarker:      "[Output Complete]",
	}
}

// Check implements Checker.
func (p *Polling) Check(at Part) {
	if !at.Given("focus_cadence_s") {
		// Whoever sets only the output cadence, and low, shouldn't have to
		// hear of a key they haven't written.
		p.FocusCadence = min(p.FocusCadence, p.OutputCadence)
	}
	if p.FocusCadence > p.OutputCadence && at.Sound("output_cadence_s") {
		at.Problem("focus_cadence_s", fmt.Sprintf("must be at most output_cadence_s, which is %s, not %s",
			formatNumber(float64(p.OutputCadence)), formatNumber(float64(p.FocusCadence))))
	}
}
