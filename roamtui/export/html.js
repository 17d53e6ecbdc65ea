"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const moments = [];
  for (const { say, show = [], open = [], find = [], stream } of JSON.parse(byId("timeline").textContent)) {
    const lines = (ids) => ids.map((id) => byId("o-" + id)).filter(Boolean);
    moments.push({ say, elements: show.map(byId), open: lines(open), found: lines(find) });
    for (const block of stream ? byId(stream).children : []) moments.push({ say, elements: [block], open: [], found: [] });
  }
  let timer = 0;
  const place = byId("place"), play = byId("play");
  place.max = moments.length;
  const show = (at) => {
    document.body.classList.toggle("playing", at < moments.length);
    for (const line of document.querySelectorAll("nav li")) line.classList.remove("on", "hit");
    moments.forEach(({ elements, open, found }, number) => {
      for (const element of elements) element.classList.toggle("later", number >= at);
      if (number >= at) return;
      for (const line of open) line.classList.add("on");
      for (const line of found) line.classList.add("hit");
    });
    const last = moments.slice(0, at).flatMap((moment) => moment.elements).pop();
    if (timer && last) last.scrollIntoView({ block: "nearest" });
    place.value = at;
    byId("told").textContent = at ? moments[at - 1].say : "";
  };
  const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; };
  play.onclick = () => {
    if (timer) { stop(); return; }
    if (place.value === place.max) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => { show(Number(place.value) + 1); if (place.value === place.max) stop(); }, 900);
  };
  place.oninput = () => { stop(); show(Number(place.value)); };
  document.querySelector(".player").hidden = false;
  show(moments.length);
})();
