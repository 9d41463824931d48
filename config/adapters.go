package config

// Adapters says where sessions are shown: one key per platform.
type Adapters struct {
	Web      Web      `yaml:"web" doc:"The local web page and its HTTP API."`
	Telegram Telegram `yaml:"telegram" doc:"Chats on Telegram."`
	Discord  Discord  `yaml:"discord" doc:"Channels and threads on Discord."`
}

func defaultAdapters() Adapters {
	return Adapters{Web: defaultWeb(), Telegram: defaultTelegram(), Discord: defaultDiscord()}
}
