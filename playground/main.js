// Page of the playground: its elements and their events.
import { fromBase64, inflate } from "./bytes.js";
import { TimeCharts, airtime } from "./charts.js";
import { h } from "./dom.js";
import { Form } from "./form.js";
import { NetworkMap } from "./map.js";
import { Question } from "./question.js";
import { checkedQuestion } from "./question_format.js";
import { Remote } from "./remote.js";
import { complete, linesOf } from "./results.js";
import { fromFragment, toFragment } from "./share.js";
import { flowsOf, tablesOf } from "./tables.js";
import { digits } from "./units.js";
import { mount } from "../python/multihop/report/viewer/viewer.js";

const element = (id) => document.getElementById(id);
// The object has no prototype, so that "constructor" is not a scene.
const scenes = Object.assign(Object.create(null), JSON.parse(element("scenes").textContent));

/** Maximum time for the check of a scenario, in milliseconds. */
const CHECK_MS = 20_000;
/** Pause in typing after which a scenario is checked, in milliseconds. */
const TYPING_MS = 400;

/** Playground page. */
class Playground {
  async start() {
    const wasm = await inflate(fromBase64(element("engine").textContent.trim()), "gzip");
    const module = await WebAssembly.compile(wasm);
    const source = element("worker").textContent;
    this.checker = new Remote(module, source);
    this.runner = new Remote(module, source);
    const [schema, catalogue, columns] = await Promise.all(["schema", "catalogue", "columns"].map((name) => this.checker.call({ do: name })));
    this.descriptions = Object.fromEntries(columns.map((table) => [table.name, table]));
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
    on("ask", "click", () => this.ask(element("asked").value));
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

  /** Runs an action and shows its errors on the page. */
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

  /** Opens the scene or the scenario of a link. */
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
      if (!scenes[name]) this.say(`Found no scene ${name}.`);
      return;
    }
    element("scheme").value = state.scheme ?? "";
    element("seed").value = state.seed ?? "";
    await this.show(state.text, scenes[state.scene] ? state.scene : null);
    if (typeof state.question === "string") await this.ask(state.question);
  }

  async openScene(name) {
    element("scheme").value = "";
    await this.show(scenes[name].text, name);
  }

  async openFile() {
    const [file] = element("file").files;
    if (!file) return;
    if (file.size > 5e6) throw new Error(`${file.name}: found ${digits(file.size / 1e6)} MB; a scenario has at most 5 MB.`);
    await this.show(await file.text(), null);
  }

  /** Shows a scenario. */
  async show(text, scene) {
    this.say("");
    element("scene").value = scene ?? "";
    this.scene = scene;
    this.asked = undefined;
    this.mistakeOfQuestion(null);
    element("asking").open = false;
    element("asked").value = (scenes[scene] ?? Object.values(scenes)[0]).source;
    this.question.show(scene && scenes[scene]);
    element("results").hidden = true;
    element("viewer").hidden = true;
    await this.write(text);
  }

  /** Shows the question in a TOML text, or its error. */
  async ask(text) {
    element("asked").value = text;
    try {
      this.question.show(checkedQuestion(await this.checker.call({ do: "values", text }), this.descriptions));
      this.asked = text;
      this.mistakeOfQuestion(null);
    } catch (error) {
      this.mistakeOfQuestion(error);
      element("asking").open = true;
    }
  }

  /** Shows an error in the question; null clears it. */
  mistakeOfQuestion(error) {
    element("asked-mistake").hidden = !error;
    element("asked-mistake").textContent = error ? error.message.replace(/^scenario:(\d+): /, "Question: line $1: ") : "";
  }

  async write(text) {
    element("text").value = text;
    await this.check();
  }

  overrides(set = []) {
    const overrides = { set };
    if (element("scheme").value) overrides.scheme = element("scheme").value;
    const seed = element("seed").value.trim();
    if (seed && /^[0-9]{1,15}$/.test(seed)) overrides.seed = Number(seed);
    else if (seed) throw new Error(`Seed: found ${seed}; needs a whole number of at most 15 digits.`);
    return overrides;
  }

  /** Checks the text, and shows its values or its errors. */
  async check() {
    const text = element("text").value;
    const number = (this.checks = (this.checks ?? 0) + 1);
    const timer = setTimeout(() => this.checker.stop("The scenario is too large for this page."), CHECK_MS);
    try {
      const values = await this.checker.call({ do: "values", text });
      const view = await this.checker.call({ do: "check", text, overrides: this.overrides() }).catch((error) => error);
      if (number !== this.checks) return;
      this.form.show(values, (values.topology?.nodes ?? view.nodes ?? []).map((node) => node.name));
      if (view instanceof Error) throw view;
      this.view = view;
      this.map.show(view, ranges(values.medium));
      this.mistake(null);
    } catch (error) {
      if (number === this.checks) this.mistake(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Shows an error in the text and its line; null clears it. */
  mistake(error) {
    const { line } = error?.details ?? {};
    element("mistake").hidden = !error;
    element("mistake").textContent = error ? error.message.replace(/^scenario:(\d+): /, "Line $1: ") : "";
    this.mistaken = Boolean(error);
    this.updateRunButton();
    element("text").setAttribute("aria-invalid", String(Boolean(error)));
    const lines = element("text").value.split("\n").length;
    element("lines").replaceChildren(...Array.from({ length: Math.min(lines, 5000) }, (_, index) => h("span", { class: index + 1 === line ? "wrong" : null }, String(index + 1))));
  }

  async edit(edits) {
    await this.attempt(async () => this.write(await this.checker.call({ do: "edit", text: element("text").value, edits })));
  }

  /** Writes the position of a node into the text; a generated topology is converted to a list first. */
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
        throw new Error(`The node was not moved: ${error.message}`);
      }
    });
  }

  /** Runs the text and returns its tables; null if the run is cancelled or fails. The run has a frame log if it is requested and `isShown`. */
  async run(label, set, isShown = true) {
    if (this.running) return null;
    this.say("");
    this.busy(true);
    await this.showing;
    this.markOutdated(isShown && element("frames").checked);
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
        if (tables) this.results(complete(tables, view), view, now);
      };
      const start = performance.now();
      const request = { text, overrides, frames: isShown && element("frames").checked };
      const tables = complete(await this.runner.run(request, watch), view);
      this.results(tables, view, view.duration_s);
      await this.showing;
      await this.showFrames(frames);
      element("status").textContent = `${label}: ${digits(view.duration_s)} s in ${digits((performance.now() - start) / 1000)} s`;
      return tables;
    } catch (error) {
      this.fail(error);
      return null;
    } finally {
      this.busy(false);
    }
  }

  /** Marks the results of the previous run as outdated. */
  markOutdated(hasFrames) {
    element("results").classList.add("old");
    this.closeViewer(hasFrames && "The run is in progress. Its transmissions are shown after about ten thousand of them, or at the end of the run.");
  }

  /** Shows the error of a run, or its cancellation. */
  fail(error) {
    const results = element("results");
    const isCancelled = error.message === "cancelled";
    // The run has no tables yet.
    if (results.classList.contains("old")) results.hidden = true;
    element("status").textContent = isCancelled ? `Cancelled${results.hidden ? "." : "; the results until then are shown below."}` : "";
    if (!isCancelled) this.say(error.message);
    // The part of the log that is shown remains.
    if (isCancelled && (this.shown || this.showing)) return;
    this.closeViewer(isCancelled && !element("viewer").hidden && "The run was cancelled before its transmissions could be shown.");
  }

  /** Enables the run button if no run is in progress and the text has no error. */
  updateRunButton() {
    element("run").disabled = this.running || this.mistaken;
  }

  /** Enables and disables the controls of a run. */
  busy(isRunning) {
    this.running = isRunning;
    this.updateRunButton();
    element("cancel").disabled = !isRunning;
    element("progress").hidden = !isRunning;
    element("progress").value = 0;
  }

  /** Shows the tables of a run. */
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
    element("flows").replaceChildren(...flowsOf(tables, this.descriptions).filter(Boolean));
    element("tables").replaceChildren(...tablesOf(tables, this.descriptions));
  }

  /** Shows the frame log of a run in progress, unless the viewer is still loading the previous part. */
  showPart(part) {
    if (this.showing) return;
    const cutShort = "The log contains the run so far; the run is in progress or was cancelled.";
    this.showing = this.showFrames(part, cutShort).finally(() => { this.showing = null; });
  }

  /** Shows a frame log, with a note `partial` if the run is in progress; hides the viewer without a log. */
  async showFrames(frames, partial = null) {
    this.closeViewer("");
    if (!frames) return;
    element("viewer").hidden = false;
    const cutShort = partial ?? `The log is full: the page stores about ${Math.round(frames.length / 1e6)} MB, and later transmissions are omitted. The tables cover the whole run; multihop run --frames writes a complete log.`;
    // The viewer shows errors of a log itself.
    this.shown = await mount(element("log"), frames, { hash: false, cutShort }).catch(() => null);
  }

  /** Closes the viewer; shows a text in its place, or hides the place. */
  closeViewer(text) {
    this.shown?.close();
    this.shown = null;
    element("viewer").hidden = !text;
    element("log").replaceChildren(...(text ? [h("p", { class: "note", role: "status" }, text)] : []));
  }

  /** Returns the state that a link contains. */
  state() {
    return {
      text: element("text").value,
      scene: this.scene,
      scheme: element("scheme").value || undefined,
      seed: element("seed").value || undefined,
      question: this.asked,
    };
  }

  async share() {
    const fragment = await toFragment(this.state());
    history.replaceState(null, "", fragment);
    const link = location.href;
    const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
    this.say(copied ? "The link was copied to the clipboard and to the address bar." : "The link is in the address bar.");
  }

  download() {
    const url = URL.createObjectURL(new Blob([element("text").value], { type: "application/toml" }));
    const name = (this.view?.name ?? "scenario").replace(/[^A-Za-z0-9._-]+/g, "-");
    h("a", { href: url, download: `${name}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}

/** Returns the ranges of a medium, which are drawn around a node; empty for other media. */
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
  element("missing").textContent = `This browser has no ${missing}, which the engine needs. Use a current Firefox, Chromium or Safari, or install multihop.`;
} else {
  new Playground().start().catch((error) => {
    element("missing").hidden = false;
    element("missing").textContent = `The playground could not start: ${error.message}`;
  });
}
