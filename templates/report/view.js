/* What is seen of a grid: a place and a scale, in pixels a PE, and the PE that is looked at.

   Columns and rows count from the west and north. */

const CELLS_FROM = 9, PORTS_AROUND = 0.95, TILE = 256;

function makeView(holder, { grid, ...shown }) {
  const canvas = holder.append("canvas").attr("tabindex", 0).attr("role", "application")
    .attr("aria-label", `Grid of ${grid.width} by ${grid.height} PEs. Arrow keys move, Enter ` +
      "shows a PE, plus and minus zoom, 0 shows all.").node();
  const view = {
    ...shown, grid, canvas, ctx: canvas.getContext("2d"), width: 1, height: 1,
    transform: d3.zoomIdentity, role: null, streams: [], ports: [], hidden: new Set(),
    quantity: null, links: null, showsPath: true, waiting: null, levels: [], cursor: null,
    chosen: null, lines: null, events: null, asked: false, framed: null,
    onChoose: () => {}, onPoint: () => {},
  };
  view.zoom = d3.zoom()
    .filter((event) => !event.button && (event.type !== "wheel" || event.ctrlKey ||
      document.activeElement === canvas))
    .on("zoom", (event) => { view.transform = event.transform; redraw(view); });
  d3.select(canvas).call(view.zoom).on("dblclick.zoom", null)
    .on("click", (event) => { const at = cellAt(view, event); if (at) choose(view, at); })
    .on("pointermove", (event) => view.onPoint(cellAt(view, event)))
    .on("keydown", (event) => pressKey(view, event));
  new ResizeObserver(() => resize(view)).observe(holder.node());
  onTheme(() => { paint(view); });
  resize(view);
  return view;
}

/* Read what is drawn, and draw it. */
async function readView(view) {
  view.role = (await unpack(view.grid.role)).values;
  view.ports = await Promise.all(view.grid.ports.map(async (port) => ({
    ...port, xs: (await unpack(port.x)).values, ys: (await unpack(port.y)).values,
  })));
  view.streams = await readStreams(view.grid);
  view.lanes = 1 + (d3.max(view.streams, ({ lane }) => lane) || 0);
  paint(view);
}

/* Read what was recorded: where the critical path leads, and what some PEs did. */
async function readRecorded(view, { line, events }) {
  view.lines = linesOf(await readArrays(line));
  const { names, since, until } = events;
  view.events = { names, since, until, ...await readArrays(events) };
}

/* Return the values of what is packed, by name. */
async function readArrays(packed) {
  const each = Object.entries(packed).filter(([, { deflated }]) => deflated !== undefined);
  return Object.fromEntries(await Promise.all(each.map(async ([name, array]) =>
    [name, (await unpack(array)).values])));
}

function resize(view) {
  const { grid, canvas } = view, ratio = window.devicePixelRatio || 1;
  const width = canvas.parentNode.clientWidth;
  const names = framesOf(grid).length ? 2 * NAME_TALL : 0;
  const ideal = names +
    width * (grid.height + 2 * PORTS_AROUND) / (grid.width + 2 * PORTS_AROUND);
  const height = Math.max(300, Math.min(ideal, 0.74 * window.innerHeight, 760));
  if (width === view.width && Math.abs(height - view.height) < 1) return;
  Object.assign(view, { width, height });
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const around = PORTS_AROUND;
  view.fit = Math.min(width / (grid.width + 2 * around),
    (height - names) / (grid.height + 2 * around), 170);
  view.zoom.scaleExtent([view.fit * 0.7, Math.max(200, view.fit * 2)])
    .translateExtent([[-around - 2, -around - 2],
      [grid.width + around + 2, grid.height + around + 2]]);
  fitAll(view);
}

function fitAll(view) {
  const { grid, width, height, fit } = view;
  moveTo(view, d3.zoomIdentity
    .translate((width - fit * grid.width) / 2, (height - fit * grid.height) / 2).scale(fit));
}

const moveTo = (view, transform) => d3.select(view.canvas).call(view.zoom.transform, transform);

/* Draw once, before the browser shows the next frame. */
function redraw(view) {
  if (view.asked) return;
  view.asked = true;
  requestAnimationFrame(() => { view.asked = false; draw(view); });
}

/* Colour the PEs anew, for another quantity or another theme. */
function paint(view) {
  if (!view.role) return;
  view.colours = coloursOf(view);
  view.levels = view.fit < CELLS_FROM || view.grid.width * view.grid.height > TILE * TILE
    ? makeLevels(view) : [];
  redraw(view);
}

/* Return what gives the colour of a PE, by its number: [r, g, b], or null for none. */
function coloursOf(view) {
  const { role, quantity, grid } = view;
  if (quantity === null) {
    const tints = grid.roles.map((_, at) => d3.rgb(roleTint(at)));
    return (pe) => (role[pe] < 0 ? null : tints[role[pe]]);
  }
  return (pe) => {
    const value = valueAt(quantity, grid, pe);
    return role[pe] < 0 && !value || value < 0 ? null : RAMP[levelOf(quantity, value)];
  };
}

/* Return a number of a quantity at a PE. */
function valueAt({ read: { values, shape, least, step, block } }, grid, pe) {
  const at = block === 1 ? pe
    : Math.floor(Math.floor(pe / grid.width) / block) * shape[1] +
      Math.floor((pe % grid.width) / block);
  return least + step * values[at];
}

const levelOf = ({ greatest }, value) =>
  Math.max(0, Math.min(255, Math.round(greatest ? 255 * value / greatest : 0)));

/* Return canvases with a pixel for each PE, then for squares of 2 x 2, 4 x 4, ... PEs. */
function makeLevels({ grid, colours }) {
  const first = new OffscreenCanvas(grid.width, grid.height);
  const image = new ImageData(grid.width, grid.height);
  for (let pe = 0; pe < grid.width * grid.height; pe++) {
    const colour = colours(pe);
    if (colour) image.data.set([colour.r, colour.g, colour.b, 255], 4 * pe);
  }
  first.getContext("2d").putImageData(image, 0, 0);
  const levels = [first];
  while (Math.max(levels.at(-1).width, levels.at(-1).height) > TILE) {
    const before = levels.at(-1);
    const next = new OffscreenCanvas(Math.ceil(before.width / 2), Math.ceil(before.height / 2));
    next.getContext("2d").drawImage(before, 0, 0, before.width / 2, before.height / 2);
    levels.push(next);
  }
  return levels;
}

/* Return the column and row below the pointer, null outside of the grid. */
function cellAt({ canvas, grid, transform }, event) {
  const [column, row] = transform.invert(d3.pointer(event, canvas)).map(Math.floor);
  const isInside = column >= 0 && row >= 0 && column < grid.width && row < grid.height;
  return isInside ? [column, row] : null;
}

function choose(view, at) {
  view.cursor = view.chosen = at;
  view.onChoose(at);
  redraw(view);
}

const STEPS = { ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0] };

function pressKey(view, event) {
  const act = {
    "+": () => scaleBy(view, 1.4), "=": () => scaleBy(view, 1.4), "-": () => scaleBy(view, 1 / 1.4),
    "0": () => fitAll(view), Enter: () => choose(view, view.cursor || [0, 0]),
    " ": () => choose(view, view.cursor || [0, 0]), Escape: () => view.canvas.blur(),
  }[event.key];
  if (event.key in STEPS) moveCursor(view, STEPS[event.key], event.shiftKey ? 10 : 1);
  else if (act) act();
  else return;
  event.preventDefault();
}

const scaleBy = (view, factor) => d3.select(view.canvas).call(view.zoom.scaleBy, factor);

/* Move the cursor by some PEs, and the view with it. */
function moveCursor(view, [dx, dy], count) {
  const { grid, cursor, width, height } = view;
  const within = (value, most) => Math.max(0, Math.min(most - 1, value));
  const from = cursor || [-dx * count, -dy * count].map((value) => Math.max(value, 0));
  view.cursor = [
    within(from[0] + dx * count, grid.width), within(from[1] + dy * count, grid.height),
  ];
  view.onPoint(view.cursor);
  const [px, py] = view.transform.apply(view.cursor.map((value) => value + 0.5));
  if (px < 0 || py < 0 || px > width || py > height) {
    d3.select(view.canvas).call(view.zoom.translateTo, ...view.cursor.map((value) => value + 0.5));
  }
  redraw(view);
}
