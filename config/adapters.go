package config

// Adapters says where sessions are shown: one key per platform.
type Adapters struct {
	Web      Web      `yaml:"web" doc:"The local web page and its HTTP API."`
	Telegram Telegram `yaml:"telegram" doc:"Chats on Telegram."`
}

// Telegram is a bot on Telegram.
type Telegram struct {
	QoS QoS `yaml:"qos" reload:"yes" doc:"How its calls are shared out, so that Telegram never has to refuse one."`
}

func defaultAdapters() Adapters {
	return Adapters{Web: defaultWeb(), Telegram: Telegram{QoS: defaultTelegramQoS()}}
}
