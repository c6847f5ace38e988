/* What is made of parts: one a row, and beside the rows the graph of what crosses. */

const STEP_OF_LANES = 11, CORNER = 9;

/* List the parts in the order in which they run, with all that is known of each. */
function addParts({ parts, edges = [], results }) {
  const section = addSection("parts", "Parts", edges.length
    ? "In the order in which they run. The lines are what crosses, from the part that gives it " +
      "to those that take it."
    : "None takes what another one gives.");
  const rows = orderRows(parts, edges), columns = columnsOf(rows, edges, results);
  const holder = section.append("div").attr("class", "parts scroll");
  const table = holder.append("table");
  table.append("thead").append("tr").selectAll("th").data(columns).join("th")
    .attr("scope", "col").attr("class", ({ kind }) => kind).text(({ head }) => head);
  const lines = table.append("tbody").selectAll("tr").data(rows).join("tr")
    .attr("data-part", ({ name }) => name).attr("class", ({ isGiven }) => isGiven && "given");
  for (const { kind, fill } of columns) {
    lines.append("td").attr("class", kind).each(function (row) { fill(d3.select(this), row); });
  }
  if (!edges.length) return;
  const svg = holder.append("svg").attr("class", "gutter").attr("role", "img")
    .attr("aria-label", `${parts.length} parts; ${edges.length} tensors cross between them`);
  new ResizeObserver(() => drawGutter(svg, lines, rows, edges)).observe(table.node());
  lines.on("pointerenter focusin", (_, { name }) => svg.selectAll("path")
    .classed("near", (edge) => edge.source === name || edge.target === name));
  lines.on("pointerleave focusout", () => svg.selectAll("path").classed("near", false));
}

/* Return what rows are of: parts after those of which they take something, as far as that goes,
   and what is given from outside before those that take it. */
function orderRows(parts, edges) {
  const names = new Set(parts.map(({ name }) => name)), before = new Map(), done = new Set();
  const left = parts.flatMap((part) => {
    const given = edges.filter(({ source, target }) =>
      target === part.name && !names.has(source) && !before.has(source));
    const own = [...new Set(given.map(({ source }) => source))]
      .map((name) => ({ name, isGiven: true }));
    own.forEach(({ name }) => before.set(name, []));
    return [...own, part];
  });
  for (const { name } of left) before.set(name, []);
  for (const { source, target } of edges) before.get(target)?.push(source);
  const rows = [];
  while (left.length) {
    const ready = left.findIndex(({ name }) => before.get(name).every((each) => done.has(each)));
    const [row] = left.splice(Math.max(0, ready), 1);
    done.add(row.name);
    rows.push(row);
  }
  return rows;
}

/* Return the columns of the table: { head, kind, fill }, of which `fill` writes a cell. */
function columnsOf(rows, edges, { parts: found }) {
  const of = ({ name }) => found[name], most = d3.max(Object.values(found), (p) => p.cycles.simd);
  const number = (head, value) => ({ head, kind: "number", fill: (cell, row) =>
    cell.text(of(row) ? asNumber(value(of(row), row)) : "") });
  const columns = [
    { head: "part", fill: fillName },
    { head: "PEs", fill: sizer(rows) },
    { head: "cycles", kind: "cycles", fill: (cell, row) => fillCycles(cell, of(row), most) },
    number("with loops", ({ cycles }) => cycles.loops),
    { head: "times as fast", kind: "number", fill: (cell, row) =>
      cell.text(of(row) ? of(row).speedup.toFixed(2) : "") },
    number("bytes", ({ memory }) => memory.bytes_per_pe),
    { head: "values", fill: (cell, row) => cell.text(of(row) ? wordOf(of(row)) : "given") },
  ];
  if (rows.some(({ expected }) => expected)) {
    columns.splice(3, 0, { head: "expected", kind: "number", fill: (cell, { expected }) =>
      cell.text(expected ? asNumber(expected) : "") });
  }
  const takes = d3.group(edges, ({ target }) => target);
  if (edges.length) {
    columns.push({ head: "takes", kind: "takes", fill: (cell, { name }) =>
      fillTaken(cell, takes.get(name) || []) });
  }
  return columns;
}

const wordOf = ({ right, exact }) =>
  (right ? (exact ? "right, bit for bit" : "right, within rounding") : "WRONG");

/* Write the name of a part: where it lies on the one fabric, it leads there. */
function fillName(cell, { name }) {
  const isThere = window.view && framesOf(view.grid).some(({ part }) => part === name);
  if (!isThere) { cell.append("b").text(name); return; }
  cell.append("a").attr("href", "#grid").attr("title", "show where it lies").text(name)
    .on("click", (event) => { event.preventDefault(); goToPart(view, name); });
}

/* Return what draws the rectangle of a part, all in one scale, and writes its sizes. */
function sizer(rows) {
  const scale = Math.min(46 / d3.max(rows, ({ columns }) => columns),
    20 / d3.max(rows, (row) => row.rows), 5);
  return (cell, { columns, rows: count }) => {
    if (!columns) return;
    cell.append("i").attr("class", "size").style("width", `${Math.max(3, columns * scale)}px`)
      .style("height", `${Math.max(3, count * scale)}px`);
    cell.append("span").text(`${columns} × ${count}`);
  };
}

function fillCycles(cell, found, most) {
  if (!found) return;
  cell.append("i").style("width", `${100 * found.cycles.simd / most}px`);
  cell.append("span").text(asNumber(found.cycles.simd));
}

function fillTaken(cell, edges) {
  const lines = cell.selectAll("div").data(edges).join("div");
  lines.append("b").text(({ source, tensor }) => `${source}.${tensor}`);
  lines.append("span").text(({ says }) => says);
}

/* Return the lane of each edge: -1 straight down to the next row, others beside those between.
   What one row gives to several shares a lane, or what one takes of several. */
function lanesOf(rows, edges) {
  const at = new Map(rows.map(({ name }, row) => [name, row]));
  const far = edges.filter(({ source, target }) => at.get(target) - at.get(source) !== 1);
  const out = d3.rollup(far, (own) => own.length, ({ source }) => source);
  const into = d3.rollup(far, (own) => own.length, ({ target }) => target);
  const shared = d3.groups(far, ({ source, target }) =>
    (into.get(target) > out.get(source) ? `to ${target}` : `of ${source}`)).map(([, own]) => {
    const ends = own.flatMap(({ source, target }) => [at.get(source), at.get(target)]);
    return { own, first: d3.min(ends), last: d3.max(ends) };
  });
  const lanes = [], lane = new Map(edges.map((edge) => [edge, -1]));
  for (const { own, first, last } of d3.sort(shared, (each) => each.last - each.first)) {
    const free = lanes.findIndex((spans) => spans.every((s) => s.last <= first || last <= s.first));
    const here = free < 0 ? lanes.push([]) - 1 : free;
    lanes[here].push({ first, last });
    own.forEach((edge) => lane.set(edge, here));
  }
  return { lane, count: lanes.length };
}

/* Draw the graph: a dot for each row, and lines in their lanes. */
function drawGutter(svg, lines, rows, edges) {
  const { lane, count } = lanesOf(rows, edges), spine = count * STEP_OF_LANES + 16;
  const nodes = lines.nodes(), tall = d3.max(nodes, (tr) => tr.offsetTop + tr.offsetHeight);
  const y = new Map(rows.map(({ name }, at) =>
    [name, nodes[at].offsetTop + Math.min(26, nodes[at].offsetHeight) / 2]));
  svg.attr("width", spine + 14).attr("height", tall);
  svg.node().parentNode.style.setProperty("--gutter", `${spine + 14}px`);
  svg.selectAll("path").data(edges).join("path").attr("d", (edge) =>
    pathOf(y.get(edge.source), y.get(edge.target), spine, lane.get(edge)))
    .append("title").text(({ source, target, tensor }) => `${source}.${tensor} to ${target}`);
  svg.selectAll("circle").data(rows).join("circle").attr("cx", spine).attr("r", 4)
    .attr("cy", ({ name }) => y.get(name)).attr("class", ({ isGiven }) => (isGiven ? "given" : ""));
  svg.selectAll("circle").raise();
}

/* Return the line from one row to another, with the head of an arrow. */
function pathOf(from, to, spine, lane) {
  if (lane < 0) return `M${spine},${from + 4}V${to - 5}m-3.5,-5l3.5,5l3.5,-5`;
  const x = spine - (lane + 1) * STEP_OF_LANES, turn = to > from ? CORNER : -CORNER;
  return `M${spine - 4},${from}Q${x},${from} ${x},${from + turn}V${to - turn}` +
    `Q${x},${to} ${spine - 5},${to}m-5,-3.5l5,3.5l-5,3.5`;
}
