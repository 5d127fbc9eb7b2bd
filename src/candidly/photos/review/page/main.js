// The frame of the page: navigation, keys, undo, and which part is shown.

import { get } from "./api.js";
import { auditPage } from "./audit.js";
import { ask, byId, h, warn } from "./dom.js";
import { meanwhile } from "./decide.js";
import { historyPage } from "./history.js";
import { peoplePage, personPage } from "./people.js";
import { photoPage, photosPage } from "./photo.js";
import { queuePage } from "./queue.js";
import { solveControl } from "./solving.js";
import { texts } from "./texts.js";
import { redo, undo } from "./undo.js";
import { unnamedPage } from "./unnamed.js";

const GO = { q: "queue", u: "unnamed", p: "people", f: "photos", a: "audit", h: "history" };
const KEYS = "candidly-single-keys";

let status = null;
/** @type {string[]} */
let folders = [];
/** @type {{key: (key: string) => boolean, again: () => any, leave: () => void}|null} */
let shown = null;
let going = false;
let reading = null;

const app = { changed: () => readStatus(), folders: () => folders, undo: () => stepBack(undo) };

async function readStatus() {
  clearTimeout(reading);
  reading = setTimeout(async () => {
    status = await get("api/status").catch(() => status);
    showStatus();
  }, 150);
}

function showStatus() {
  if (!status) return;
  document.title = texts.title(status.project);
  byId("effort").textContent = texts.effort(status.effort);
}

function route() {
  const main = byId("main");
  const [page, ...rest] = location.hash.slice(1).split("/");
  const argument = decodeURIComponent(rest.join("/"));
  shown?.leave();
  byId("alert").replaceChildren();
  if (page === "main") return;
  if (page === "unnamed") shown = unnamedPage(main, app);
  else if (page === "people") shown = peoplePage(main);
  else if (page === "person") shown = personPage(main, app, argument);
  else if (page === "photos") shown = photosPage(main);
  else if (page === "photo") shown = photoPage(main, app, argument);
  else if (page === "audit") shown = auditPage(main, app);
  else if (page === "history") shown = historyPage(main, app);
  else shown = queuePage(main, app);
  const current = { person: "people", photo: "photos" }[page] ?? (texts.pages[page] ? page : "queue");
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("aria-current", link.hash === `#${current}`);
  for (const link of document.querySelectorAll("nav a[aria-current]")) link.setAttribute("aria-current", "page");
}

/** @param {() => Promise<void>} step */
async function stepBack(step) {
  try {
    await step();
  } catch (problem) {
    await meanwhile(problem);
  }
  app.changed();
  await shown?.again();
}

const singleKeys = () => localStorage.getItem(KEYS) !== "off";

async function showKeys() {
  const tick = h("input", { type: "checkbox", checked: singleKeys(), onchange: () => localStorage.setItem(KEYS, tick.checked ? "on" : "off") });
  await ask(texts.keys, [
    h("dl", { class: "keys" }, texts.keyList.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]).flat()),
    h("p", {}, h("label", {}, tick, " ", texts.singleKeys)),
  ], [["", texts.close]]);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const inField = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
  if (byId("dialog").open || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !inField) {
    event.preventDefault();
    stepBack(event.shiftKey ? redo : undo);
    return;
  }
  if (event.ctrlKey || event.metaKey || inField || !singleKeys()) return;
  if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.matches("button, a, summary")) return;
  if (going && GO[event.key]) location.hash = GO[event.key];
  else if (event.key === "g") {
    going = true;
    event.preventDefault();
    return;
  } else if (shown?.key(event.key)) {
    // A part of the page may use a key otherwise.
  } else if (event.key === "u") stepBack(undo);
  else if (event.key === "U") stepBack(redo);
  else if (event.key === "?") showKeys();
  else {
    going = false;
    return;
  }
  going = false;
  event.preventDefault();
}

async function start() {
  byId("skip").textContent = texts.skip;
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  const solving = solveControl(() => {
    app.changed();
    shown?.again();
  });
  byId("top").replaceChildren(
    h("nav", { "aria-label": texts.nav }, Object.entries(texts.pages).map(([page, text]) => h("a", { href: `#${page}` }, text))),
    h("div", { class: "row" },
      h("span", { class: "effort", id: "effort", title: texts.effortMeans }),
      h("button", { type: "button", onclick: () => stepBack(undo) }, texts.undo),
      h("button", { type: "button", onclick: () => stepBack(redo) }, texts.redo),
      solving.element,
      h("button", { type: "button", onclick: showKeys }, texts.keys)));
  addEventListener("hashchange", () => {
    route();
    if (byId("top").contains(document.activeElement)) byId("main").focus({ preventScroll: true });
  });
  addEventListener("keydown", onKey);
  status = await get("api/status").catch((problem) => {
    warn(texts.failed(problem.message));
    return null;
  });
  showStatus();
  folders = (await get("api/folders").catch(() => ({ folders: [] }))).folders;
  route();
  if (status?.solving) solving.follow();
}

start();
