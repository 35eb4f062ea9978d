// How nodes and wires look on the canvas, in the colours of the theme.

const KINDS = ["action", "decision", "event", "entity", "group"];
const NAMES = ["bg", "bg-soft", "ink", "ink-soft", "line-strong", "accent", "good", "good-soft", "bad", "bad-soft", "warn", "warn-soft"];
const MARKS = { added: ["good", "+"], removed: ["bad", "−"], relabelled: ["warn", "~"] };
const FONT = "ui-sans-serif, system-ui, sans-serif";
const TOP = -12; // baseline of the first line, and from line to line
const LINE = 17;
const READABLE = 0.3; // below this scale letters are only noise

/** The page's colours as the browser computes them: a canvas knows no custom property. */
export function readTheme(figure) {
  const probe = document.createElement("span");
  figure.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const theme = Object.fromEntries(NAMES.map((name) => [name, colour(name)]));
  theme.kinds = Object.fromEntries(
    KINDS.map((kind) => [kind, [colour(`node-${kind}`), colour(`node-${kind}-soft`)]]),
  );
  probe.style.color = "color-mix(in oklab, var(--ink-soft) 65%, var(--bg-soft))";
  theme.thread = getComputedStyle(probe).color;
  probe.remove();
  return theme;
}

/** The options with the theme's colours: groups for the dots of a graph, fonts and edges. */
export function themed(data, theme) {
  const groups = Object.fromEntries(KINDS.map((kind) => [kind, group(theme.kinds[kind], theme)]));
  const { options } = data;
  return {
    ...options,
    groups,
    nodes: { ...options.nodes, borderWidth: 1.5, borderWidthSelected: 4, chosen: true },
    edges: {
      ...options.edges,
      color: { color: theme.thread, highlight: theme.accent, hover: theme.accent, inherit: false },
      font: { color: theme["ink-soft"], size: 11, strokeWidth: 3, strokeColor: theme["bg-soft"] },
      arrows: { to: { enabled: true, scaleFactor: 0.5 } },
      chosen: true,
    },
  };
}

function group([line, fill], theme) {
  const color = { border: line, background: fill };
  return {
    color: { ...color, highlight: { border: theme.accent, background: fill }, hover: { border: theme.accent, background: fill } },
    font: { color: theme.ink, size: 12, face: FONT, strokeWidth: 3, strokeColor: theme["bg-soft"] },
  };
}

function colours(theme, node) {
  const mark = MARKS[node.mark]?.[0] ?? (node.tone === "bad" ? "bad" : "");
  return mark ? [theme[mark], theme[`${mark}-soft`]] : (theme.kinds[node.kind] ?? theme.kinds.action);
}

/** A renderer of vis-network: a box with its outline, its lines of text and its sign. */
export function paintNode(drawing, node, { ctx, x, y, state }) {
  const { theme, data } = drawing;
  const [line, fill] = colours(theme, node);
  const isSelected = drawing.selected === node.id;
  const drawNode = () => {
    ctx.save();
    ctx.translate(x, y);
    const outline = outlineOf(drawing, data.outlines[node.kind] ?? data.outlines.action);
    ctx.globalAlpha = node.mark === "kept" && !isSelected ? 0.75 : 1;
    ctx.fillStyle = fill;
    ctx.fill(outline);
    if (isSelected || state.hover) {
      ctx.lineWidth = isSelected ? 6 : 4;
      ctx.strokeStyle = theme.accent;
      ctx.stroke(outline);
    }
    ctx.lineWidth = node.mark && node.mark !== "kept" ? 3 : 1.5;
    if (node.mark === "removed") ctx.setLineDash([6, 4]);
    ctx.strokeStyle = line;
    ctx.stroke(outline);
    paintText(drawing, ctx, node);
    ctx.restore();
  };
  return { drawNode, nodeDimensions: { width: node.w, height: node.h } };
}

function paintText(drawing, ctx, node) {
  if (drawing.network && drawing.network.getScale() < READABLE) return;
  const { theme } = drawing;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  node.lines.forEach((text, number) => {
    ctx.font = `${number ? 400 : 650} 12px ${FONT}`;
    ctx.fillStyle = number ? theme["ink-soft"] : theme.ink;
    ctx.fillText(text, -node.w / 2 + 12, TOP + LINE * number, node.w - (number ? 24 : 40));
  });
  const sign = MARKS[node.mark]?.[1] ?? (node.tone === "bad" ? "✕" : "");
  if (!sign) return;
  ctx.font = `700 15px ${FONT}`;
  ctx.fillStyle = theme.ink;
  ctx.textAlign = "right";
  ctx.fillText(sign, node.w / 2 - 12, TOP);
}

/** Path objects are made once: a thousand boxes share four outlines. */
function outlineOf(drawing, data) {
  drawing.paths ??= new Map();
  if (!drawing.paths.has(data)) drawing.paths.set(data, new Path2D(data));
  return drawing.paths.get(data);
}

/** The wires of a path along the lines that the server laid, under the boxes. */
export function paintWires(drawing, ctx) {
  const { theme, data } = drawing;
  ctx.save();
  for (const edge of data.edges) {
    const mark = MARKS[edge.mark]?.[0];
    const isNear = drawing.selected && (edge.from === drawing.selected || edge.to === drawing.selected);
    const colour = mark ? theme[mark] : isNear ? theme.accent : theme["ink-soft"];
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = mark || isNear ? 2.4 : 1.4;
    ctx.setLineDash(edge.mark === "removed" || edge.backward ? [6, 4] : []);
    ctx.stroke(outlineOf(drawing, edge.line));
    ctx.fill(outlineOf(drawing, edge.arrow));
  }
  ctx.setLineDash([]);
  paintLabels(drawing, ctx);
  ctx.restore();
}

function paintLabels({ network, data, theme }, ctx) {
  if (network.getScale() < READABLE) return;
  ctx.font = `11px ${FONT}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4;
  ctx.strokeStyle = theme["bg-soft"];
  ctx.fillStyle = theme.ink;
  for (const { label, at, mark } of data.edges) {
    if (!label) continue;
    const text = MARKS[mark] ? `${MARKS[mark][1]} ${label}` : label;
    ctx.strokeText(text, at[0], at[1]);
    ctx.fillText(text, at[0], at[1]);
  }
}
