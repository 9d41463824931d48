package service

import (
	"encoding/xml"
	"path/filepath"
	"strconv"
	"strings"
)

// JobLabel is launchd's name of the service.
const JobLabel = "io.github.panebridge.panebridge"

// Job is a job of launchd, as its property list has it. launchd takes nothing from what it starts, so tmux servers
// need no job of their own: that they outlive the daemon is AbandonProcessGroup's doing.
type Job struct {
	Label                string
	ProgramArguments     []string
	EnvironmentVariables []Setting
	UserName             string // "": the user's own
	WorkingDirectory     string
	LogFile              string
	// ThrottleInterval is how many seconds a start comes after the last one at least. launchd has no exit code that
	// means "don't try again", so a bad configuration is tried at that pace.
	ThrottleInterval int
	// ExitTimeOut is after how many seconds a daemon that was told to end is killed.
	ExitTimeOut int
}

// NewJob returns the daemon's job.
func NewJob(s Spec) Job {
	j := Job{
		Label: JobLabel, ProgramArguments: append([]string{s.Program}, s.arguments()...), UserName: s.User,
		WorkingDirectory: s.Home, LogFile: filepath.Join(s.Home, "Library", "Logs", "panebridge.log"), ThrottleInterval: 10, ExitTimeOut: 15,
	}
	if s.Path != "" {
		j.EnvironmentVariables = append(j.EnvironmentVariables, Setting{"PATH", s.Path})
	}
	if s.TmuxDir != "" {
		j.EnvironmentVariables = append(j.EnvironmentVariables, Setting{"TMUX_TMPDIR", s.TmuxDir})
	}
	return j
}

// Text is the file, with a sum as Unit.Text has it.
func (j Job) Text() string {
	var b strings.Builder
	line := func(depth int, text string) { b.WriteString(strings.Repeat("\t", depth) + text + "\n") }
	value := func(tag, text string) string { return "<" + tag + ">" + escapeXML(text) + "</" + tag + ">" }
	key := func(name, value string) { line(1, "<key>"+escapeXML(name)+"</key>"); line(1, value) }
	line(0, `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`)
	line(0, `<plist version="1.0">`)
	line(0, "<dict>")
	key("Label", value("string", j.Label))
	line(1, "<key>ProgramArguments</key>")
	line(1, "<array>")
	for _, a := range j.ProgramArguments {
		line(2, value("string", a))
	}
	line(1, "</array>")
	if len(j.EnvironmentVariables) > 0 {
		line(1, "<key>EnvironmentVariables</key>")
		line(1, "<dict>")
		for _, v := range j.EnvironmentVariables {
			line(2, "<key>"+escapeXML(v.Key)+"</key>")
			line(2, value("string", v.Value))
		}
		line(1, "</dict>")
	}
	if j.UserName != "" {
		key("UserName", value("string", j.UserName))
	}
	key("WorkingDirectory", value("string", j.WorkingDirectory))
	key("StandardOutPath", value("string", j.LogFile))
	key("StandardErrorPath", value("string", j.LogFile))
	key("RunAtLoad", "<true/>")
	line(1, "<key>KeepAlive</key>")
	line(1, "<dict>")
	line(2, "<key>SuccessfulExit</key>")
	line(2, "<false/>")
	line(1, "</dict>")
	key("AbandonProcessGroup", "<true/>")
	key("ProcessType", value("string", "Interactive"))
	key("ThrottleInterval", value("integer", strconv.Itoa(j.ThrottleInterval)))
	key("ExitTimeOut", value("integer", strconv.Itoa(j.ExitTimeOut)))
	line(0, "</dict>")
	line(0, "</plist>")
	return xml.Header + "<!-- " + madeBy + sumOf(xml.Header+b.String()) + " -->\n" + b.String()
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}
