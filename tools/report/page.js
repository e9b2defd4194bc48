/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pictures of the report. Every run is a column; all its pictures share
 * one axis, cycles from the start of the run, which zooms for both runs alike.
 *
 * A picture is {height, draw(context, x, width), tip(cycle, y)}: what it draws
 * on its canvas, and what there is to say about a place on it.
 */
"use strict";

const SIDES = ["source", "destination"];
const SIDE_KEYS = ["src", "dst"];
const ROW = 15;
const MARGIN = {left: 74, right: 26, bottom: 20};
const MOST_ZOOM_CYCLES = 16;

const color = name => getComputedStyle(document.documentElement)
  .getPropertyValue("--" + name).trim();
const descriptorColor = n => d3.schemeTableau10[n % 10];
const text = new Intl.NumberFormat("en", {maximumFractionDigits: 2});
const format = n => typeof n === "number" ? text.format(n) : String(n);

function decode(column) {
  const bytes = Uint8Array.from(atob(column.data), c => c.charCodeAt(0));

  return new (column.type === "Uint32Array" ? Uint32Array : Float64Array)(
    bytes.buffer);
}

/* Requests by columns, and those of each lane in the order of time. */
function decodeRequests(run) {
  const r = run.requests, lanes = run.machine.lanes;
  const names = ["side", "lane", "id", "op", "descriptor", "element",
                 "address", "issue", "response"];

  names.forEach(name => { r[name] = decode(r[name]); });
  r.lanes = d3.range(2 * lanes).map(() => []);
  for (let i = 0; i < r.count; i++) {
    r.lanes[r.side[i] * lanes + r.lane[i]].push(i);
  }
  r.bySide = [0, 1].map(s => d3.range(r.count).filter(i => r.side[i] === s));
}

/* First place in @list whose request was issued at @cycle or later. */
function firstFrom(r, list, cycle) {
  return d3.bisector(i => r.issue[i]).left(list, cycle);
}

function describe(run, i) {
  const r = run.requests;
  const answer = r.response[i] ?
    `answered in cycle ${format(r.response[i])}, after ` +
    format(r.response[i] - r.issue[i]) : "not answered";

  return `descriptor ${r.descriptor[i]}, element ${format(r.element[i])}\n` +
    `${SIDES[r.side[i]]} lane ${r.lane[i]}: ${r.ops[r.op[i]]} ` +
    `at byte ${format(r.address[i])}\n` +
    `request ID ${r.id[i]}, cycle ${format(r.issue[i])}, ${answer}`;
}

/* What has no details is hatched, with a word why. */
function shadeRest(context, run, x, width, height) {
  const r = run.requests;

  if (r.count === r.total) {
    return;
  }
  const from = Math.max(x(r.until + 1), 0);

  context.fillStyle = color("other");
  context.globalAlpha = 0.3;
  context.fillRect(from, 0, Math.max(width - from, 0), height);
  context.globalAlpha = 1;
  context.fillStyle = color("text");
  context.fillText("not in this file", from + 6, 12);
}

/*
 * Lanes: a row each, and one per side for its stalls. Where a pixel is more
 * than a cycle, the more of its cycles were used the stronger is its colour.
 */
function drawLane(context, run, list, x, width, y) {
  const r = run.requests;
  const perPixel = x.invert(1) - x.invert(0);
  let marks = 0;

  if (perPixel <= 1) {
    const last = x.invert(width);
    for (let k = firstFrom(r, list, Math.floor(x.invert(0)));
         k < list.length && r.issue[list[k]] <= last; k++) {
      const i = list[k], left = x(r.issue[i]);
      context.fillStyle = descriptorColor(r.descriptor[i]);
      context.fillRect(left, y, Math.max(x(r.issue[i] + 1) - left - 0.5, 0.5),
                       ROW - 2);
      marks++;
    }
    return marks;
  }
  let from = firstFrom(r, list, x.invert(0));
  for (let px = 0; px < width; px++) {
    const to = firstFrom(r, list, x.invert(px + 1));
    if (to > from) {
      context.globalAlpha = Math.min(1, 0.15 + 0.85 * (to - from) / perPixel);
      context.fillStyle = descriptorColor(r.descriptor[list[from]]);
      context.fillRect(px, y, 1, ROW - 2);
      marks += to - from;
    }
    from = to;
  }
  context.globalAlpha = 1;
  return marks;
}

function drawStalls(context, list, x, width, y) {
  let marks = 0;

  for (const [cause, cycle, cycles] of list) {
    const left = x(cycle), right = x(cycle + cycles);
    if (right >= 0 && left <= width) {
      context.fillStyle = color(report.causes[cause]);
      context.fillRect(left, y, Math.max(right - left, 1), ROW - 2);
      marks++;
    }
  }
  return marks;
}

function laneRows(run) {
  const rows = [];

  SIDE_KEYS.forEach((key, side) => {
    for (let lane = 0; lane < run.machine.lanes; lane++) {
      rows.push({label: `${key} lane ${lane}`, side: side,
                 list: run.requests.lanes[side * run.machine.lanes + lane]});
    }
    rows.push({label: `${key} stalls`, side: side,
               stalls: run.stalls[key]});
  });
  return rows;
}

function stallAt(list, cycle) {
  const hit = list.find(s => s[1] <= cycle && cycle < s[1] + s[2]);

  return hit ? `${report.causes[hit[0]]}: ${format(hit[2])} cycles ` +
    `from cycle ${format(hit[1])} on` : "";
}

function lanesPicture(run) {
  const rows = laneRows(run);

  return {
    name: "lanes",
    title: "Lanes", note: "which lane sent a request in which cycle, by the " +
      "colour of the descriptor; below each side what held it back",
    height: rows.length * ROW,
    labels: rows.map((row, i) => [row.label, (i + 0.5) * ROW]),
    draw(context, x, width) {
      let marks = 0;
      rows.forEach((row, i) => {
        marks += row.stalls ? drawStalls(context, row.stalls, x, width, i * ROW)
          : drawLane(context, run, row.list, x, width, i * ROW);
      });
      shadeRest(context, run, x, width, rows.length * ROW);
      return marks;
    },
    tip(cycle, y) {
      const row = rows[Math.floor(y / ROW)];
      if (!row) {
        return "";
      }
      if (row.stalls) {
        return stallAt(row.stalls, cycle);
      }
      const k = firstFrom(run.requests, row.list, Math.floor(cycle));
      const i = row.list[k];
      return i !== undefined && run.requests.issue[i] <= cycle ?
        describe(run, i) : "";
    },
  };
}

/* A step curve [[cycle, low, high]] as a line, or as a band where it is one */
function drawCurve(context, points, x, y, end) {
  context.beginPath();
  points.forEach(([cycle, low, high], i) => {
    const next = i + 1 < points.length ? points[i + 1][0] : end;
    const before = i ? points[i - 1][2] : 0;
    context.moveTo(x(cycle), y(before));
    context.lineTo(x(cycle), y(low));
    context.lineTo(x(cycle), y(high));
    context.lineTo(x(next), y(high));
  });
  context.stroke();
  return points.length;
}

function valueAt(points, cycle) {
  const i = d3.bisector(p => p[0]).right(points, cycle) - 1;

  if (i < 0) {
    return "0";
  }
  const [, low, high] = points[i];
  return low === high ? format(low) : `${format(low)} to ${format(high)}`;
}

function flightPicture(run) {
  const most = d3.max(SIDE_KEYS, key => d3.max(run.flight[key], p => p[2])) || 1;
  const ids = run.machine.request_ids;
  /* how far it was from the limit, unless that would flatten the curves */
  const y = d3.scaleLinear([0, ids <= 2 * most ? ids : most], [110, 4]);

  return {
    name: "flight",
    title: "Requests in flight",
    note: "issued and not yet answered",
    key: SIDES.map((side, s) => [side, SIDE_KEYS[s]])
      .concat([[`${format(ids)} request IDs`, "ids"]]),
    height: 110, y: y,
    draw(context, x, width) {
      let marks = 0;
      /* often the same: the one behind is wider */
      SIDE_KEYS.forEach((key, side) => {
        context.lineWidth = side ? 1 : 3;
        context.strokeStyle = color(key);
        marks += drawCurve(context, run.flight[key], x, y, run.cycles);
      });
      context.strokeStyle = color("ids");
      context.setLineDash([4, 3]);
      context.strokeRect(-1, y(ids), width + 2, 0);
      context.setLineDash([]);
      return marks;
    },
    tip: cycle => SIDES.map((side, s) =>
      `${side}: ${valueAt(run.flight[SIDE_KEYS[s]], cycle)}`).join("\n"),
  };
}

/* The request nearest to a place, within a few pixels of it */
function nearest(run, side, x, y, cycle, at) {
  const r = run.requests, list = r.bySide[side], reach = 5;
  const slack = x.invert(reach) - x.invert(0);
  let best = "", least = reach * reach;

  for (let k = firstFrom(r, list, cycle - slack);
       k < list.length && r.issue[list[k]] <= cycle + slack; k++) {
    const i = list[k];
    const dx = x(r.issue[i]) - x(cycle), dy = y(r.address[i]) - at;
    if (dx * dx + dy * dy < least) {
      least = dx * dx + dy * dy;
      best = describe(run, i);
    }
  }
  return best;
}

function addressPicture(run, side) {
  const r = run.requests, list = r.bySide[side];
  const most = d3.max(list, i => r.address[i]) || 1;
  const y = d3.scaleLinear([0, most], [130, 4]);
  let scale = null;

  return {
    name: "addresses-" + SIDE_KEYS[side],
    title: `Addresses of the ${SIDES[side]}`,
    note: "byte offset in its memory, over the cycle of the request",
    height: 134, y: y, yFormat: d3.format("~s"),
    draw(context, x, width) {
      let marks = 0;
      scale = x;
      const last = x.invert(width + 2);
      for (let k = firstFrom(r, list, x.invert(-2));
           k < list.length && r.issue[list[k]] <= last; k++) {
        const i = list[k];
        context.fillStyle = descriptorColor(r.descriptor[i]);
        context.fillRect(x(r.issue[i]) - 1, y(r.address[i]) - 1, 2, 2);
        marks++;
      }
      shadeRest(context, run, x, width, 134);
      return marks;
    },
    tip: (cycle, at) => nearest(run, side, scale, y, cycle, at),
  };
}

function progressPicture(run) {
  const most = d3.max(run.progress, line => d3.max(line.curve, p => p[2])) || 1;
  const y = d3.scaleLinear([0, most], [110, 4]);

  return {
    name: "progress",
    title: "Elements in memory",
    note: "by descriptor, in order, as software may rely on it; dots are " +
      "partial updates that it was told",
    height: 114, y: y, yFormat: d3.format("~s"),
    draw(context, x) {
      let marks = 0;
      run.progress.forEach(line => {
        context.strokeStyle = descriptorColor(line.descriptor);
        marks += drawCurve(context, line.curve, x, y,
                           line.curve[line.curve.length - 1][0]);
      });
      run.updates.forEach(([cycle, descriptor, , elements]) => {
        context.fillStyle = descriptorColor(descriptor);
        context.beginPath();
        context.arc(x(cycle), y(elements), 3, 0, 2 * Math.PI);
        context.fill();
        marks++;
      });
      return marks;
    },
    tip: cycle => run.progress.filter(line => line.curve[0][0] <= cycle)
      .slice(-8)
      .map(line => `descriptor ${line.descriptor}: ${
        valueAt(line.curve, cycle)} elements`).join("\n"),
  };
}

/*
 * The page around the pictures.
 */

function element(parent, name, content, className) {
  const node = document.createElement(name);

  if (content !== undefined) {
    node.textContent = content;
  }
  if (className) {
    node.className = className;
  }
  parent.appendChild(node);
  return node;
}

function heading(parent, title, note) {
  const h2 = element(parent, "h2", title + " ");

  if (note) {
    element(h2, "small", note);
  }
}

function keyOf(parent, entries) {
  const key = element(parent, "div", undefined, "key");

  entries.forEach(([label, name]) => {
    element(key, "span", label).style.setProperty("--key", `var(--${name})`);
  });
}

function headline(parent, run) {
  const table = element(parent, "table", undefined, "headline");

  run.headline.forEach(([name, value, unit]) => {
    const row = element(table, "tr");
    element(row, "td", name);
    element(row, "td", format(value), "number");
    element(row, "td", unit, "unit");
  });
}

function allProperties(run) {
  return Object.assign({}, run.machine.properties,
                       {fidelity: run.machine.fidelity,
                        lanes: run.machine.lanes,
                        ids: run.machine.request_ids});
}

/* All properties on demand; those in which the runs differ at once. */
function properties(parent, run, runs) {
  const own = allProperties(run);
  const others = runs.filter(r => r !== run).map(allProperties);
  const differs = name => others.some(o => String(o[name]) !== String(own[name]));
  const names = Object.keys(own);
  const rows = (table, list) => list.forEach(name => {
    const row = element(table, "tr", undefined, differs(name) ? "differs" : "");
    element(row, "td", name);
    element(row, "td", String(own[name]), "number");
  });

  if (names.some(differs)) {
    heading(parent, "Properties that differ");
    rows(element(parent, "table", undefined, "differing"),
         names.filter(differs));
  }
  const details = element(parent, "details");
  element(details, "summary", "The machine's properties");
  rows(element(details, "table"), names);
}

function descriptorList(parent, run) {
  const details = element(parent, "details");

  element(details, "summary", `Descriptors: ${run.descriptors.length}`);
  run.descriptors.slice(0, 200).forEach((line, i) => {
    element(details, "div", `${i}: ${line}`).style.color = descriptorColor(i);
  });
}

/* What the cycles of each side were, as a bar of the whole width */
function breakdown(parent, run, runs) {
  const scale = d3.scaleLinear([0, d3.max(runs, r => r.cycles)], [0, 1]);
  const svg = d3.select(parent).append("svg").attr("class", "bars")
    .attr("width", "100%").attr("height", 48);

  SIDE_KEYS.forEach((key, side) => {
    let at = 0;
    report.kinds.forEach(kind => {
      const cycles = run.kinds[key][kind];
      if (cycles) {
        svg.append("rect").attr("x", scale(at) * 100 + "%")
          .attr("y", side * 24).attr("width", scale(cycles) * 100 + "%")
          .attr("height", 20).attr("fill", `var(--${kind})`)
          .append("title").text(`${SIDES[side]}, ${kind}: ${format(cycles)} ` +
            `cycles, ${format(100 * cycles / run.cycles)} %`);
      }
      at += cycles;
    });
    svg.append("text").attr("x", 6).attr("y", side * 24 + 14)
      .attr("fill", "var(--back)").style("font-size", "12px")
      .text(SIDES[side]);
  });
  keyOf(parent, report.kinds.map(kind => [
    `${kind} ${SIDE_KEYS.map(k => format(run.kinds[k][kind])).join(" / ")}`,
    kind]));
}

function makeChart(parent, picture) {
  heading(parent, picture.title, picture.note);
  if (picture.key) {
    keyOf(parent, picture.key);
  }
  const box = element(parent, "div", undefined, "chart");
  const canvas = element(box, "canvas");
  const svg = d3.select(box).append("svg").attr("width", "100%")
    .attr("height", picture.height + MARGIN.bottom);

  canvas.dataset.picture = picture.name;
  svg.append("g").attr("class", "x");
  svg.append("g").attr("class", "y");
  /* what the mouse is over has the canvas's coordinates */
  const overlay = svg.append("rect").attr("class", "overlay")
    .attr("transform", `translate(${MARGIN.left},0)`)
    .attr("height", picture.height);
  return {picture: picture, box: box, canvas: canvas, svg: svg,
          overlay: overlay, zoom: d3.zoom(), marks: 0};
}

/* The part of the axis of cycles that @transform shows, on this chart */
function visible(chart, transform) {
  return transform.rescaleX(d3.scaleLinear([0, view.cycles], [0, chart.width]));
}

function drawAxes(chart, x) {
  const picture = chart.picture;
  const axis = d3.axisLeft(picture.y).ticks(4).tickFormat(picture.yFormat);

  chart.svg.select(".x")
    .attr("transform", `translate(${MARGIN.left},${picture.height})`)
    .call(d3.axisBottom(x).ticks(Math.max(chart.width / 110, 2)));
  if (picture.labels) {
    const labels = chart.svg.select(".y").selectAll("text")
      .data(picture.labels);
    labels.enter().append("text").merge(labels)
      .attr("x", MARGIN.left - 6).attr("y", d => d[1]).attr("dy", "0.32em")
      .attr("text-anchor", "end").text(d => d[0]);
  } else {
    chart.svg.select(".y").attr("transform", `translate(${MARGIN.left},0)`)
      .call(axis);
  }
}

function drawChart(chart) {
  const ratio = window.devicePixelRatio || 1;
  const height = chart.picture.height, canvas = chart.canvas;
  const context = canvas.getContext("2d");

  chart.width = Math.max(chart.box.clientWidth - MARGIN.left - MARGIN.right, 50);
  canvas.width = chart.width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = chart.width + "px";
  canvas.style.height = height + "px";
  canvas.style.left = MARGIN.left + "px";
  chart.overlay.attr("width", chart.width);
  context.scale(ratio, ratio);
  context.font = "11px sans-serif";
  chart.x = visible(chart, view.transform);
  chart.marks = chart.picture.draw(context, chart.x, chart.width);
  drawAxes(chart, chart.x);
}

const view = {transform: d3.zoomIdentity, cycles: 1, charts: [],
              zooming: false};

function drawAll() {
  view.charts.forEach(drawChart);
}

function showTip(chart, event) {
  const tip = document.getElementById("tip");
  const box = chart.box.getBoundingClientRect();
  const cycle = chart.x.invert(event.clientX - box.left - MARGIN.left);
  const said = chart.picture.tip(cycle, event.clientY - box.top);

  tip.hidden = !said;
  tip.textContent = `cycle ${format(Math.floor(cycle))}\n${said}`;
  tip.style.left = Math.min(event.clientX + 14,
                            window.innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = event.clientY + 14 + "px";
}

/* Zooming one chart zooms all; @event is d3's own before its version 6. */
function zoomed(chart, event) {
  if (view.zooming) {
    return;
  }
  view.zooming = true;
  view.transform = (event && event.transform ? event : d3.event).transform;
  view.charts.filter(other => other !== chart).forEach(
    other => other.overlay.call(other.zoom.transform, view.transform));
  view.zooming = false;
  window.requestAnimationFrame(drawAll);
}

function makeInteractive(chart) {
  const node = chart.overlay.node();

  chart.zoom.scaleExtent([1, Math.max(view.cycles / MOST_ZOOM_CYCLES, 1)])
    .on("zoom", event => zoomed(chart, event));
  chart.overlay.call(chart.zoom);
  node.addEventListener("mousemove", event => showTip(chart, event));
  node.addEventListener("mouseleave", () => {
    document.getElementById("tip").hidden = true;
  });
}

/* What depends on how wide the window is, all of it shown again */
function fit() {
  view.transform = d3.zoomIdentity;
  drawAll();
  view.charts.forEach(chart => {
    const extent = [[0, 0], [chart.width, chart.picture.height]];
    chart.zoom.extent(extent).translateExtent(extent);
    chart.overlay.call(chart.zoom.transform, d3.zoomIdentity);
  });
}

function incomplete(parent, run) {
  const r = run.requests;

  if (run.dropped) {
    element(parent, "p", `${format(run.dropped)} requests were left out of ` +
      "the trace (its limit): all of this is about the others.", "note");
  }
  if (r.count < r.total) {
    element(parent, "p", `Single requests are shown up to cycle ${
      format(r.until)}, ${format(r.count)} of ${format(r.total)}; curves, ` +
      "bars and numbers are of all of them.", "note");
  }
}

function showRun(parent, run, runs) {
  decodeRequests(run);
  element(parent, "h1", run.title);
  element(parent, "div", run.limit, "limit");
  incomplete(parent, run);
  headline(parent, run);
  properties(parent, run, runs);
  descriptorList(parent, run);
  heading(parent, "Where the cycles went", "source above, destination below");
  breakdown(parent, run, runs);
  [lanesPicture(run), flightPicture(run), addressPicture(run, 0),
   addressPicture(run, 1), progressPicture(run)].forEach(picture => {
    view.charts.push(makeChart(parent, picture));
  });
}

function main() {
  const page = document.querySelector("main");

  view.cycles = d3.max(report.runs, run => run.cycles);
  page.className = report.runs.length > 1 ? "two" : "";
  report.runs.forEach(run => {
    showRun(element(page, "section"), run, report.runs);
  });
  view.charts.forEach(makeInteractive);
  fit();
  window.addEventListener("resize", fit);
  window.matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", drawAll);
  report.drawn = () => view.charts.map(chart => ({
    picture: chart.picture.name, marks: chart.marks}));
}

main();
