"""The story of a cell as a picture: a line for each contender, time from left to right."""
from xml.sax.saxutils import escape

import judge

WIDTH, LEFT, ROW, TOP, BAR = 900, 90, 46, 78, 18
MARGIN = 0.05  # of time behind the end, for its words
COLOURS = {"waiting": "#d9d9d9", "inside": "#3b7dd8", "frozen": "#9fc5f5", "overlap": "#d62728"}
LEGEND = [("waiting", "waits"), ("inside", "has the lock"), ("frozen", "frozen"), ("overlap", "two at once")]
SIGNS = {"told": ("!", "#b8860b", "told"), "wrote": ("w", "#2e7d32", "writes"), "stale": ("r", "#d62728", "refused"),
         "killed": ("x", "#000000", "killed")}


class Picture:
    def __init__(self, first_ns, last_ns):
        self.first_ns, self.span_ns = first_ns, max(last_ns - first_ns, 1) * (1 + MARGIN)
        self.parts = []

    def x(self, when_ns):
        return LEFT + (when_ns - self.first_ns) / self.span_ns * (WIDTH - LEFT - 20)

    def bar(self, first_ns, last_ns, y, colour, height=BAR):
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>' % (
            self.x(first_ns), y, max(self.x(last_ns) - self.x(first_ns), 1.5), height, colour))

    def line(self, x, y1, y2, colour, dash=""):
        self.parts.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>' % (
            x, y1, x, y2, colour, ' stroke-dasharray="%s"' % dash if dash else ""))

    def text(self, x, y, text, size=12, colour="#222222", anchor="start"):
        self.parts.append('<text x="%.1f" y="%.1f" font-size="%d" fill="%s" text-anchor="%s">%s</text>' % (
            x, y, size, colour, anchor, escape(text)))


def draw_axis(picture, bottom):
    step = next(step for step in (1, 2, 5, 10, 20) if picture.span_ns / 1e9 / step <= 16)
    for second in range(0, int(picture.span_ns / 1e9) + 1, step):
        x = picture.x(picture.first_ns + second * 1e9)
        picture.line(x, TOP - 8, bottom, "#eeeeee")
        picture.text(x, bottom + 14, "%d s" % second, 11, "#666666", "middle")


def draw_contender(picture, y, entries, events):
    """Bars, then the signs below them; what stands too close is moved to the right."""
    for kind in ("waiting", "inside", "frozen"):
        for first, last, what in entries:
            if what == kind:
                picture.bar(first, last, y + (BAR / 4 if kind == "waiting" else 0), COLOURS[kind],
                            BAR // 2 if kind == "waiting" else BAR)
    free_from = 0
    for when, _, event, _ in events:
        if event in SIGNS:
            _, colour, word = SIGNS[event]
            x = max(picture.x(when), free_from)
            picture.line(picture.x(when), y - 2, y + BAR + 4, colour)
            picture.text(min(x, WIDTH - 50), y + BAR + 15, word, 11, colour)
            free_from = x + 8 * len(word)


def draw_marks(picture, events, bottom):
    """What was done to the servers and the network, above the contenders."""
    free_from, row = 0, 0
    for when, who, event, detail in events:
        if event != "mark":
            continue
        x = picture.x(when)
        row = row + 1 if x < free_from else 0
        picture.line(x, TOP - 8 - 12 * row, bottom, "#8e44ad", "3,3")
        picture.text(min(x + 3, WIDTH - 6 * len(detail) - 4), TOP - 10 - 12 * row, detail, 11, "#8e44ad")
        free_from = max(free_from, x + 6 * len(detail) + 12)


def draw_legend(picture, y):
    x = LEFT
    for kind, word in LEGEND:
        picture.parts.append('<rect x="%d" y="%d" width="14" height="10" fill="%s"/>' % (x, y - 9, COLOURS[kind]))
        picture.text(x + 19, y, word, 11, "#444444")
        x += 110


def draw(title, events, end_ns):
    """The SVG's text. Contenders stand in the order in which they came."""
    events = sorted(events, key=lambda entry: entry[0])
    first_ns = min(when for when, _, event, _ in events if event in ("ask", "mark"))
    picture = Picture(first_ns, end_ns)
    names = list(dict.fromkeys(who for _, who, event, _ in events if event == "ask"))
    spans = judge.spans_of(events, end_ns)
    bottom = TOP + ROW * len(names)
    picture.text(8, 20, title, 14)
    draw_axis(picture, bottom)
    for place, name in enumerate(names):
        y = TOP + ROW * place
        picture.text(12, y + 14, name, 13)
        draw_contender(picture, y, spans.get(name, []), [entry for entry in events if entry[1] == name])
    for first, last in judge.spans_at_least(judge.running(spans, "inside"), 2):
        picture.bar(first, last, bottom - 3, COLOURS["overlap"], 5)
    draw_marks(picture, events, bottom)
    draw_legend(picture, bottom + 34)
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
            'font-family="sans-serif">\n<rect width="100%%" height="100%%" fill="#ffffff"/>\n%s\n</svg>\n' % (
                WIDTH, bottom + 46, WIDTH, bottom + 46, "\n".join(picture.parts)))
