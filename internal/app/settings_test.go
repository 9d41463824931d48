package app

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// Each knob of the configuration reaches the scheduler's options, but for record_days, which is about its
// recordings.
func TestEveryKnobIsTranslated(t *testing.T) {
	options := func(q config.QoS) qos.Options {
		var o qos.Options
		tune(&o, q)
		return o
	}
	q := telegram.ConfigOf(all.Form().Default()).QoS
	if err := qostest.WithLimits(options(q)).Validate(); err != nil {
		t.Error(err)
	}
	want := options(q)
	for i := range reflect.TypeOf(q).NumField() {
		if reflect.TypeOf(q).Field(i).Name == "RecordDays" {
			continue
		}
		changed := q
		switch v := reflect.ValueOf(&changed).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("off")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		default:
			v.SetFloat(v.Float() / 2)
		}
		if got := options(changed); reflect.DeepEqual(got, want) {
			t.Errorf("a change of %s changes nothing", reflect.TypeOf(q).Field(i).Name)
		}
	}
}

func TestWhatTheHubRefusesIsFoundInTheConfiguration(t *testing.T) {
	rule := &adapters.RuleError{Index: 3, Err: errors.New("no such chat")}
	options := fmt.Errorf("options: %w", errors.Join(
		&qos.OptionError{Knob: "group_mpm", Value: 1, Allowed: "2 to 6000"}, &qos.OptionError{Knob: "mode", Value: 9, Allowed: "strict"},
	))
	both := fmt.Errorf("reload: %w", errors.Join(errors.Join(rule), &adapters.TuneError{Adapter: "telegram", Err: options}))
	found, all := problems(both, "")
	want := []config.Problem{
		{Path: "mirrors[3]", Message: "no such chat"},
		{Path: "adapters.telegram.qos.group_mpm", Message: "1 is not allowed; allowed: 2 to 6000"},
		{Path: "adapters.telegram.qos.mode", Message: "9 is not allowed; allowed: strict"},
	}
	if !reflect.DeepEqual(found, want) || !all {
		t.Errorf("found %+v, all: %v", found, all)
	}
	if _, all := problems(errors.Join(both, errors.New("the disk is full")), ""); all {
		t.Error("a full disk is no problem of the configuration")
	}
}
