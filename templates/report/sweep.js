/* The last sweep: its combinations as points of two figures, with the Pareto front, and as a table.

   Of a figure `less` says whether less of it is better. A scale is logarithmic from a ratio of
   APART on between the most and the least, and does not begin at 0 below one of NEAR. */

const SWEPT = [
  { name: "cycles", title: "cycles", of: ({ cycles }) => cycles, less: true },
  { name: "loops", title: "cycles with loops", of: ({ loops }) => loops, less: true },
  { name: "speedup", title: "speed-up", of: ({ speedup }) => speedup, less: false,
    format: ".2f" },
  { name: "bound", title: "bound", of: ({ bound }) => bound, less: true },
  { name: "memory", title: "memory", of: ({ bytes, of }) => (of ? bytes / of : null), less: true,
    format: ".1%" },
  { name: "pes", title: "PEs", of: ({ pes }) => pes, less: true },
];
const PLOT = { width: 760, height: 420, left: 76, right: 24, top: 16, bottom: 50 };
const APART = 50, NEAR = 2;

function addSweep(sweep) {
  if (!sweep) return;
  const rows = sweep.rows.map((row, at) => ({ ...row, at })), built = rows.filter((r) => r.figures);
  const section = addSection("sweep", "Sweep", saySweep(sweep, rows, built));
  const right = built.filter((row) => row.right);
  const known = SWEPT.filter(({ of }) => built.some(({ figures }) => of(figures) != null));
  const state = {
    section, keys: sweep.keys, work: sweep.work, right, known, chosen: null, sort: null,
  };
  if (right.length) {
    const hasPes = right.every(({ figures }) => figures.pes != null);
    state.axes = [known.find(({ name }) => name === (hasPes ? "pes" : "memory")) || known[0],
      known[0]];
    addPlot(state);
  }
  if (built.length) addSweepTable(state, built);
  if (right.length) drawPlot(state);
  addRefused(section, rows.filter((row) => !row.figures));
}

function saySweep({ keys, work }, rows, built) {
  const refused = rows.length - built.length;
  const same = work.length ? ` of the same ${work.join(", ")}` : "";
  return `${asNumber(rows.length)} ${rows.length === 1 ? "combination" : "combinations"} of ` +
    `${keys.join(", ")}${refused ? `; ${asNumber(refused)} of them refused` : ""}. On the line ` +
    `are those that no other one${same} is better than in one figure, and as good as in the other.`;
}

const sayRow = (state, { set, figures }) => [
  ...state.keys.map((key) => [key, set[key]]),
  ...state.known.filter(({ of }) => of(figures) != null)
    .map((each) => [each.title, writeFigure(each, figures)]),
  ...(figures.by ? [["bound by", figures.by]] : []),
];

const writeFigure = ({ of, format = "," }, figures) =>
  (of(figures) == null ? "" : d3.format(format)(of(figures)));

/* Add what chooses the two figures, the plot, and what is said of the point that is looked at. */
function addPlot(state) {
  const bar = state.section.append("div").attr("class", "toolbar");
  for (const [at, says] of ["Across", "Up"].entries()) {
    const select = bar.append("label").text(`${says} `).append("select").attr("data-axis", at);
    select.selectAll("option").data(state.known).join("option").attr("value", ({ name }) => name)
      .text(({ title }) => title).property("selected", (each) => each === state.axes[at]);
    select.on("change", () => {
      state.axes[at] = state.known.find(({ name }) => name === select.property("value"));
      drawPlot(state);
    });
  }
  const body = state.section.append("div").attr("class", "sweep-body");
  state.svg = addChart(body, "graph").attr("viewBox", `0 0 ${PLOT.width} ${PLOT.height}`)
    .attr("tabindex", 0).attr("role", "application")
    .on("keydown", (event) => moveAlong(state, event))
    .on("focus", () => choosePoint(state, state.chosen || state.points[0]));
  state.said = body.append("div").attr("class", "panel").attr("role", "status");
  state.said.append("p").attr("class", "hint").text("Point at a combination, or go from one to " +
    "the next with the arrow keys: all its figures stand here.");
}

/* Return rows by how much there is to do. */
const byWork = (state, rows) =>
  [...d3.group(rows, ({ set }) => JSON.stringify(state.work.map((key) => set[key]))).values()];

/* Return the rows with both figures that no other one is better than, from left to right. */
function frontOf(rows, axes) {
  const worths = rows.map(({ figures }) =>
    axes.map(({ of, less }) => (less ? 1 : -1) * of(figures)));
  return rows.filter((_, at) => !worths.some((other) =>
    other.every((value, k) => value <= worths[at][k]) &&
    other.some((value, k) => value < worths[at][k])));
}

/* Return a scale from 0 on; of what is near to each other from less than the least on, and of what
   is far apart a logarithmic one. */
function scaleOf(rows, { of }, range) {
  const [least, most] = d3.extent(rows, ({ figures }) => of(figures));
  if (least > 0 && most / least > APART) return d3.scaleLog([least / 1.3, most * 1.3], range);
  const around = most < NEAR * least ? 0.08 * (most - least) || 0.1 * most : least;
  return d3.scaleLinear([least - around, most + Math.min(around, 0.04 * most) || 1], range).nice();
}

function drawPlot(state) {
  const { svg, axes, right, section } = state, { width, height, left, top, bottom } = PLOT;
  const points = right.filter(({ figures }) => axes.every(({ of }) => of(figures) != null));
  state.points = d3.sort(points, ({ figures }) => axes[0].of(figures));
  const x = scaleOf(points, axes[0], [left, width - PLOT.right]);
  const y = scaleOf(points, axes[1], [height - bottom, top]);
  state.place = ({ figures }) => [x(axes[0].of(figures)), y(axes[1].of(figures))];
  const fronts = byWork(state, state.points).map((rows) => frontOf(rows, axes));
  const front = new Set(fronts.flat());
  svg.html("").attr("aria-label", `${axes[1].title} over ${axes[0].title} of ${points.length} ` +
    `combinations, ${front.size} of them on the front. Arrow keys go from one to the next.`);
  drawAxes(svg, axes, x, y);
  const line = d3.line().curve(axes[0].less ? d3.curveStepAfter : d3.curveStepBefore);
  svg.selectAll("path.front").data(fronts).join("path").attr("class", "front")
    .attr("d", (rows) => line(rows.map(state.place)));
  const onTop = d3.sort(state.points, (row) => front.has(row));
  svg.selectAll("circle").data(onTop).join("circle").attr("data-row", ({ at }) => at)
    .attr("class", (row) => (front.has(row) ? "on-front" : null)).attr("r", 6)
    .attr("cx", (row) => state.place(row)[0]).attr("cy", (row) => state.place(row)[1])
    .on("pointerenter click", (_, row) => choosePoint(state, row));
  labelPoints(state, [...front]);
  section.selectAll(".swept tbody tr").classed("on-front", (row) => front.has(row));
  choosePoint(state, state.points.includes(state.chosen) ? state.chosen : null);
}

function drawAxes(svg, axes, x, y) {
  const { width, height, left, top, bottom } = PLOT;
  const title = ({ title: text }, scale) => (scale.base ? `${text}, logarithmic` : text);
  const mark = (axis, scale, { format }) => (format || scale.base ? axis.ticks(6, format || ",f")
    : axis.tickValues(scale.ticks(6).filter(Number.isInteger)).tickFormat(asNumber));
  svg.append("g").attr("transform", `translate(0,${height - bottom})`)
    .call(mark(d3.axisBottom(x).tickSizeOuter(0), x, axes[0]));
  svg.append("g").attr("transform", `translate(${left},0)`)
    .call(mark(d3.axisLeft(y).tickSizeOuter(0), y, axes[1]));
  svg.append("text").attr("class", "name").attr("x", width - PLOT.right).attr("y", height - 10)
    .attr("text-anchor", "end").text(title(axes[0], x));
  svg.append("text").attr("class", "name").attr("transform", `translate(16,${top}) rotate(-90)`)
    .attr("text-anchor", "end").text(title(axes[1], y));
}

/* Write the values of keys beside points of the front, where they cover nothing. */
function labelPoints(state, front) {
  const taken = state.points.map((row) => boxAround(...state.place(row), 7, 7));
  for (const [place, rows] of d3.group(front, (row) => state.place(row).join())) {
    const [x, y] = place.split(",").map(Number), more = rows.length - 1;
    const values = Object.values(rows[0].set).map((value) => shorten(value, 16)).join(", ");
    const text = shorten(values, 34) + (more ? ` and ${more} more` : "");
    const wide = text.length * 6.6, sides = [[1, -9], [1, 14], [-1, -9], [-1, 14]];
    for (const [way, down] of sides) {
      const box = boxAround(x + way * (wide / 2 + 9), y + down, wide / 2, 7);
      const isInside = box[0] >= PLOT.left && box[2] <= PLOT.width && box[1] > 0;
      if (!isInside || taken.some((other) => meets(box, other))) continue;
      taken.push(box);
      state.svg.append("text").attr("x", x + way * 9).attr("y", y + down + 4)
        .attr("text-anchor", way > 0 ? "start" : "end").text(text);
      break;
    }
  }
}

const boxAround = (x, y, wide, high) => [x - wide, y - high, x + wide, y + high];
const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/* Say all of a combination, and mark it in the plot and in the table; null is none. */
function choosePoint(state, row) {
  state.chosen = row;
  state.svg.selectAll("circle").classed("chosen", (each) => each === row);
  state.section.selectAll(".swept tbody tr").classed("chosen", (each) => each === row);
  if (!row) return;
  const list = state.said.html("").append("dl");
  for (const [name, text] of sayRow(state, row)) {
    list.append("dt").text(name);
    list.append("dd").text(text);
  }
  state.said.append("p").attr("class", "hint").text(row.folder);
}

function moveAlong(state, event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const at = state.points.indexOf(state.chosen) + step;
  choosePoint(state, state.points[Math.max(0, Math.min(state.points.length - 1, at))]);
  event.preventDefault();
}

/* Add a table of what was built, which is sorted by the column of which the head is pressed. */
function addSweepTable(state, built) {
  const columns = [
    ...state.keys.map((key) => ({ title: key, of: ({ set }) => set[key] })),
    ...state.known.map((each) => ({ title: each.title, isNumber: true,
      of: ({ figures }) => each.of(figures), text: ({ figures }) => writeFigure(each, figures) })),
    ...(built.every((row) => row.right) ? []
      : [{ title: "values", of: ({ right, error }) => (right ? "right" : error) }]),
  ];
  const table = addTable(state.section, columns.map(({ title }) => title), []);
  table.classed("swept", true);
  const heads = table.selectAll("th").data(columns).attr("class", numbered).text("");
  heads.append("button").attr("type", "button").text(({ title }) => title);
  const rows = table.select("tbody").selectAll("tr").data(built).join("tr")
    .attr("data-row", ({ at }) => at)
    .on("click", (_, row) => state.points && state.points.includes(row) && choosePoint(state, row));
  rows.selectAll("td").data((row) => columns.map((column) => [column, row])).join("td")
    .attr("class", ([column]) => numbered(column))
    .text(([{ of, text = of }, row]) => text(row));
  heads.select("button").on("click", (_, column) => {
    const isUp = state.sort === column && heads.filter((c) => c === column)
      .attr("aria-sort") === "ascending";
    state.sort = column;
    const order = isUp ? d3.descending : d3.ascending;
    heads.attr("aria-sort", (c) => (c !== column ? null : isUp ? "descending" : "ascending"));
    rows.sort((a, b) => order(column.of(a), column.of(b)) || a.at - b.at);
  });
}

const numbered = ({ isNumber }) => (isNumber ? "number" : null);

/* List the combinations that a stage refused, with the reason, and all that it said. */
function addRefused(section, refused) {
  if (!refused.length) return;
  section.append("h3").text("Refused");
  const each = section.selectAll("details.refused").data(refused).join("details")
    .attr("class", "refused");
  const line = each.append("summary");
  line.append("b").text(({ set }) => Object.values(set).join(", "));
  line.append("span").text(({ error }) => ` ${firstLine(error)}`);
  each.append("pre").attr("tabindex", 0).text(({ error }) => error);
}

const firstLine = (text) => (text || "").split("\n")[0].replace(/^.*?error: /, "");
