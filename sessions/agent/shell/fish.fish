# panebridge's integration of fish: marks in the prompt say where a command's output
# begins and ends, and with which status. They're characters without a width in cells
# that the prompt has anyway. Nothing is started for it.
if status is-interactive; and set -q TMUX; and functions -q fish_prompt
    set -g __panebridge_digits \xef\xb8\x81 \xef\xb8\x82 \xef\xb8\x83 \xef\xb8\x84 \xef\xb8\x85 \xef\xb8\x86 \
        \xef\xb8\x87 \xef\xb8\x88 \xef\xb8\x89 \xef\xb8\x8a \xef\xb8\x8b \xef\xb8\x8c
    set -g __panebridge_status 0
    set -g __panebridge_count 0

    # To the first cell of the row above, which is the command's last, and back to where the
    # terminal may have echoed what's typed ahead.
    function __panebridge_submit --on-event fish_preexec
        set -g __panebridge_count (math "$__panebridge_count + 1")
        printf '\e7\e[A\r\e[C\xef\xb8\x80\e8\e]133;C\a'
    end

    function __panebridge_done --on-event fish_postexec
        set -g __panebridge_status $status
        printf '\e]133;D;%s\a' $__panebridge_status
    end

    functions -c fish_prompt __panebridge_prompt
    function fish_prompt
        set -l text (__panebridge_prompt | string collect)
        set -l lines (string split \n -- $text)
        set -l above (math "min(2, $(count $lines) - 1)")
        set -l value (math "$__panebridge_status % 256 + 256 * ($__panebridge_count % 4 + 4 * ($above + 3 * 80))")
        set -l digits ''
        for i in 1 2 3 4 5
            set digits $digits$__panebridge_digits[(math "$value % 12 + 1")]
            set value (math "floor($value / 12)")
        end
        printf '\e]133;A\a%s\e]133;B\a\xef\xb8\x8d%s' $text $digits
    end
end
