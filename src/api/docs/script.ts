/** The page reads well without it: it filters the list, and copies commands. */
export const SCRIPT = `
const filter = document.querySelector("nav input");
const nav = document.querySelector("nav");
filter.hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  nav.classList.toggle("searching", wanted !== "");
  for (const section of nav.querySelectorAll("section")) {
    let shown = 0;
    for (const item of section.querySelectorAll("li")) {
      item.hidden = !item.dataset.words.includes(wanted);
      if (!item.hidden) shown++;
    }
    section.hidden = shown === 0;
  }
});
for (const sample of document.querySelectorAll(".sample")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(sample.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  sample.append(button);
}
for (const pre of document.querySelectorAll("pre")) pre.textContent = pre.textContent.replace("ORIGIN", location.origin);
`;
