// One face with its candidates and everything that can be decided about it.

import { facePicture, get } from "./api.js";
import { h, nameOf, warn } from "./dom.js";
import { decide } from "./decide.js";
import { nameForm } from "./name_field.js";
import { nameInWords } from "./picture.js";
import { percent, texts } from "./texts.js";

/**
 * Return the panel of a face.
 * @param {import("./api.js").Photo} photo
 * @param {import("./api.js").Face} face
 * @param {(made: import("./api.js").Made|null) => void} decided called after a decision, or with
 *   null where the photo has to be read again
 * @param {(() => void)|null} skip
 * @returns {any} an element with key(key), which returns whether it did something
 */
export function facePanel(photo, face, decided, skip) {
  const label = texts.face(face.place);
  let busy = false; // a key pressed twice is one decision
  const act = async (what, name = null) => {
    if (busy) return;
    busy = true;
    try {
      await decided(await decide(what, [face], name, label));
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
    busy = false;
  };
  const why = h("div", { class: "why" });
  const other = h("div", {});
  const showWhy = async () => why.replaceChildren(...(why.childElementCount ? [] : await reasons(face.face)));
  const showOther = () => {
    other.replaceChildren(nameForm(texts.otherLabel, texts.save, (name) => act("is", name), () => {
      other.replaceChildren();
      panel.focus();
    }));
    other.querySelector("input").focus();
  };
  const best = face.name ?? null;
  const rejected = best ?? face.candidates[0]?.name ?? null;
  const button = (key, text, onclick) =>
    h("button", { type: "button", onclick }, text, " ", h("kbd", { "aria-hidden": "true" }, key));
  const panel = h(
    "section",
    { class: "panel", tabindex: "-1", "aria-label": texts.faceOf(face.place, photo.faces.length) },
    h("h2", {}, texts.who(face.place, photo.faces.length)),
    h("img", {
      class: "large", src: facePicture(face.face), alt: texts.faceAlt(face.place),
      onerror: (event) => { event.target.hidden = true; },
    }),
    h("p", {}, texts.now, " ", h("b", {}, nameOf(nameInWords(face))), " ", state(face)),
    h("h3", { class: "quiet" }, texts.candidates),
    face.candidates.length
      ? h("ol", { class: "candidates" }, face.candidates.map((one, at) =>
          h("li", {}, h("button", { type: "button", onclick: () => act("is", one.name) },
            h("kbd", { "aria-hidden": "true" }, `${at + 1}`), " ", nameOf(one.name), " ",
            h("span", { class: "much" }, howMuch(one))))))
      : h("p", { class: "quiet" }, texts.noCandidates),
    h("div", { class: "row" },
      best !== null && face.decided !== "is" ? button("Enter", texts.confirm, () => act("is", best)) : null,
      rejected !== null ? button("n", texts.reject(rejected), () => act("not", rejected)) : null,
      button("b", texts.nobodyButton, () => act("nobody")),
      button("i", texts.ignore, () => act("ignore")),
      button("o", texts.other, showOther),
      skip ? button("s", texts.skipButton, skip) : null,
      button("w", texts.why, showWhy)),
    other,
    why,
  );
  panel.key = (key) => {
    const candidate = /^[1-9]$/.test(key) ? face.candidates[Number(key) - 1] : null;
    if (candidate) act("is", candidate.name);
    else if (key === "Enter" && best !== null && face.decided !== "is") act("is", best);
    else if (key === "n" && rejected !== null) act("not", rejected);
    else if (key === "b") act("nobody");
    else if (key === "i") act("ignore");
    else if (key === "o") showOther();
    else if (key === "w") showWhy();
    else if (key === "s" && skip) skip();
    else return false;
    return true;
  };
  return panel;
}

/** @param {import("./api.js").Face} face */
function state(face) {
  if (face.decided) return texts.decidedBy[face.decided];
  const word = face.name === null ? "" : texts.sure[face.certainty];
  const much = face.confidence === null ? "" : percent(face.confidence);
  return h("span", { class: face.certainty }, [word, much].filter(Boolean).join(", "));
}

/** @param {import("./api.js").Candidate} one */
function howMuch(one) {
  const said = [];
  if (one.taken !== null) said.push(texts.taken(one.taken));
  if (one.probability !== null) said.push(percent(one.probability));
  else said.push(one.cosine !== null ? texts.alike(one.cosine) : texts.mentioned);
  return said.join(", ");
}

/** @param {number} face */
async function reasons(face) {
  const found = await get(`api/faces/${face}/why`);
  const near = found.alike.map((one) =>
    h("li", {}, h("figure", {}, h("img", { src: facePicture(one.face), alt: one.name, loading: "lazy" }),
      h("figcaption", {}, nameOf(one.name), `, ${texts.cosine(one.cosine)}`, h("br"), one.caption.slice(0, 160)))));
  return [
    h("h3", {}, texts.whyTitle),
    h("p", {}, found.source),
    h("ul", {}, found.reasons.map((text) => h("li", {}, text))),
    near.length ? h("h3", {}, texts.nearest) : "",
    h("ul", { class: "grid" }, near),
    found.others.length ? h("h3", {}, texts.whyNot) : "",
    h("ul", {}, found.others.map((one) =>
      h("li", {}, nameOf(one.name ?? texts.nobody), one.probability === null ? "" : ` ${percent(one.probability)}`, `: ${one.because}`))),
  ];
}
