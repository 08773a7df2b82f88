// The page: what is on it, and what happens when.
import { fromBase64, inflate } from "./bytes.js";
import { TimeCharts, airtime } from "./charts.js";
import { h } from "./dom.js";
import { Form } from "./form.js";
import { NetworkMap } from "./map.js";
import { Question } from "./question.js";
import { Remote } from "./remote.js";
import { completed, linesOf } from "./results.js";
import { fromFragment, toFragment } from "./share.js";
import { flowsOf, tablesOf } from "./tables.js";
import { digits } from "./units.js";
import { mount } from "../python/multihop/report/viewer/viewer.js";

const element = (id) => document.getElementById(id);
// Without a prototype, so that "constructor" is no scene.
const scenes = Object.assign(Object.create(null), JSON.parse(element("scenes").textContent));

/** A scenario that takes longer to check is too large for this page. */
const CHECK_MS = 20_000;
const TYPING_MS = 400;

class Playground {
  async start() {
    const wasm = await inflate(fromBase64(element("engine").textContent.trim()), "gzip");
    const module = await WebAssembly.compile(wasm);
    const source = element("worker").textContent;
    this.checker = new Remote(module, source);
    this.runner = new Remote(module, source);
    const [schema, catalogue, columns] = await Promise.all(["schema", "catalogue", "columns"].map((what) => this.checker.call({ do: what })));
    this.about = Object.fromEntries(columns.map((table) => [table.name, table]));
    this.form = new Form(schema, catalogue, (edits) => this.edit(edits));
    this.map = new NetworkMap((node, x, y) => this.move(node, x, y));
    this.charts = new TimeCharts();
    this.question = new Question((label, set, isLast) => this.run(label, set, isLast));
    element("form").append(this.form.element);
    element("map").append(this.map.element);
    element("charts").append(this.charts.element);
    element("question").append(this.question.element);
    element("scheme").append(...catalogue.schemes.map(({ name, summary }) => h("option", { value: name, title: summary }, name)));
    element("scene").append(...Object.entries(scenes).map(([name, { title }]) => h("option", { value: name }, title)));
    this.listen();
    await this.open(location.hash);
    document.documentElement.dataset.ready = "true";
  }

  listen() {
    const on = (id, event, act) => element(id).addEventListener(event, () => this.attempt(act));
    on("scene", "change", () => this.openScene(element("scene").value));
    on("scheme", "change", () => this.check());
    on("seed", "change", () => this.check());
    on("run", "click", () => this.run("this scenario", []));
    on("cancel", "click", () => this.runner.stop("cancelled"));
    on("share", "click", () => this.share());
    on("download", "click", () => this.download());
    on("file", "change", () => this.openFile());
    element("text").addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.attempt(() => this.check()), TYPING_MS);
    });
    for (const tab of ["form", "toml"]) on(`tab-${tab}`, "click", () => this.tab(tab));
    window.addEventListener("hashchange", () => this.attempt(() => this.open(location.hash)));
  }

  /** Whatever goes wrong on the way is said on the page. */
  async attempt(act) {
    try {
      await act();
    } catch (error) {
      this.say(error.message);
    }
  }

  say(message) {
    element("message").textContent = message;
  }

  tab(chosen) {
    for (const name of ["form", "toml"]) {
      element(`tab-${name}`).setAttribute("aria-pressed", String(name === chosen));
      element(`panel-${name}`).hidden = name !== chosen;
    }
  }

  async open(fragment) {
    let state = null;
    try {
      state = await fromFragment(fragment);
    } catch (error) {
      await this.openScene(Object.keys(scenes)[0]);
      this.say(error.message);
      return;
    }
    if (typeof state?.text !== "string") {
      const name = state?.scene ?? Object.keys(scenes)[0];
      await this.openScene(scenes[name] ? name : Object.keys(scenes)[0]);
      if (!scenes[name]) this.say(`There is no scene ${name}.`);
      return;
    }
    element("scheme").value = state.scheme ?? "";
    element("seed").value = state.seed ?? "";
    await this.show(state.text, scenes[state.scene] ? state.scene : null);
  }

  async openScene(name) {
    element("scheme").value = "";
    await this.show(scenes[name].text, name);
  }

  async openFile() {
    const [file] = element("file").files;
    if (!file) return;
    if (file.size > 5e6) throw new Error(`${file.name} has ${digits(file.size / 1e6)} MB; scenarios of at most 5 MB are opened here.`);
    await this.show(await file.text(), null);
  }

  /** Puts a scenario on the page. */
  async show(text, scene) {
    this.say("");
    element("scene").value = scene ?? "";
    this.scene = scene;
    this.question.show(scene && scenes[scene]);
    element("results").hidden = true;
    element("viewer").hidden = true;
    await this.write(text);
  }

  async write(text) {
    element("text").value = text;
    await this.check();
  }

  overrides(set = []) {
    const made = { set };
    if (element("scheme").value) made.scheme = element("scheme").value;
    const seed = element("seed").value.trim();
    if (seed && /^[0-9]{1,15}$/.test(seed)) made.seed = Number(seed);
    else if (seed) throw new Error(`The seed is ${seed}; it must be a whole number of at most 15 digits.`);
    return made;
  }

  /** Reads the text, and shows what it says, or what is wrong with it. */
  async check() {
    const text = element("text").value;
    const mine = (this.checks = (this.checks ?? 0) + 1);
    const late = setTimeout(() => this.checker.stop("This scenario is too large to be checked here."), CHECK_MS);
    try {
      const values = await this.checker.call({ do: "values", text });
      const view = await this.checker.call({ do: "check", text, overrides: this.overrides() }).catch((error) => error);
      if (mine !== this.checks) return;
      this.form.show(values, (values.topology?.nodes ?? view.nodes ?? []).map((node) => node.name));
      if (view instanceof Error) throw view;
      this.view = view;
      this.map.show(view, ranges(values.medium));
      this.mistake(null);
    } catch (error) {
      if (mine === this.checks) this.mistake(error);
    } finally {
      clearTimeout(late);
    }
  }

  /** Says what is wrong with the text, and where; null for nothing. */
  mistake(error) {
    const { line } = error?.details ?? {};
    element("mistake").hidden = !error;
    element("mistake").textContent = error ? error.message.replace(/^scenario:(\d+): /, "Line $1: ") : "";
    this.mistaken = Boolean(error);
    this.offerRun();
    element("text").setAttribute("aria-invalid", String(Boolean(error)));
    const lines = element("text").value.split("\n").length;
    element("lines").replaceChildren(...Array.from({ length: Math.min(lines, 5000) }, (_, index) => h("span", { class: index + 1 === line ? "wrong" : null }, String(index + 1))));
  }

  async edit(edits) {
    await this.attempt(async () => this.write(await this.checker.call({ do: "edit", text: element("text").value, edits })));
  }

  /** Writes where a node stands into the text; a generated topology is listed before. */
  async move(node, x, y) {
    await this.attempt(async () => {
      this.say("");
      let text = element("text").value;
      try {
        const values = await this.checker.call({ do: "values", text });
        if (!values.topology?.nodes) text = await this.checker.call({ do: "list", text });
        const edits = [{ path: `topology.nodes[${node}].position`, value: `["${x} m", "${y} m"]` }];
        await this.write(await this.checker.call({ do: "edit", text, edits }));
      } catch (error) {
        if (this.view) this.map.show(this.view, this.map.ranges);
        throw new Error(`The node stays where it is: ${error.message}`);
      }
    });
  }

  /** Runs the text; its tables, or null if it was cancelled or could not run. With a frame log, if one is wanted and `isShown`. */
  async run(label, set, isShown = true) {
    if (this.running) return null;
    this.say("");
    this.busy(true);
    await this.showing;
    this.outdate(isShown && element("frames").checked);
    const text = element("text").value;
    try {
      const overrides = this.overrides(set);
      const view = await this.checker.call({ do: "check", text, overrides });
      let frames = null;
      const watch = ({ now, end, tables, part, frames: log }) => {
        frames = log ?? frames;
        if (part) this.showPart(part);
        element("progress").value = now / end;
        element("status").textContent = `${label}: ${digits(now)} of ${digits(end)} s`;
        if (tables) this.results(completed(tables, view), view, now);
      };
      const began = performance.now();
      const asked = { text, overrides, frames: isShown && element("frames").checked };
      const tables = completed(await this.runner.run(asked, watch), view);
      this.results(tables, view, view.duration_s);
      await this.showing;
      await this.showFrames(frames);
      element("status").textContent = `${label}: ${digits(view.duration_s)} s in ${digits((performance.now() - began) / 1000)} s`;
      return tables;
    } catch (error) {
      this.fail(error);
      return null;
    } finally {
      this.busy(false);
    }
  }

  /** Nothing of an earlier run is taken for what a new one has. */
  outdate(hasFrames) {
    element("results").classList.add("old");
    this.empty(hasFrames && "This run is under way. Its transmissions are shown when there are some ten thousand of them, or when it has ended.");
  }

  /** A run has no end. */
  fail(error) {
    const results = element("results");
    const isCancelled = error.message === "cancelled";
    // Not even the first tables of it are there.
    if (results.classList.contains("old")) results.hidden = true;
    element("status").textContent = isCancelled ? `Cancelled${results.hidden ? "." : "; what there was is shown below."}` : "";
    if (!isCancelled) this.say(error.message);
    // A part of its log that is there stays.
    if (isCancelled && (this.shown || this.showing)) return;
    this.empty(isCancelled && !element("viewer").hidden && "The run was cancelled: there is no log of its transmissions.");
  }

  /** A run can begin where none is under way and the text is right; a check may end during a run. */
  offerRun() {
    element("run").disabled = this.running || this.mistaken;
  }

  busy(is) {
    this.running = is;
    this.offerRun();
    element("cancel").disabled = !is;
    element("progress").hidden = !is;
    element("progress").value = 0;
  }

  results(tables, view, now) {
    element("results").hidden = false;
    element("results").classList.remove("old");
    const charts = [
      { title: "Goodput", unit: "Mb/s", lines: linesOf(tables.series, "goodput_bps", 1e-6) },
      { title: "Congestion window", unit: "kB", lines: linesOf(tables.series, "window_bytes", 1e-3) },
      { title: "Round-trip time", unit: "ms", lines: linesOf(tables.series, "rtt_s", 1e3) },
      { title: "Queue at the source", unit: "packets", lines: linesOf(tables.series, "source_queue") },
    ];
    this.charts.show(charts.filter(({ lines }) => lines.some((line) => line?.points.length)), Math.max(now, 1e-9));
    element("airtime").replaceChildren(...[airtime(tables.nodes)].filter(Boolean));
    element("flows").replaceChildren(...flowsOf(tables, this.about).filter(Boolean));
    element("tables").replaceChildren(...tablesOf(tables, this.about));
  }

  /** The viewer of what a run under way has logged, unless the one before is still being made. */
  showPart(part) {
    if (this.showing) return;
    const cutShort = "This is the beginning of the run, as far as it had come when this was drawn.";
    this.showing = this.showFrames(part, cutShort).finally(() => { this.showing = null; });
  }

  /** The viewer of a frame log, or nothing without one. */
  async showFrames(frames, beginning = null) {
    this.empty("");
    if (!frames) return;
    element("viewer").hidden = false;
    const cutShort = beginning ?? `The log is full: this page keeps about ${Math.round(frames.length / 1e6)} MB, and what came later is left out. The tables are of the whole run; multihop run --frames writes all of it.`;
    // What is wrong with a log, the viewer says in its place.
    this.shown = await mount(element("log"), frames, { hash: false, cutShort }).catch(() => null);
  }

  /** Takes the viewer away; says something in its place, or hides the place. */
  empty(text) {
    this.shown?.close();
    this.shown = null;
    element("viewer").hidden = !text;
    element("log").replaceChildren(...(text ? [h("p", { class: "note", role: "status" }, text)] : []));
  }

  state() {
    return { text: element("text").value, scene: this.scene, scheme: element("scheme").value || undefined, seed: element("seed").value || undefined };
  }

  async share() {
    const fragment = await toFragment(this.state());
    history.replaceState(null, "", fragment);
    const link = location.href;
    const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
    this.say(copied ? "The link is in the clipboard and in the address." : "The link is in the address.");
  }

  download() {
    const url = URL.createObjectURL(new Blob([element("text").value], { type: "application/toml" }));
    const name = (this.view?.name ?? "scenario").replace(/[^A-Za-z0-9._-]+/g, "-");
    h("a", { href: url, download: `${name}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}

/** Ranges that are drawn around a node, where the medium has any. */
function ranges(medium) {
  if (medium && medium.model !== undefined && medium.model !== "ranges") return [];
  const metres = (text, fallback) => {
    const [, number, unit] = /^\s*([0-9.]+)\s*(m|km|cm)\s*$/.exec(text ?? "") ?? [];
    return number ? Number(number) * { m: 1, km: 1000, cm: 0.01 }[unit] : fallback;
  };
  const receives = metres(medium?.receive_range, 250);
  const senses = metres(medium?.carrier_sense_range, 550);
  return receives === senses ? [["is received and sensed", receives]] : [["is received", receives], ["is sensed", senses]];
}

const missing = ["WebAssembly", "Worker", "DecompressionStream"].find((name) => typeof globalThis[name] === "undefined");
if (missing) {
  element("missing").hidden = false;
  element("missing").textContent = `This browser has no ${missing}, without which the engine cannot run here. Use a current Firefox, Chromium or Safari, or install multihop.`;
} else {
  new Playground().start().catch((error) => {
    element("missing").hidden = false;
    element("missing").textContent = `The playground could not start: ${error.message}`;
  });
}
