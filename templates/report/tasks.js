/* Tasks: their instances and the box around them, the ways to an instruction, both programs. */

const WAYS = {
  hull: "the box hull", exact: "exact bounds", relaxed: "relaxed bounds", lattice: "a lattice",
  basis: "another basis", enumerate: "enumerated sizes", configure: "configured sizes",
  nested: "instructions within loops", scalar: "a scalar within loops", loops: "loops",
};
function addTasks(tasks, results) {
  const section = addSection("tasks", "Tasks", "What PEs run: the instances of one invocation on " +
    "one PE, and how they became a vector instruction.");
  for (const task of tasks) addTask(section, task, (results.tasks || {})[task.name]);
}

function addTask(section, task, result) {
  const card = section.append("article").attr("class", "task").attr("data-task", task.name);
  const head = card.append("header");
  head.append("h3").text(task.name);
  head.append("code").text(task.does);
  const taken = task.ways.find(({ taken: isTaken }) => isTaken);
  if (taken) head.append("span").attr("class", `way ${taken.name === "loops" ? "loops" : ""}`)
    .text(taken.name === "loops" ? "a loop" : `by ${WAYS[taken.name] || taken.name}`);
  if (result) addCounts(card, result);
  const body = card.append("div").attr("class", "task-body");
  if (task.instances) drawInstances(body.append("figure"), task.instances, task.pes);
  if (task.ways.length) addWays(body.append("div"), task, taken);
  if (task.code.length) addBoth(card, task.code);
}

function addCounts(card, result) {
  const facts = [["calls", result.calls], ["instances", result.instances], ["extra", result.extra]];
  const list = card.append("p").attr("class", "counts").selectAll("span").data(facts).join("span");
  list.append("b").attr("data-count", ([name]) => name).text(([, count]) => asNumber(count));
  list.append("i").text(([name, count]) =>
    name === "extra" ? " extra instances" : count === 1 ? ` ${name.slice(0, -1)}` : ` ${name}`);
}

/* Draw the points of a set: dark for instances, light for what the box hull adds. */
function drawInstances(figure, { rows, dimensions, least, sizes, constants, outer }, pes) {
  const across = rows[0].length, down = rows.length;
  const cell = Math.max(4, Math.min(26, 300 / Math.max(across, down))), left = 34, top = 22;
  const svg = figure.append("svg").attr("width", left + across * cell + 4)
    .attr("height", top + down * cell + 4).attr("role", "img")
    .attr("aria-label", `instances in ${dimensions.join(" and ")}`);
  const points = rows.flatMap((row, y) => [...row].map((digit, x) => ({ digit, x, y })))
    .filter(({ digit }) => digit !== "0");
  svg.selectAll("rect").data(points).join("rect").attr("class", ({ digit }) => `point-${digit}`)
    .attr("x", ({ x }) => left + x * cell + 0.5).attr("y", ({ y }) => top + y * cell + 0.5)
    .attr("width", cell - 1).attr("height", cell - 1).attr("rx", Math.min(3, cell / 5));
  const name = (at) => dimensions[at], last = dimensions.length - 1;
  const from = (at) => least[at], to = (at, count) => least[at] + count - 1;
  svg.append("text").attr("x", left).attr("y", 13)
    .text(`${name(last)} = ${from(last)} … ${to(last, across)}`);
  if (last > 0) {
    svg.append("text").attr("transform", `translate(22,${top}) rotate(90)`)
      .text(`${name(0)} = ${from(0)} … ${to(0, down)}`);
  }
  const fixed = Object.entries({ ...constants, ...outer })
    .filter(([key]) => !["PE_X", "PE_Y"].includes(key)).map(([key, value]) => `${key} = ${value}`);
  if (pes) fixed.unshift(pes);
  const cut = sizes.some((size, at) => size > (at === last ? across : down));
  const extra = points.filter(({ digit }) => digit === "2").length;
  figure.append("figcaption").text([
    fixed.length ? `for ${fixed.join(", ")}` : "for every PE",
    extra ? `${extra} extra` : "", cut ? `the first of ${sizes.join(" × ")}` : "",
  ].filter(Boolean).join("; "));
}

function addWays(holder, task, taken) {
  holder.append("p").attr("class", "why").text(`Why: ${task.why}.`);
  const most = d3.max(task.ways, ({ cycles }) => cycles || 0);
  const table = addScroll(holder).append("table").attr("class", "ways");
  const rows = table.append("tbody").selectAll("tr")
    .data(d3.sort(task.ways, ({ cycles }) => cycles ?? Infinity)).join("tr")
    .attr("class", (way) => (way.taken ? "taken" : null));
  rows.append("th").attr("scope", "row").text(({ name }) => WAYS[name] || name);
  rows.append("td").attr("class", "number")
    .text(({ cycles }) => (cycles === undefined ? "" : asNumber(cycles)));
  rows.append("td").each(function (way) {
    const cell = d3.select(this);
    if (way.why_not) cell.attr("class", "why-not").text(way.why_not);
    else if (way.cycles && most) {
      cell.append("i").attr("class", "bar").style("width", `${100 * way.cycles / most}%`);
    }
  });
  if (task.instruction.length) {
    holder.append("pre").attr("class", "instruction").text(task.instruction.join("\n"));
  }
}

/* Add the function of a task in both programs, side by side. */
function addBoth(card, codes) {
  const details = card.append("details");
  details.append("summary").text("The function, with vector instructions and with loops");
  const both = details.append("div").attr("class", "both");
  details.on("toggle", () => {
    if (!details.property("open") || both.selectChild().size()) return;
    for (const { role, variant, first, end } of codes) {
      const side = both.append("div");
      side.append("h4").text(`${role}, ${variant === "simd" ? "vector instructions" : variant}`);
      const { lines } = page.fabric.programs.find((p) => p.role === role && p.variant === variant);
      addCode(side, lines, first, end);
    }
  });
}
