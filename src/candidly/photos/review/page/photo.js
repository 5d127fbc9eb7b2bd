// One photo: its faces, boxes that were missed and those that are none; and the list of all photos.

import { get, photoPicture, post } from "./api.js";
import { h, say, takeFocus, warn } from "./dom.js";
import { facePanel } from "./face_panel.js";
import { captionOf, pictureOf, placed } from "./picture.js";
import { texts } from "./texts.js";
import { rememberDrawn } from "./undo.js";

const STEP = 0.01;

/** @param {HTMLElement} main @param {{changed: () => void}} app @param {string} number */
export function photoPage(main, app, number) {
  /** @type {import("./api.js").Photo} */
  let photo;
  let current = null;
  let ignored = false;
  /** @type {any} */
  let panel = null;
  let alive = true;
  const place = h("div", {}, h("p", {}, texts.loading));

  const load = async () => {
    try {
      const found = await get(`api/photos/${encodeURIComponent(number)}`);
      if (!alive) return;
      photo = found;
      show();
    } catch (problem) {
      place.replaceChildren(h("p", {}, texts.failed(problem.message)));
    }
  };
  const show = () => {
    const there = photo.faces.filter((one) => ignored || one.decided !== "ignore");
    const face = there.find((one) => one.face === current) ?? there[0] ?? null;
    current = face?.face ?? null;
    const picture = pictureOf(photo, current, (one) => { current = one; show(); }, ignored);
    panel = face && facePanel(photo, face, decided, null);
    const hint = h("p", { class: "quiet", id: "draw-hint" });
    place.replaceChildren(
      h("div", { class: "row" },
        h("button", { type: "button", id: "draw", onclick: () => { hint.textContent = texts.drawHint; drawing(picture, draw); } }, texts.draw),
        h("label", {}, h("input", { type: "checkbox", checked: ignored, onchange: (event) => { ignored = event.target.checked; show(); } }), " ", texts.ignored)),
      hint,
      h("div", { class: "split" }, h("div", {}, picture, captionOf(photo, face?.name ?? null)), panel ?? h("p", {}, texts.noFaces)));
    if (panel) takeFocus(panel);
  };
  const decided = async (made) => {
    if (made?.photo) {
      photo = made.photo;
      show();
    } else await load();
    app.changed();
  };
  const draw = async (box) => {
    if (!box) return show();
    try {
      const made = await post(`api/photos/${photo.photo}/faces`, box);
      rememberDrawn(made.face);
      photo = made.photo;
      current = made.face;
      show();
      say(texts.drawn);
      app.changed();
    } catch (problem) {
      warn(texts.failed(problem.message));
      show();
    }
    return undefined;
  };

  main.replaceChildren(h("h1", {}, texts.pages.photos), place);
  load();
  return { key: (key) => panel?.key(key) ?? false, again: load, leave: () => { alive = false; } };
}

/**
 * Let the user draw one box, by pointer or keys.
 * @param {HTMLElement} picture
 * @param {(box: {x: number, y: number, w: number, h: number}|null) => void} done
 */
function drawing(picture, done) {
  const box = { x: 0.4, y: 0.4, w: 0.2, h: 0.2 };
  const shown = h("button", { type: "button", class: "box new", "aria-label": texts.drawLabel, "aria-describedby": "draw-hint", style: placed(box) });
  const place = () => Object.assign(shown.style, placed(box));
  const within = (value, most) => Math.min(Math.max(value, 0), most);
  shown.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (dx || dy) {
      if (event.shiftKey) {
        box.w = Math.min(Math.max(box.w + STEP * dx, STEP), 1 - box.x);
        box.h = Math.min(Math.max(box.h + STEP * dy, STEP), 1 - box.y);
      } else {
        box.x = within(box.x + STEP * dx, 1 - box.w);
        box.y = within(box.y + STEP * dy, 1 - box.h);
      }
      place();
    } else if (event.key === "Enter") done({ ...box });
    else if (event.key === "Escape") done(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  picture.classList.add("drawing");
  picture.append(shown);
  shown.focus();
  picture.addEventListener("pointerdown", (event) => {
    const area = picture.querySelector("img").getBoundingClientRect();
    const at = (one) => [within((one.clientX - area.left) / area.width, 1), within((one.clientY - area.top) / area.height, 1)];
    const [x, y] = at(event);
    const follow = (move) => {
      const [u, v] = at(move);
      Object.assign(box, { x: Math.min(x, u), y: Math.min(y, v), w: Math.abs(u - x), h: Math.abs(v - y) });
      place();
    };
    picture.setPointerCapture(event.pointerId);
    picture.addEventListener("pointermove", follow);
    picture.addEventListener("pointerup", (up) => {
      follow(up);
      if (box.w > 0 && box.h > 0) done({ ...box });
    }, { once: true });
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true, once: true });
}

/** @param {HTMLElement} main */
export function photosPage(main) {
  let offset = 0;
  const list = h("ul", { class: "grid wide" });
  const count = h("p", { class: "quiet" });
  const more = h("button", { type: "button", onclick: () => load(false) }, texts.more);
  const find = h("input", { type: "search", oninput: () => load(true) });
  const load = async (fresh) => {
    if (fresh) offset = 0;
    const asked = find.value;
    const found = await get("api/photos", { find: asked, offset }).catch((problem) => {
      warn(texts.failed(problem.message));
      return { total: 0, photos: [] };
    });
    if (find.value !== asked) return;
    if (fresh) list.replaceChildren();
    offset += found.photos.length;
    list.append(...found.photos.map((one) =>
      h("li", {}, h("figure", {}, h("a", { href: `#photo/${one.photo}` },
        h("img", { src: photoPicture(one.photo, false), alt: texts.photoAlt(one.file), loading: "lazy" })),
      h("figcaption", {}, one.file, ", ", texts.faces(one.faces))))));
    count.textContent = texts.photosFound(found.total);
    more.hidden = offset >= found.total;
  };
  main.replaceChildren(h("h1", {}, texts.pages.photos),
    h("div", { class: "row" }, h("label", {}, texts.choosePhoto, " ", find)), count, list, more);
  load(true);
  return { key: () => false, again: () => load(true), leave: () => {} };
}
