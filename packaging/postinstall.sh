#!/bin/sh
# What a package says when it's installed or upgraded. dpkg calls it with "configure" and
# the version before, rpm with how many are installed, apk with the version.
set -eu

upgraded=''
case ${1:-} in
configure) upgraded=${2:-} ;;
abort-*) exit 0 ;;
1) ;;
[2-9]) upgraded=yes ;;
esac

if [ -n "$upgraded" ]; then
	echo 'panebridge: a daemon that runs goes on as the version before until "panebridge service restart", or until it is ended and started by hand. Sessions go on meanwhile.'
else
	echo 'panebridge: next, run "panebridge init" as the user whose tmux it is to mirror; "panebridge doctor" says what is missing.'
fi
