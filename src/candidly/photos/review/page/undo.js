// What was done in this tab, so that it can be undone and redone in order.

import { post } from "./api.js";
import { say } from "./dom.js";
import { texts } from "./texts.js";

/** @typedef {{numbers: number[], drawn?: {face: number, seen: number}, unsure?: {face: number, seen: number}}} Entry */

/** @type {Entry[]} */
let done = [];
/** @type {{entry: Entry, numbers: number[]}[]} */
let back = [];

/** Remember what was done. @param {number[]} numbers */
export function remember(numbers) {
  done.push({ numbers });
  back = [];
}

/** Remember a box that was drawn: it is taken back by ignoring it. @param {number} face */
export function rememberDrawn(face) {
  done.push({ numbers: [], drawn: { face, seen: 0 } });
  back = [];
}

/** Remember that somebody could not tell in an audit, which is no decision. @param {{face: number, seen: number}} unsure */
export function rememberUnsure(unsure) {
  done.push({ numbers: [], unsure });
  back = [];
}

/** Take back what was done last: in this tab, else by anybody. */
export async function undo() {
  const entry = done.pop();
  if (entry?.drawn) {
    const made = await post("api/decisions", { what: "ignore", faces: [entry.drawn] });
    back.push({ entry, numbers: made.numbers });
  } else if (entry?.unsure) {
    await post("api/audit/answers", { ...entry.unsure, answer: "open" });
    back.push({ entry, numbers: [] });
  } else {
    const numbers = entry ? entry.numbers : [];
    const made = await post("api/undo", { numbers });
    back.push({ entry: entry ?? { numbers: [] }, numbers: made.numbers });
  }
  say(texts.undone);
}

/** Bring back what was taken back last. */
export async function redo() {
  const last = back.pop();
  if (!last) {
    say(texts.nothingToRedo);
    return;
  }
  const { entry } = last;
  const made = entry.unsure
    ? await post("api/audit/answers", { ...entry.unsure, answer: "unsure" })
    : await post("api/undo", { numbers: last.numbers });
  if (entry.drawn) entry.drawn.seen = Math.max(...made.numbers);
  // Undoing the undo again is a decision of its own where the numbers are not known here.
  done.push(entry.numbers.length || entry.drawn || entry.unsure ? entry : { numbers: made.numbers });
  say(texts.redone);
}
