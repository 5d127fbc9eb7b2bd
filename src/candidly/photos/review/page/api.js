// Requests to the server; openapi.json describes them.

import { texts } from "./texts.js";

/**
 * @typedef {{name: string, probability: number|null, cosine: number|null, taken: number|null}} Candidate
 * @typedef {{face: number, place: number, x: number, y: number, w: number, h: number,
 *   name: string|null, confidence: number|null, certainty: "sure"|"likely"|"unknown",
 *   decided: ""|"is"|"nobody"|"ignore", refused: string[], poor: boolean, drawn: boolean,
 *   nobody: number|null, candidates: Candidate[], seen: number}} Face
 * @typedef {{text: string, name: string|null, probability: number|null}} Piece
 * @typedef {{photo: number, file: string, folder: string, width: number, height: number,
 *   gone: boolean, faces: Face[], caption: Piece[], listed: string[]}} Photo
 * @typedef {{number: number, what: string, face: number|null, photo: number|null,
 *   label: string|null, name: string|null, becomes: string|null, undoes: number|null,
 *   batch: number, by: string, at: string, stands: boolean}} Decision
 * @typedef {{numbers: number[], photo: Photo|null}} Made
 */

/** An answer that is no success; 409 tells what happened meanwhile. */
export class Refused extends Error {
  /** @param {number} status @param {{problem: string, happened?: Decision[], taken?: number[]}} answer */
  constructor(status, answer) {
    super(answer.problem);
    this.status = status;
    this.happened = answer.happened ?? [];
    this.taken = answer.taken ?? [];
  }
}

/** @param {string} path @param {RequestInit} [how] @returns {Promise<any>} */
async function request(path, how) {
  let answer;
  try {
    answer = await fetch(path, how);
  } catch {
    throw new Refused(0, { problem: texts.offline });
  }
  const content = await answer.json().catch(() => ({ problem: `${answer.status}` }));
  if (!answer.ok) throw new Refused(answer.status, content);
  return content;
}

/** @param {string} path @param {Record<string, any>} [query] */
export const get = (path, query = {}) => request(`${path}?${new URLSearchParams(query)}`);

/** @param {string} path @param {object} body */
export const post = (path, body) =>
  request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** @param {number} face */
export const facePicture = (face) => `pictures/faces/${face}`;

/** @param {number} photo @param {boolean} [large] */
export const photoPicture = (photo, large = true) => `pictures/photos/${photo}?large=${large}`;
