// Question of a scene or of a link, whose runs determine the answer.
import { bars } from "./charts.js";
import { h } from "./dom.js";
import { compared, measured, rightChoice } from "./results.js";
import { quantity, unitOf } from "./units.js";

/** Question. `run(label, settings, isLast)` runs the text of the page with settings and returns its tables. */
export class Question {
  constructor(run) {
    this.run = run;
    this.element = h("section", { class: "question", "aria-label": "Question", hidden: true });
  }

  /** Shows a question; null hides it. The form asks for a choice before it runs anything. */
  show(scene) {
    this.scene = scene;
    this.element.hidden = !scene;
    if (!scene) return;
    const choice = (text, index) => h("label", {}, h("input", { type: "radio", name: "choice", value: index, required: true }), text);
    this.button = h("button", { type: "submit" }, "Check by running");
    this.result = h("div", { "aria-live": "polite", id: "answer" });
    const submit = (event) => {
      event.preventDefault();
      this.check();
    };
    this.element.replaceChildren(
      h("h2", {}, scene.title ?? "Question"),
      h("form", { onsubmit: submit }, h("fieldset", {}, h("legend", {}, scene.question), scene.choices.map(({ text }, index) => choice(text, index))), this.button),
      this.result,
    );
  }

  /** Runs the runs of the question and shows the answer. */
  async check() {
    const { scene } = this;
    const chosen = Number(this.element.querySelector("input:checked").value);
    const numbers = [];
    this.result.replaceChildren();
    this.button.disabled = true;
    try {
      for (const [index, { label, set = [] }] of scene.runs.entries()) {
        const settings = set.map(([path, value]) => ({ path, value: `value = ${value}` }));
        const tables = await this.run(label, settings, index === scene.runs.length - 1);
        if (!tables) return;
        numbers.push(measured(scene.measure, tables));
      }
    } finally {
      this.button.disabled = false;
    }
    this.say(numbers, chosen);
  }

  /** Shows the answer. */
  say(numbers, chosen) {
    const { measure, compare, runs, choices, why } = this.scene;
    const unit = ["share", "quotient"].includes(measure.fold) ? "1" : unitOf(measure.column);
    const rows = runs.map(({ label }, index) => ({ name: label, value: numbers[index], text: quantity(numbers[index], unit) }));
    const value = compared(compare, numbers);
    if (value === null) {
      this.result.replaceChildren(bars(rows, measure.what), h("p", {}, `The runs give no answer: one of them has no ${measure.what}.`));
      return;
    }
    const answer = rightChoice(choices, value);
    const verdict = chosen === answer ? "Right" : "Wrong";
    const found = compare === "ratio" ? `a factor of ${quantity(value, "1")}` : quantity(value, unit);
    this.result.dataset.choice = answer;
    this.result.dataset.value = value;
    this.result.replaceChildren(
      h("p", { class: "verdict" }, h("b", {}, `${verdict}: `), `${choices[answer].text}. (${measure.what}: ${found})`),
      bars(rows, measure.what),
      why ? h("p", { class: "note" }, why) : "",
    );
  }
}
