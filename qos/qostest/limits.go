package qostest

import (
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Limits are windows such as a platform has that counts messages by the minute. Groups have those
// of qos.Options.GroupMPM.
func Limits() qos.Limits {
	return qos.Limits{
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		Group:   qos.Limit{Gap: time.Second},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}, {Calls: 3, Per: 3 * time.Second}}, Gap: time.Second},
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 2, Per: 5 * time.Second}, {Calls: 7, Per: 30 * time.Second}}},
			qos.FamilyDraft:  {Windows: []qos.Window{{Calls: 14, Per: 5 * time.Second}, {Calls: 25, Per: 30 * time.Second}}},
		},
	}
}

// BurstLimits are windows such as a platform has that counts calls by the second, and allows next
// to no renames.
func BurstLimits() qos.Limits {
	return qos.Limits{
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 45, Per: time.Second}}, Gap: 20 * time.Millisecond},
		Group:   qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 5, Per: 5 * time.Second}}},
			qos.FamilyRename: {Windows: []qos.Window{{Calls: 2, Per: 10 * time.Minute}}},
		},
	}
}

// WithLimits fills in what o doesn't say of its limits, from Limits.
func WithLimits(o qos.Options) qos.Options {
	d := Limits()
	if len(o.Limits.Bot.Windows) == 0 {
		o.Limits.Bot = d.Bot
	}
	if len(o.Limits.Group.Windows) == 0 {
		o.Limits.Group = d.Group
	}
	if len(o.Limits.Private.Windows) == 0 {
		o.Limits.Private = d.Private
	}
	if o.Limits.Families == nil {
		o.Limits.Families = d.Families
	}
	return o
}
