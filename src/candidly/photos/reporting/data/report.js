"use strict";
// Only a filter: without it everything is on the page all the same.
(() => {
  const box = document.getElementById("find");
  const told = document.getElementById("found");
  const people = [...document.querySelectorAll(".person")];
  if (!people.length) return;
  document.querySelector(".find").hidden = false;
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const person of people) {
      person.hidden = !words.every((word) => person.dataset.name.includes(word));
      count += person.hidden ? 0 : 1;
    }
    told.textContent = words.length ? count + " of " + people.length : "";
  });
})();
