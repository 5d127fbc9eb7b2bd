// Everything that was decided, by day and person, and taken back one by one or at once.

import { get, post, Refused } from "./api.js";
import { h, say, warn } from "./dom.js";
import { meanwhile, sentence, time } from "./decide.js";
import { nameInput } from "./name_field.js";
import { texts } from "./texts.js";
import { remember } from "./undo.js";

/** @param {HTMLElement} main @param {{changed: () => void}} app */
export function historyPage(main, app) {
  let alive = true;
  let last = null;
  const list = h("ol", { class: "log", reversed: true });
  const day = h("select", { onchange: () => load(true) }, h("option", { value: "" }, texts.anyDay));
  const person = nameInput();
  person.addEventListener("change", () => load(true));
  const more = h("button", { type: "button", onclick: () => load(false) }, texts.more);

  const load = async (fresh) => {
    try {
      const query = { day: day.value, person: person.value.trim(), ...(fresh || last === null ? {} : { before: last }) };
      const found = await get("api/history", query);
      if (!alive) return;
      const chosen = day.value;
      day.replaceChildren(h("option", { value: "" }, texts.anyDay), ...found.days.map((one) =>
        h("option", { value: one.day, selected: one.day === chosen }, `${one.day} (${one.decisions})`)));
      if (fresh) list.replaceChildren();
      list.append(...rows(found.decisions, back));
      last = found.decisions.at(-1)?.number ?? last;
      more.hidden = found.decisions.length < 100;
      if (!list.childElementCount) list.append(h("li", {}, texts.noHistory));
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
  };
  const back = async (numbers) => {
    try {
      const made = await post("api/undo", { numbers });
      remember(made.numbers);
      say(texts.undone);
      app.changed();
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      await meanwhile(problem);
    }
    await load(true);
  };
  main.replaceChildren(h("h1", {}, texts.historyTitle),
    h("div", { class: "row" }, h("label", {}, texts.day, " ", day), h("label", {}, texts.person, " ", person, person.known)),
    list, more);
  load(true);
  return { key: () => false, again: () => load(true), leave: () => { alive = false; } };
}

/** @param {import("./api.js").Decision[]} decisions @param {(numbers: number[]) => void} back */
function rows(decisions, back) {
  const standing = Map.groupBy(decisions.filter((one) => one.stands), (one) => one.batch);
  return decisions.map((one) => {
    const batch = standing.get(one.batch) ?? [];
    const whole = batch.length > 1 && batch[0] === one;
    return h("li", { value: one.number, "data-number": one.number },
      h("span", { class: one.stands ? null : "gone" }, `${one.number}: `, sentence(one)),
      one.photo === null ? null : h("a", { href: `#photo/${one.photo}` }, one.label),
      h("span", { class: "quiet" }, texts.by(one.by, time(one.at))),
      one.stands
        ? h("button", { type: "button", "aria-label": texts.revertLabel(one.number), onclick: () => back([one.number]) },
            one.what === "undo" ? texts.bringBack : texts.revert)
        : h("span", { class: "quiet" }, texts.takenBack),
      whole ? h("button", { type: "button", onclick: () => back(batch.map((other) => other.number)) }, texts.revertBatch(batch.length)) : null);
  });
}
