package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// jsonFile is a file of settings with an object "hooks": by event a list of groups,
// each of which has a list of hooks. Claude Code, Codex, Gemini CLI and Qwen Code have it so.
type jsonFile struct{ Install }

// hookGroup is what's written for one event.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

type hookCommand struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// groupFor returns what's written for one event. The time limit, 5 s, more for a hook that
// waits, is in seconds but for Gemini CLI and Qwen Code, which count milliseconds (Qwen Code
// 0.24.4 from 1000 on) and show the name.
func (f jsonFile) groupFor(event string) hookGroup {
	hook := hookCommand{Type: "command", Command: f.command(event), Timeout: 5}
	if (Hook{Agent: f.Agent, Event: event}).Waits() {
		hook.Timeout = int(hookTimeout / time.Second)
	}
	if f.Agent != "gemini" && f.Agent != "qwen" {
		return hookGroup{Hooks: []hookCommand{hook}}
	}
	hook.Name, hook.Timeout = "panebridge", 5000
	return hookGroup{Matcher: "*", Hooks: []hookCommand{hook}}
}

// switches are settings that turn hooks off where they're false. That they're on is the
// default of the releases that were tried.
func (f jsonFile) switches() [][2]string {
	if f.Agent != "gemini" {
		return nil
	}
	return [][2]string{{"hooksConfig", "enabled"}, {"tools", "enableHooks"}}
}

func (f jsonFile) install(text []byte) ([]byte, bool, error) {
	doc, err := parseSettings(text)
	if err != nil {
		return nil, false, err
	}
	hooks, err := doc.childObject(doc.root, 1, "hooks")
	if err != nil {
		return nil, false, err
	}
	found, err := f.dropHooks(doc, hooks, f.outdated())
	if err != nil {
		return nil, false, err
	}
	for _, event := range hookEvents[f.Agent] {
		groups, err := doc.childArray(hooks, 2, event)
		if err != nil {
			return nil, false, err
		}
		if has, ok := f.findHook(groups); ok {
			f.update(has, event)
		} else {
			doc.addValue(arrayBox{groups}, 3, "", f.groupFor(event))
		}
	}
	for _, path := range f.switches() {
		doc.turnOn(path)
	}
	return doc.pack(), found, nil
}

// update gives a hook of ours the command that it should have, and one that waits the
// time for it.
func (f jsonFile) update(hook objectBox, event string) {
	want := f.groupFor(event).Hooks[0]
	if command := hook.value("command"); command.Value.(hujson.Literal).String() != want.Command { //nolint:forcetypeassert // commandOf has looked
		command.Value = jsonLiteral(want.Command)
	}
	if !(Hook{Agent: f.Agent, Event: event}).Waits() || hook.find("timeout") < 0 {
		return
	}
	if timeout, ok := hook.value("timeout").Value.(hujson.Literal); ok && timeout.Kind() == '0' && timeout.Int() < int64(want.Timeout) {
		hook.value("timeout").Value = hujson.Int(int64(want.Timeout))
	}
}

// outdated chooses the hooks of ours that an install doesn't keep: those of events
// that aren't wanted any more, and the second for one event.
func (f jsonFile) outdated() func(event string, nth int) bool {
	return func(event string, nth int) bool { return nth > 0 || !f.isWanted(event) }
}

func (f jsonFile) remove(text, before []byte) ([]byte, bool, error) {
	doc, err := parseSettings(text)
	if err != nil {
		return nil, false, err
	}
	at := doc.root.find("hooks")
	if at < 0 {
		return text, false, nil
	}
	hooks, err := doc.childObject(doc.root, 1, "hooks")
	if err != nil {
		return nil, false, err
	}
	found, err := f.dropHooks(doc, hooks, func(string, int) bool { return true })
	if err != nil || !found {
		return text, found, err
	}
	was, _ := parseSettings(before) // nil if there's none or it's broken: then nothing was there
	for _, event := range hooks.names() {
		if groups, ok := hooks.value(event).Value.(*hujson.Array); ok && (was != nil || f.isWanted(event)) {
			was.restoreEmpty(hooks, event, arrayBox{groups}, "hooks", event)
		}
	}
	was.restoreEmpty(doc.root, "hooks", hooks, "hooks")
	for _, path := range f.switches() {
		if was.isFalse(path) {
			doc.turnOff(path)
		}
	}
	return doc.pack(), true, nil
}

// dropHooks removes those hooks of ours that are chosen, with groups that have no other, and
// reports whether there were any of ours.
func (f jsonFile) dropHooks(doc *settings, hooks objectBox, chosen func(event string, nth int) bool) (found bool, err error) {
	for _, event := range hooks.names() {
		groups, ok := hooks.value(event).Value.(*hujson.Array)
		if !ok {
			if f.isWanted(event) {
				return false, doc.wrongValue(hooks.value(event), "hooks."+event, "a list")
			}
			continue // a setting, not an event
		}
		nth := 0
		for g := 0; g < len(groups.Elements); g++ {
			list := hooksOf(groups.Elements[g])
			if list == nil {
				continue
			}
			had := len(list.Elements)
			for n := 0; n < len(list.Elements); n++ {
				if f.commandOf(list.Elements[n]) == nil {
					continue
				}
				found = true
				if chosen(event, nth) {
					remove(arrayBox{list}, n)
					n--
				}
				nth++
			}
			if had > 0 && len(list.Elements) == 0 {
				remove(arrayBox{groups}, g)
				g--
			}
		}
	}
	return found, nil
}

// findHook returns the command of the first hook of ours.
func (f jsonFile) findHook(groups *hujson.Array) (objectBox, bool) {
	for _, group := range groups.Elements {
		list := hooksOf(group)
		if list == nil {
			continue
		}
		for n := range list.Elements {
			if f.commandOf(list.Elements[n]) != nil {
				return objectBox{list.Elements[n].Value.(*hujson.Object)}, true //nolint:forcetypeassert // commandOf has looked
			}
		}
	}
	return objectBox{}, false
}

// hooksOf returns the list of a group, nil if it isn't one.
func hooksOf(group hujson.Value) *hujson.Array {
	object, ok := group.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	box := objectBox{object}
	if box.find("hooks") < 0 {
		return nil
	}
	list, _ := box.value("hooks").Value.(*hujson.Array)
	return list
}

// commandOf returns the command of a hook if it's ours.
func (f jsonFile) commandOf(hook hujson.Value) *hujson.Value {
	object, ok := hook.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	box := objectBox{object}
	if box.find("command") < 0 {
		return nil
	}
	command := box.value("command")
	if text, ok := command.Value.(hujson.Literal); ok && text.Kind() == '"' && f.isOurs(text.String()) {
		return command
	}
	return nil
}

// jsonLiteral returns a string as JSON, as people write it.
func jsonLiteral(s string) hujson.Literal {
	return hujson.Literal(bytes.TrimSpace(plainJSON(s, "", "")))
}

// plainJSON is a value as JSON in which <, > and & stand for themselves.
func plainJSON(v any, prefix, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	_ = e.Encode(v) // structs of strings and numbers
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// wrongValue says where something isn't what it should be.
func (s *settings) wrongValue(v *hujson.Value, name, want string) error {
	before := s.text[:min(max(v.StartOffset, 0), len(s.text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return fmt.Errorf("line %d, column %d: %q must be %s: %w", line, column, name, want, ErrFile)
}

// parseSettings reads an object with comments and commas at ends, where there are any.
// A file without a value counts as an empty object.
func parseSettings(text []byte) (*settings, error) {
	bom := []byte("\uFEFF")
	s := &settings{text: text, newline: "\n"}
	if bytes.HasPrefix(text, bom) {
		s.bom, text = bom, text[len(bom):]
	}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}" + s.newline)
	}
	value, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return nil, fmt.Errorf("it isn't valid JSON: %s: %w", strings.TrimPrefix(err.Error(), "hujson: "), ErrFile)
	}
	s.value = value
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, s.wrongValue(&s.value, "the file", "an object {…}")
	}
	s.root = objectBox{object}
	s.indent = s.root.indent()
	return s, nil
}
