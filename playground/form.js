// Form for scenarios, generated from their JSON Schema. The form writes TOML; the engine reports errors.
import { h } from "./dom.js";

/** Sections in the order of the form. */
const SECTIONS = ["flows", "traffic", "mac", "phy", "medium", "topology", "routing", "schemes", "network", "mobility", "outages", "measure"];

/** Form. `edit(edits)` is called with changes `{ path, value }` of the text, in the format of the engine. */
export class Form {
  constructor(schema, catalogue, edit) {
    this.schema = schema;
    this.catalogue = catalogue;
    this.edit = edit;
    this.open = new Set(["flows"]);
    this.element = h("div", { class: "form" });
  }

  /** Shows the values of a scenario; `names` are the names of its nodes. */
  show(values, names) {
    this.names = names;
    const focused = document.activeElement?.dataset?.path;
    const { properties } = this.schema;
    const plain = Object.keys(properties).filter((key) => !SECTIONS.includes(key));
    this.element.replaceChildren(
      ...plain.map((key) => this.field(properties[key], values[key], key, key)),
      ...SECTIONS.map((key) => this.section(key, key, () => (key === "schemes" ? this.schemes(values) : [this.field(properties[key], values[key], key, key)]), values[key] !== undefined)),
    );
    if (focused) this.element.querySelector(`[data-path="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Creates a section that is filled when it opens. */
  section(id, title, fields, isSet) {
    const body = h("div", { class: "fields" });
    const fill = () => body.childElementCount || body.append(...fields());
    if (this.open.has(id)) fill();
    const toggled = (event) => {
      this.open[event.target.open ? "add" : "delete"](id);
      if (event.target.open) fill();
      event.stopPropagation();
    };
    return h("details", { open: this.open.has(id), ontoggle: toggled }, h("summary", { class: isSet ? "set" : null }, title), body);
  }

  /** Creates the field of a key: an input, or a group of fields. */
  field(given, value, path, title) {
    const schema = this.resolved(given);
    const variants = schema.oneOf ?? schema.anyOf;
    if (variants?.every((variant) => variant.const !== undefined)) return this.choice(schema, value, path, title, variants.map((variant) => variant.const));
    const tag = variants && tagOf(variants.map((variant) => this.resolved(variant)));
    if (tag) return this.tagged(tag, variants, value, path, title);
    if (variants?.some((variant) => this.resolved(variant).properties)) {
      const fits = variants.map((variant) => this.resolved(variant)).find((variant) => this.fits(variant, value));
      return fits ? this.field(fits, value, path, title) : this.input(schema, value, path, title);
    }
    if (schema.properties) return this.group(schema, value, path);
    if (schema.type === "array" && this.resolved(schema.items ?? {}).properties) return this.list(schema, value, path, title);
    if (schema.type === "boolean") return this.choice(schema, value, path, title, [true, false]);
    return this.input(schema, value, path, title);
  }

  /** Whether a value has only keys of a schema. */
  fits(schema, value) {
    const keys = Object.keys(value ?? {});
    const variants = schema.oneOf?.map((variant) => this.resolved(variant)) ?? [schema];
    return variants.some((variant) => keys.length && keys.every((key) => variant.properties?.[key]));
  }

  /** Resolves references and removes `null`, which means that a key is absent. */
  resolved(schema) {
    let found = schema;
    while (found.$ref) found = { ...this.schema.$defs[found.$ref.split("/").pop()], description: found.description ?? this.schema.$defs[found.$ref.split("/").pop()].description, default: found.default };
    const variants = found.anyOf?.filter((variant) => variant.type !== "null");
    if (variants?.length === 1) return { ...this.resolved(variants[0]), description: found.description };
    if (variants) found = { ...found, anyOf: variants };
    if (Array.isArray(found.type)) found = { ...found, type: found.type.find((type) => type !== "null") };
    return found;
  }

  /** Creates the fields of a table. */
  group(schema, value, path) {
    const fields = Object.entries(schema.properties).map(([key, inner]) => {
      const plain = this.resolved(inner);
      const at = `${path}.${bare(key)}`;
      const isGroup = plain.properties || (plain.oneOf && tagOf(plain.oneOf.map((variant) => this.resolved(variant)))) || (plain.type === "array" && this.resolved(plain.items ?? {}).properties);
      return isGroup ? this.section(at, key, () => [this.field(inner, value?.[key], at, key)], value?.[key] !== undefined) : this.field(inner, value?.[key], at, key);
    });
    return h("div", { class: "fields" }, fields);
  }

  /** Creates the fields of one of several tables, which the key `tag` distinguishes. */
  tagged(tag, variants, value, path, title) {
    const known = variants.map((variant) => this.resolved(variant));
    const name = value?.[tag];
    const chosen = known.find((variant) => variant.properties[tag].const === name);
    const select = this.select(
      `${title}: ${tag}`,
      `${path}.${tag}`,
      known.map((variant) => variant.properties[tag].const),
      name,
      (text) => this.edit([{ path, value: text === "" ? null : `{ ${tag} = ${JSON.stringify(text)} }` }]),
      known.map((variant) => `${variant.properties[tag].const}: ${variant.description}`).join("\n"),
    );
    const rest = chosen && { properties: Object.fromEntries(Object.entries(chosen.properties).filter(([key]) => key !== tag)) };
    return h("div", { class: "fields" }, select, rest ? this.group(rest, value, path) : null);
  }

  /** Creates the sections of a list of tables. */
  list(schema, value, path, title) {
    const entries = (value ?? []).map((entry, index) => {
      const at = `${path}[${index}]`;
      const name = entry.name ?? (entry.from ? `${entry.from} → ${entry.to}` : `${title} ${index + 1}`);
      const remove = h("button", { type: "button", onclick: () => this.edit([{ path: at, value: null }]) }, `Remove ${name}`);
      return this.section(at, name, () => [this.field(schema.items, entry, at, name), remove], true);
    });
    const count = entries.length;
    const last = value?.[count - 1];
    const fresh = title === "flows" && this.names.length > 1 ? { from: this.names[0], to: this.names[1], scheme: last?.scheme ?? "tcp-newreno" } : { name: `new${count}` };
    if (title === "nodes" && last?.position) fresh.position = ["0 m", "0 m"];
    const add = h("button", { type: "button", onclick: () => this.edit(Object.entries(fresh).map(([key, text]) => ({ path: `${path}[${count}].${key}`, value: JSON.stringify(text) }))) }, `Add an entry to ${title}`);
    return h("div", { class: "fields" }, entries, add);
  }

  /** Creates the sections of the schemes that the scenario names. */
  schemes(values) {
    const used = [...(values.flows ?? []), values.traffic ?? {}].map((flow) => flow.scheme);
    const names = [...new Set([...Object.keys(values.schemes ?? {}), ...used.filter(Boolean)])];
    return names.map((name) => {
      const base = values.schemes?.[name]?.base ?? name;
      const entry = this.catalogue.schemes.find((scheme) => scheme.name === base);
      const fields = () => {
        if (!entry) return [h("p", { class: "note" }, `${base} is not a scheme.`)];
        const outer = this.schema;
        this.schema = { ...outer, $defs: { ...outer.$defs, ...entry.parameters.$defs } };
        const parameters = this.group(entry.parameters, values.schemes?.[name], `schemes.${bare(name)}`);
        this.schema = outer;
        return [h("p", { class: "note" }, entry.summary), parameters];
      };
      return this.section(`schemes.${name}`, name, fields, values.schemes?.[name] !== undefined);
    });
  }

  /** Creates a selection of constant values. */
  choice(schema, value, path, title, options) {
    const write = (text) => this.edit([{ path, value: text === "" ? null : typeof options[0] === "boolean" ? text : JSON.stringify(text) }]);
    return this.select(title, path, options.map(String), value === undefined ? undefined : String(value), write, schema.description, schema.default);
  }

  /** Creates a `select` element. */
  select(title, path, options, value, write, description, fallback) {
    const none = fallback === undefined || fallback === null || typeof fallback === "object" ? "" : `(${fallback})`;
    const known = value === undefined || options.includes(value) ? options : [...options, value];
    const element = h(
      "select",
      { "data-path": path, onchange: (event) => write(event.target.value) },
      h("option", { value: "" }, none),
      known.map((option) => h("option", { value: option, selected: option === value }, option)),
    );
    return h("label", { title: description }, h("span", {}, title), element);
  }

  /** Creates a text input. */
  input(schema, value, path, title) {
    const names = { from: this.names, to: this.names, scheme: this.catalogue.schemes.map((scheme) => scheme.name) }[title];
    const isName = schema.type === "string" || (!Array.isArray(value) && schema.anyOf?.some((variant) => variant.type === "string" && !variant.pattern));
    if (names && isName) return this.choice({ ...schema, default: undefined }, value, path, title, names);
    const isText = typeof value === "string" || (value === undefined && schema.type === "string");
    const shown = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
    const fallback = schema.default === undefined || schema.default === null || typeof schema.default === "object" ? "" : String(schema.default);
    const write = (event) => {
      const text = event.target.value.trim();
      this.edit([{ path, value: text === "" ? null : literal(text, isText) }]);
    };
    return h("label", { title: schema.description }, h("span", {}, title), h("input", { "data-path": path, value: shown, placeholder: fallback, spellcheck: "false", onchange: write }));
  }
}

/** Returns the key that distinguishes tables; undefined if there is none. */
function tagOf(variants) {
  const keys = Object.keys(variants[0]?.properties ?? {});
  return keys.find((key) => variants.every((variant) => variant.properties?.[key]?.const !== undefined));
}

/** Converts a value to TOML: numbers, booleans and lists are unchanged, other values become strings. */
const literal = (text, isText) => (!isText && /^([-+]?[0-9.][0-9._eE+-]*|true|false|[[{].*)$/s.test(text) ? text : JSON.stringify(text));

/** Quotes a key for a path, if necessary. */
const bare = (key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));
