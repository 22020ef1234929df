"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[at].dataset.sort ?? row.cells[at].textContent;
      const isNumber = head.classList.contains("number");
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        // What has no value comes last, whichever way.
        if (x === "" || y === "") return (x === "") - (y === "");
        const less = isNumber ? Number(x) - Number(y) : x.localeCompare(y);
        return down ? -less : less;
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    });
  });
}
