# Builtins only, so that it neither forks nor needs a free process slot. $1: start tick of the command's first process.
# Freeze everything, end each process that started since then (not this one, not PID 1), thaw the rest.
tick=$1
passes=0
clean=0
trap '' HUP INT TERM
kill -STOP -1 2>/dev/null
while [ "$passes" -lt 50 ]; do
  young=
  for folder in /proc/[0-9]*; do
    pid=${folder#/proc/}
    [ "$pid" = 1 ] && continue
    [ "$pid" = $$ ] && continue
    { read -r stat <"$folder/stat"; } 2>/dev/null || continue
    set -- ${stat##*) }
    case $1 in Z | X) continue ;; esac
    [ "${20}" -ge "$tick" ] && young="$young $pid"
  done
  if [ -n "$young" ]; then
    clean=0
    kill -KILL $young 2>/dev/null
  else
    clean=$((clean + 1))
    [ "$clean" -ge 2 ] && break
  fi
  passes=$((passes + 1))
done
kill -CONT -1 2>/dev/null
# What was killed holds its process slot until PID 1 reaps it, a moment later; the next command needs the slots.
passes=0
while [ "$passes" -lt 400 ]; do
  waiting=
  for folder in /proc/[0-9]*; do
    { read -r stat <"$folder/stat"; } 2>/dev/null || continue
    set -- ${stat##*) }
    [ "$1" = Z ] && [ "$2" = 1 ] && [ "${20}" -ge "$tick" ] && waiting=1
  done
  [ -z "$waiting" ] && break
  passes=$((passes + 1))
done
killed=0
for counter in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do
  [ -r "$counter" ] && while read -r name value; do [ "$name" = oom_kill ] && killed=$value; done <"$counter"
done
if [ -z "$young" ]; then echo "clean $killed"; else echo "left$young"; fi
