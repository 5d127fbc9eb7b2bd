// The audit: is a name right? And how wrong all of them are, by the answers so far.

import { facePicture, get, post } from "./api.js";
import { h, say, takeFocus, warn } from "./dom.js";
import { send } from "./decide.js";
import { captionOf, pictureOf } from "./picture.js";
import { texts } from "./texts.js";
import { remember, rememberUnsure } from "./undo.js";

const KEYS = { y: "right", n: "wrong", u: "unsure" };

/** @param {HTMLElement} main @param {{changed: () => void, undo: () => void}} app */
export function auditPage(main, app) {
  /** The question that waits for an answer. @type {{face: number, photo: number, name: string, seen: number}|null} */
  let question = null;
  let alive = true;
  const place = h("div", {}, h("p", {}, texts.loading));

  const attempt = async (work) => {
    try {
      await work();
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
  };
  const load = () => attempt(async () => show(await get("api/audit")));
  const show = async ({ result, question: asked, most }) => {
    const photo = asked && (await get(`api/photos/${asked.photo}`));
    if (!alive) return;
    question = asked;
    if (!result) place.replaceChildren(h("button", { type: "button", id: "begin", onclick: begin }, texts.auditBegin));
    else if (!result.overall.names) place.replaceChildren(h("p", { id: "nothing" }, texts.auditNothing));
    else if (!asked) place.replaceChildren(h("p", { id: "nothing" }, texts.auditEnough), boundsOf(result, most));
    else {
      const face = { ...photo.faces.find((one) => one.face === asked.face), name: asked.name };
      const alone = { ...photo, faces: [face] };
      const panel = questionPanel(face, answer, app.undo);
      place.replaceChildren(h("div", { class: "split" },
        h("div", {}, pictureOf(alone, asked.face, () => panel.focus(), true), captionOf(photo, asked.name)),
        h("div", {}, panel, boundsOf(result, most))));
      takeFocus(panel);
    }
  };
  const begin = () => {
    place.replaceChildren(h("p", {}, texts.loading));
    return attempt(async () => show(await post("api/audit", {})));
  };
  const answer = async (said) => {
    if (!question) return;
    const { face, seen, name } = question;
    question = null; // a key pressed twice is one answer
    await attempt(async () => {
      const made = await send("api/audit/answers", { face, seen, answer: said }, name, true);
      if (!made) return;
      if (said === "unsure") rememberUnsure({ face, seen });
      else remember(made.numbers);
      say(texts.auditSaid[said](name));
      app.changed();
    });
    await load();
  };

  main.replaceChildren(h("h1", {}, texts.auditTitle), h("p", { class: "quiet" }, texts.auditNote), place);
  load();
  return {
    key: (key) => {
      if (key === "z") app.undo();
      else if (KEYS[key]) answer(KEYS[key]);
      else return false;
      return true;
    },
    again: load,
    leave: () => { alive = false; },
  };
}

/** @param {import("./api.js").Face} face @param {(said: string) => void} answer @param {() => void} undo */
function questionPanel(face, answer, undo) {
  const button = (key, text, onclick) =>
    h("button", { type: "button", onclick }, text, " ", h("kbd", { "aria-hidden": "true" }, key));
  return h("section", { class: "panel", tabindex: "-1", "aria-label": texts.isIt(face.name) },
    h("h2", {}, texts.isIt(face.name)),
    h("img", {
      class: "large", src: facePicture(face.face), alt: texts.faceAlt(face.place),
      onerror: (event) => { event.target.hidden = true; },
    }),
    h("div", { class: "row" },
      Object.entries(KEYS).map(([key, said]) => button(key, texts.auditAnswers[said], () => answer(said))),
      button("z", texts.undo, undo)));
}

/** @param {any} result @param {number} most */
function boundsOf(result, most) {
  const parts = { overall: result.overall, ...result.groups };
  return h("section", { class: "part", "aria-label": texts.auditBounds },
    h("h2", {}, texts.auditBounds),
    h("p", { id: "asked" }, texts.auditAsked(result.overall.asked, most)),
    h("ul", {}, Object.entries(parts).map(([word, part]) => h("li", {}, `${texts.auditParts[word]}: ${texts.wrongShare(part)}`))));
}
