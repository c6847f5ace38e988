/* Colours that the colour-blind tell apart (Okabe and Ito), and what depends on dark and light. */

const STREAM_COLOURS = [
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#3d9bd8", "#882255", "#6f7d1f",
];
const ROLE_TINTS = {
  light: ["#dfe8f2", "#f6e5c8", "#dbecdc", "#eaddf0", "#f8dcd6", "#d3ecef", "#ece8b6", "#e4e4e4"],
  dark: ["#26374c", "#4a3c1d", "#223f2c", "#3c2c47", "#4c2a2a", "#1d4247", "#44431c", "#3a3d42"],
};
const CAUSES = {
  lanes: ["computing in lanes", "#0072b2"],
  computing: ["computing in lanes", "#0072b2"],
  rounding: ["lanes left empty", "#7db6dc"],
  memory: ["memory: banks, strides", "#009e73"],
  streams: ["taken by streams", "#7cc7ad"],
  datapath: ["taken by streams", "#7cc7ad"],
  moving: ["streams move elements", "#56b4e9"],
  start_up: ["start-up of instructions", "#e69f00"],
  configuration: ["configuration", "#f0c45c"],
  dispatch: ["dispatch of tasks", "#d55e00"],
  starting: ["dispatch, start-up, configuration", "#d55e00"],
  loop: ["loops", "#882255"],
  scalar: ["scalar operations", "#b5608a"],
  address: ["addresses", "#cc79a7"],
  scalars: ["loops, scalars, addresses", "#cc79a7"],
  no_input: ["no input", "#8c95a1"],
  no_space: ["no space", "#6b7480"],
  under_way: ["instructions under way", "#a8906a"],
  blocked: ["blocked colour", "#77679b"],
  full_queue: ["full queue", "#555d68"],
  waiting: ["waiting", "#9aa3ae"],
  idle: ["idle", "#c3c9d1"],
  busy: ["a task runs", "#0072b2"],
  begun: ["before the first arrival", "#c3c9d1"],
  port: ["what came before at the port", "#77679b"],
  links: ["links and ramps", "#56b4e9"],
  routers: ["in routers, waiting", "#6b7480"],
  task: ["a task", "#0072b2"],
  stream: ["elements before, in the stream", "#009e73"],
  started: ["start-up", "#e69f00"],
};

const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
const themed = (colour) => (isDark() ? d3.interpolateLab(colour, "#ffffff")(0.3) : colour);
const streamColour = (at) => themed(STREAM_COLOURS[at % STREAM_COLOURS.length]);
const streamDash = (at) => (at < STREAM_COLOURS.length ? [] : [5, 3]);
const roleTint = (at) => ROLE_TINTS[isDark() ? "dark" : "light"][at % ROLE_TINTS.light.length];
const causeName = (cause) => (CAUSES[cause] || [cause.replaceAll("_", " ")])[0];
const causeColour = (cause) => (CAUSES[cause] || ["", "#888888"])[1];

/* 256 colours from the least to the greatest number. */
const RAMP = d3.range(256).map((level) => d3.rgb(d3.interpolateCividis(level / 255)));

/* Values of the style by name, looked up once for each theme. */
const KNOWN_STYLE = new Map();

function cssColour(name) {
  if (!KNOWN_STYLE.has(name)) {
    const style = getComputedStyle(document.documentElement);
    KNOWN_STYLE.set(name, style.getPropertyValue(name).trim());
  }
  return KNOWN_STYLE.get(name);
}

function onTheme(redraw) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    KNOWN_STYLE.clear();
    redraw();
  });
}
