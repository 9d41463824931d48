package config

import "time"

// Voice says how voice notes become text.
type Voice struct {
	Command  []string `yaml:"command" eg:"[whisper-cli, -m, /opt/models/ggml-base.bin, -nt, -np, -f]" doc:"Program that transcribes a recording, and its arguments; the recording's path stands for {}, or behind the last. Its standard output is the text. Empty, and no url: voice notes are given to sessions as files."`
	URL      string   `yaml:"url" is:"http_url_or_none" eg:"https://api.openai.com/v1/audio/transcriptions" doc:"Address of a service that takes what OpenAI's /v1/audio/transcriptions takes, in place of a command. Recordings leave this machine then."`
	KeyFile  string   `yaml:"key_file" is:"secret_file" eg:"/etc/panebridge/voice-key" doc:"File that holds the service's key and nothing else."`
	Model    string   `yaml:"model" eg:"whisper-1" doc:"The service's model."`
	Language string   `yaml:"language" eg:"en" doc:"Language that's spoken, as the service wants it; empty: it finds out."`
	Confirm  bool     `yaml:"confirm" doc:"Whether to ask before the text is typed. It's asked in any case where it begins with a sign that means something to agents (/ ! #), and in a shell."`
	Within   Duration `yaml:"within" is:"duration" doc:"How long a transcription may take, 4m at most: so long nothing else of its chat is done. Then the session is given the file."`
}

func defaultVoice() Voice { return Voice{Within: "1m"} }

// maxTranscription is less than what an event of a chat may take altogether (adapters/intake): one that takes longer is begun again.
const maxTranscription = 4 * time.Minute

// Check implements Checker.
func (v *Voice) Check(p Part) {
	if len(v.Command) > 0 && v.URL != "" {
		p.Problem("url", "must not be given beside command")
	}
	if v.URL == "" && v.KeyFile != "" && p.Sound("url") {
		p.Problem("key_file", "must not be given without url: a command takes no key")
	}
	if p.Sound("within") && v.Within.Duration() > maxTranscription {
		p.Problem("within", "must be at most 4m: what else is written in a note’s chat waits for so long")
	}
	if len(v.Command) > 0 && v.Command[0] == "" {
		p.Problem("command", "must begin with a program")
	}
}

// IsOn reports whether voice notes become text.
func (v *Voice) IsOn() bool { return len(v.Command) > 0 || v.URL != "" }
