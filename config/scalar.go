package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// text takes any plain scalar as it's written, so that PORT: 8080 needs no
// quotes.
func (d *decoder) text(n *yaml.Node, v reflect.Value, r rules, path string) {
	text, problem := d.expanded(n)
	if problem == "" {
		problem = r.text(d.form, text)
	}
	if problem != "" {
		d.report(n, path, problem)
		return
	}
	v.SetString(text)
}

func (d *decoder) secret(n *yaml.Node, v reflect.Value, path string) {
	text, problem := d.expanded(n)
	if problem != "" {
		d.report(n, path, problem)
		return
	}
	v.Set(reflect.ValueOf(NewSecret(text)))
}

func (d *decoder) expanded(n *yaml.Node) (text, problem string) {
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
	default:
		return "", "must be text, not " + describe(n)
	}
	text, problem = expand(n.Value, d.env)
	if strings.ContainsRune(text, 0) {
		return "", "must be text without a NUL character"
	}
	return text, problem
}

func (d *decoder) boolean(n *yaml.Node, v reflect.Value, path string) {
	var b bool
	if n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
		d.report(n, path, "must be true or false, not "+describe(n))
		return
	}
	v.SetBool(b)
}

// number takes 5, 5.0 and 5e0 alike, for whole numbers too, as JSON schema does.
func (d *decoder) number(n *yaml.Node, v reflect.Value, r rules, path string) {
	var x float64
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil {
		d.report(n, path, "must be a number, not "+describe(n))
		return
	}
	problem := r.number(x)
	if problem == "" && v.CanInt() && x != math.Trunc(x) {
		problem = "must be a whole number, not " + formatNumber(x)
	}
	switch {
	case problem != "":
		d.report(n, path, problem)
	case v.CanInt():
		v.SetInt(int64(x))
	default:
		v.SetFloat(x)
	}
}

func (r rules) text(form Form, text string) string {
	if len(r.oneOf) > 0 && !slices.Contains(r.oneOf, text) {
		return "must be one of " + strings.Join(r.oneOf, ", ")
	}
	return r.is.check(form, text)
}

func (r rules) number(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "must be a finite number"
	case r.min != "" && x < parseBound(r.min):
		return fmt.Sprintf("must be at least %s, not %s", r.min, formatNumber(x))
	case r.max != "" && x > parseBound(r.max):
		return fmt.Sprintf("must be at most %s, not %s", r.max, formatNumber(x))
	}
	return ""
}

func (r rules) tooFew(entries int) string {
	if r.min != "" && float64(entries) < parseBound(r.min) {
		return fmt.Sprintf("must have at least %s in it, not %d", r.min, entries)
	}
	return ""
}

func parseBound(bound string) float64 {
	x, err := strconv.ParseFloat(bound, 64)
	if err != nil {
		panic("config: no number in tag: " + bound)
	}
	return x
}

// formatNumber writes a number as people do, unless it would fill the line.
func formatNumber(x float64) string {
	if math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
