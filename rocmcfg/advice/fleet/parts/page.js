"use strict";
(() => {
  const PAGE = 100, SHOWN = 8, MOST = 400;
  const { facets, hosts } = JSON.parse(document.getElementById("data").textContent);
  const at = new Map(facets.map((facet, index) => [facet.key, index]));
  const lower = hosts.map((host) => host[0].toLowerCase());
  const lowerLabels = facets.map((facet) => facet.values.map((label) => label.toLowerCase()));
  const columns = [
    { title: "Host", keys: [] },
    { title: "State", keys: ["state"] },
    { title: "Kernel", keys: ["kernel"] },
    { title: "GPUs", keys: ["gpus"] },
    { title: "Profiles", keys: ["profiles"] },
    { title: "Findings", keys: ["problems", "wrong", "faults", "odd", "changes", "ending"] },
  ];
  const view = { words: [], chosen: new Map(), column: 1, down: false, page: 0, result: [] };
  const wide = new Set();  // facets of which every value is shown
  const by = (id) => document.getElementById(id);
  const make = (name, text, attributes) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    return element;
  };
  const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  // A host has, after its name, for each facet the number of a value or a list of numbers.
  const numbers = (host, facet) => {
    const value = host[facet + 1];
    return typeof value !== "number" ? value : value < 0 ? [] : [value];
  };
  const labels = (host, key) => numbers(host, at.get(key)).map((number) => facets[at.get(key)].values[number]);

  // -- which hosts, in which order --------------------------------------------------------------------
  const matchers = () => view.words.map((word) => lowerLabels.map((all) => all.map((label) => label.includes(word))));
  const matches = (index, found) => found.every((byFacet, word) =>
    lower[index].includes(view.words[word]) ||
    byFacet.some((hits, facet) => {
      const value = hosts[index][facet + 1];
      return typeof value === "number" ? value >= 0 && hits[value] : value.some((number) => hits[number]);
    }));
  const lacks = (host, facet) => {
    const wanted = view.chosen.get(facet), value = host[facet + 1];
    return typeof value === "number" ? !wanted.has(value) : !value.some((number) => wanted.has(number));
  };
  const search = () => {
    const found = matchers(), wanted = [...view.chosen.keys()], result = [];
    const counts = facets.map((facet) => new Uint32Array(facet.values.length));
    const count = (host, facet) => {
      const value = host[facet + 1];
      if (typeof value !== "number") for (const number of value) counts[facet][number] += 1;
      else if (value >= 0) counts[facet][value] += 1;
    };
    for (let index = 0; index < hosts.length; index += 1) {
      if (!matches(index, found)) continue;
      const host = hosts[index], missing = wanted.filter((facet) => lacks(host, facet));
      if (missing.length === 1) count(host, missing[0]);  // what another choice in that facet would show
      if (missing.length) continue;
      result.push(index);
      for (let facet = 0; facet < facets.length; facet += 1) count(host, facet);
    }
    view.result = result;
    return counts;
  };
  const ranks = new Map();
  const rank = (key) => {
    if (!ranks.has(key)) {
      const values = facets[at.get(key)].values, order = values.map((_, number) => number);
      if (key !== "state") order.sort((a, b) => values[a].localeCompare(values[b], "en", { numeric: true }));
      const places = new Uint32Array(values.length);
      order.forEach((number, place) => { places[number] = place + 1; });
      ranks.set(key, places);
    }
    return ranks.get(key);
  };
  const sort = () => {
    const { keys } = columns[view.column], place = new Float64Array(hosts.length);
    for (const index of view.result) {
      const host = hosts[index];
      if (keys.length === 1) {
        const all = numbers(host, at.get(keys[0]));
        place[index] = all.length ? rank(keys[0])[all[0]] : 1e9;
      } else if (keys.length) place[index] = -keys.reduce((sum, key) => sum + numbers(host, at.get(key)).length, 0);
    }
    const sign = view.down ? -1 : 1;  // hosts come sorted by their names
    view.result.sort((a, b) => sign * (place[a] - place[b] || a - b));
  };

  // -- what is shown ------------------------------------------------------------------------------------
  const findings = (host) => {
    const all = columns[5].keys.flatMap((key) => labels(host, key));
    return all.length > 1 ? `${all[0]}; and ${all.length - 1} more` : all.join("");
  };
  const details = (host) => {
    const list = make("dl");
    facets.forEach((facet) => {
      const all = labels(host, facet.key);
      if (all.length && facet.key !== "attention") list.append(make("dt", facet.title), make("dd", all.join("\n")));
    });
    return list;
  };
  const row = (index) => {
    const host = hosts[index], line = make("tr", undefined, { role: "row" });
    const name = make("th", undefined, { role: "rowheader", scope: "row" });
    const open = make("button", undefined, { type: "button", class: "open mono", "aria-expanded": "false" });
    host[0].split(/(?=\.)/).forEach((part, place) => open.append(...(place ? [make("wbr")] : []), part));
    open.addEventListener("click", () => {
      const closes = open.getAttribute("aria-expanded") === "true";
      open.setAttribute("aria-expanded", String(!closes));
      if (closes) line.nextSibling.remove();
      else {
        const more = make("tr", undefined, { role: "row", class: "more-of" });
        const cell = make("td", undefined, { role: "cell", colspan: String(columns.length) });
        cell.append(details(host));
        more.append(cell);
        line.after(more);
      }
    });
    name.append(open);
    line.append(name);
    const state = make("td", undefined, { role: "cell" });
    const value = host[at.get("state") + 1];
    state.append(make("span", facets[at.get("state")].values[value], { class: `state ${facets[at.get("state")].classes[value]}` }));
    line.append(state);
    for (const key of ["kernel", "gpus", "profiles"]) {
      const title = columns.find((column) => column.keys[0] === key).title;
      line.append(make("td", labels(host, key).join(", "), { role: "cell", "data-label": title }));
    }
    line.append(make("td", findings(host), { role: "cell", "data-label": "Findings" }));
    return line;
  };
  const showPage = () => {
    const pages = Math.max(1, Math.ceil(view.result.length / PAGE));
    view.page = Math.min(view.page, pages - 1);
    const begin = view.page * PAGE, shown = view.result.slice(begin, begin + PAGE), rows = document.createDocumentFragment();
    shown.forEach((index) => rows.append(row(index)));
    by("body").replaceChildren(rows);
    by("place").textContent = `Page ${view.page + 1} of ${pages}`;
    by("previous").disabled = view.page === 0;
    by("next").disabled = view.page === pages - 1;
    const all = view.result.length === hosts.length ? counted(hosts.length, "host") : `${view.result.length.toLocaleString("en")} of ${counted(hosts.length, "host")}`;
    by("status").textContent = shown.length ? `${all}; ${begin + 1} to ${begin + shown.length} are shown` : "No host fits. Change the search, or show all hosts.";
    by("reset").disabled = !view.words.length && !view.chosen.size;
    if (!by("names-box").hidden) by("names-text").value = view.result.map((index) => hosts[index][0]).join(",");
  };
  const showFacets = (counts) => {
    const focus = document.activeElement && document.activeElement.dataset;
    facets.forEach((facet, number) => {
      if (!facet.list) return;
      const chosen = view.chosen.get(number), all = [];
      counts[number].forEach((count, value) => { if (count || (chosen && chosen.has(value))) all.push(value); });
      all.sort((a, b) => counts[number][b] - counts[number][a] || a - b);
      const most = wide.has(number) ? MOST : SHOWN, list = make("ul");
      all.slice(0, most).forEach((value) => {
        const pressed = Boolean(chosen && chosen.has(value)), item = make("li");
        const button = make("button", undefined, { type: "button", class: "value", "aria-pressed": String(pressed), "data-facet": number, "data-value": value });
        button.append(make("span", facet.values[value]), make("span", counts[number][value].toLocaleString("en"), { class: "number" }));
        item.append(button);
        list.append(item);
      });
      const box = by(`facet-${number}`);
      box.hidden = !all.length;
      box.querySelector(".dim").textContent = `(${all.length.toLocaleString("en")})`;
      box.querySelector("ul").replaceWith(list);
      const more = box.querySelector(".more");
      more.hidden = all.length <= SHOWN;
      more.textContent = wide.has(number) ? (all.length > MOST ? `The first ${MOST} are shown; search for others` : "Fewer") : `All ${all.length.toLocaleString("en")}`;
    });
    for (const tile of document.querySelectorAll(".tile")) {
      const chosen = view.chosen.get(at.get(tile.dataset.key));
      tile.setAttribute("aria-pressed", String(Boolean(chosen && chosen.has(Number(tile.dataset.value)))));
    }
    if (focus && focus.facet !== undefined && !document.activeElement.dataset.facet) {
      const same = document.querySelector(`.value[data-facet="${focus.facet}"][data-value="${focus.value}"]`);
      if (same) same.focus();
    }
  };
  const showHead = () => {
    [...by("head").children].forEach((cell, number) => {
      if (number === view.column) cell.setAttribute("aria-sort", view.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      cell.querySelector("span").textContent = number === view.column ? (view.down ? " ▼" : " ▲") : "";
    });
  };
  const remember = () => {
    const query = new URLSearchParams();
    if (view.words.length) query.set("q", by("search").value);
    view.chosen.forEach((values, facet) => values.forEach((value) => query.append(facets[facet].key, facets[facet].values[value])));
    try { history.replaceState(null, "", query.size || location.hash ? `#${query}` : location.href); } catch { /* a frame without an address */ }
  };
  const refresh = () => {
    view.page = 0;
    const counts = search();
    sort();
    showPage();
    showFacets(counts);
    remember();
  };
  const toggle = (facet, value) => {
    const chosen = view.chosen.get(facet) || new Set();
    if (!chosen.delete(value)) chosen.add(value);
    if (chosen.size) view.chosen.set(facet, chosen);
    else view.chosen.delete(facet);
    refresh();
  };
  const setWords = (text) => { view.words = text.toLowerCase().split(/\s+/).filter(Boolean); };

  // -- what the user does -------------------------------------------------------------------------------
  columns.forEach((column, number) => {
    const cell = make("th", undefined, { role: "columnheader", scope: "col" });
    const button = make("button", column.title, { type: "button" });
    button.append(make("span", "", { "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      view.down = view.column === number && !view.down;
      view.column = number;
      view.page = 0;
      sort();
      showHead();
      showPage();
    });
    cell.append(button);
    by("head").append(cell);
  });
  by("filters").open = matchMedia("(min-width: 60rem)").matches;
  facets.forEach((facet, number) => {
    if (!facet.list) return;
    const box = make("details", undefined, { id: `facet-${number}` }), title = make("summary", `${facet.title} `);
    box.open = facet.open;
    title.append(make("span", "", { class: "dim" }));
    const more = make("button", "", { type: "button", class: "more" });
    more.addEventListener("click", () => {
      if (!wide.delete(number)) wide.add(number);
      showFacets(search());
      sort();
    });
    box.append(title, make("ul"), more);
    by("facets").append(box);
  });
  by("facets").addEventListener("click", (event) => {
    const button = event.target.closest(".value");
    if (button) toggle(Number(button.dataset.facet), Number(button.dataset.value));
  });
  for (const tile of document.querySelectorAll(".tile")) {
    tile.addEventListener("click", () => toggle(at.get(tile.dataset.key), Number(tile.dataset.value)));
  }
  by("search").addEventListener("input", () => { setWords(by("search").value); refresh(); });
  by("reset").addEventListener("click", () => {
    view.chosen.clear();
    view.words = [];
    by("search").value = "";
    refresh();
    by("search").focus();
  });
  by("names").addEventListener("click", () => {
    const box = by("names-box");
    box.hidden = !box.hidden;
    by("names").setAttribute("aria-expanded", String(!box.hidden));
    showPage();
    if (!box.hidden) by("names-text").select();
  });
  const turn = (by_) => { view.page += by_; showPage(); by("hosts").focus({ preventScroll: true }); by("table").scrollIntoView(); };
  by("previous").addEventListener("click", () => turn(-1));
  by("next").addEventListener("click", () => turn(1));
  document.addEventListener("keydown", (event) => {
    const writes = /^(input|textarea)$/i.test(event.target.tagName);
    if (event.key === "/" && !writes && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      by("search").focus();
    }
  });
  const recall = () => {
    const query = new URLSearchParams(location.hash.slice(1));
    by("search").value = (query.get("q") || "").slice(0, 200);
    setWords(by("search").value);
    view.chosen.clear();
    facets.forEach((facet, number) => {
      const values = new Set(query.getAll(facet.key).map((label) => facet.values.indexOf(label)).filter((value) => value >= 0));
      if (values.size) view.chosen.set(number, values);
    });
  };
  window.addEventListener("hashchange", () => { if (location.hash.includes("=")) { recall(); refresh(); } });
  recall();
  showHead();
  refresh();
})();
