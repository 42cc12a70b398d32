"""What a chaos run found, in words and as a picture: who held each lock over what happened meanwhile."""
import html
import json

from records import SECOND

STRIP_S = 60            # of the picture, one below the other
SCALE = 22              # pixels a second
LEFT, ROW, GAP = 150, 16, 10
HOLDERS = ["#4878a8", "#e49444", "#5f9e62", "#d1615d", "#85b6b2", "#b07aa1", "#e7ca60", "#a8786e", "#7b66d2", "#f1a2a9",
           "#6a9f58", "#967662"]


def text(verdict):
    figures = verdict["figures"]
    lines = ["%s: %s" % (name, shown(value)) for name, value in figures.items()]
    lines += ["VIOLATION: " + violation for violation in verdict["violations"][:30]]
    if len(verdict["violations"]) > 30:
        lines.append("... and %d more" % (len(verdict["violations"]) - 30))
    lines.append("verdict: " + ("broken" if verdict["violations"] else "right"))
    return "\n".join(lines) + "\n"


def shown(value):
    if isinstance(value, float):
        return "%.3f s" % value
    if isinstance(value, dict):
        return ", ".join("%s %s" % pair for pair in sorted(value.items())) or "none"
    return str(value)


def write(directory, verdict):
    with open(directory + "/report.txt", "w", encoding="utf-8") as out:
        out.write(text(verdict))
    with open(directory + "/figures.json", "w", encoding="utf-8") as out:
        json.dump({"figures": verdict["figures"], "violations": verdict["violations"]}, out, indent=1)
    with open(directory + "/timeline.svg", "w", encoding="utf-8") as out:
        out.write(picture(verdict))


class Strips:
    """The time of the run, cut into strips; each has a row for each lock and for each kind of fault in it."""

    def __init__(self, records):
        self.begin, self.end = records.span()
        self.rows = ["%s" % lock for lock in records.locks]
        self.rows += sorted({fault["kind"] for fault in records.faults})
        self.height = len(self.rows) * ROW + 2 * GAP + ROW
        self.count = int((self.end - self.begin) // (STRIP_S * SECOND)) + 1
        self.parts = []

    def bar(self, row, begin, end, style):
        """A bar, cut where strips end."""
        while begin < end:
            strip = int((begin - self.begin) // (STRIP_S * SECOND))
            edge = self.begin + (strip + 1) * STRIP_S * SECOND
            x = LEFT + (begin - self.begin - strip * STRIP_S * SECOND) / SECOND * SCALE
            width = max(0.6, (min(end, edge) - begin) / SECOND * SCALE)
            y = strip * self.height + ROW + (self.rows.index(row) * ROW if row else 0)
            height = ROW - 3 if row else len(self.rows) * ROW
            self.parts.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" %s' % (x, y, width, height, style))
            begin = edge

    def labels(self):
        for strip in range(self.count):
            top = strip * self.height + ROW
            for index, row in enumerate(self.rows):
                self.parts.append('<text x="4" y="%d">%s</text>' % (top + index * ROW + 11, html.escape(row)))
            for second in range(0, STRIP_S, 5):
                x = LEFT + second * SCALE
                self.parts.append('<text x="%d" y="%d" fill="#888">%d s</text>'
                                  % (x, top - 3, strip * STRIP_S + second))
                self.parts.append('<path d="M%d %dv%d" stroke="#ddd"/>' % (x, top, len(self.rows) * ROW))


def picture(verdict):
    records = verdict["records"]
    if not records.phases:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    strips = Strips(records)
    for phase in records.phases:
        colour = {"storm": "#f7ecec", "recovery": "#f7f5e6"}.get(phase["phase"])
        if colour:
            strips.bar(None, phase["begin"], phase["end"], 'fill="%s"/>' % colour)
    strips.labels()
    add_holders(strips, records)
    for fault in records.faults:
        strips.bar(fault["kind"], fault["begin"], fault["end"], 'fill="#555"><title>%s</title></rect>'
                   % html.escape("%s: %s" % (fault["kind"], fault["target"])))
    for _, early, late in verdict["excused"]:
        strips.bar(late.lock, late.start, max(early.end, late.start + SECOND // 10), 'fill="none" stroke="#d00"/>')
    size = (LEFT + STRIP_S * SCALE + 10, strips.count * strips.height)
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">\n'
            '<rect width="100%%" height="100%%" fill="#fff"/>\n%s\n</svg>\n' % (*size, "\n".join(strips.parts)))


def add_holders(strips, records):
    names = sorted(records.stories)
    for ask in records.asks:
        end = ask.left or ask.ended
        if ask.held and end:
            colour = HOLDERS[names.index(ask.member) % len(HOLDERS)]
            strips.bar(ask.lock, ask.held, end, 'fill="%s"%s><title>%s %s %d</title></rect>'
                       % (colour, ' fill-opacity="0.5"' if ask.mode == "shared" else "", ask.member, ask.mode,
                          ask.token))
