// People, and the faces of one person: what is doubtful, who is two people, who is one.

import { facePicture, get, post, Refused } from "./api.js";
import { ask, h, nameOf, say, warn } from "./dom.js";
import { decide, meanwhile } from "./decide.js";
import { nameForm } from "./name_field.js";
import { percent, texts } from "./texts.js";
import { faceCard, tickOf } from "./unnamed.js";
import { remember } from "./undo.js";

/** @param {string} name */
export const linkTo = (name) => `#person/${encodeURIComponent(name)}`;

/** @param {HTMLElement} main */
export function peoplePage(main) {
  let offset = 0;
  const list = h("ul", { class: "grid" });
  const more = h("button", { type: "button", onclick: () => load(false) }, texts.more);
  const find = h("input", { type: "search", oninput: () => load(true) });
  const order = h("select", { onchange: () => load(true) }, texts.orders.map(([value, text]) => h("option", { value }, text)));
  const load = async (fresh) => {
    if (fresh) offset = 0;
    const asked = find.value;
    const found = await get("api/people", { find: asked, order: order.value, offset }).catch((problem) => {
      warn(texts.failed(problem.message));
      return { total: 0, people: [] };
    });
    if (find.value !== asked) return;
    if (fresh) list.replaceChildren();
    offset += found.people.length;
    list.append(...found.people.map((one) =>
      h("li", {}, h("figure", {},
        h("a", { href: linkTo(one.name) },
          one.face === null ? h("span", { class: "none" }) : h("img", { src: facePicture(one.face), alt: "", loading: "lazy" }),
          nameOf(one.name)),
        h("figcaption", {}, texts.personCounts(one))))));
    more.hidden = offset >= found.total;
  };
  main.replaceChildren(h("h1", {}, texts.peopleTitle),
    h("div", { class: "row" }, h("label", {}, texts.findPerson, " ", find), h("label", {}, texts.order, " ", order)),
    list, more);
  load(true);
  return { key: () => false, again: () => load(true), leave: () => {} };
}

/** @param {HTMLElement} main @param {{changed: () => void}} app @param {string} name */
export function personPage(main, app, name) {
  let alive = true;
  const place = h("div", {}, h("p", {}, texts.loading));
  const load = async () => {
    try {
      const person = await get("api/person", { name });
      if (!alive) return;
      if (person.name !== name) {
        location.hash = linkTo(person.name);
        return;
      }
      show(person);
    } catch (problem) {
      place.replaceChildren(h("p", {}, texts.failed(problem.message)));
    }
  };
  const show = (person) => {
    const ticks = new Map(person.groups.flat().map((one) => [one, tickOf(one.face, false)]));
    const ticked = () => [...ticks].filter(([, tick]) => tick.checked).map(([one]) => one);
    const act = async (what) => {
      const faces = ticked();
      if (!faces.length) return;
      const made = await decide(what, faces, name, texts.faces(faces.length)).catch((problem) => warn(texts.failed(problem.message)));
      if (made) app.changed();
      await load();
    };
    const split = async (other) => {
      const faces = ticked().map(({ face, seen }) => ({ face, seen }));
      if (faces.length) await change("api/split", { name, new: other, faces }, texts.said.is(texts.faces(faces.length), other));
    };
    const rename = (other) => change("api/rename", { name, new: other, seen: person.seen }, texts.said.rename("", name, other), other);
    const merge = async (other) => {
      const into = await get("api/person", { name: other }).catch((problem) => warn(texts.failed(problem.message)));
      if (!into) return;
      const answer = await ask(texts.mergeTitle, [
        h("p", {}, texts.mergeAsk(name, into.name, person.faces, into.faces)),
        h("ul", { class: "grid" }, [...sample(person), ...sample(into)]),
      ], [["", texts.cancel], ["yes", texts.mergeYes]]);
      if (answer === "yes") await change("api/merge", { name, new: into.name, seen: person.seen }, texts.said.merge("", name, into.name), into.name);
    };
    const cards = (faces) => h("ul", { class: "grid" }, faces.map((one) =>
      faceCard(one, ticks.get(one), one.confirmed ? texts.confirmedWord : h("span", { class: one.certainty }, percent(one.confidence)))));
    const [larger, smaller] = person.groups;
    place.replaceChildren(
      person.likely.length
        ? h("p", { class: "doubt" }, texts.likelySame, " ", person.likely.map((other, at) => [at ? ", " : "", h("a", { href: linkTo(other) }, nameOf(other))]).flat())
        : "",
      smaller
        ? h("div", {}, h("p", { class: "doubt" }, texts.twoGroups(person.cosine)),
            h("div", { class: "sides" },
              h("section", {}, h("h2", {}, texts.largerGroup), tickAll(larger, ticks), cards(larger)),
              h("section", {}, h("h2", {}, texts.smallerGroup), tickAll(smaller, ticks), cards(smaller))))
        : h("section", {}, h("h2", {}, texts.allFaces), tickAll(larger, ticks), cards(larger)),
      h("div", { class: "row part" },
        h("button", { type: "button", onclick: () => act("is") }, texts.confirmTicked),
        h("button", { type: "button", onclick: () => act("not") }, texts.rejectTicked(name)),
        nameForm(texts.splitTicked, texts.save, split)),
      h("div", { class: "row part" },
        nameForm(texts.newName, texts.rename, rename),
        nameForm(texts.mergeInto, texts.merge, merge)),
    );
  };
  const change = async (path, body, told, becomes = name) => {
    try {
      const made = await post(path, body);
      remember(made.numbers);
      say(told);
      app.changed();
      if (becomes !== name) location.hash = linkTo(becomes);
      else await load();
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      await meanwhile(problem);
      await load();
    }
  };
  main.replaceChildren(h("h1", {}, nameOf(name)), place);
  load();
  return { key: () => false, again: load, leave: () => { alive = false; } };
}

/** @param {any[]} faces @param {Map<any, any>} ticks */
const tickAll = (faces, ticks) =>
  h("button", { type: "button", onclick: () => faces.forEach((one) => { ticks.get(one).checked = true; }) }, texts.tickAll);

/** @param {any} person */
const sample = (person) => person.groups.flat().slice(-3).map((one) =>
  h("li", {}, h("figure", {}, h("img", { src: facePicture(one.face), alt: person.name }), h("figcaption", {}, nameOf(person.name)))));
