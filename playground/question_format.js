// Format of questions: the keys of scenes/*.question.toml, checked, because readers write questions too.

const KEYS = ["place", "title", "question", "why", "measure", "compare", "runs", "choices"];
const FOLDS = ["sum", "mean", "share", "quotient"];
const COMPARISONS = ["last", "ratio"];

/** Returns a question from the values of its TOML. Throws an Error that names the key, what was found and what is needed. `tables` are the engine's descriptions of tables by name. */
export function checkedQuestion(values, tables) {
  only(values, KEYS, "");
  const { measure, runs, choices } = values;
  text(values.question, "question");
  for (const key of ["title", "why"]) if (values[key] !== undefined) text(values[key], key);
  checkMeasure(measure, tables);
  oneOf(values.compare, COMPARISONS, "compare");
  list(runs, 1, 6, "runs").forEach((run, index) => checkRun(run, `runs[${index}]`));
  list(choices, 2, 8, "choices").forEach((choice, index) => checkChoice(choice, choices, index));
  return values;
}

function checkMeasure(measure, tables) {
  only(measure, ["what", "table", "column", "fold", "where", "weight"], "measure");
  text(measure.what, "measure.what");
  oneOf(measure.table, Object.keys(tables), "measure.table");
  const columns = tables[measure.table].columns.map(({ name }) => name);
  const column = (name, key) => columns.includes(name) || wrong(key, name, `a column of ${measure.table}`);
  column(measure.column, "measure.column");
  oneOf(measure.fold, FOLDS, "measure.fold");
  if (measure.weight !== undefined) column(measure.weight, "measure.weight");
  if (measure.where === undefined) return;
  only(measure.where, columns, "measure.where", `columns of ${measure.table}`);
}

function checkRun(run, place) {
  only(run, ["label", "set"], place);
  text(run.label, `${place}.label`);
  if (run.set === undefined) return;
  list(run.set, 0, 50, `${place}.set`).forEach((setting, index) => {
    const isPair = Array.isArray(setting) && setting.length === 2 && setting.every((part) => typeof part === "string");
    if (!isPair) wrong(`${place}.set[${index}]`, setting, 'a key and a value as text in TOML, such as ["mac.queue", "20"]');
  });
}

function checkChoice(choice, choices, index) {
  const place = `choices[${index}]`;
  only(choice, ["text", "below"], place);
  text(choice.text, `${place}.text`);
  if (index === choices.length - 1) {
    if (choice.below !== undefined) wrong(`${place}.below`, choice.below, "no bound: the last choice covers all larger values");
    return;
  }
  const least = index ? choices[index - 1].below : -Infinity;
  if (typeof choice.below !== "number" || !(choice.below > least)) wrong(`${place}.below`, choice.below, index ? `a number above ${least}` : "a number");
}

function only(value, keys, place, described = keys.join(", ")) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) wrong(place, value, `a table with ${described}`);
  const other = Object.keys(value).find((key) => !keys.includes(key));
  if (other !== undefined) wrong(place || "keys", other, described);
}

function text(value, place) {
  if (typeof value !== "string" || !value.trim()) wrong(place, value, "text");
}

function oneOf(value, names, place) {
  if (!names.includes(value)) wrong(place, value, `one of ${names.join(", ")}`);
}

function list(value, least, most, place) {
  if (!Array.isArray(value) || value.length < least || value.length > most) wrong(place, value, `a list of ${least} to ${most} entries`);
  return value;
}

function wrong(place, found, needs) {
  const shown = found === undefined ? "nothing" : JSON.stringify(found);
  throw new Error(`Question: ${place}: found ${shown.length > 60 ? `${shown.slice(0, 60)} …` : shown}; needs ${needs}.`);
}
