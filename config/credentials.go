package config

import (
	"os"
	"path/filepath"
	"reflect"
)

// credentialsVariable names the folder in which a service manager hands secrets to the daemon: LoadCredential= of
// systemd.
const credentialsVariable = "CREDENTIALS_DIRECTORY"

// takeCredentials has keys that name a secret's file name the one in systemd's folder, if it has one that's called
// like the key, such as adapters.telegram.token_file. The named one may then be readable by root alone. A key without
// a file stays without.
func (cfg *Config) takeCredentials(env Env) {
	if env == nil {
		return
	}
	folder, _ := env(credentialsVariable)
	if filepath.IsAbs(folder) {
		takeBelow(reflect.ValueOf(cfg).Elem(), "", folder)
	}
}

func takeBelow(section reflect.Value, at, folder string) {
	for _, f := range fieldsOf(section) {
		path := join(at, f.key)
		switch {
		case isSection(f.value.Type()):
			takeBelow(f.value, path, folder)
		case f.format == SecretFile && f.value.String() != "":
			file := filepath.Join(folder, path)
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				f.value.SetString(file)
			}
		}
	}
}
