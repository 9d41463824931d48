package config

import "time"

// Inbound says how what's written in chats gets to the sessions.
type Inbound struct {
	StaleAfter Duration `yaml:"stale_after" is:"duration" doc:"What had to wait longer than this isn't typed unasked: its writer is asked whether to run or skip it."`
	MaxFileMB  int      `yaml:"max_file_mb" min:"0" max:"2000" doc:"Largest file in MB that is taken from a chat and handed to a session; 0 takes none. Telegram's own limit is 20."`
	Folders    string   `yaml:"folders" is:"absolute_path" eg:"/home/me/src" doc:"Folder below which /new offers folders to choose from; empty: the home folder."`
}

func defaultInbound() Inbound { return Inbound{StaleAfter: "10m", MaxFileMB: 20} }

// Duration is a time span as people write it: 90s, 10m, 1h30m.
type Duration string

// Duration returns the span.
func (d Duration) Duration() time.Duration {
	span, err := time.ParseDuration(string(d))
	if err != nil {
		return 0 // refused when it was read
	}
	return span
}

// maxDuration is more than anything here waits for.
const maxDuration = 30 * 24 * time.Hour

func durationProblem(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 || d > maxDuration {
		return "must be a time span above 0 and at most 720h, such as 90s, 10m or 1h30m"
	}
	return ""
}
