import os
import random

import asuser

SAMPLE = "customer,item,cents\nada,1200,350\nbob,1201,1999\nada,1202,75\n"


def report(text):
    with asuser.scratch() as folder:
        source = folder / "orders.csv"
        source.write_text(text)
        source.chmod(0o644)
        ran = asuser.run(["bash", "/app/report.sh", source], timeout=8)
    assert ran.status == 0, ran
    return ran.stdout


def test_exits_with_zero():
    report(SAMPLE)


def test_sample():
    assert report(SAMPLE) == "ada 425\nbob 1999\n"


def test_drawn_orders():
    draw = random.Random(os.environ["GRADING_SEED"])
    orders = [(draw.choice(["ada", "bob", "cyd"]), draw.randrange(9000), draw.randrange(1, 5000)) for _ in range(40)]
    totals = {}
    for name, _, cents in orders:
        totals[name] = totals.get(name, 0) + cents
    text = "customer,item,cents\n" + "".join(f"{a},{b},{c}\n" for a, b, c in orders)
    assert report(text) == "".join(f"{name} {total}\n" for name, total in sorted(totals.items()))
