[ "$(cat /app/greeting.txt)" = hello ]
