# panebridge's integration of zsh: marks in the prompt say where a command's output
# begins and ends, and with which status. They're characters without a width in cells
# that the prompt has anyway. Nothing is started for it.
#
# zsh reads it as .zshenv in panebridge's folder; all files behind it are the user's.
if [[ -n ${PANEBRIDGE_ZDOTDIR+set} ]]; then
	export ZDOTDIR=$PANEBRIDGE_ZDOTDIR
	unset PANEBRIDGE_ZDOTDIR
else
	unset ZDOTDIR
fi
[[ -r ${ZDOTDIR:-$HOME}/.zshenv ]] && . ${ZDOTDIR:-$HOME}/.zshenv

if [[ -o interactive && -n $TMUX ]]; then
	typeset -ga __panebridge_digits=($'\xef\xb8\x81' $'\xef\xb8\x82' $'\xef\xb8\x83' $'\xef\xb8\x84' $'\xef\xb8\x85' $'\xef\xb8\x86'
		$'\xef\xb8\x87' $'\xef\xb8\x88' $'\xef\xb8\x89' $'\xef\xb8\x8a' $'\xef\xb8\x8b' $'\xef\xb8\x8c')
	typeset -gi __panebridge_status=0 __panebridge_count=0
	typeset -g __panebridge_tail=

	__panebridge_first() {
		__panebridge_status=$?
		return $__panebridge_status
	}

	# The prompt gets its mark last, because others may have made it anew.
	__panebridge_last() {
		emulate -L zsh
		local lines=${PROMPT//[^$'\n']/} digits= i
		local -i value above
		[[ -n $__panebridge_tail ]] && PROMPT=${PROMPT//$__panebridge_tail/} && lines=${PROMPT//[^$'\n']/}
		above=$(( $#lines > 2 ? 2 : $#lines ))
		value=$(( __panebridge_status % 256 + 256 * (__panebridge_count % 4 + 4 * (above + 3 * 80)) ))
		for i in 1 2 3 4 5; do
			digits+=$__panebridge_digits[value%12+1]
			value=$(( value / 12 ))
		done
		__panebridge_tail=$'%{\e]133;B\a\xef\xb8\x8d'$digits'%}'
		PROMPT+=$__panebridge_tail
		# The sign for output without a last line end gets one too.
		PROMPT_EOL_MARK=${${PROMPT_EOL_MARK-%B%S%#%s%b}%$'%{\xef\xb8\x8d%}'}$'%{\xef\xb8\x8d%}'
		printf '\e]133;D;%s\a\e]133;A\a' $__panebridge_status
		return $__panebridge_status
	}

	# To the first cell of the row above, which is the command's last, and back to where the
	# terminal may have echoed what's typed ahead.
	__panebridge_submit() {
		(( __panebridge_count++ ))
		printf '\e7\e[A\r\e[C\xef\xb8\x80\e8\e]133;C\a'
	}

	# The user's files may set these lists, so it waits for the first prompt.
	__panebridge_start() {
		local -i was=$?
		precmd_functions=(__panebridge_first ${precmd_functions:#__panebridge_start} __panebridge_last)
		preexec_functions=(__panebridge_submit $preexec_functions)
		__panebridge_status=$was
		__panebridge_last
	}
	typeset -ga precmd_functions preexec_functions
	precmd_functions+=(__panebridge_start)
fi
