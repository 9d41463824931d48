#!/bin/sh
# Installs the system packages that panebridge needs, and says what it does
# before it does it. Does nothing where everything is there.
#
# usage: scripts/install.sh demo|test|race|pictures|agents|debian|image...
#
#   demo      tmux
#   race      a C compiler, and tmux
#   test      tmux, redis-server, faketime, chromium, zsh, fish, nginx, ssh, sshd, espeak-ng, prometheus,
#             and on Linux systemd and util-linux
#   pictures  tmux, chromium, and a font that has emoji
#   agents    tmux, node 20 or newer with npm, unshare and nsenter
#   debian    mmdebstrap and unshare: roots of Debian's packages
#   image     these, umoci and podman: an image of such a root
#
# Exits 1 where it can't, with the line to run by hand.
set -eu

cd "$(dirname "$0")/.."

# The oldest Go that builds panebridge, as in go.mod.
go_minor=26
# The oldest Node.js that runs the agent programs.
node_min=20

say() { printf '%s\n' "install: $*" >&2; }
die() {
	say "$@"
	exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
# Programs of services are in a folder that not everybody's PATH has.
have_service() { have "$1" || [ -x "/usr/sbin/$1" ]; }

# The shell without windows is a quarter cheaper, and all that tests and pictures need.
have_chromium() {
	have chromium-headless-shell || have chromium || have chromium-browser || have google-chrome || have google-chrome-stable ||
		[ -d "/Applications/Chromium.app" ] || [ -d "/Applications/Google Chrome.app" ]
}

have_emoji() {
	[ -d /System/Library/Fonts ] || { have fc-list && [ -n "$(fc-list ':charset=1f44c')" ]; }
}

have_node() {
	have node && have npm || return 1
	node_major=$(node --version)
	node_major=${node_major#v}
	[ "${node_major%%.*}" -ge "$node_min" ]
}

# present THING: is it on this machine?
present() {
	case $1 in
	tmux) have tmux ;;
	redis) have redis-server ;;
	faketime) have faketime ;;
	chromium) have_chromium ;;
	emoji) have_emoji ;;
	zsh) have zsh ;;
	fish) have fish ;;
	nginx) have_service nginx ;;
	ssh) have ssh ;;
	sshd) have_service sshd ;;
	espeak-ng) have espeak-ng ;;
	prometheus) have prometheus && have promtool ;;
	node) have_node ;;
	mmdebstrap) have mmdebstrap && [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
	umoci) have umoci ;;
	podman) have podman ;;
	compiler) have "${CC:-cc}" || have gcc ;;
	util-linux) have unshare && have nsenter && have setpriv ;;
	systemd) have systemd-analyze && [ -x /usr/lib/systemd/systemd ] ;;
	esac
}

check_go() {
	go=${GO:-go}
	have "$go" || die "Go isn't installed. Install Go 1.$go_minor or newer from https://go.dev/dl/ and try again."
	# Asked here, in the module, an older Go that can fetch the right one
	# answers with the version it would fetch.
	version=$("$go" env GOVERSION) ||
		die "Go couldn't tell its version (see above). Install Go 1.$go_minor or newer from https://go.dev/dl/ and try again."
	minor=${version#go1.}
	minor=${minor%%[!0-9]*}
	case $version in
	go1.*) [ "${minor:-0}" -ge "$go_minor" ] || die "This is $version, and panebridge needs Go 1.$go_minor or newer: see https://go.dev/dl/." ;;
	*) say "This Go calls itself $version. It's taken to be new enough; panebridge needs 1.$go_minor." ;;
	esac
}

[ $# -gt 0 ] || die "usage: $0 demo|test|race|pictures|agents|debian|image..."
want=''
for what in "$@"; do
	case $what in
	demo) want="$want tmux" ;;
	test)
		want="$want tmux redis faketime chromium zsh fish nginx ssh sshd espeak-ng prometheus"
		[ "$(uname)" != Linux ] || want="$want systemd util-linux"
		;;
	race) want="$want tmux compiler" ;;
	pictures) want="$want tmux chromium emoji" ;;
	agents) want="$want tmux node util-linux" ;;
	debian) want="$want mmdebstrap util-linux" ;;
	image) want="$want mmdebstrap util-linux umoci podman" ;;
	*) die "usage: $0 demo|test|race|pictures|agents|debian|image... ($what isn't known)" ;;
	esac
done

check_go

missing=''
for thing in $want; do
	case " $missing " in *" $thing "*) continue ;; esac
	present "$thing" || missing="$missing $thing"
done
missing=${missing# }
[ -n "$missing" ] || exit 0

# The package manager, the names it has for what's missing, and its command.
# A name it doesn't have, or has under another one, is found at the end, when
# the thing is still missing.
manager=''
for m in brew apt-get dnf pacman apk; do
	if have "$m"; then
		manager=$m
		break
	fi
done

packages=''
casks=''
for thing in $missing; do
	case $manager:$thing in
	apt-get:redis) packages="$packages redis-server" ;;
	# Ubuntu has Chromium as a snap only: the end says so.
	apt-get:chromium)
		if grep -qs '^ID=debian' /etc/os-release; then
			packages="$packages chromium-headless-shell"
		elif ! grep -qs '^ID=ubuntu' /etc/os-release; then
			packages="$packages chromium"
		fi
		;;
	apt-get:emoji) packages="$packages fontconfig fonts-noto-color-emoji" ;;
	dnf:emoji) packages="$packages fontconfig google-noto-color-emoji-fonts" ;;
	pacman:emoji) packages="$packages fontconfig noto-fonts-emoji" ;;
	apk:emoji) packages="$packages fontconfig font-noto-emoji" ;;
	apt-get:compiler) packages="$packages gcc libc6-dev" ;;
	apk:compiler) packages="$packages gcc musl-dev" ;;
	dnf:compiler | pacman:compiler | brew:compiler) packages="$packages gcc" ;;
	brew:chromium) casks='chromium' ;;
	apt-get:node | dnf:node | pacman:node | apk:node) packages="$packages nodejs npm" ;;
	pacman:redis) packages="$packages valkey" ;; # Arch's successor of Redis
	apt-get:mmdebstrap) packages="$packages mmdebstrap debian-archive-keyring" ;;
	apt-get:ssh) packages="$packages openssh-client" ;;
	dnf:ssh) packages="$packages openssh-clients" ;;
	apk:ssh) packages="$packages openssh-client-default" ;;
	pacman:ssh | pacman:sshd | brew:ssh | brew:sshd) packages="$packages openssh" ;;
	*:sshd) packages="$packages openssh-server" ;;
	*) packages="$packages $thing" ;;
	esac
done
packages=${packages# }

case $manager in
# A fresh machine may be at its first upgrade: wait for that.
apt-get) command="apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $packages" ;;
dnf) command="dnf install -y $packages" ;;
pacman) command="pacman -S --needed --noconfirm $packages" ;;
apk) command="apk add $packages" ;;
brew)
	command=''
	[ -z "$packages" ] || command="brew install $packages"
	[ -z "$casks" ] || command="${command:+$command && }brew install --cask $casks"
	;;
*) die "Missing: $missing. No package manager is known here (brew, apt-get, dnf, pacman, apk). Install it by hand and try again." ;;
esac

# Homebrew refuses to run as root; the others need it.
sudo=''
by_hand=$command
if [ "$manager" != brew ] && [ "$(id -u)" -ne 0 ]; then
	by_hand="sudo $command"
	have sudo || die "Missing: $missing. Installing needs root, and there is no sudo. As root, run: $command"
	sudo='sudo'
	# Without a terminal nobody could type a password.
	[ -t 0 ] || sudo='sudo -n'
fi

if [ -n "$packages$casks" ]; then
	say "Missing: $missing. Running: $by_hand"
fi

# Debian starts a service when its package is installed: a Redis, an nginx, an sshd and a
# Prometheus on their usual ports. The tests start their own, so a policy forbids it meanwhile.
policy=/usr/sbin/policy-rc.d
hold_services() {
	[ "$manager" = apt-get ] && [ ! -e "$policy" ] || return 0
	trap release_services EXIT
	trap 'exit 1' HUP INT TERM
	printf '#!/bin/sh\n# from install.sh, while it installs\nexit 101\n' | $sudo tee "$policy" >/dev/null && $sudo chmod 755 "$policy" ||
		say "Services of the packages may be started: $policy can't be written."
}
release_services() {
	! grep -qs 'from install.sh' "$policy" || $sudo rm -f "$policy"
}

# The commands hold plain package names only, so splitting them is right.
# shellcheck disable=SC2086
run() {
	case $manager in
	brew)
		[ -z "$packages" ] || brew install $packages || return 1
		[ -z "$casks" ] || brew install --cask $casks
		;;
	apt-get)
		# An old list of packages often points at files that are gone.
		$sudo apt-get update -q || say 'apt-get update failed (see above); trying with the lists that are there.'
		hold_services
		$sudo env DEBIAN_FRONTEND=noninteractive $command -q </dev/null
		held=$?
		release_services
		return "$held"
		;;
	*) $sudo $command </dev/null ;;
	esac
}
[ -z "$packages$casks" ] || run || die "That failed (see above). To install by hand, run: $by_hand"

# They aren't started with the machine either.
if [ "$manager" = apt-get ] && have systemctl; then
	for thing in $missing; do
		case $thing in
		redis) units='redis-server.service' ;;
		nginx) units='nginx.service' ;;
		sshd) units='ssh.service ssh.socket' ;;
		prometheus) units='prometheus.service' ;;
		*) continue ;;
		esac
		for unit in $units; do
			[ -e "/lib/systemd/system/$unit" ] || continue
			say "The tests start their own: $unit isn't started with the machine."
			now=''
			[ ! -d /run/systemd/system ] || now='--now'
			# shellcheck disable=SC2086 # an empty $now is no word
			$sudo systemctl disable $now "$unit" || say "It's still on; to turn it off: systemctl disable --now $unit"
		done
	done
fi

for thing in $missing; do
	present "$thing" && continue
	case $manager:$thing in
	apt-get:chromium) die "There is no Chromium yet; on Ubuntu it's a snap. Run: sudo snap install chromium" ;;
	*:emoji) die "There is still no font with emoji that fc-list shows. Install one, such as Noto Color Emoji, and try again." ;;
	*:node) die "There is still no Node.js $node_min or newer with npm (this system's packages may be older). Install it and try again: https://nodejs.org/en/download" ;;
	*:sshd | *:nginx) die "There is still no $thing in the PATH or in /usr/sbin. Install it by hand and try again: $by_hand" ;;
	*:redis) die "There is still no redis-server. Install Redis so that redis-server is in the PATH and try again: https://redis.io/docs/latest/operate/oss_and_stack/install/" ;;
	*) die "There is still no $thing in the PATH. Install it by hand and try again: $by_hand" ;;
	esac
done
say "Done."
