// The whole photo with a box for each face, and what is written about it.

import { photoPicture } from "./api.js";
import { h, nameOf } from "./dom.js";
import { texts } from "./texts.js";

/** Return the name of a face in words. @param {import("./api.js").Face} face */
export const nameInWords = (face) =>
  face.name ?? (face.confidence === null ? texts.unknown : texts.nobody);

/**
 * Return the photo with its boxes as buttons.
 * @param {import("./api.js").Photo} photo
 * @param {number|null} current the face that is asked about
 * @param {(face: number) => void} choose
 * @param {boolean} [ignored] whether to show boxes that are ignored
 */
export function pictureOf(photo, current, choose, ignored = false) {
  const boxes = photo.faces
    .filter((face) => ignored || face.decided !== "ignore")
    .map((face) =>
      h(
        "button",
        {
          type: "button",
          class: "box",
          "aria-label": texts.boxLabel(face.place, nameInWords(face)),
          "aria-current": face.face === current ? "true" : null,
          "data-face": face.face,
          style: placed(face),
          onclick: () => choose(face.face),
        },
        h("span", { "aria-hidden": "true" }, `${face.place} `, nameOf(nameInWords(face))),
      ));
  const image = h("img", {
    src: photoPicture(photo.photo),
    alt: texts.photoAlt(photo.file),
    width: photo.width,
    height: photo.height,
    draggable: "false",
    onerror: () => image.replaceWith(h("p", { class: "doubt" }, texts.noPicture)),
  });
  image.style.height = "auto";
  image.style.width = "auto";
  return h("figure", { class: "picture" }, image, boxes);
}

/** Return where a box is. @param {{x: number, y: number, w: number, h: number}} box */
export const placed = (box) => ({
  left: `${100 * box.x}%`,
  top: `${100 * box.y}%`,
  width: `${100 * box.w}%`,
  height: `${100 * box.h}%`,
});

/**
 * Return the caption with its names marked, those of a face more.
 * @param {import("./api.js").Photo} photo
 * @param {string|null} own
 */
export function captionOf(photo, own) {
  const words = photo.caption.map((piece) =>
    piece.name === null
      ? piece.text
      : h("mark", { class: piece.name === own ? "own" : null, title: piece.name }, piece.text));
  return h(
    "section",
    { "aria-label": texts.caption },
    h("p", { class: "caption" }, words.length ? words : texts.noCaption),
    photo.listed.length ? h("p", {}, texts.listed, " ", photo.listed.join(", ")) : null,
    h("p", { class: "quiet" }, h("a", { href: `#photo/${photo.photo}` }, photo.file)),
  );
}
