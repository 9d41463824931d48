package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// readYAML returns the root of the one document in data; nil if it's empty.
func (d *decoder) readYAML(data []byte) *yaml.Node {
	if !d.isText(data) {
		return nil
	}
	var documents []yaml.Node
	if err := yaml.Load(data, &documents, yaml.WithAllDocuments()); err != nil {
		d.syntaxError(err)
		return nil
	}
	if len(documents) > 1 {
		d.report(&documents[1], "", "must be the end of the file: a configuration is one YAML document")
	}
	if len(documents) == 0 || len(documents[0].Content) == 0 {
		return nil
	}
	return documents[0].Content[0]
}

// isText finds bytes YAML can't hold, for which the library knows no position.
func (d *decoder) isText(data []byte) bool {
	at := yaml.Node{Line: 1, Column: 1}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			d.report(&at, "", "must be UTF-8 text")
			return false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			d.report(&at, "", fmt.Sprintf("must be text without the control character U+%04X", r))
			return false
		case r == '\r' && len(data) > 1 && data[1] == '\n':
			// The line ends with the \n.
		case r == '\n', r == '\r', r == 0x85, r == 0x2028, r == 0x2029: // YAML's line breaks
			at.Line++
			at.Column = 1
		default:
			at.Column++
		}
		data = data[size:]
	}
	return true
}

// syntaxError reports what the YAML library could not read. Its words about
// scanning and parsing are its own; those of later stages repeat values.
func (d *decoder) syntaxError(err error) {
	at, message := yaml.Node{Line: 1, Column: 1}, "must be valid YAML"
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		if e.Mark.Line > 0 {
			at = yaml.Node{Line: e.Mark.Line, Column: max(e.Mark.Column, 1)}
		}
		switch e.Stage {
		case yaml.ScannerStage, yaml.ParserStage:
			message += ": " + e.Message
			if strings.Contains(e.Message, "cannot start any token") {
				message += " (YAML is indented with spaces, never with tabs)"
			}
		case yaml.ComposerStage:
			message += ": an alias (*name) needs its anchor (&name) before it"
		default:
		}
		if e.ContextMsg != "" {
			message += fmt.Sprintf(", %s from %d:%d", e.ContextMsg, e.ContextMark.Line, e.ContextMark.Column)
		}
	}
	d.report(&at, "", message)
}
