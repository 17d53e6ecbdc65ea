const byId = (id) => document.getElementById(id);
const moments = [...document.querySelectorAll("article > h2, .steps > li, .answer > *, footer")];
const place = byId("place"), play = byId("play");
let timer = 0;
place.max = moments.length;
const show = (at) => {
  for (const line of document.querySelectorAll("nav li")) line.classList.remove("searched", "opened");
  moments.forEach((moment, number) => moment.classList.toggle("later", number >= at));
  for (const { dataset } of moments.slice(0, at))
    for (const [kind, ids] of Object.entries(dataset))
      for (const id of ids.split(" ")) byId("o-" + id)?.classList.add(kind);
  if (timer && at) moments[at - 1].scrollIntoView({ block: "nearest" });
  place.value = at;
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
