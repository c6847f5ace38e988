/* What a run did, on the grid: how much links carried, and the critical path. */

/* Draw how much each link carried, or stalled, as bars along the sides where PEs hear it. */
function drawLinks(view) {
  const { ctx, grid, links, transform: { k, x, y } } = view;
  const thick = Math.max(2, Math.min(7, k * 0.09)), long = k * 0.56;
  links.forEach((quantity, side) => eachSeen(view, (column, row, pe) => {
    const value = valueAt(quantity, grid, pe);
    if (!value) return;
    const [dx, dy] = OUTWARD[side], colour = RAMP[levelOf(quantity, value)];
    const cx = x + k * (column + 0.5 + 0.86 * dx), cy = y + k * (row + 0.5 + 0.86 * dy);
    ctx.fillStyle = `rgb(${colour.r},${colour.g},${colour.b})`;
    const [w, h] = dx ? [thick, long] : [long, thick];
    ctx.fillRect(cx - w / 2, cy - h / 2, w, h);
  }));
}

/* Return the lines of the critical path: of each the numbers of its colour and of the one before,
   its corners, and between which columns and rows they are. */
function linesOf({ x, y, corners: counts, colour, before }) {
  let end = 0;
  return Array.from(counts, (count, at) => {
    end += count;
    const corners = d3.range(end - count, end).map((corner) => [x[corner], y[corner]]);
    return { colour: colour[at], before: before[at], corners,
      ends: [0, 1].map((axis) => d3.extent(corners, (corner) => corner[axis])) };
  });
}

/* Return the lines of which some may be seen; those of ports lie beside the grid. */
const linesSeen = ({ lines, grid, seen: { columns, rows } }) => lines.filter(({ ends: [x, y] }) =>
  x[1] - grid.west >= columns[0] - 1 && x[0] - grid.west <= columns[1] + 1 &&
  y[1] - grid.north >= rows[0] - 1 && y[0] - grid.north <= rows[1] + 1);

/* Draw the critical path: the journeys of its wavelets, each in the lane and the colour of its
   stream, and within PEs a bow from where one ends to where the next one begins. */
function drawPath(view) {
  const { ctx, lines, showsPath, lanes, transform: { k } } = view;
  if (!lines || !showsPath) return;
  const wide = Math.max(2, Math.min(6, k * 0.07, 0.8 * k * widthOfLane(lanes)));
  const streams = new Map(view.streams.map((stream) => [stream.number, stream]));
  const heads = new Path2D();
  const drawn = d3.groups(linesSeen(view), ({ colour }) => colour).map(([colour, own]) => {
    const path = new Path2D(), stream = streams.get(colour);
    for (const { before, corners } of own) {
      const points = corners.map((corner) => pointOf(view, corner, stream));
      addBow(path, pointOf(view, corners[0], streams.get(before) || stream), points[0]);
      for (const point of points) path.lineTo(...point);
      if (k >= HEADS_FROM) addHeads(heads, view, corners, points, Math.max(3, wide));
    }
    return { stream, path };
  });
  ctx.lineCap = k < CELLS_FROM ? "butt" : "round"; /* of small ones there are many */
  ctx.lineJoin = k < CELLS_FROM ? "bevel" : "round";
  const stroke = (width, style) => drawn.forEach(({ stream, path }) => {
    ctx.lineWidth = width;
    ctx.strokeStyle = style(stream);
    ctx.stroke(path);
  });
  if (k >= CELLS_FROM) stroke(wide + 2, () => cssColour("--panel"));
  stroke(wide, () => cssColour("--ink"));
  ctx.fillStyle = cssColour("--ink");
  ctx.fill(heads);
  if (k >= STREAMS_FROM) stroke(wide / 3, (stream) => streamColour(stream.at));
}

/* Return where a corner is drawn, in a stream's lane; of a port that is where its line ends. */
function pointOf(view, corner, stream) {
  const { grid, transform: { k, x, y } } = view, lane = k * laneOf(view, stream);
  const far = Math.min(34, k * 0.42);
  const along = (at, count) =>
    (at < 0 ? -far : at < count ? k * (at + 0.5) + lane : k * count + far);
  return [x + along(corner[0] - grid.west, grid.width),
    y + along(corner[1] - grid.north, grid.height)];
}

/* Begin a path with a bow between two lanes, to its right, so that none lies on another one. */
function addBow(path, [ax, ay], [bx, by]) {
  path.moveTo(ax, ay);
  path.quadraticCurveTo((ax + bx) / 2 - 0.8 * (by - ay), (ay + by) / 2 + 0.8 * (bx - ax), bx, by);
}

/* Add the head of an arrow to each part of a line, at the side of the PE behind its middle. */
function addHeads(heads, { grid, transform: { k, x, y } }, corners, points, size) {
  for (const [at, [from, to]] of d3.pairs(corners).entries()) {
    const axis = from[0] === to[0] ? 1 : 0, way = Math.sign(to[axis] - from[axis]);
    const middle = from[axis] + way * (Math.floor(Math.abs(to[axis] - from[axis]) / 2) + 0.5);
    const [begin, first] = axis ? [y, grid.north] : [x, grid.west];
    const tip = [...points[at]];
    tip[axis] = begin + k * (middle - first + 0.5);
    addHead(heads, ...tip, axis ? [0, way / 2] : [way / 2, 0], size);
  }
}

/* Mark the link with most wavelets, where PEs hear it, if links are looked at. */
function drawBusiest({ ctx, links, busiest, grid, transform: { k, x, y } }) {
  if (!links || !busiest) return;
  const [column, row] = [busiest.pe[0] - grid.west, busiest.pe[1] - grid.north];
  const [dx, dy] = OUTWARD[SIDES.indexOf(busiest.side)];
  const cx = x + k * (column + 0.5 + 0.86 * dx), cy = y + k * (row + 0.5 + 0.86 * dy);
  ctx.strokeStyle = cssColour("--accent");
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.arc(cx, cy, Math.max(7, k * 0.22), 0, 2 * Math.PI);
  ctx.stroke();
}
