#!/usr/bin/env bash
# redis-cli as people use it: connects without an error, and all its modes that need one Redis find one.
set -u
cli=(redis-cli -h "$RINGWAY_HOST" -p "$RINGWAY_PORT")
failures=0

expect() {  # expect NAME EXPECTED ACTUAL
  if [[ "$2" == "$3" ]]; then return; fi
  printf 'FAILED %s\n  expected: %q\n  actual:   %q\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}

expect_match() {  # expect_match NAME PATTERN ACTUAL
  if [[ "$3" =~ $2 ]]; then return; fi
  printf 'FAILED %s\n  pattern: %s\n  actual:  %q\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}

expect ping PONG "$("${cli[@]}" PING)"
expect 'nothing on standard error' '' "$("${cli[@]}" PING 2>&1 >/dev/null)"
expect set OK "$("${cli[@]}" SET greeting 'hello world')"
expect get 'hello world' "$("${cli[@]}" GET greeting)"
expect 'value from standard input' 'from stdin' "$(printf 'from stdin' | "${cli[@]}" -x SET piped >/dev/null; "${cli[@]}" GET piped)"
expect database 'in three' "$("${cli[@]}" -n 3 SET k 'in three' >/dev/null; "${cli[@]}" -n 3 GET k)"
expect 'other database' '' "$("${cli[@]}" -n 0 GET k)"
expect 'error text' 'WRONGTYPE Operation against a key holding the wrong kind of value' "$("${cli[@]}" LPUSH greeting x)"
"${cli[@]}" -e LPUSH greeting x >/dev/null 2>&1
expect 'exit code of an error' 1 $?

# Several commands on one connection, as the interactive prompt sends them.
expect 'commands from standard input' $'OK\n1\n2\n(nil)' "$(printf 'SET a 1\nGET a\nINCR a\nGET none\n' | "${cli[@]}" --no-raw | sed 's/"//g; s/(integer) //')"
expect resp3 $'1# "f" => "v"' "$("${cli[@]}" HSET h f v >/dev/null; "${cli[@]}" -3 --no-raw HGETALL h)"
expect eval $'1) "k"\n2) "v"' "$("${cli[@]}" --no-raw EVAL 'return {KEYS[1], ARGV[1]}' 1 k v)"

"${cli[@]}" DEL greeting piped a h >/dev/null
for i in $(seq 1 250); do printf 'SET scan:%s %s\n' "$i" "$i"; done | "${cli[@]}" >/dev/null
expect scan 250 "$("${cli[@]}" --scan --pattern 'scan:*' | sort -u | wc -l | tr -d ' ')"
expect dbsize 250 "$("${cli[@]}" DBSIZE)"
expect_match bigkeys 'Sampled 250 keys in the keyspace' "$("${cli[@]}" --bigkeys)"
expect_match memkeys 'Sampled 250 keys in the keyspace' "$("${cli[@]}" --memkeys)"

# The protocol, for mass insertion.
expect_match pipe 'errors: 0, replies: 1000' \
  "$(for i in $(seq 1 1000); do printf '*3\r\n$3\r\nSET\r\n$%d\r\npipe:%d\r\n$1\r\nx\r\n' $((5 + ${#i})) "$i"; done | "${cli[@]}" --pipe 2>&1)"
expect 'keys after --pipe' 1250 "$("${cli[@]}" DBSIZE)"

expect_match info 'redis_version:[0-9]+\.[0-9]+' "$("${cli[@]}" INFO server)"
expect_match stat 'keys' "$(timeout 5 stdbuf -oL "${cli[@]}" --stat -i 0.1 | head -2)"
expect_match latency '^[0-9]+ [0-9]+ [0-9.]+ [0-9]+$' "$("${cli[@]}" --raw -i 0.3 --latency 2>&1)"
expect flushall OK "$("${cli[@]}" FLUSHALL)"
expect 'after flushall' 0 "$("${cli[@]}" DBSIZE)"

if ((failures > 0)); then
  echo "$failures failed"
  exit 1
fi
echo 'redis-cli: all passed'
