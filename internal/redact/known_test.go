package redact

import (
	"encoding/base64"
	"net/url"
	"testing"
)

func TestKnownSecretsAreFoundWithinValues(t *testing.T) {
	const token = "123456:AAbb-CCdd+EEffGGhh"
	var k Known
	k.Add("token", token)
	k.Add("token", token)
	k.Add("password", "panebridge")
	k.Add("short", "a1")
	k.Add("address", "db://me:x9y8z7@/run/user/1000/db")
	k.Add("key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n")
	for value, want := range map[string]string{
		token:                              "token",
		"https://x/bot" + token + "/getMe": "token",
		"x=" + url.QueryEscape(token):      "token",
		base64.StdEncoding.EncodeToString([]byte("user " + token + "!")): "token",
		"AAbb-CCdd+EEffGGhh":                "token", // what's behind the bot's id
		"123456:AAbb":                       "",
		"panebridge":                        "password",
		"redis://user:panebridge@host:6379": "password",
		"/home/panebridge/.codex":           "",
		"/run/user/1000":                    "",
		"a1":                                "short",
		"la1a":                              "",
		"-----BEGIN PRIVATE KEY-----\nsomething else":         "",
		"-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC": "key",
		"": "",
	} {
		if got, found := k.Find(value); got != want || found != (want != "") {
			t.Errorf("in %q it finds %q, %t; want %q", value, got, found, want)
		}
	}
	if len(k.all) != 5 {
		t.Errorf("it knows %d secrets", len(k.all))
	}
}
