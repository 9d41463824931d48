package config

import (
	"fmt"
	"path/filepath"
)

// Path returns where the configuration file is: the flag, else
// PANEBRIDGE_CONFIG, else config.yaml in panebridge's folder of the user's
// configuration folder. Named is false for the last, which need not exist.
func Path(flag string, env Env) (path string, named bool, err error) {
	if path := given(flag, "PANEBRIDGE_CONFIG", env); path != "" {
		return path, true, nil
	}
	folder, err := userFolder(env, "XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", false, fmt.Errorf("find configuration folder: %w; give --config or set PANEBRIDGE_CONFIG", err)
	}
	return filepath.Join(folder, "config.yaml"), false, nil
}

// StateDir returns the folder for the database, the socket and tokens: the
// flag, else PANEBRIDGE_STATE_DIR, else panebridge's folder of the user's state
// folder. It may not exist yet.
func StateDir(flag string, env Env) (string, error) {
	if dir := given(flag, "PANEBRIDGE_STATE_DIR", env); dir != "" {
		return dir, nil
	}
	dir, err := userFolder(env, "XDG_STATE_HOME", filepath.Join(".local", "state"))
	if err != nil {
		return "", fmt.Errorf("find state folder: %w; give --state-dir or set PANEBRIDGE_STATE_DIR", err)
	}
	return dir, nil
}

func given(flag, variable string, env Env) string {
	if flag != "" {
		return flag
	}
	value, _ := env(variable)
	return value
}

// userFolder follows the XDG base directory specification, which says to
// ignore a folder that isn't absolute.
func userFolder(env Env, variable, underHome string) (string, error) {
	if base, _ := env(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "panebridge"), nil
	}
	home, _ := env("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("neither %s nor HOME is an absolute path", variable)
	}
	return filepath.Join(home, underHome, "panebridge"), nil
}
