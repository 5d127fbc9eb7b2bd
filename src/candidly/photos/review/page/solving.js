// Solving again with the decisions so far, while the review goes on.

import { get, post } from "./api.js";
import { ask, h, nameOf, say, warn } from "./dom.js";
import { texts } from "./texts.js";

const WAIT = 400;

/** Return a button that solves again, and its progress. @param {() => void} finished */
export function solveControl(finished) {
  const progress = h("progress", { hidden: true, "aria-label": texts.solve });
  const told = h("span", { class: "quiet" });
  const start = h("button", { type: "button", id: "solve" }, texts.solve);

  const follow = async () => {
    start.disabled = true;
    progress.hidden = false;
    try {
      let state = await get("api/solve");
      while (state.running) {
        told.textContent = texts.solving(state.done, state.total);
        if (state.total) {
          progress.max = state.total;
          progress.value = state.done;
        }
        await new Promise((done) => setTimeout(done, WAIT));
        state = await get("api/solve");
      }
      await result(state);
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
    told.textContent = "";
    progress.hidden = true;
    start.disabled = false;
    finished();
  };
  start.addEventListener("click", async () => {
    try {
      await post("api/solve", {});
      await follow();
    } catch (problem) {
      warn(texts.failed(problem.message));
    }
  });
  return { element: h("span", { class: "row" }, start, progress, told), follow };
}

/** @param {any} state */
async function result(state) {
  if (state.failure) {
    warn(texts.solveFailed(state.failure));
    return;
  }
  say(state.changed ? texts.solved(state.changed) : texts.solvedNothing);
  if (!state.changed) return;
  const lines = state.changes.map((one) =>
    h("li", {}, h("a", { href: `#photo/${one.photo}` }, one.file), ": ",
      nameOf(one.before ?? texts.nobody), " → ", nameOf(one.after ?? texts.nobody), h("br"), h("span", { class: "quiet" }, one.why)));
  await ask(texts.solveTitle, [h("p", {}, texts.solved(state.changed)), h("ul", { id: "changes" }, lines)], [["", texts.close]]);
}
