# Runs the command given by FORGE_ARG_0 .. and FORGE_ARGC (in the environment, so that no process that matches on command
# lines finds it here) between two relays, so that what it leaves in the background holds our pipes and not the engine's.
# Prints "MARK start-tick oom-kills" before the command and "MARK exit-code oom-kills" after it, on both streams. Its own
# stdin is the control line: when the engine's client hangs up, the relays let go of the engine's streams and go on
# draining what the background writes, as long as somebody writes.
set -f
set --
index=0
while [ "$index" -lt "$FORGE_ARGC" ]; do
  eval "set -- \"\$@\" \"\$FORGE_ARG_$index\"; unset FORGE_ARG_$index"
  index=$((index + 1))
done
mark=$FORGE_MARK
unset FORGE_ARGC FORGE_MARK index
start_of() { started=${20}; }
count_kills() {
  killed=0
  for counter in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do
    [ -r "$counter" ] && while read -r name value; do [ "$name" = oom_kill ] && killed=$value; done <"$counter"
  done
}
relay() {
  exec 6<&0
  cat <&6 4<&- 6<&- &
  read -r _ <&4
  kill -9 $!
  trap '' HUP INT TERM
  exec cat >/dev/null 2>&1 4<&- 6<&-
}
read -r stat </proc/$$/stat
start_of ${stat##*) }
count_kills
printf '%s %s %s\n' "$mark" "$started" "$killed"
exec 4<&0
{
  {
    # In a subshell, so that the redirections are the command's and not this shell's, which would report a kill there.
    (exec "$@" </dev/null 2>&5 4<&- 5>&-)
    code=$?
    count_kills
    printf '%s %s %s\n' "$mark" "$code" "$killed"
    printf '%s %s %s\n' "$mark" "$code" "$killed" >&5
  } 5>&1 >&3 3>&- 2>/dev/null | relay >&2 3>&-
} 3>&1 | relay
