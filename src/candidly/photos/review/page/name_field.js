// A field for a name, completed by those that are known.

import { get } from "./api.js";
import { h } from "./dom.js";

let fields = 0;

/**
 * Return a form that asks for a name.
 * @param {string} label
 * @param {string} button
 * @param {(name: string) => void} chosen
 * @param {() => void} [left] called on Escape
 * @returns {HTMLFormElement}
 */
export function nameForm(label, button, chosen, left = () => {}) {
  const input = nameInput();
  return h(
    "form",
    {
      class: "row",
      onsubmit: (event) => {
        event.preventDefault();
        if (input.value.trim()) chosen(input.value);
      },
      onkeydown: (event) => {
        if (event.key === "Escape") left();
      },
    },
    h("label", {}, label, " ", input, input.known),
    h("button", {}, button),
  );
}

/** Return a field whose list of names follows what is typed. */
export function nameInput() {
  fields += 1;
  const known = h("datalist", { id: `names-${fields}` });
  const input = h("input", { list: known.id, autocomplete: "off", maxlength: 200, type: "text" });
  let asked = "";
  input.addEventListener("input", async () => {
    asked = input.value;
    const { names } = await get("api/names", { find: asked }).catch(() => ({ names: [] }));
    if (input.value === asked) known.replaceChildren(...names.map((name) => h("option", { value: name })));
  });
  input.known = known;
  return input;
}

