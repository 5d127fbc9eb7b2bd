// Elements are made here only. Text from outside becomes text nodes, never markup.

/**
 * Return a new element.
 * @param {string} tag
 * @param {Record<string, any>} [given] attributes; onX are listeners, "style" an object, null none
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export function h(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(made.style, value);
    else if (name === "value" || name === "checked") made[name] = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

/** Return a name that does not change the direction of the text around it. @param {string} text */
export const nameOf = (text) => h("bdi", {}, text);

/** Return the element with an id. @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Give a part of the page the focus, unless the user went to the bar at the top meanwhile. @param {HTMLElement} part */
export function takeFocus(part) {
  const at = document.activeElement;
  if (!at || at === document.body || byId("main").contains(at)) part.focus({ preventScroll: true });
}

/** Tell what happened, also to a screen reader. @param {string} text */
export function say(text) {
  byId("alert").replaceChildren();
  byId("said").textContent = text;
}

/** Tell what went wrong. @param {string} text */
export function warn(text) {
  byId("said").textContent = "";
  byId("alert").replaceChildren(h("p", {}, text));
}

/**
 * Ask in a dialog, and return the value of the button pressed; "" for Escape.
 * @param {string} title
 * @param {Node[]} content
 * @param {[string, string][]} buttons value and text; the first has the focus
 * @returns {Promise<string>}
 */
export function ask(title, content, buttons) {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, title),
    ...content,
    h("div", { class: "row" }, buttons.map(([value, text]) =>
      h("button", { type: "button", onclick: () => dialog.close(value) }, text))),
  );
  dialog.returnValue = "";
  dialog.showModal();
  dialog.querySelector("button").focus();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue), { once: true }));
}
