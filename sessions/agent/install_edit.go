package agent

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// settings is a file of settings that's changed in places and else kept byte for byte.
type settings struct {
	text    []byte // as it was read
	bom     []byte
	value   hujson.Value
	root    objectBox
	newline string
	indent  string // one level's
}

func (s *settings) pack() []byte { return append(bytes.Clone(s.bom), s.value.Pack()...) }

// settingsBox is an object or array: things in a row, with white space and comments (extra)
// before each and behind the last.
type settingsBox interface {
	len() int
	before(i int) *hujson.Extra // before the thing
	after(i int) *hujson.Extra  // behind it; of the last, nil without a comma at the end
	end() *hujson.Extra         // before the closing bracket
	cut(i int)
	push(name string, value hujson.Value)
}

type objectBox struct{ *hujson.Object }

func (o objectBox) len() int                   { return len(o.Members) }
func (o objectBox) before(i int) *hujson.Extra { return &o.Members[i].Name.BeforeExtra }
func (o objectBox) after(i int) *hujson.Extra  { return &o.Members[i].Value.AfterExtra }
func (o objectBox) end() *hujson.Extra         { return &o.AfterExtra }
func (o objectBox) cut(i int)                  { o.Members = append(o.Members[:i], o.Members[i+1:]...) }

func (o objectBox) push(name string, v hujson.Value) {
	before := v.BeforeExtra
	v.BeforeExtra = hujson.Extra(" ")
	o.Members = append(o.Members, hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: before, Value: jsonLiteral(name)}, Value: v,
	})
}

// find returns the place of a member, -1 if there's none. Of two it's the last one
// that counts.
func (o objectBox) find(name string) int {
	found := -1
	for i := range o.Members {
		if o.nameOf(i) == name {
			found = i
		}
	}
	return found
}

func (o objectBox) nameOf(i int) string { return o.Members[i].Name.Value.(hujson.Literal).String() } //nolint:forcetypeassert // a member's name is a text

func (o objectBox) value(name string) *hujson.Value { return &o.Members[o.find(name)].Value }

func (o objectBox) names() []string {
	var names []string
	for i := range o.Members {
		if name := o.nameOf(i); o.find(name) == i {
			names = append(names, name)
		}
	}
	return names
}

// indent returns what stands before the first member in its line; two spaces if it
// shares the line.
func (o objectBox) indent() string {
	if len(o.Members) > 0 {
		extra := string(*o.before(0))
		if _, last, ok := cutLast(extra, "\n"); ok && strings.Trim(last, " \t") == "" && last != "" {
			return last
		}
	}
	return "  "
}

type arrayBox struct{ *hujson.Array }

func (a arrayBox) len() int                   { return len(a.Elements) }
func (a arrayBox) before(i int) *hujson.Extra { return &a.Elements[i].BeforeExtra }
func (a arrayBox) after(i int) *hujson.Extra  { return &a.Elements[i].AfterExtra }
func (a arrayBox) end() *hujson.Extra         { return &a.AfterExtra }
func (a arrayBox) cut(i int)                  { a.Elements = append(a.Elements[:i], a.Elements[i+1:]...) }

func (a arrayBox) push(_ string, v hujson.Value) {
	a.Elements = append(a.Elements, v)
}

// childObject returns a member that's an object, which is made if it's missing.
func (s *settings) childObject(of objectBox, depth int, name string) (objectBox, error) {
	if of.find(name) < 0 {
		s.addValue(of, depth, name, struct{}{})
	}
	object, ok := of.value(name).Value.(*hujson.Object)
	if !ok {
		return objectBox{}, s.wrongValue(of.value(name), name, "an object {…}")
	}
	return objectBox{object}, nil
}

// childArray is childObject for an array.
func (s *settings) childArray(of objectBox, depth int, name string) (*hujson.Array, error) {
	if of.find(name) < 0 {
		s.addValue(of, depth, name, []int{})
	}
	array, ok := of.value(name).Value.(*hujson.Array)
	if !ok {
		return nil, s.wrongValue(of.value(name), name, "a list")
	}
	return array, nil
}

// addValue puts a value behind the last one, in a line of its own unless all of them share
// one. What stands before the closing bracket stays there, as far as it's the end of a
// line; remains of the last line, a comment perhaps, stay with the value they follow.
func (s *settings) addValue(to settingsBox, depth int, name string, v any) {
	margin := strings.Repeat(s.indent, depth)
	inline := to.len() > 0 && !strings.Contains(extras(to), "\n")
	indent := s.indent
	if inline {
		indent = ""
	}
	text := plainJSON(v, margin, indent)
	if s.newline != "\n" {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(s.newline))
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return // it's what plainJSON made
	}
	if inline {
		value.BeforeExtra = hujson.Extra(" ")
	} else {
		rest, last := splitLastLine(*to.end())
		value.BeforeExtra = append(rest, s.newline+margin...)
		if to.len() == 0 && len(last) == 0 {
			last = hujson.Extra(s.newline + strings.Repeat(s.indent, depth-1))
		}
		*to.end() = last
	}
	value.AfterExtra = nil
	if n := to.len(); n > 0 && *to.after(n - 1) != nil {
		value.AfterExtra = hujson.Extra{} // a comma at the end stays one
	}
	to.push(name, value)
}

// remove is the inverse of add.
func remove(from settingsBox, i int) {
	rest, _ := splitLastLine(*from.before(i))
	if len(bytes.TrimSpace(rest)) == 0 && !bytes.Contains(*from.before(i), []byte("\n")) {
		rest = nil
	}
	last, comma := i == from.len()-1, *from.after(i) != nil
	from.cut(i)
	if !last {
		*from.before(i) = append(rest, *from.before(i)...)
		return
	}
	end := append(rest, *from.end()...)
	if i == 0 && len(bytes.TrimSpace(end)) == 0 {
		end = nil
	}
	if i > 0 {
		switch after := from.after(i - 1); {
		case !comma:
			end = append(bytes.Clone(*after), end...)
			*after = nil
		case *after == nil:
			*after = hujson.Extra{}
		}
	}
	*from.end() = end
}

// splitLastLine splits before the last line end.
func splitLastLine(e hujson.Extra) (rest, last hujson.Extra) {
	i := bytes.LastIndexByte(e, '\n')
	switch {
	case i < 0:
		return bytes.Clone(e), nil
	case i > 0 && e[i-1] == '\r':
		i--
	}
	return bytes.Clone(e[:i]), bytes.Clone(e[i:])
}

// extras returns all white space and comments between the things of a box.
func extras(b settingsBox) string {
	var all []byte
	for i := range b.len() {
		all = append(all, *b.before(i)...)
		all = append(all, *b.after(i)...)
	}
	return string(append(all, *b.end()...))
}

// restoreEmpty removes a member that has become empty, unless it was there and empty in
// this file, the one from before: then it's as it was.
func (s *settings) restoreEmpty(of objectBox, name string, member settingsBox, path ...string) {
	if member.len() > 0 {
		return
	}
	was := s.valueAt(path)
	if was == nil {
		remove(of, of.find(name))
		return
	}
	switch had := was.Value.(type) {
	case *hujson.Array:
		*member.end() = bytes.Clone(had.AfterExtra)
	case *hujson.Object:
		*member.end() = bytes.Clone(had.AfterExtra)
	}
}

// valueAt returns the value at a path, nil if there's none, as in a nil settings.
func (s *settings) valueAt(path []string) *hujson.Value {
	if s == nil {
		return nil
	}
	v := &s.value
	for _, name := range path {
		object, ok := v.Value.(*hujson.Object)
		if !ok || (objectBox{object}).find(name) < 0 {
			return nil
		}
		v = objectBox{object}.value(name)
	}
	return v
}

func (s *settings) isFalse(path [2]string) bool {
	v := s.valueAt(path[:])
	return v != nil && v.Value.Kind() == 'f'
}

// turnOn makes a false at a path true, turnOff the other way round.
func (s *settings) turnOn(path [2]string) {
	if s.isFalse(path) {
		s.valueAt(path[:]).Value = hujson.Bool(true)
	}
}

func (s *settings) turnOff(path [2]string) {
	if v := s.valueAt(path[:]); v != nil && v.Value.Kind() == 't' {
		v.Value = hujson.Bool(false)
	}
}
