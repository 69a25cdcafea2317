/** The whole look of the page; no fonts, images or styles from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #1d2521; --soft: #5d6962; --faint: #8b958f; --line: #e3e8e4; --paper: #fbfcfb; --card: #ffffff;
  --code: #f3f6f4; --accent: #1c7a55; --get: #2563a8; --post: #1c7a55; --put: #8a5a00; --delete: #ad2f3c;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4eae6; --soft: #a3aea8; --faint: #77827c; --line: #2a322e; --paper: #141816; --card: #1a1f1c;
    --code: #1f2522; --accent: #58c596; --get: #7db2ee; --post: #58c596; --put: #dba94f; --delete: #ee8089;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: 3px; }
code, pre { font-family: var(--mono); font-size: .86em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.page { display: grid; grid-template-columns: 21.5rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
nav { scrollbar-width: thin; position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 2.25rem 1.25rem 3rem 1.75rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav h1 { margin: 0 0 1.1rem; font-size: 1.15rem; letter-spacing: -.01em; }
nav h1 small { margin-left: .45rem; color: var(--faint); font-weight: 400; font-size: .8rem; }
nav input { width: 100%; padding: .45rem .7rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); color: inherit; font: inherit; }
nav h2 { margin: 1.6rem 0 .3rem; font-size: .72rem; font-weight: 600; letter-spacing: .07em; text-transform: uppercase; color: var(--faint); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: flex; gap: .55rem; align-items: baseline; margin: 0 -.5rem; padding: .17rem .5rem; border-radius: 6px; text-decoration: none; color: var(--soft); }
nav li a:hover { background: var(--code); color: var(--ink); }
nav li code { overflow-wrap: anywhere; font-size: .8rem; line-height: 1.45; }
.method { flex: none; width: 3.3em; font: 600 .66rem/1.6 var(--mono); letter-spacing: .02em; color: var(--get); }
.method.post { color: var(--post); } .method.put, .method.patch { color: var(--put); } .method.delete { color: var(--delete); }
main { padding: 2.25rem 2.75rem 8rem; min-width: 0; }
.intro { max-width: 44rem; }
.intro h2 { margin: 0 0 .5rem; font-size: 1.75rem; letter-spacing: -.02em; line-height: 1.25; }
.intro p { margin: .6rem 0; color: var(--soft); }
.tag { margin: 4.5rem 0 0; font-size: 1.3rem; letter-spacing: -.01em; }
article { margin-top: 1.75rem; padding: 1.6rem 1.8rem 1.8rem; border: 1px solid var(--line); border-radius: 14px; background: var(--card); }
article h3 { display: flex; flex-wrap: wrap; gap: .2rem .7rem; align-items: baseline; margin: 0; font-size: 1.02rem; }
article h3 .method { width: auto; font-size: .8rem; }
article h3 a { text-decoration: none; overflow-wrap: anywhere; }
article h3 a:hover { text-decoration: underline; }
article > p { margin: .3rem 0 0; }
.who { margin-left: auto; font-weight: 400; font-size: .8rem; color: var(--soft); }
.who code { color: var(--accent); }
h4 { margin: 1.5rem 0 .35rem; font-size: .78rem; font-weight: 600; color: var(--soft); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
td { padding: .42rem .8rem .42rem 0; border-top: 1px solid var(--line); vertical-align: top; }
tr:first-child td { border-top: 0; }
td:first-child { width: 13.5rem; white-space: nowrap; }
td:first-child code { font-weight: 600; }
.codes td:first-child { width: 16.5rem; }
.type { color: var(--soft); }
.needed { margin-left: .45rem; font-size: .74rem; color: var(--accent); }
.status { display: inline-block; width: 2.6rem; color: var(--faint); font-family: var(--mono); font-size: .8rem; }
.sample { position: relative; }
pre { margin: 0; padding: .9rem 1.1rem; overflow-x: auto; border-radius: 9px; background: var(--code); line-height: 1.55; tab-size: 2; }
.sample button { position: absolute; top: .5rem; right: .5rem; padding: .1rem .55rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); color: var(--soft); font: .74rem/1.6 inherit; font-family: inherit; cursor: pointer; opacity: 0; transition: opacity .12s; }
.sample:hover button, .sample button:focus-visible { opacity: 1; }
details { margin-top: 1.4rem; }
summary { cursor: pointer; font-size: .78rem; font-weight: 600; color: var(--soft); }
details table { margin-top: .4rem; }
[hidden] { display: none !important; }
@media (max-width: 56rem) {
  .page { display: block; }
  nav { position: static; height: auto; padding: 1.25rem; border-right: 0; border-bottom: 1px solid var(--line); }
  nav section { display: none; }
  nav.searching section { display: block; }
  main { padding: 1.5rem 1rem 5rem; }
  article { padding: 1.1rem; }
  .who { margin-left: 0; flex-basis: 100%; }
  td { display: block; padding-right: 0; }
  td:first-child, .codes td:first-child { width: auto; padding-bottom: 0; }
  td + td { border-top: 0; padding-top: 0; }
}
@media print { nav, button { display: none; } .page { display: block; } article { break-inside: avoid; } }
`;
