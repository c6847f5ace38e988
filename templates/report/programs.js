/* Programs in NumPy: what workers did, sections of calls, memory from node to node. */

/* Add what all PEs of a role did; return the section. */
function addShares({ workers, roles, cycles }) {
  const section = addSection("time", "Time", `What all PEs of a role did in ` +
    `${asNumber(cycles)} cycles, as shares of these.`);
  const [blue, orange, grey] = ["lanes", "dispatch", "waiting"].map(causeFill);
  const told = [
    ["elements", blue], ["set_up", orange], ["sums", causeFill("port")], ["control", grey],
  ];
  const names = { elements: "elements", set_up: "set-up", sums: "waiting for sums",
    control: "waiting for the control" };
  const box = section.append("div").attr("class", "compared");
  const parts = told.map(([name, colour]) => ({ name: names[name], colour,
    cycles: Math.round(1000 * workers[name]) / 10 }));
  addShare(box, "workers", parts, `${asShare(workers.elements)} elements`);
  for (const [role, { pes, busy, dispatch }] of Object.entries(roles)) {
    addShare(box, `${role}, ${asNumber(pes)} PE${pes === 1 ? "" : "s"}`, [
      { name: "busy", colour: blue, cycles: 100 * (busy - dispatch) },
      { name: "dispatch", colour: orange, cycles: 100 * dispatch },
      { name: "waiting", colour: grey, cycles: 100 * (1 - busy) },
    ], `${asShare(busy)} busy`);
  }
  addKeys(section, parts.map(({ name, colour }) => ({ name, colour })));
  return section;
}

function addShare(box, says, parts, end) {
  box.append("span").text(says);
  addStack(box.append("div"), parts, d3.sum(parts, ({ cycles }) => cycles) || 1);
  box.append("b").text(end);
}

function addSections(nodes, calls) {
  const section = addSection("sections", "Sections", "The graph, in the order in which it runs, " +
    "and the procedures that all workers run when the executive says so.");
  const body = section.append("div").attr("class", "task-body");
  const list = body.append("ol").attr("class", "nodes").selectAll("li").data(nodes).join("li")
    .style("padding-left", ({ depth }) => `${depth * 1.4}rem`);
  list.append("b").text(({ id }) => `n${id}`);
  list.append("code").text(({ does }) => does);
  addTable(body, ["section", "for", "procedure", "arguments"], calls.map((call) =>
    [call.section, call.node, call.procedure, call.arguments])).attr("class", "tensors");
}

/* Draw which bytes are whose, from node to node: time to the right, addresses upwards. */
function addLives(lives, nodes) {
  const section = addSection("memory", "Memory", "Which bytes are whose, from the first node of " +
    "the graph to the last.");
  const last = d3.max(nodes, ({ id }) => id) + 1;
  for (const [space, own] of d3.group(lives, (life) => life.space)) {
    const width = 1180, left = 60, height = 190;
    const end = d3.max(own, (life) => life.address + life.bytes);
    const x = d3.scaleLinear([-1, last], [left, width - 12]);
    const y = d3.scaleLinear([0, end], [height - 24, 8]);
    section.append("h3").text(space === "workers" ? "a worker" : `the ${space}`);
    const svg = section.append("svg").attr("class", "lives")
      .attr("viewBox", `0 0 ${width} ${height}`)
      .attr("role", "img").attr("aria-label", `${own.length} entries in ${end} bytes of ${space}`);
    const groups = svg.selectAll("g.life").data(own).join("g").attr("class", "life");
    const from = (life) => x(Math.max(-1, life.first));
    const to = (life) => x(Math.min(last, life.last + 1));
    groups.append("rect").attr("x", from).attr("y", (life) => y(life.address + life.bytes))
      .attr("width", (life) => to(life) - from(life) - 1).attr("rx", 3)
      .attr("height", (life) => Math.max(1, y(life.address) - y(life.address + life.bytes) - 1))
      .style("fill", (_, at) => roleFill(at));
    groups.append("text").attr("x", (life) => from(life) + 7)
      .attr("y", (life) => y(life.address + life.bytes / 2) + 4).text(({ name, bytes }) =>
        (bytes * (height - 32) / end > 11 ? name : ""));
    groups.append("title").text(({ name, bytes, address }) =>
      `${name}: ${bytes} bytes from ${address} on`);
    const named = (id) => (id < 0 ? "start" : id < last ? `n${id}` : "end");
    svg.append("g").attr("transform", `translate(0,${height - 24})`)
      .call(d3.axisBottom(x).ticks(Math.min(12, last + 1)).tickFormat(named));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(4));
  }
}
