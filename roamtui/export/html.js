"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const moments = [];
  const stream = (moment) => {
    const texts = document.createTreeWalker(byId(moment.stream), NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (texts.nextNode()) nodes.push(texts.currentNode);
    const words = nodes.flatMap((node) => {
      const parts = (node.data.match(/\s*\S+\s*/g) || []).map((word) => {
        const part = document.createElement("span");
        part.textContent = word;
        return part;
      });
      if (parts.length) node.replaceWith(...parts);
      return parts;
    });
    for (let at = 0; at < words.length; at += 3) moments.push({ say: moment.say, elements: words.slice(at, at + 3), name: "" });
  };
  for (const moment of JSON.parse(byId("timeline").textContent)) {
    if (moment.stream) { stream(moment); continue; }
    const lines = (ids) => (ids || []).map((id) => byId("o-" + id)).filter(Boolean);
    const elements = (moment.show || []).map(byId).filter(Boolean);
    moments.push({ say: moment.say, elements, open: lines(moment.open), found: lines(moment.find) });
    for (let tick = 1; tick < 8; tick++) moments.push({ say: moment.say, elements: [] });
  }
  let at = moments.length, timer = 0;
  const place = byId("place"), play = byId("play");
  place.max = moments.length;
  const show = (to) => {
    at = Math.max(0, Math.min(to, moments.length));
    document.body.classList.toggle("playing", at < moments.length);
    for (const line of document.querySelectorAll("nav li")) line.classList.remove("on", "found");
    let last = null;
    moments.forEach((moment, number) => {
      const isThere = number < at;
      for (const element of moment.elements) element.classList.toggle("later", !isThere);
      if (!isThere) return;
      if (moment.elements.length) last = moment.elements[moment.elements.length - 1];
      for (const line of moment.open || []) line.classList.add("on");
      for (const line of moment.found || []) line.classList.add("found");
    });
    place.value = at;
    const say = at ? moments[at - 1].say : "";
    if (byId("told").textContent !== say) byId("told").textContent = say;
    if (timer && last && last.closest("main")) last.scrollIntoView({ block: "nearest" });
  };
  const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; play.setAttribute("aria-pressed", "false"); };
  const start = () => {
    if (at >= moments.length) show(0);
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => { show(at + 1); if (at >= moments.length) stop(); }, 90);
  };
  play.onclick = () => (timer ? stop() : start());
  byId("step").onclick = () => { stop(); show(at >= moments.length ? 1 : at + 1); };
  byId("back").onclick = () => { stop(); show(at - 1); };
  place.oninput = () => { stop(); show(Number(place.value)); };
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("button, input, select, a") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") { event.preventDefault(); play.click(); }
    if (event.key === "ArrowRight") byId("step").click();
    if (event.key === "ArrowLeft") byId("back").click();
  });
  document.querySelector(".player").hidden = false;
  show(moments.length);
})();
