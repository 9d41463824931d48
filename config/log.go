package config

import "log/slog"

// Log says what the daemon logs, and how.
type Log struct {
	Level  string `yaml:"level" oneof:"debug info warn error" reload:"yes" doc:"The least level that is logged."`
	Format string `yaml:"format" oneof:"auto text json" doc:"auto is coloured text on a terminal and JSON elsewhere."`
}

func defaultLog() Log {
	return Log{Level: "info", Format: "auto"}
}

// SlogLevel returns the level in log/slog's terms; info for a level [Parse]
// would have refused.
func (l Log) SlogLevel() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return slog.LevelInfo
	}
	return level
}
