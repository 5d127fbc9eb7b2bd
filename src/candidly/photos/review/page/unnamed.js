// Faces that nobody named, in groups that look alike.

import { facePicture, get } from "./api.js";
import { h, warn } from "./dom.js";
import { decide } from "./decide.js";
import { nameForm } from "./name_field.js";
import { texts } from "./texts.js";

const WAIT = 1000;

/** @param {HTMLElement} main @param {{changed: () => void}} app */
export function unnamedPage(main, app) {
  let alive = true;
  let shown = 10;
  const place = h("div", {}, h("p", {}, texts.loading));
  const load = async () => {
    try {
      const found = await get("api/unnamed", { most: shown });
      if (!alive) return;
      if (!found.ready) {
        place.replaceChildren(h("p", {}, texts.grouping));
        setTimeout(() => alive && load(), WAIT);
        return;
      }
      const groups = found.groups.map((group, at) => groupOf(group, at + 1, async (made) => {
        if (made) app.changed();
        await load();
      }));
      const more = h("button", { type: "button", onclick: () => { shown = Math.min(50, shown + 10); load(); } }, texts.more);
      place.replaceChildren(...(groups.length ? groups : [h("p", {}, texts.noGroups)]), found.groups.length === shown && shown < 50 ? more : "");
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
  };
  main.replaceChildren(h("h1", {}, texts.unnamedTitle), h("p", { class: "quiet" }, texts.unnamedNote), place);
  load();
  return { key: () => false, again: load, leave: () => { alive = false; } };
}

/** @param {any} group @param {number} number @param {(made: any) => void} decided */
function groupOf(group, number, decided) {
  const ticks = new Map(group.faces.map((one) => [one, tickOf(one.face, true)]));
  const act = async (what, name = null) => {
    const faces = [...ticks].filter(([, tick]) => tick.checked).map(([one]) => one);
    if (faces.length) decided(await decide(what, faces, name, texts.faces(faces.length)).catch((problem) => warn(texts.failed(problem.message))));
  };
  return h("section", { class: "part group", "aria-label": texts.group(number, group.size) },
    h("h2", {}, texts.group(number, group.size)),
    h("ul", { class: "grid" }, [...ticks].map(([one, tick]) => faceCard(one, tick))),
    group.size > group.faces.length ? h("p", { class: "quiet" }, texts.groupMore(group.size - group.faces.length)) : null,
    h("div", { class: "row" },
      nameForm(texts.name, texts.nameGroup, (name) => act("is", name)),
      h("button", { type: "button", onclick: () => act("nobody") }, texts.nobodyGroup),
      h("button", { type: "button", onclick: () => act("ignore") }, texts.ignoreGroup)));
}

/** @param {number} face @param {boolean} checked */
export const tickOf = (face, checked) => h("input", { type: "checkbox", checked, "aria-label": texts.tick(face) });

/** @param {{face: number, photo: number}} one @param {HTMLElement} tick @param {...any} more */
export const faceCard = (one, tick, ...more) =>
  h("li", {}, h("figure", {},
    h("a", { href: `#photo/${one.photo}` }, h("img", { src: facePicture(one.face), alt: texts.tick(one.face), loading: "lazy" })),
    h("figcaption", {}, tick, " ", ...more)));
