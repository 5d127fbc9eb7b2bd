// A decision about faces: sent, told, remembered; a conflict and another tab are asked about.

import { post, Refused } from "./api.js";
import { ask, h, say, warn } from "./dom.js";
import { texts } from "./texts.js";
import { remember } from "./undo.js";

/**
 * Decide, and return what was made; null where nothing was.
 * @param {string} what
 * @param {{face: number, seen: number}[]} faces
 * @param {string|null} name
 * @param {string} label what the faces are called
 * @returns {Promise<import("./api.js").Made|null>}
 */
export async function decide(what, faces, name, label) {
  const body = { what, faces: faces.map(({ face, seen }) => ({ face, seen })), ...(name ? { name } : {}) };
  const made = await send("api/decisions", body, name, faces.length === 1);
  if (made) {
    remember(made.numbers);
    say(texts.said[what](label, name));
  }
  return made;
}

/**
 * Send a decision, and return what was made; null where nothing was.
 * @param {string} path
 * @param {object} body
 * @param {string|null} name
 * @param {boolean} single whether it is about one face
 * @returns {Promise<import("./api.js").Made|null>}
 */
export async function send(path, body, name, single) {
  try {
    return await post(path, body);
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    if (problem.taken.length) {
      const places = problem.taken.filter(Boolean);
      const sentence = places.length && single
        ? texts.conflict(name, places.join(", "))
        : texts.conflictGroup(problem.message);
      const answer = await ask(texts.conflictTitle, [h("p", {}, sentence)], [
        ["", texts.cancel],
        ["yes", texts.acceptAllTheSame],
      ]);
      if (answer !== "yes") return null;
      return post(path, { ...body, even_so: true });
    }
    await meanwhile(problem);
    return null;
  }
}

/** Tell what somebody else decided meanwhile, or what is wrong. @param {Refused} problem */
export async function meanwhile(problem) {
  if (!problem.happened.length) {
    warn(texts.failed(problem.message));
    return;
  }
  const lines = problem.happened.map((one) => h("li", {}, sentence(one), " ", texts.by(one.by, time(one.at))));
  await ask(texts.meanwhileTitle, [h("p", {}, texts.meanwhile), h("ul", {}, lines)], [["", texts.close]]);
}

/** Return a decision in words. @param {import("./api.js").Decision} one */
export const sentence = (one) => texts.said[one.what](one.label, one.name, one.becomes, one.undoes);

/** Return a time of this place. @param {string} at */
export const time = (at) => new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
