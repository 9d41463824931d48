package config

import "go.yaml.in/yaml/v4"

// Locate returns an [*Errors] of what others have found wrong with the values of a
// file that Load has taken, each problem at the place of its Path there. Of a key
// that isn't given that's the place of the nearest one above it.
func (f Form) Locate(file string, env Env, found []Problem) error {
	data, err := readFile(file)
	if err != nil {
		return err
	}
	d := decoder{form: f, file: file, env: env}
	d.document(data, f.Default())
	for _, p := range found {
		at := d.nearest(p.Path)
		if at == nil { // an empty file
			at = &yaml.Node{Line: 1, Column: 1}
		}
		d.report(at, p.Path, p.Message)
	}
	return newErrors(d.problems)
}
