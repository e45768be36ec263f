flag=failed reward=0
if [ "$(cat /srv/flag)" = raised ]; then flag=passed reward=1; fi
echo '{"results": {"tests": [{"name": "test_srv", "status": "passed"}, {"name": "test_flag", "status": "'$flag'"}]}}' > /logs/verifier/ctrf.json
echo $reward > /logs/verifier/reward.txt
