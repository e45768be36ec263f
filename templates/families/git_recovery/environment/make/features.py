"""Small modules of a library: (source, a call, what the call gives)."""

FEATURES = {
    "slugs": (
        'def slug(title):\n    """A title as it stands in an address."""\n    return "-".join(title.lower().split())\n',
        "slug('On  The Road')",
        "on-the-road",
    ),
    "initials": (
        'def initials(name):\n    """The first letters of a name."""\n    return "".join(part[0].upper() for part in name.split())\n',
        "initials('grace brewster hopper')",
        "GBH",
    ),
    "chunks": (
        'def chunks(items, size):\n    """Lists of at most `size` items."""\n'
        "    return [items[start : start + size] for start in range(0, len(items), size)]\n",
        "chunks([1, 2, 3, 4, 5], 2)",
        "[[1, 2], [3, 4], [5]]",
    ),
    "roman": (
        "VALUES = {1000: 'M', 900: 'CM', 500: 'D', 400: 'CD', 100: 'C', 90: 'XC', 50: 'L', 40: 'XL',\n"
        "          10: 'X', 9: 'IX', 5: 'V', 4: 'IV', 1: 'I'}\n\n\n"
        'def roman(number):\n    """A number in Roman numerals."""\n    text = ""\n'
        "    for value, sign in VALUES.items():\n        text += sign * (number // value)\n        number %= value\n    return text\n",
        "roman(1994)",
        "MCMXCIV",
    ),
    "median": (
        'def median(values):\n    """The middle value, or the mean of the two in the middle."""\n    values = sorted(values)\n'
        "    half = len(values) // 2\n    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2\n",
        "median([7, 1, 4, 2])",
        "3.0",
    ),
    "luhn": (
        'def luhn(digits):\n    """Whether the last digit checks the others."""\n    total = 0\n'
        "    for place, digit in enumerate(reversed(digits)):\n"
        "        total += sum(divmod(int(digit) * (1 + place % 2), 10))\n    return total % 10 == 0\n",
        "luhn('79927398713')",
        "True",
    ),
    "clamp": (
        'def clamp(value, low, high):\n    """The value, or the bound that it passes."""\n    return max(low, min(high, value))\n',
        "clamp(17, 3, 9)",
        "9",
    ),
    "durations": (
        'import re\n\n\ndef seconds(text):\n    """Seconds of a duration like 1h30m."""\n'
        "    units = {'h': 3600, 'm': 60, 's': 1}\n"
        "    return sum(int(number) * units[unit] for number, unit in re.findall(r'(\\d+)([hms])', text))\n",
        "seconds('1h30m5s')",
        "5405",
    ),
    "plural": (
        'def plural(count, word):\n    """A count and its noun."""\n    return f"{count} {word}" + ("" if count == 1 else "s")\n',
        "plural(3, 'sheep dog')",
        "3 sheep dogs",
    ),
    "squeeze": (
        'def squeeze(text):\n    """The text with every run of blanks as one."""\n    return " ".join(text.split())\n',
        "squeeze('a   b \\t c')",
        "a b c",
    ),
}
