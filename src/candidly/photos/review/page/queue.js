// The questions, photo by photo.

import { get, photoPicture } from "./api.js";
import { h, takeFocus, warn } from "./dom.js";
import { facePanel } from "./face_panel.js";
import { nameInput } from "./name_field.js";
import { captionOf, pictureOf } from "./picture.js";
import { texts } from "./texts.js";

const AHEAD = 20;

/** The filters stay while the page is open. */
const chosen = { week: false, folder: "", person: "", only: "", poor: false };
/** Photos that were skipped. @type {Set<number>} */
const skipped = new Set();

/** @param {HTMLElement} main @param {{changed: () => void, folders: () => string[]}} app */
export function queuePage(main, app) {
  /** @type {{photo: number, faces: number[]}[]} */
  let waiting = [];
  /** @type {import("./api.js").Photo|null} */
  let photo = null;
  /** @type {number[]} */
  let asked = [];
  /** @type {any} */
  let panel = null;
  let alive = true;
  const note = h("p", { class: "quiet" });
  const place = h("div", {}, h("p", {}, texts.loading));

  const load = async () => {
    try {
      const most = Math.min(1000, AHEAD + skipped.size);
      const found = await get("api/queue", { ...chosen, most });
      if (!alive) return;
      note.textContent = found.settled ? "" : texts.byDoubt;
      waiting = found.photos.filter((one) => !skipped.has(one.photo));
      await next();
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
  };
  const next = async () => {
    const one = waiting.shift();
    if (!one) {
      photo = null;
      panel = null;
      place.replaceChildren(h("p", { id: "nothing" }, texts.nothingLeft));
      return;
    }
    panel = null; // keys wait for the next face: the one still shown is done with
    if (waiting[0]) new Image().src = photoPicture(waiting[0].photo);
    asked = one.faces;
    const found = await get(`api/photos/${one.photo}`);
    if (!alive) return;
    photo = found;
    show();
  };
  const show = () => {
    const open = photo.faces.filter((face) => asked.includes(face.face));
    const face = open.find((one) => one.decided === "");
    if (!face) {
      if (waiting.length) next();
      else load();
      return;
    }
    panel = facePanel(photo, face, decided, skip);
    place.replaceChildren(h("div", { class: "split" },
      h("div", {}, pictureOf(photo, face.face, choose), captionOf(photo, face.name)), panel));
    takeFocus(panel);
  };
  const choose = (face) => {
    asked = [face, ...asked.filter((one) => one !== face)];
    const one = photo.faces.find((other) => other.face === face);
    panel = facePanel(photo, one, decided, skip);
    place.replaceChildren(h("div", { class: "split" },
      h("div", {}, pictureOf(photo, face, choose), captionOf(photo, one.name)), panel));
    takeFocus(panel);
  };
  const decided = async (made) => {
    photo = made?.photo ?? (await get(`api/photos/${photo.photo}`));
    if (!alive) return;
    show();
    app.changed();
  };
  const skip = () => {
    skipped.add(photo.photo);
    next().catch((problem) => warn(texts.failed(problem.message)));
  };

  main.replaceChildren(h("h1", {}, texts.pages.queue), filters(app, () => load()), note, place);
  load();
  return {
    key: (key) => panel?.key(key) ?? false,
    again: async () => {
      if (!photo) return load();
      photo = await get(`api/photos/${photo.photo}`);
      show();
    },
    leave: () => { alive = false; },
  };
}

/** @param {{folders: () => string[]}} app @param {() => void} changed */
function filters(app, changed) {
  const set = (name, value) => {
    chosen[name] = value;
    skipped.clear();
    changed();
  };
  const tick = (name, text) =>
    h("label", {}, h("input", { type: "checkbox", checked: chosen[name], onchange: (event) => set(name, event.target.checked) }), " ", text);
  const choice = (name, label, pairs) =>
    h("label", {}, label, " ", h("select", { onchange: (event) => set(name, event.target.value) },
      pairs.map(([value, text]) => h("option", { value, selected: chosen[name] === value }, text))));
  const person = nameInput();
  person.value = chosen.person;
  person.addEventListener("change", () => set("person", person.value.trim()));
  const folders = app.folders();
  return h("details", { class: "filters" },
    h("summary", {}, texts.filters),
    h("div", { class: "row" },
      tick("week", texts.week),
      folders.length ? choice("folder", texts.folder, [["", texts.anyFolder], ...folders.map((one) => [one, one])]) : null,
      h("label", {}, texts.person, " ", person, person.known),
      choice("only", texts.only, texts.onlyChoices),
      tick("poor", texts.poor)));
}

