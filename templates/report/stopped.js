/* A fabric that stopped: who waits for whom, as a list, and as arrows on the grid. */

const BOW = 0.2, BADGE = 9, LEGIBLE = 36;

async function drawStop() {
  const { title, says, headline, further, else_said: elseSaid, fabric, texts } = page;
  addTitle(title, says);
  const section = addSection("stop", "The fabric stopped");
  section.append("p").attr("class", "stopped")
    .text([headline[0].toUpperCase() + headline.slice(1), further].filter(Boolean).join(", "));
  await addGrid(fabric);
  addSteps(window.view);
  if (fabric.bins) await addUntil(window.view, fabric);
  addTexts(elseSaid ? { "what else the fabric said": elseSaid, ...texts } : texts);
}

/* Add what PEs did before. */
async function addUntil(view, { bins, cycles, recorded, grid }) {
  const section = addSection("time", "Time", "What PEs did until the fabric stopped.");
  const x = d3.scaleLinear([0, bins.until], [LEFT, WIDE - RIGHT]);
  await addBins(section, bins, x);
  if (recorded) {
    addWaited(section, view, x);
    addPhases(section, recorded, grid, x);
  } else section.append("p").attr("class", "says").text("The run is too long to be recorded for " +
    "this page: so there are no phases, and no timelines of PEs.");
  addSpent(section, cycles, grid);
}

/* Draw below the states what each PE did that waits, or is waited for, in the order of the steps:
   tasks and stalls, and under these its streams. */
function addWaited(section, view, x) {
  const { events, grid, until, waiting } = view, tall = 24;
  if (!waiting) return;
  const places = waiting.steps.flatMap(({ waits, on }) => [waits, on])
    .map(([column, row]) => [column - grid.west, row - grid.north])
    .filter(([column, row]) =>
      column >= 0 && row >= 0 && column < grid.width && row < grid.height);
  const rows = [...new Map(places.map((place) => [String(place), place])).values()];
  const bars = barsOf(view).filter(({ kind }) => kind !== "vector"); /* those are in tasks */
  const own = d3.group(bars, ({ pe }) => pe);
  const barsAt = ([column, row]) => own.get(row * grid.width + column) || [];
  section.append("h3").text("What those did that wait, or are waited for");
  const svg = addChart(section, "waited").attr("role", "img")
    .attr("viewBox", `0 0 ${WIDE} ${rows.length * tall + 24}`)
    .attr("aria-label", rows.map((place) => describePe(view, place)).join("; "));
  const groups = svg.selectAll("g").data(rows).join("g")
    .attr("transform", (_, at) => `translate(0,${at * tall})`);
  groups.append("line").attr("x1", LEFT).attr("x2", WIDE).attr("y1", tall).attr("y2", tall);
  groups.append("a").attr("href", "#grid").on("click", (event, place) => goToPe(view, place))
    .append("text").attr("class", "name").attr("x", LEFT - 12).attr("y", 15)
    .text((place) => shorten(describePe(view, place), 31));
  groups.each(function (place) { drawBars(d3.select(this), barsAt(place), x); });
  groups.append("text").attr("class", "last").attr("x", WIDE - RIGHT + 18).attr("y", 15)
    .text((place) => describeLast(barsAt(place), until));
  svg.append("g").attr("transform", `translate(0,${rows.length * tall + 2})`)
    .call(d3.axisBottom(x).ticks(8).tickSizeOuter(0));
  addMissing(section, events);
}

/* Draw the bars of a PE. Those narrower than a pixel, which may be many, are one path a colour. */
function drawBars(group, bars, x) {
  const shaped = bars.map((bar) => ({ ...bar, left: x(bar.begin), wide: x(bar.end) - x(bar.begin),
    ...(bar.kind === "stream" ? { top: 16, tall: 4 } : { top: 4, tall: 11 }) }));
  const narrow = d3.groups(shaped.filter(({ wide }) => wide < 1), ({ colour }) => colour);
  group.selectAll("path").data(narrow).join("path").style("fill", ([colour]) => colour)
    .attr("d", ([, own]) => own.map(({ left, top, wide, tall }) =>
      `M${left.toFixed(2)},${top}h${wide.toFixed(3)}v${tall}h${-wide.toFixed(3)}z`).join(""));
  group.selectAll("rect").data(shaped.filter(({ wide }) => wide >= 1)).join("rect")
    .attr("x", ({ left }) => left).attr("width", ({ wide }) => wide)
    .attr("y", ({ top }) => top).attr("height", ({ tall }) => tall)
    .style("fill", ({ colour }) => colour).append("title").text(({ says }) => says);
}

/* Return what a PE waited for at last, and since when. */
function describeLast(bars, until) {
  const last = d3.greatest(bars.filter(({ kind }) => kind === "stall"), ({ end }) => end);
  if (last && last.end >= until) return `${last.cause}, since ${asNumber(last.begin)}`;
  return bars.length ? `nothing since ${asNumber(d3.max(bars, ({ end }) => end))}` : "did nothing";
}

/* Show a PE, and its place. */
function goToPe(view, [column, row]) {
  const { grid } = view;
  goToStep(view, { waits: [column + grid.west, row + grid.north] });
}

/* Add the steps beside the grid, above the PE that is looked at. */
function addSteps(view) {
  const { steps, left_out: leftOut = 0, is_circle: isCircle = false, cause } = page;
  if (!steps || !steps.length) return;
  view.waiting = { steps, leftOut, chosen: null };
  const side = d3.select("#grid .grid-body").append("div").attr("class", "side");
  const holder = side.append("aside").attr("class", "panel").attr("id", "waiting")
    .attr("aria-label", "who waits for whom");
  side.append(() => d3.select("#pe").remove().node());
  holder.append("h3").text(isCircle ? "It waits in a circle" : "It waits in a chain");
  holder.append("p").attr("class", "hint").text(isCircle
    ? "Each waits for the next one, and the last for the first." : "Each waits for the next one.");
  const list = holder.append("ol").attr("class", "steps");
  for (const [at, step] of steps.entries()) {
    if (leftOut && at === steps.length / 2) addGap(list, `${asNumber(leftOut)} more, not drawn`);
    addStep(list, view, step);
  }
  if (isCircle) addGap(list, `and so on, from ${steps[0].number}`);
  holder.append("p").attr("class", "cause").text(`So: ${cause}.`);
  if (view.fit < LEGIBLE) goToWaiting(view);
  redraw(view);
}

const addGap = (list, text) => list.append("li").attr("class", "gap").text(`… ${text} …`);

function addStep(list, view, step) {
  const button = list.append("li").append("button").attr("type", "button")
    .attr("data-step", step.number);
  const stream = streamOf(view, step);
  button.append("i").text(step.number)
    .style("background", stream ? streamFill(stream.at) : "var(--ink)");
  const [x, y] = step.waits, at = [x - view.grid.west, y - view.grid.north];
  button.append("span").text(nameAllAt(view.grid, step.says || sayStep(step), at));
  const show = (chosen) => { view.waiting.chosen = chosen; redraw(view); };
  button.on("click", () => goToStep(view, step))
    .on("pointerenter focus", () => show(step)).on("pointerleave blur", () => show(null));
}

const sayStep = ({ waits, on, colour, kind }) =>
  `PE[${waits.join(", ")}] ${kind}${colour ? `, on ${colour}` : ""}: PE[${on.join(", ")}]`;

const streamOf = (view, { colour }) => view.streams.find(({ name }) => name === colour);

function stepColour(view, step) {
  const stream = streamOf(view, step);
  return stream ? streamColour(stream.at) : cssColour("--ink");
}

/* Show the PE that waits, or of a port the one beside it. */
function goToStep(view, { waits }) {
  const { grid, width, height } = view;
  const within = (at, count) => Math.max(0, Math.min(count - 1, at));
  const at = [within(waits[0] - grid.west, grid.width), within(waits[1] - grid.north, grid.height)];
  const middle = at.map((value) => value + 0.5), [px, py] = view.transform.apply(middle);
  if (px < 0 || py < 0 || px > width || py > height) {
    d3.select(view.canvas).call(view.zoom.translateTo, ...middle);
  }
  choose(view, at);
}

/* Move to all that waits, where the whole grid is too small to read. */
function goToWaiting(view) {
  const { grid, width, height, waiting: { steps } } = view;
  const places = steps.flatMap(({ waits, on }) => [waits, on]);
  const [xs, ys] = [0, 1].map((axis) => d3.extent(places, (place) => place[axis]));
  const wide = xs[1] - xs[0] + 3, high = ys[1] - ys[0] + 3;
  const k = Math.max(view.fit, Math.min(width / wide, height / high, 120));
  const middle = [(xs[0] + xs[1] + 1) / 2 - grid.west, (ys[0] + ys[1] + 1) / 2 - grid.north];
  moveTo(view, d3.zoomIdentity
    .translate(width / 2 - k * middle[0], height / 2 - k * middle[1]).scale(k));
}

/* Draw an arrow for each step, what is chosen last; what is left out is a line of dots. */
function drawWaiting(view) {
  const { steps, leftOut, chosen } = view.waiting;
  if (leftOut) drawLeftOut(view, steps[steps.length / 2 - 1].on, steps[steps.length / 2].waits);
  const taken = new Map();
  const arrows = steps.map((step) => {
    const key = `${step.waits} ${step.on}`, before = taken.get(key) || 0;
    taken.set(key, before + 1);
    const isLoop = String(step.waits) === String(step.on);
    const shape = isLoop ? loopOf(view, step.on, before) : bowOf(view, step, before);
    return { step, shape };
  });
  for (const each of arrows) drawArrow(view, each, each.step === chosen);
  for (const each of arrows) drawBadge(view, each, each.step === chosen);
}

/* Return where the middle of a PE is drawn, or the end of a port beside the grid. */
function middleOf({ grid, transform: { k, x, y } }, [column, row]) {
  const far = Math.min(34, k * 0.42) + 13;
  const near = (at, count) => (at < 0 ? -far : at < count ? k * (at + 0.5) : k * count + far);
  return [x + near(column - grid.west, grid.width), y + near(row - grid.north, grid.height)];
}

/* Return the loop of who waits for itself, on the side where no others are: its path, its tip, the
   direction there, and where its number stands. `before` others lie there. */
function loopOf(view, place, before) {
  const { k } = view.transform, [ax, ay] = middleOf(view, place);
  const radius = Math.max(4, Math.min(18, k * 0.15));
  const others = view.waiting.steps.flatMap(({ waits, on }) => [waits, on])
    .map(([x, y]) => [Math.sign(x - place[0]), Math.sign(y - place[1])]);
  const [east, south] = [0, 1].map((axis) => d3.sum(others, (way) => way[axis]));
  const away = Math.atan2(-south || -0.7, -east || 0.7) + 1.1 * before, end = away + Math.PI - 0.35;
  const cx = ax + 1.8 * radius * Math.cos(away), cy = ay + 1.8 * radius * Math.sin(away);
  const at = (angle) => [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
  const path = new Path2D();
  path.arc(cx, cy, radius, end + 1.1, end + 2 * Math.PI);
  return { path, tip: at(end), along: [-Math.sin(end), Math.cos(end)], long: 4 * radius,
    middle: at(away) };
}

/* Return the same of an arrow between two, bowed to its right, farther if others lie there. */
function bowOf(view, { waits, on }, before) {
  const { k } = view.transform, [ax, ay] = middleOf(view, waits), [bx, by] = middleOf(view, on);
  const path = new Path2D(), long = Math.hypot(bx - ax, by - ay);
  const [ux, uy] = [(bx - ax) / long, (by - ay) / long];
  const gap = Math.min(14, 0.14 * k, long / 4);
  const aside = (BOW + 0.14 * before) * Math.min(long, 3 * k);
  const bent = ([px, py], way) => {
    const [dx, dy] = [way * ux - 4 * uy * aside / long, way * uy + 4 * ux * aside / long];
    const size = Math.hypot(dx, dy);
    return [px + gap * dx / size, py + gap * dy / size];
  };
  const start = bent([ax, ay], 1), tip = bent([bx, by], -1);
  const top = [(ax + bx) / 2 - 2 * uy * aside, (ay + by) / 2 + 2 * ux * aside];
  path.moveTo(...start);
  path.quadraticCurveTo(...top, ...tip);
  const turn = Math.hypot(tip[0] - top[0], tip[1] - top[1]);
  return { path, tip, long, along: [(tip[0] - top[0]) / turn, (tip[1] - top[1]) / turn],
    middle: [(start[0] + 2 * top[0] + tip[0]) / 4, (start[1] + 2 * top[1] + tip[1]) / 4] };
}

function drawArrow(view, { step, shape: { path, tip: [x, y], along: [dx, dy], long } }, isChosen) {
  const { ctx, transform: { k } } = view, around = Math.min(4, long / 8);
  const wide = Math.max(1.5, Math.min(3.2, k * 0.035)) * (isChosen ? 1.8 : 1);
  const size = Math.min(2.4 * wide, long / 3);
  const head = new Path2D();
  head.moveTo(x + size * dx, y + size * dy);
  head.lineTo(x - size * dx - size * dy, y - size * dy + size * dx);
  head.lineTo(x - size * dx + size * dy, y - size * dy - size * dx);
  head.closePath();
  ctx.lineCap = "butt";
  ctx.lineJoin = "round";
  ctx.strokeStyle = cssColour("--panel");
  ctx.lineWidth = wide + around;
  ctx.stroke(path);
  ctx.lineWidth = around;
  ctx.stroke(head);
  ctx.strokeStyle = ctx.fillStyle = stepColour(view, step);
  ctx.lineWidth = wide;
  ctx.stroke(path);
  ctx.fill(head);
}

/* Write the number of a step on its arrow, where there is room. */
function drawBadge(view, { step, shape: { middle: [x, y], long } }, isChosen) {
  const { ctx } = view;
  if (long < 3 * BADGE && !isChosen) return;
  ctx.beginPath();
  ctx.arc(x, y, BADGE + (isChosen ? 2 : 0), 0, 2 * Math.PI);
  ctx.fillStyle = stepColour(view, step);
  ctx.fill();
  ctx.strokeStyle = cssColour("--panel");
  ctx.lineWidth = 2;
  ctx.stroke();
  ctx.fillStyle = cssColour("--panel");
  ctx.font = `700 ${step.number > 99 ? 9 : 11}px ${cssColour("--sans")}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(step.number, x, y + 0.5);
}

function drawLeftOut(view, from, to) {
  const { ctx } = view;
  ctx.strokeStyle = cssColour("--faint");
  ctx.lineWidth = 2.5;
  ctx.lineCap = "round";
  ctx.setLineDash([0.1, 7]);
  ctx.beginPath();
  ctx.moveTo(...middleOf(view, from));
  ctx.lineTo(...middleOf(view, to));
  ctx.stroke();
  ctx.setLineDash([]);
}
