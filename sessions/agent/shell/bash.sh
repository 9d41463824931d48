# panebridge's integration of bash: marks in the prompt say where a command's output
# begins and ends, and with which status. They're characters without a width in cells
# that the prompt has anyway. Nothing is started for it.
[[ -r ~/.bashrc ]] && . ~/.bashrc

if [[ $- == *i* && -n $TMUX ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) && shopt -q promptvars; then
	__panebridge_digits=($'\xef\xb8\x81' $'\xef\xb8\x82' $'\xef\xb8\x83' $'\xef\xb8\x84' $'\xef\xb8\x85' $'\xef\xb8\x86'
		$'\xef\xb8\x87' $'\xef\xb8\x88' $'\xef\xb8\x89' $'\xef\xb8\x8a' $'\xef\xb8\x8b' $'\xef\xb8\x8c')
	__panebridge_mark=('' '') # [1] from a prompt on until a command is submitted
	__panebridge_ready=0
	__panebridge_count=0 # of commands
	__panebridge_status=0
	__panebridge_tail='\[\e]133;B\a${__panebridge_mark[__panebridge_ready]}\]'
	# To the first cell of the row above, which is the command's last, and back to where the
	# terminal may have echoed what's typed ahead.
	__panebridge_submit=$'\e7\e[A\r\e[C\xef\xb8\x80\e8\e]133;C\a'
	PS0='${__panebridge_submit:$((__panebridge_count+=__panebridge_ready,__panebridge_ready=0))}'$PS0

	__panebridge_return() { return "$1"; }

	# The status has to be read before other commands of the prompt run.
	__panebridge_first() {
		__panebridge_status=$?
		return "$__panebridge_status"
	}

	# __panebridge_shape sets above and width: the rows of a prompt above its last, and
	# the characters of its first; 0 where it would have to start programs to know.
	__panebridge_shape() {
		local text=$1 lines
		if [[ $text == *'$('* || $text == *'`'* ]]; then
			text=${text//'\n'/$'\n'}
		else
			__panebridge_return "$__panebridge_status"
			text=${text@P}
			width=1
		fi
		lines=${text//[!$'\n']/}
		above=$((${#lines} > 2 ? 2 : ${#lines}))
		text=${text%%$'\n'*}
		while [[ $text == *$'\001'*$'\002'* ]]; do
			text=${text%%$'\001'*}${text#*$'\002'}
		done
		if ((width == 0 || ${#text} > 79)) || [[ $text == *$'\e'* ]]; then
			width=0
		else
			width=${#text}
		fi
	}

	# The prompt gets its mark last, because others may have made it anew.
	__panebridge_last() {
		local above=0 width=0 value i digits=
		PS1=${PS1//"$__panebridge_tail"/}
		__panebridge_shape "$PS1"
		PS1+=$__panebridge_tail
		value=$((__panebridge_status % 256 + 256 * (__panebridge_count % 4 + 4 * (above + 3 * width))))
		for i in 1 2 3 4 5; do
			digits+=${__panebridge_digits[value % 12]}
			value=$((value / 12))
		done
		__panebridge_mark[1]=$'\xef\xb8\x8d'$digits
		__panebridge_ready=1
		printf '\e]133;D;%s\a\e]133;A\a' "$__panebridge_status"
		return "$__panebridge_status"
	}

	if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
		PROMPT_COMMAND=(__panebridge_first "${PROMPT_COMMAND[@]}" __panebridge_last)
	else
		PROMPT_COMMAND=$'__panebridge_first\n'${PROMPT_COMMAND:-:}$'\n__panebridge_last'
	fi
fi
