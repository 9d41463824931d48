// Package config reads panebridge's configuration: one YAML file, every key
// with a default, and all that is wrong with it said at once.
//
// What lives here: the structs of the configuration ([Config] and one file per
// section), their defaults, the reader that fills them and reports problems
// with file, line, column and YAML path ([Form.Parse], [Errors]), and what is made
// from the same structs: the commented example ([Form.Example]), the JSON schema
// ([Form.Schema]) and the comparison a reload needs ([Diff]). Where the file and the
// state folder are is in [Path] and [StateDir].
//
// What may not: anything else of panebridge. The parts have options of their
// own, and internal/app translates.
//
// The struct tags are the single source for reader, example, schema and diff:
//
//	yaml    the key
//	doc     one line that says what it does, and in which unit
//	min,max the allowed range of a number; min alone, the entries a list needs
//	oneof   the allowed words
//	counts  of a key below qos: the modes in which it does something
//	is      the format of a text, or of each text in a list (formats.go)
//	keys    the format of a mapping's keys (formats.go)
//	eg      what the example shows, commented out, for a key without a default
//	secret_after
//	        what's behind the first of these texts is a secret by itself
//	reload  "yes" if a change can be applied at run time; holds for all below
//
// Defaults are Go values, beside each section. Rules over several keys are the
// section's Check method. A new section is one file and one field in its parent. That of
// a chat platform lives beside its adapter, and is in the [Form] that configurations are read by.
package config

//go:generate go run ./internal/gen ../config.example.yaml
