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

/* Draw the critical path: a line for each way from PE to PE on it, a dot where that ends. */
function drawPath({ ctx, line, showsPath, grid, transform: { k, x, y } }) {
  if (!line || !showsPath) return;
  const [fromX, fromY, toX, toY] = line, dots = new Path2D();
  const px = (column) => x + k * (column - grid.west + 0.5);
  const py = (row) => y + k * (row - grid.north + 0.5);
  ctx.strokeStyle = ctx.fillStyle = cssColour("--accent");
  ctx.lineWidth = Math.max(1.5, Math.min(5, k * 0.06));
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.beginPath();
  for (let at = 0; at < fromX.length; at++) {
    ctx.moveTo(px(fromX[at]), py(fromY[at]));
    ctx.lineTo(px(toX[at]), py(toY[at]));
    if (k >= CELLS_FROM) addCircle(dots, px(toX[at]), py(toY[at]), ctx.lineWidth * 1.3);
  }
  ctx.stroke();
  ctx.fill(dots);
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
