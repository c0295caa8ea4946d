
(() => {
  "use strict";
  document.documentElement.classList.add("has-script");

  const form = document.querySelector("form.filters");
  const families = [...document.querySelectorAll("#findings .family")].map((family) => ({
    family,
    wasOpen: family.open,
    rows: [...family.querySelectorAll("tbody tr")].map((row) => ({ row, text: row.textContent.toLowerCase() })),
  }));

  const filter = () => {
    const text = form.elements.text.value.trim().toLowerCase();
    const severities = new Set([...form.querySelectorAll("[name=severity]:checked")].map((box) => box.value));
    const onlyNew = form.elements.new?.checked ?? false;
    const isFiltered = text !== "" || onlyNew;
    let shown = 0;
    for (const { family, wasOpen, rows } of families) {
      let here = 0;
      for (const { row, text: words } of rows) {
        const fits = severities.has(row.dataset.severity) && words.includes(text) && (!onlyNew || "new" in row.dataset);
        row.hidden = !fits;
        here += fits ? 1 : 0;
      }
      family.hidden = here === 0;
      family.open = isFiltered ? here > 0 : wasOpen;
      shown += here;
    }
    form.elements.count.value = `${shown} shown`;
  };

  if (form) {
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const cell of document.querySelectorAll(".cell")) {
      cell.addEventListener("click", () => {
        form.elements.text.value = cell.dataset.path;
        filter();
        document.getElementById("findings").scrollIntoView();
      });
    }
    filter();
  }

  const value = (cell) => cell.dataset.sort ?? cell.textContent.trim();
  const sort = (head) => {
    const table = head.closest("table");
    const column = head.cellIndex;
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    const number = (text) => Number(text.replaceAll(",", ""));
    rows.sort((a, b) => {
      const [one, other] = [value(a.cells[column]), value(b.cells[column])];
      const isNumber = one !== "" && other !== "" && !Number.isNaN(number(one)) && !Number.isNaN(number(other));
      const order = isNumber ? number(other) - number(one) : one.localeCompare(other);
      return down ? order : -order;
    });
    table.tBodies[0].append(...rows);
  };
  for (const head of document.querySelectorAll(".sortable th")) {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head));
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort(head);
    });
  }
})();
